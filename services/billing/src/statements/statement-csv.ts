// A statement as CSV (RFC 4180) that may be opened in a spreadsheet.
import type { Statement } from './statement.ts';

const columns = [
  'month',
  'line',
  'since',
  'plan',
  'allowance',
  'application_id',
  'method',
  'resource',
  'calls',
  'price_per_1000',
  'currency',
  'amount',
] as const;

type Line = { line: 'plan' | 'usage' | 'overage' | 'total_calls' | 'total_overage' } & Partial<
  Record<Exclude<(typeof columns)[number], 'month' | 'line'>, string | number>
>;

/**
 * Each line has a kind: `plan`, `usage`, `overage`, and the totals at the end. Unused cells are
 * empty.
 */
export function statementCsv(statement: Statement): string {
  const lines: Line[] = [
    ...statement.plans.map((plan): Line => ({ line: 'plan', ...plan, since: plan.since.toISOString() })),
    ...statement.usage.map((usage): Line => ({ line: 'usage', ...usage, application_id: usage.application_id || '' })),
    ...statement.overage.map((overage): Line => ({ line: 'overage', ...overage })),
    { line: 'total_calls', calls: statement.calls },
    ...statement.totals.map((total): Line => ({ line: 'total_overage', ...total })),
  ];
  const rows = lines.map((line) => columns.map((name) => (name === 'month' ? statement.month : (line[name] ?? ''))));
  return [columns, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

// Values that a spreadsheet would read as a formula get a leading apostrophe, as in exports. No
// value of a statement begins like that today, but this file must not depend on it.
const formula = /^[=+\-@\t\r'＝＋－＠]/;

function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const safe = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
