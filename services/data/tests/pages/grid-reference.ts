// A plain implementation of the grid's semantics over rows in memory. AG Grid itself (`ag-grid.ts`)
// is the reference for most of them; this file has what its community edition lacks (sets), and the
// intended differences (docs/how-to/grid.md).

// biome-ignore lint/suspicious/noExplicitAny: rows and models are of any shape here
type Any = any;
/** `moment`: an instant that AG Grid gets with its time of day. */
export type Kind = 'text' | 'number' | 'bigint' | 'date' | 'instant' | 'moment' | 'boolean';

export type Model = {
  filterModel: Record<string, Any>;
  sortModel: { colId: string; sort: 'asc' | 'desc'; type?: 'default' | 'absolute' }[];
};

const shown = (value: Any) => (value === null ? null : String(value));
// PostgreSQL folds character by character; JavaScript makes two characters of this one, so AG Grid
// does not find İstanbul by "istanbul".
export const lower = (value: Any) => String(value).replaceAll('İ', 'i').toLowerCase();
const isBlank = (value: Any, kind: Kind) => value === null || (kind === 'text' && value.trim() === '');

function matches(value: Any, kind: Kind, filter: Any): boolean {
  if (filter.operator === 'AND') return filter.conditions.every((each: Any) => matches(value, kind, each));
  if (filter.operator === 'OR') return filter.conditions.some((each: Any) => matches(value, kind, each));
  if (filter.filterType === 'set') {
    const blanks = filter.values.some((each: Any) => each === null || each === '');
    if (value === null || value === '') return blanks;
    return filter.values.some((each: Any) => each !== null && each !== '' && lower(each) === lower(shown(value)));
  }
  if (filter.type === 'blank') return isBlank(value, kind);
  if (filter.type === 'notBlank') return !isBlank(value, kind);
  if (filter.filterType === 'text') return matchesText(value, filter);
  if (value === null) return false;
  if (filter.filterType === 'number') return matchesOrder(value, filter, filter.filter, filter.filterTo);
  if (filter.filterType === 'bigint')
    return matchesOrder(value, filter, BigInt(filter.filter), BigInt(filter.filterTo));
  return matchesOrder(value.slice(0, 10), filter, filter.dateFrom.slice(0, 10), filter.dateTo);
}

function matchesText(value: Any, { type, filter }: Any): boolean {
  if (value === null) return type === 'notEqual' || type === 'notContains';
  if (filter === '') return false;
  const [x, y] = [lower(value), lower(filter)];
  switch (type) {
    case 'contains':
      return x.includes(y);
    case 'notContains':
      return !x.includes(y);
    case 'equals':
      return x === y;
    case 'notEqual':
      return x !== y;
    case 'startsWith':
      return x.startsWith(y);
    default:
      return x.endsWith(y);
  }
}

function matchesOrder(x: Any, { type }: Any, from: Any, to: Any): boolean {
  switch (type) {
    case 'equals':
      return x === from;
    case 'notEqual':
      return x !== from;
    case 'lessThan':
      return x < from;
    case 'lessThanOrEqual':
      return x <= from;
    case 'greaterThan':
      return x > from;
    case 'greaterThanOrEqual':
      return x >= from;
    default:
      return x > from && x < to;
  }
}

const points = (text: string) => Array.from(text, (character) => character.codePointAt(0) as number);

/** No value before every value; texts by code point. */
export function compare(a: Any, b: Any): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  if (typeof a !== 'string') return a < b ? -1 : a > b ? 1 : 0;
  const [x, y] = [points(a), points(b)];
  for (let i = 0; i < Math.min(x.length, y.length); i += 1)
    if (x[i] !== y[i]) return (x[i] as number) - (y[i] as number);
  return x.length - y.length;
}

const absolute = (value: Any) => (value === null ? null : value < 0 ? -value : value);

/** The rows that match, in order; ties by svc_sk. */
export function reference(rows: Any[], kinds: Record<string, Kind>, { filterModel, sortModel }: Model): Any[] {
  return rows
    .filter((row) =>
      Object.entries(filterModel).every(([name, filter]) => matches(row[name], kinds[name] as Kind, filter)),
    )
    .toSorted((a, b) => {
      for (const { colId, sort, type } of sortModel) {
        const order =
          type === 'absolute' ? compare(absolute(a[colId]), absolute(b[colId])) : compare(a[colId], b[colId]);
        if (order !== 0) return sort === 'asc' ? order : -order;
      }
      return a.svc_sk - b.svc_sk;
    });
}
