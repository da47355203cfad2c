/** The months up to the present one in UTC, the newest first: `2026-11`, `2026-10`. */
export function lastMonths(now: Date, count: number): string[] {
  return Array.from({ length: count }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  );
}
