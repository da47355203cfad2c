// The data types of columns, and the check of lists of valid values against them.
import type { Problem, ProblemCode } from '@almanac/service-kit/problems';

export const dataTypes = [
  'string',
  'text',
  'integer',
  'bigint',
  'smallint',
  'decimal',
  'real',
  'double',
  'boolean',
  'date',
  'time',
  'datetime',
  'timestamptz',
  'uuid',
  'json',
] as const;
export type DataType = (typeof dataTypes)[number];

/** Other names that requests may use for a type; answers always have the type's own. */
export const dataTypeAliases = {
  varchar: 'string',
  character: 'string',
  timestamp: 'datetime',
} as const satisfies Record<string, DataType>;

/** The type modifiers of a column. */
type Modifiers = { length: number | null; scale: number | null };
/**
 * A value in its canonical form, in which equal values are equal texts; undefined when the text is
 * no value of the type.
 */
type Canonical = (text: string, modifiers: Modifiers) => string | undefined;

const integerWithin =
  (bits: bigint): Canonical =>
  (text) => {
    if (!/^[+-]?\d{1,19}$/.test(text)) return undefined;
    const value = BigInt(text.replace('+', ''));
    const bound = 2n ** (bits - 1n);
    return value >= -bound && value < bound ? String(value) : undefined;
  };

const decimal: Canonical = (text, { length, scale }) => {
  const match = /^([+-]?)0*(\d{1,1000})(?:\.(\d{1,1000}))?$/.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = ''] = match;
  const wholeDigits = whole === '0' ? '' : whole;
  const places = fraction.replace(/0+$/, '');
  if (length !== null && (places.length > (scale ?? 0) || wholeDigits.length > length - (scale ?? 0))) return undefined;
  const digits = `${wholeDigits || '0'}${places && `.${places}`}`;
  return sign === '-' && /[1-9]/.test(digits) ? `-${digits}` : digits;
};

const float: Canonical = (text) =>
  /^[+-]?\d{1,400}(\.\d{1,400})?([eE][+-]?\d{1,3})?$/.test(text) && Number.isFinite(Number(text))
    ? String(Number(text))
    : undefined;

const date: Canonical = (text) => {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text.startsWith('0000')) return undefined;
  const time = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text) ? text : undefined;
};

const uuid: Canonical = (text) =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text) ? text.toLowerCase() : undefined;

const listable: Partial<Record<DataType, Canonical>> = {
  string: (text, { length }) => (length === null || [...text].length <= length ? text : undefined),
  text: (text) => text,
  smallint: integerWithin(16n),
  integer: integerWithin(32n),
  bigint: integerWithin(64n),
  decimal,
  real: float,
  double: float,
  date,
  uuid,
};

const maxListBytes = 65_536;

const ofValues = (code: ProblemCode, message: string, params?: Problem['params']): Problem => ({
  code,
  message,
  field: 'valid_values',
  ...(params && { params }),
});

/** The problems of a list of valid values for a column of this type. */
export function findValueProblems(values: string[], type: DataType, modifiers: Modifiers): Problem[] {
  const canonical = listable[type];
  if (!canonical) return [ofValues('incompatible', `Valid values can't be given for a ${type} column`)];
  if (Buffer.byteLength(values.join('|')) > maxListBytes)
    return [
      ofValues('too_long', `Valid values is too long (maximum is ${maxListBytes} bytes)`, { maximum: maxListBytes }),
    ];
  if (values.includes('')) return [ofValues('blank', "Valid values can't hold an empty value")];
  if (values.some((value) => value.includes('|')))
    return [ofValues('wrong_format', "Valid values can't hold the character |")];
  const problems: Problem[] = [];
  const forms = new Set<string>();
  for (const value of values) {
    const form = canonical(value, modifiers);
    if (form === undefined)
      problems.push(
        ofValues('wrong_format', `Valid values holds ${quote(value)}, which is no ${describe(type, modifiers)}`),
      );
    else if (forms.has(form)) problems.push(ofValues('given_twice', `Valid values holds ${quote(value)} twice`));
    else forms.add(form);
    if (problems.length === 10) break;
  }
  return problems;
}

const quote = (value: string) => JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);

function describe(type: DataType, { length, scale }: Modifiers): string {
  if (length === null) return type;
  return type === 'decimal' ? `decimal(${length}, ${scale ?? 0})` : `${type} of at most ${length} characters`;
}
