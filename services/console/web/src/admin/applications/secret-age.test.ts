import { judgeSecret } from './secret-age.ts';

const now = Date.parse('2026-11-26T12:00:00Z');
const judged = (created_at: string, last_used_at: string | null) => judgeSecret({ created_at, last_used_at }, now);

describe('a secret', () => {
  it('is good while it is used and younger than a year', () => {
    expect(judged('2026-01-01T00:00:00Z', '2026-11-26T11:00:00Z')).toBeUndefined();
  });

  it('is old after a year', () => {
    expect(judged('2025-11-01T00:00:00Z', '2026-11-26T11:00:00Z')).toBe('old');
  });

  it('is idle without use for three months, or when it was never used in that time', () => {
    expect(judged('2025-01-01T00:00:00Z', '2026-08-01T00:00:00Z')).toBe('idle');
    expect(judged('2026-08-01T00:00:00Z', null)).toBe('idle');
    expect(judged('2026-11-25T00:00:00Z', null)).toBeUndefined();
  });
});
