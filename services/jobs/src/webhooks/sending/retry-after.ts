/**
 * For how many milliseconds a `Retry-After` header asks to wait (RFC 9110, 10.2.3): seconds, or a
 * date, which counts from `now`. 0 without the header, for a date that is past, and for any other
 * text.
 */
export function readRetryAfter(value: string | undefined, now: Date): number {
  if (value === undefined) return 0;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? 0 : Math.max(0, date - now.getTime());
}
