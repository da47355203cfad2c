// The rules of a column (design 3.4), pure: the column that a change leads to, and its problems.
import { descriptionSchema, idSchema } from '@almanac/service-kit/api/input';
import { type Problem, rule } from '@almanac/service-kit/problems';
import { z } from 'zod';
import { type DataType, dataTypeAliases, dataTypes, findValueProblems } from './column-values.ts';

export const maximumStringLength = 10_485_760;
const defaultStringLength = 255;
const maximumPrecision = 1000;
const defaultPrecision = 38;

const columnNameSchema = z
  .string()
  .refine((name) => name.trim() !== '', rule('blank', "can't be blank"))
  .refine(
    (name) => name.trim() === '' || /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(name),
    rule(
      'wrong_format',
      'must start with a letter or _ and hold only letters a to z, digits and _ (maximum is 63 characters)',
    ),
  )
  .refine((name) => !/^svc_/i.test(name), rule('wrong_format', "can't start with svc_"))
  // JSON parsers refuse it as a property name, so no record could have it.
  .refine((name) => name !== '__proto__', rule('wrong_format', 'is reserved'))
  .meta({ minLength: 1, maxLength: 63 });

const aliases = Object.keys(dataTypeAliases) as (keyof typeof dataTypeAliases)[];
const dataTypeSchema = z
  .enum([...dataTypes, ...aliases])
  .transform((name): DataType => (name in dataTypeAliases ? dataTypeAliases[name as never] : (name as DataType)));

/** A longer list belongs into a table. */
const maxValues = 10_000;

export const hierarchyDescription =
  'Only of a foreign key to the column’s own table: a row can’t refer to itself or to a row below it.';

const optional = {
  length: z.int().min(1).nullable().optional(),
  scale: z.int().min(0).nullable().optional(),
  is_primary_key: z.boolean().optional(),
  is_required: z.boolean().optional(),
  foreign_key_table_id: idSchema.nullable().optional(),
  is_hierarchy: z.boolean().optional().meta({ description: hierarchyDescription }),
  valid_values: z
    .union([z.string(), z.array(z.string()).max(maxValues)])
    .nullable()
    .optional()
    .meta({ description: 'Separated by `|`, or an array.' }),
  description: descriptionSchema.optional(),
};
export const newColumnAttributes = { name: columnNameSchema, data_type: dataTypeSchema, ...optional };
export const columnAttributes = {
  name: columnNameSchema.optional(),
  data_type: dataTypeSchema.optional(),
  ...optional,
  position: z
    .int()
    .min(1)
    .optional()
    .meta({ description: 'Extension: its place among the columns of the table, from 1; the others make room.' }),
};

export type GivenColumn = z.infer<z.ZodObject<typeof columnAttributes>>;

/** A column without its position. */
export type ColumnShape = {
  name: string;
  data_type: DataType;
  length: number | null;
  scale: number | null;
  is_primary_key: boolean;
  is_required: boolean;
  foreign_key_table_id: number | null;
  is_hierarchy: boolean;
  valid_values: string | null;
  description: string | null;
};

/**
 * The column that results from changing `before` (undefined: a new one) as given, and every rule
 * that it breaks. It stays a hierarchy only while it refers to the same table.
 */
export function resolveColumn(
  before: ColumnShape | undefined,
  given: GivenColumn,
): { column: ColumnShape; problems: Problem[] } {
  const type = given.data_type ?? before?.data_type ?? 'string';
  const { length, scale, problems } = resolveModifiers(type, before, given);
  const isKey = given.is_primary_key ?? before?.is_primary_key ?? false;
  if (isKey && type === 'json')
    problems.push({
      code: 'incompatible',
      message: "A json column can't be part of the primary key",
      field: 'is_primary_key',
    });
  const target = pick(given.foreign_key_table_id, before?.foreign_key_table_id);
  if (target !== null && type === 'json')
    problems.push({
      code: 'incompatible',
      message: "A json column can't be a foreign key",
      field: 'foreign_key_table_id',
    });
  const values =
    given.valid_values === undefined ? splitValues(before?.valid_values ?? null) : splitValues(given.valid_values);
  if (values.length > 0) problems.push(...findValueProblems(values, type, { length, scale }));
  const column: ColumnShape = {
    name: given.name ?? before?.name ?? '',
    data_type: type,
    length,
    scale,
    is_primary_key: isKey,
    is_required: isKey || (given.is_required ?? before?.is_required ?? false),
    foreign_key_table_id: target,
    is_hierarchy: given.is_hierarchy ?? (target === before?.foreign_key_table_id && before.is_hierarchy),
    valid_values: values.length > 0 ? values.join('|') : null,
    description: pick(given.description, before?.description),
  };
  return { column, problems };
}

/** The values of a list, which is an array or a text separated by `|`; each is trimmed. */
export function splitValues(values: string | string[] | null): string[] {
  if (values === null) return [];
  if (typeof values === 'string' && values.trim() === '') return [];
  return (Array.isArray(values) ? values : values.split('|')).map((value) => value.trim());
}

function pick<T>(given: T | null | undefined, before: T | null | undefined): T | null {
  return given === undefined ? (before ?? null) : given;
}

const tooLong = (message: string, maximum: number): Problem => ({
  code: 'out_of_range',
  message,
  field: 'length',
  params: { maximum },
});

type ResolvedModifiers = { length: number | null; scale: number | null; problems: Problem[] };

// Length and scale mean something else for another type, so they are kept only with the type.
function resolveModifiers(type: DataType, before: ColumnShape | undefined, given: GivenColumn): ResolvedModifiers {
  const kept = before?.data_type === type ? before : undefined;
  const length = pick(given.length, kept?.length);
  const scale = pick(given.scale, kept?.scale);
  if (type === 'decimal') return resolveDecimal(length, scale);
  const problems: Problem[] = [];
  if (scale !== null)
    problems.push({ code: 'incompatible', message: 'Scale is only for decimal columns', field: 'scale' });
  if (type === 'string') {
    if (length !== null && length > maximumStringLength)
      problems.push(tooLong(`Length must be at most ${maximumStringLength}`, maximumStringLength));
    return { length: length ?? defaultStringLength, scale: null, problems };
  }
  if (length !== null)
    problems.push({
      code: 'incompatible',
      message: 'Length is only for string and decimal columns',
      field: 'length',
    });
  return { length: null, scale: null, problems };
}

// With neither: any number, exactly. A length alone means no decimal places, as in PostgreSQL.
function resolveDecimal(length: number | null, scale: number | null): ResolvedModifiers {
  if (length === null && scale === null) return { length, scale, problems: [] };
  const precision = length ?? Math.max(defaultPrecision, Math.min(scale ?? 0, maximumPrecision));
  const problems: Problem[] = [];
  if (precision > maximumPrecision)
    problems.push(tooLong(`Length (the precision of a decimal) must be at most ${maximumPrecision}`, maximumPrecision));
  if ((scale ?? 0) > precision)
    problems.push({
      code: 'out_of_range',
      message: `Scale must be at most the length, which is ${precision}`,
      field: 'scale',
      params: { maximum: precision },
    });
  return { length: precision, scale: scale ?? 0, problems };
}
