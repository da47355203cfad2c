// Reads requests: path and query parameters, body parameters, and the attributes of a resource.
// Missing or malformed parameters are 400. Attributes that break a rule are 422; an attribute of
// the wrong JSON type and an unknown property are 400 (design 3.11). All problems are listed at
// once.
import { z } from 'zod';
import { ServiceError, shorten } from '../errors.ts';
import { limits } from '../limits.ts';
import { atMost, type Place, type Problem, type ProblemCode, rule, withoutRepeated } from '../problems.ts';

/** A system id. Ids above int4 can't exist: they become the largest one, which no row has. */
export const idSchema = z
  .number()
  .int()
  .min(1)
  .transform((id) => Math.min(id, limits.int4))
  .meta({ type: 'integer', minimum: 1 });

/** A bigint id in a path or a query, where it is text. */
export const bigIdTextSchema = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a positive integer')
  .transform(Number)
  .refine((id) => id > 0, rule('wrong_format', 'must be a positive integer'))
  .meta({ type: 'integer', minimum: 1 });

/** An id in a path or a query. */
export const idTextSchema = bigIdTextSchema
  .transform((id) => Math.min(id, limits.int4))
  .meta({ type: 'integer', minimum: 1 });

/** A name that a person chose: not blank, at most 255 code points. */
export const nameSchema = z
  .string()
  .refine((text) => text.trim() !== '', rule('blank', "can't be blank"))
  .refine((text) => [...text].length <= limits.nameCodePoints, atMost(limits.nameCodePoints))
  .meta({ minLength: 1, maxLength: limits.nameCodePoints });

export const descriptionSchema = z
  .string()
  .refine((text) => [...text].length <= limits.descriptionCodePoints, atMost(limits.descriptionCodePoints))
  .nullable()
  .meta({ maxLength: limits.descriptionCodePoints });

type Found = Problem & { kind: 'bad_request' | 'validation_failed' };

/** `foreign_key_table_id` → `Foreign key table id`. */
export function humanize(field: string): string {
  const words = field.replace(/_/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

type Issue = z.core.$ZodIssue & { input?: unknown };

/** The issues by which zod refuses null. */
const ofWrongType = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

function describe(issue: Issue, value: unknown, isAttribute: boolean): Found[] {
  const field = issue.path.map((step) => shorten(String(step))).join('.');
  if (issue.code === 'unrecognized_keys') return unknownProperties(field, issue.keys);
  const at = issue.path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown>)?.[key], value);
  const missing = at === undefined;
  const label = isAttribute && issue.path.length === 1 ? humanize(field) : nameOf(field);
  const place = placeOf(field);
  if (isAttribute && (missing || (at === null && ofWrongType.has(issue.code))))
    return [{ kind: 'validation_failed', code: 'blank', message: `${label} can't be blank`, ...place }];
  if (missing) return [{ kind: 'bad_request', code: 'blank', message: `${label} is required.`, ...place }];
  // A text that is not in the list breaks a rule; a number in place of a text is of the wrong type.
  const isWrongType = issue.code === 'invalid_value' && !issue.values.some((known) => typeof known === typeof at);
  const ruleBroken = isAttribute && issue.code !== 'invalid_type' && issue.code !== 'invalid_union' && !isWrongType;
  const kind = ruleBroken ? 'validation_failed' : 'bad_request';
  const { code, params, message } = explain(issue);
  return [{ kind, code, message: `${label} ${message}`, ...place, ...(params && { params }) }];
}

const nameOf = (field: string) => (field === '' ? 'The body' : field);
const placeOf = (field: string): Place => (field === '' ? {} : { field });

function unknownProperties(field: string, keys: string[]): Found[] {
  if (keys.length > limits.problems) return [tooManyProperties(field, keys.length)];
  const prefix = field === '' ? '' : `${field}.`;
  return keys.map((key) => {
    const name = `${prefix}${shorten(key)}`;
    return {
      kind: 'bad_request',
      code: 'unknown_property',
      message: `${name} is not a known property.`,
      field: name,
    };
  });
}

const tooManyProperties = (field: string, count: number): Found => ({
  kind: 'bad_request',
  code: 'unknown_property',
  message: `${nameOf(field)} has ${count} properties more than are known.`,
  ...placeOf(field),
  params: { count },
});

type Explained = Pick<Problem, 'code' | 'message' | 'params'>;

// The message completes a sentence that begins with the field.
function explain(issue: Issue): Explained {
  if (issue.code === 'invalid_type') return { code: 'wrong_type', message: `must be ${article(issue.expected)}` };
  if (issue.code === 'invalid_value') return notInList(issue.values);
  if (issue.code === 'too_small') {
    const message = bound(issue.inclusive === false ? 'more than' : 'at least', issue.minimum, issue.origin);
    return { code: tooSmall(issue), message, params: { minimum: Number(issue.minimum) } };
  }
  if (issue.code === 'too_big') {
    const message = bound(issue.inclusive === false ? 'less than' : 'at most', issue.maximum, issue.origin);
    return { code: tooBig[issue.origin] ?? 'out_of_range', message, params: { maximum: Number(issue.maximum) } };
  }
  if (issue.code === 'not_multiple_of') return { code: 'wrong_type', message: 'must be an integer' };
  if (issue.code === 'invalid_union') return choice(issue);
  if (issue.code === 'invalid_format') return { code: 'wrong_format', message: issue.message };
  const own = issue.code === 'custom' ? (issue.params as Partial<ReturnType<typeof rule>['params']>) : undefined;
  return { code: own?.code ?? 'invalid', message: issue.message, ...(own?.params && { params: own.params }) };
}

const tooBig: Partial<Record<string, ProblemCode>> = { string: 'too_long', array: 'too_many', set: 'too_many' };

function tooSmall({ origin, minimum }: z.core.$ZodIssueTooSmall): ProblemCode {
  if (origin === 'array' || origin === 'set') return 'too_few';
  if (origin === 'string') return Number(minimum) <= 1 ? 'blank' : 'too_short';
  return 'out_of_range';
}

const notInList = (allowed: readonly unknown[]): Explained => ({
  code: 'not_in_list',
  message: `must be one of ${allowed.map(String).join(', ')}`,
  params: { allowed },
});

/** The message of a union without its own. */
const unexplained = 'Invalid input';

// A discriminated union names its `options`; another one may have a message of its own, and has an
// issue for each of its types.
function choice(issue: z.core.$ZodIssueInvalidUnion): Explained {
  if ('options' in issue && Array.isArray(issue.options)) return notInList(issue.options);
  if (issue.message !== unexplained) return { code: 'wrong_format', message: issue.message };
  const first = issue.errors.map(([first]) => first);
  const types = first.flatMap((each) =>
    each?.code === 'invalid_type' && each.path.length === 0 ? [each.expected] : [],
  );
  const named = types.filter((type) => type !== 'null');
  const message = types.length === first.length ? `must be ${named.map(article).join(' or ')}` : 'has the wrong form';
  return { code: 'wrong_type', message };
}

function bound(which: string, limit: number | bigint, origin: string): string {
  if (origin === 'array' || origin === 'set') return `must have ${which} ${limit} ${limit === 1 ? 'item' : 'items'}`;
  return `must be ${which} ${limit}${origin === 'string' ? ' characters long' : ''}`;
}

// The type as JSON calls it.
function article(type: string): string {
  if (type === 'int') return 'an integer';
  if (type === 'record') return 'an object';
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}

function fail(found: Found[]): never {
  const kind = found.some((each) => each.kind === 'bad_request') ? 'bad_request' : 'validation_failed';
  throw new ServiceError(kind, withoutRepeated(found.map(({ kind: _, ...problem }) => problem)));
}

/**
 * Refuses lists that are too long before their items are checked: a million wrong items would make
 * a million problems.
 */
function refuseLongLists(schema: z.ZodType, value: unknown, isAttribute: boolean): void {
  if (!(schema instanceof z.ZodObject) || !isBag(value)) return;
  const problems = Object.entries(value).flatMap(([name, list]) => {
    const maximum = Array.isArray(list) ? maxItemsOf(schema.shape[name]) : undefined;
    if (maximum === undefined || (list as unknown[]).length <= maximum) return [];
    const issue = { code: 'too_big', origin: 'array', maximum, inclusive: true, path: [name], message: '' } as const;
    return describe(issue as unknown as Issue, value, isAttribute);
  });
  if (problems.length > 0) fail(problems);
}

/** The maximum of items that a schema allows in a list; undefined when it sets none. */
function maxItemsOf(schema: z.core.$ZodType | undefined): number | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return maxItemsOf(schema.unwrap());
  if (schema instanceof z.ZodUnion) return schema.options.map(maxItemsOf).find((most) => most !== undefined);
  if (!(schema instanceof z.ZodArray)) return undefined;
  const most = (schema.def.checks ?? []).flatMap(({ _zod: { def } }) =>
    'maximum' in def ? [Number(def.maximum)] : [],
  );
  return most.length === 0 ? undefined : Math.min(...most);
}

/** Checks parameters of path, query or body. Throws 400 with every problem. */
export function readParameters<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  refuseLongLists(schema, value, false);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  return fail(result.error.issues.flatMap((issue) => describe(issue as Issue, value, false)));
}

/** Checks attributes. Throws 422 for broken rules, 400 for wrong types and unknown properties. */
export function readAttributes<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  refuseLongLists(schema, value, true);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  return fail(result.error.issues.flatMap((issue) => describe(issue as Issue, value, true)));
}

type Bag = Record<string, unknown>;
const isBag = (value: unknown): value is Bag => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Splits a body into parameters and attributes. Attributes may be nested
 * (`{"domain": {"name": …}}`), flat (`{"name": …}`) or have bracket keys (`{"domain[name]": …}`);
 * parameters may be nested beside them. A name that is given twice is 400. So are far more
 * properties than are known, in one problem.
 */
export function splitBody(
  body: unknown,
  key: string | undefined,
  names: ReadonlySet<string>,
  parameters: ReadonlySet<string> = new Set(),
): { rest: Bag; own: Bag } {
  if (!isBag(body))
    throw new ServiceError('bad_request', { code: 'wrong_type', message: 'The body must be a JSON object.' });
  const known = names.size + parameters.size + (key === undefined ? 0 : 1);
  const refuseFlood = (bag: Bag, field: string) => {
    const unknown = Object.keys(bag).length - known;
    if (unknown > limits.problems) fail([tooManyProperties(field, unknown)]);
  };
  refuseFlood(body, '');
  const rest: Bag = Object.create(null);
  const own: Bag = Object.create(null);
  // A resource without attributes has its parameters under the key: `{"export": {"branch_id": …}}`.
  const bagOf = (name: string) => (parameters.has(name) && !names.has(name) ? rest : own);
  const put = (bag: Bag, name: string, value: unknown) => {
    if (name in bag) {
      const field = shorten(name);
      throw new ServiceError('bad_request', { code: 'given_twice', message: `${field} is given twice.`, field });
    }
    bag[name] = value;
  };
  for (const [name, value] of Object.entries(body)) {
    const bracket = /^([^[\]]+)\[([^[\]]+)\](\[\])?$/.exec(name);
    if (key !== undefined && name === key) {
      if (!isBag(value))
        throw new ServiceError('bad_request', { code: 'wrong_type', message: `${key} must be an object.`, field: key });
      refuseFlood(value, key);
      for (const [inner, innerValue] of Object.entries(value)) put(bagOf(inner), inner, innerValue);
    } else if (key !== undefined && bracket && bracket[1] === key) {
      if (bracket[3] !== undefined && !Array.isArray(value))
        throw new ServiceError('bad_request', {
          code: 'wrong_type',
          message: `${shorten(name)} must be an array.`,
          field: shorten(name),
        });
      put(bagOf(bracket[2] as string), bracket[2] as string, value);
    } else if (names.has(name)) put(own, name, value);
    else put(rest, name, value);
  }
  return { rest: { ...rest }, own: { ...own } };
}
