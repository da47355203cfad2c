// Statements as data: text and values. Built by pure functions, compared in tests, run in one place (`database.ts`).
import type { Bind } from '../values/check.ts';

export type Statement = { text: string; values: unknown[] };

/** Collects the values of a statement while its text is written; equal values of one type share a placeholder. */
export class Values {
  readonly list: unknown[] = [];
  private readonly places = new Map<string, string>();

  /** The placeholder of a value, cast to its type. */
  readonly bind: Bind = (value, type) => {
    const key = typeof value === 'string' || typeof value === 'number' ? `${type} ${typeof value} ${value}` : undefined;
    const known = key === undefined ? undefined : this.places.get(key);
    if (known !== undefined) return known;
    this.list.push(value);
    const place = `$${this.list.length}::${type}`;
    if (key !== undefined) this.places.set(key, place);
    return place;
  };
}

/** Joins text expressions with `||` as a balanced tree, so that long rows aren't copied once for every cell. */
export function concatSql(parts: readonly string[]): string {
  if (parts.length <= 1) return parts[0] ?? "''";
  const middle = parts.length >> 1;
  return `(${concatSql(parts.slice(0, middle))} || ${concatSql(parts.slice(middle))})`;
}
