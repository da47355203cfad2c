// The query parameters of every collection: page, per_page, sort and q (contract, Conventions;
// design 3.11). Reading them is pure; each service makes its query from the result and its allowed
// fields.
import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { type Place, type Problem, type ProblemCode, rule } from '../problems.ts';
import { readInstant } from '../text/instants.ts';

export const operators = [
  'eq',
  'not_eq',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'null',
  'not_null',
] as const;
export type Operator = (typeof operators)[number];

// The bigints of collections stay below 2^53, so they are numbers everywhere.
type Kind = 'text' | 'integer' | 'bigint' | 'boolean' | 'time' | 'uuid';
/**
 * The fields that `q` and `sort` may name, with their types; a question mark marks nullable ones.
 */
export type Fields = Record<string, Kind | `${Kind}?`>;

export type Value = string | number | boolean | Date;
export type Condition = { field: string; operator: Operator; values: Value[]; nullable: boolean };
export type ListQuery = {
  page: number;
  perPage: number;
  conditions: Condition[];
  sort?: { field: string; direction: 'asc' | 'desc' };
};

// A larger number counts as the maximum.
const positive = (maximum: number) =>
  z
    .string()
    .regex(/^[1-9]\d*$/, 'must be a positive integer')
    .transform((text) => Math.min(Number(text), maximum));

/** The parameters of every list; list routes spread them into their `query` shape. */
export const listParameters = {
  page: positive(limits.int4)
    .optional()
    .meta({
      type: 'integer',
      minimum: 1,
      default: 1,
      description: `Page number, from 1. Pages beyond the end are empty; one above ${limits.int4} is served as that one.`,
    }),
  per_page: positive(limits.perPageMaximum).optional().meta({
    type: 'integer',
    minimum: 1,
    maximum: limits.perPageMaximum,
    default: limits.perPageDefault,
    description: 'Items a page.',
  }),
  sort: z.string().optional().meta({ description: '`field` or `-field`.' }),
  q: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .meta({
      type: 'array',
      items: { type: 'string' },
      description:
        '`field:operator:value`, repeatable (all must hold); a bare word searches the name. Operators: eq, not_eq, contains, not_contains, starts_with, ends_with, gt, gte, lt, lte, in (values separated by `|`), null, not_null (docs/how-to/filter-lists.md).',
    }),
};

/** The `limit` of a page of a feed, which goes on by its cursor: from 1 to `maximum`. */
export const pageLimit = (maximum: number, description: string) =>
  integerBetween(1, maximum, { default: limits.perPageDefault, description });

/** An integer that may be left out. `more`: what else the document says. */
export function integerBetween(minimum: number, maximum: number, more: { description: string; default?: number }) {
  const range = `must be from ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, range)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, rule('out_of_range', range, { minimum, maximum }))
    .optional()
    .meta({ type: 'integer', minimum, maximum, ...more });
}

type RawListQuery = { page?: number; per_page?: number; sort?: string; q?: string | string[] };

/**
 * Reads the list parameters. Throws 400 for an unknown field, operator or value. A bare word in `q`
 * searches `bareField`.
 */
export function readListQuery(raw: RawListQuery, fields: Fields, bareField = 'name'): ListQuery {
  const texts = raw.q === undefined ? [] : Array.isArray(raw.q) ? raw.q : [raw.q];
  const list: ListQuery = {
    page: raw.page ?? 1,
    perPage: raw.per_page ?? limits.perPageDefault,
    conditions: texts.map((text) => readCondition(text, fields, bareField)),
  };
  if (list.conditions.length > limits.filterConditions)
    throw bad('too_many', `q may be given at most ${limits.filterConditions} times.`, {
      maximum: limits.filterConditions,
    });
  if (raw.sort !== undefined) list.sort = readSort(raw.sort, fields);
  return list;
}

function readSort(text: string, fields: Fields): { field: string; direction: 'asc' | 'desc' } {
  const direction = text.startsWith('-') ? 'desc' : 'asc';
  const field = direction === 'desc' ? text.slice(1) : text;
  if (!Object.hasOwn(fields, field)) throw unknownField('sort', field, fields);
  return { field, direction };
}

const bad = (code: ProblemCode, message: string, params?: Place['params'], field = 'q') =>
  new ServiceError('bad_request', { code, message, field, ...(params && { params }) });

function unknownField(parameter: string, field: string, fields: Fields): ServiceError {
  const allowed = Object.keys(fields);
  const message = `${parameter}: ${field} is not a field; use ${allowed.join(', ')}.`;
  return bad('unknown_property', message, { allowed }, parameter);
}

function readCondition(text: string, fields: Fields, bareField: string): Condition {
  const [field = '', operator, ...more] = text.split(':');
  if (text.includes('\u0000')) throw bad('malformed', 'q: U+0000 is in no text.');
  if (operator === undefined) {
    if (text.trim() === '') throw bad('blank', 'q is empty; use field:operator:value or a word.');
    if (!Object.hasOwn(fields, bareField)) throw bad('wrong_format', 'q: use field:operator:value.');
    return {
      field: bareField,
      operator: 'contains',
      values: [text],
      nullable: fields[bareField]?.endsWith('?') === true,
    };
  }
  if (!Object.hasOwn(fields, field)) throw unknownField('q', field, fields);
  const known = operators.find((name) => name === operator);
  if (!known)
    throw bad('not_in_list', `q: ${operator} is not an operator; use ${operators.join(', ')}.`, { allowed: operators });
  const type = fields[field]?.replace('?', '') as Kind;
  const nullable = fields[field]?.endsWith('?') === true;
  const value = more.join(':');
  if (known === 'null' || known === 'not_null') {
    if (value !== '') throw bad('incompatible', `q: ${known} takes no value.`);
    return { field, operator: known, values: [], nullable };
  }
  if (more.length === 0) throw bad('blank', `q: ${known} needs a value.`);
  if (type === 'boolean' && known !== 'eq' && known !== 'not_eq')
    throw bad('incompatible', `q: ${known} does not work on ${field}, which is boolean.`);
  const textual = ['contains', 'not_contains', 'starts_with', 'ends_with'].includes(known);
  if (textual && type !== 'text') throw bad('incompatible', `q: ${known} works on text; ${field} is ${type}.`);
  const values = (known === 'in' ? value.split('|') : [value]).map((item) => readValue(item, type, field, known));
  return { field, operator: known, values, nullable };
}

function readValue(text: string, type: Kind, field: string, operator: Operator): Value {
  if (type === 'text') return text;
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (type === 'integer' && /^-?\d{1,10}$/.test(text) && Math.abs(Number(text)) <= limits.int4) return Number(text);
  if (type === 'bigint' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'uuid' && z.guid().safeParse(text).success) return text.toLowerCase();
  if (type === 'time') {
    const time = readMoment(text, operator);
    if (time) return time;
  }
  const problem: Problem = {
    code: 'wrong_format',
    message: `q: ${text.slice(0, 80)} is no ${type}, which ${field} is.`,
    field: 'q',
  };
  throw new ServiceError('bad_request', [problem, ...separatorHint(operator, text)]);
}

/**
 * The problem of a list with commas, which may be part of a text: only `|` separates values.
 */
export const separatorHint = (operator: Operator, text: string): Problem[] =>
  operator === 'in' && text.includes(',')
    ? [{ code: 'wrong_format', message: 'q: in takes values separated by |, as in id:in:1|2|3.', field: 'q' }]
    : [];

/**
 * Reads the operand of a comparison of times: an instant, or a day, which means its first instant.
 * Stored times have whole milliseconds, so `lt` and `gte` round a finer operand up.
 */
export function readMoment(text: string, operator: Operator): Date | undefined {
  const instant = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00Z` : text;
  return readInstant(instant, operator === 'lt' || operator === 'gte' ? 'up' : 'cut');
}

export type Page<T> = { data: T[]; meta: { page: number; per_page: number; total_count: number; total_pages: number } };

/** The answer of a collection (contract, Conventions). */
export function page<T>(data: T[], list: ListQuery, totalCount: number): Page<T> {
  return {
    data,
    meta: {
      page: list.page,
      per_page: list.perPage,
      total_count: totalCount,
      total_pages: Math.ceil(totalCount / list.perPage),
    },
  };
}

/** Where in a collection a page is. */
export const pageMetaSchema = z
  .object({ page: z.int(), per_page: z.int(), total_count: z.int(), total_pages: z.int() })
  .meta({ id: 'PageMeta', description: 'Where in the collection this page is.' });

/** The schema of a collection's answer, for the OpenAPI document: a `DomainPage` of `Domain`s. */
export function pageSchema<T extends z.ZodType>(item: T) {
  const name = z.globalRegistry.get(item)?.id;
  if (name === undefined) throw new Error('The items of a page need a name: meta({ id }).');
  return z.object({ data: z.array(item), meta: pageMetaSchema }).meta({ id: `${name}Page` });
}

/**
 * `skip` and `take` of a page. A huge offset is capped at int4: the page is empty, not an error.
 */
export function window(list: ListQuery): { skip: number; take: number } {
  return { skip: Math.min((list.page - 1) * list.perPage, limits.int4), take: list.perPage };
}

type PrismaFilter = Record<string, unknown>;

/** Conditions as a Prisma `where`. `eq`, `not_eq` and `in` respect case; wildcards are literal. */
export function prismaWhere(conditions: Condition[]): { AND: PrismaFilter[] } {
  return { AND: conditions.map(prismaCondition) };
}

const prismaOperators = {
  eq: (v) => ({ equals: v[0] }),
  not_eq: (v) => ({ not: v[0] }),
  contains: (v) => ({ contains: likeLiteral(v[0]), mode: 'insensitive' }),
  not_contains: (v) => ({ not: { contains: likeLiteral(v[0]) }, mode: 'insensitive' }),
  starts_with: (v) => ({ startsWith: likeLiteral(v[0]), mode: 'insensitive' }),
  ends_with: (v) => ({ endsWith: likeLiteral(v[0]), mode: 'insensitive' }),
  gt: (v) => ({ gt: v[0] }),
  gte: (v) => ({ gte: v[0] }),
  lt: (v) => ({ lt: v[0] }),
  lte: (v) => ({ lte: v[0] }),
  in: (v) => ({ in: v }),
  null: () => ({ equals: null }),
  not_null: () => ({ not: null }),
} satisfies Record<Operator, (values: Value[]) => PrismaFilter>;

// Prisma passes % and _ through to LIKE; in a search they are ordinary characters.
const likeLiteral = (value: Value | undefined) => String(value).replace(/[\\%_]/g, '\\$&');

// Matches no row: every row has an id. (Prisma drops an empty OR within AND, which would match
// all.)
const nothing: PrismaFilter = { id: { in: [] } };

function prismaCondition({ field, operator, values, nullable }: Condition): PrismaFilter {
  if (!nullable && operator === 'null') return nothing;
  if (!nullable && operator === 'not_null') return {};
  // In SQL, null is neither equal nor unequal; in a list, an item without a value counts as
  // unequal.
  if (nullable && (operator === 'not_eq' || operator === 'not_contains'))
    return { OR: [{ [field]: prismaOperators[operator](values) }, { [field]: null }] };
  return { [field]: prismaOperators[operator](values) };
}

/** `orderBy` for Prisma: the requested field, then the id. */
export function prismaOrderBy(list: ListQuery): Record<string, 'asc' | 'desc'>[] {
  return list.sort && list.sort.field !== 'id'
    ? [{ [list.sort.field]: list.sort.direction }, { id: 'asc' }]
    : [{ id: list.sort?.direction ?? 'asc' }];
}
