// Statements as data: text and values. Built by pure functions, compared in tests, run in one place (`database.ts`).
import type { Bind } from '../values/check.ts';

/** `afresh`: planned for its values each time, because they decide how it is best done. */
export type Statement = { text: string; values: unknown[]; afresh?: boolean };

/** Collects the values of a statement while its text is written; equal values of one type share a placeholder. */
export class Values {
  readonly list: unknown[];
  private readonly places: Map<string, string>;

  /** Empty, or beginning with the values of another. */
  constructor(begun?: Values) {
    this.list = begun ? [...begun.list] : [];
    this.places = new Map(begun?.places);
  }

  /** The placeholder of a value that is given later, see `Template`. */
  slot(type: string): string {
    this.list.push(undefined);
    return `$${this.list.length}::${type}`;
  }

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

/**
 * The value of a placeholder where the planner can't see it. It would take a plan for the value at hand for cheaper than one for all, and
 * plan anew each time: a third of what a page costs, and more than half of reading a row.
 */
export const unseen = (place: string): string => `(select ${place})`;

/** The array of a placeholder, as `unseen`, for `any` to look in. */
export const unseenIn = (place: string, type: string): string => `any(${unseen(place)}::${type}[])`;

const argumentsMost = 100; // no function of PostgreSQL takes more

/** What these expressions print, one behind the other; those that are null print nothing. Written in one pass: `||` copies all for each cell. */
export function concatSql(parts: readonly string[]): string {
  if (parts.length <= argumentsMost) return `concat(${parts.join(', ')})`;
  const groups = Array.from({ length: Math.ceil(parts.length / argumentsMost) }, (_, i) =>
    concatSql(parts.slice(i * argumentsMost, (i + 1) * argumentsMost)),
  );
  return concatSql(groups);
}

/** A statement written once for many executions; its slots come first and are filled each time. */
export class Template {
  readonly text: string;
  private readonly rest: unknown[];

  constructor(text: string, values: Values, slots: number) {
    this.text = text;
    this.rest = values.list.slice(slots);
  }

  fill(slots: unknown[]): Statement {
    return { text: this.text, values: [...slots, ...this.rest] };
  }
}

const templates = new WeakMap<object, Map<string, Template>>();
const templatesPerTable = 200;

/** The template of a table for a shape of statement; forgotten with the table's entry, so with its revision. */
export function templateOf(table: object, shape: string, write: () => Template): Template {
  let known = templates.get(table);
  if (!known) {
    known = new Map();
    templates.set(table, known);
  }
  let template = known.get(shape);
  if (!template) {
    template = write();
    if (known.size >= templatesPerTable) known.clear();
    known.set(shape, template);
  }
  return template;
}
