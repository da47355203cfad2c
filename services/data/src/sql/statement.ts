// Statements as data: text and values. Pure functions build them, tests compare them, and one file
// runs them (`postgres/pools.ts`).
import type { Bind } from '../values/check.ts';

/**
 * `customPlan`: PostgreSQL plans the statement for its values each time, because the best plan
 * depends on them.
 */
export type Statement = { text: string; values: unknown[]; customPlan?: boolean };

/**
 * Collects the values of a statement while its text is written; equal values of one type share a
 * placeholder.
 */
export class Values {
  readonly list: unknown[];
  private readonly places: Map<string, string>;

  /** Empty, or a copy of another. */
  constructor(other?: Values) {
    this.list = other ? [...other.list] : [];
    this.places = new Map(other?.places);
  }

  /** The placeholder of a value that a template fills in. */
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
 * The value of a placeholder, hidden from the planner. Otherwise PostgreSQL finds a plan for the
 * value at hand cheaper than the generic one, and plans each time: a third of the cost of a page,
 * and more than half of the cost of reading a row.
 */
export const hiddenFromPlanner = (place: string): string => `(select ${place})`;

/** `any` of the array of a placeholder, hidden from the planner. */
export const anyHiddenFromPlanner = (place: string, type: string): string =>
  `any(${hiddenFromPlanner(place)}::${type}[])`;

const maxArguments = 100; // of a function of PostgreSQL

/**
 * The texts of these expressions in one; null gives none. In one pass: `||` would copy the text for
 * each cell.
 */
export function concatSql(parts: readonly string[]): string {
  if (parts.length <= maxArguments) return `concat(${parts.join(', ')})`;
  const groups = Array.from({ length: Math.ceil(parts.length / maxArguments) }, (_, i) =>
    concatSql(parts.slice(i * maxArguments, (i + 1) * maxArguments)),
  );
  return concatSql(groups);
}

/**
 * A statement that is written once for many executions; its slots come first and are filled each
 * time.
 */
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
const maxTemplatesPerTable = 200;

/**
 * The template of a table for a shape of statement; cached by the table's entry, so by its
 * revision.
 */
export function templateOf(table: object, shape: string, write: () => Template): Template {
  let known = templates.get(table);
  if (!known) {
    known = new Map();
    templates.set(table, known);
  }
  let template = known.get(shape);
  if (!template) {
    template = write();
    if (known.size >= maxTemplatesPerTable) known.clear();
    known.set(shape, template);
  }
  return template;
}
