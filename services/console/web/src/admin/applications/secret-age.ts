// What the age and the last use of a secret say about it.

export type SecretTimes = { created_at: string; last_used_at: string | null };

const dayMs = 86_400_000;
const oldDays = 365;
const idleDays = 90;

/** A warning about a secret: `old` after a year, `idle` when it is not used for three months. */
export function judgeSecret({ created_at, last_used_at }: SecretTimes, now: number): 'old' | 'idle' | undefined {
  const days = (instant: string) => (now - Date.parse(instant)) / dayMs;
  if (days(last_used_at ?? created_at) > idleDays) return 'idle';
  return days(created_at) > oldDays ? 'old' : undefined;
}
