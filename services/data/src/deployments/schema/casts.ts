// How the values of a column become values of another type: through their text form, by the rules
// of the new type, so that a cast accepts what the API and an import would accept. Pure SQL
// expressions over a physical column.

import { quoteLiteral } from '../../sql/literals.ts';
import type { Column } from '../../tables/table.ts';
import { anyBrokenSql, type Bind } from '../../values/check.ts';
import type { IntegerType } from '../../values/integers.ts';
import { typeOf } from '../../values/value-types.ts';

export type Cast = {
  /** Whether a value (never null) has a counterpart in the new type. */
  valid: (x: string) => string;
  /** The counterpart of a valid value; null of null. */
  value: (x: string) => string;
  /** Whether a valid value loses something by the cast. */
  lossy?: (x: string) => string;
};

/** The cast between two versions of a column; undefined when the stored values stay as they are. */
export function findCast(from: Column, to: Column): Cast | undefined {
  const old = typeOf(from);
  const wanted = typeOf(to);
  const physical = wanted.physical(to);
  if (old.physical(from) === physical) return undefined;
  if (isWidening(from, to)) return { valid: () => 'true', value: (x) => x };
  if (old.family === 'text' && wanted.family === 'text') return textCast(to);
  if (old.family === 'decimal' && wanted.family === 'decimal') return decimalCast(to);
  if (wanted.family === 'json') return { valid: () => 'true', value: (x) => `to_jsonb(${x})` };
  const text = textForm(from, to);
  // DDL has no parameters, and the checks of a type need none.
  const noBind: Bind = (value) => quoteLiteral(String(value));
  const checks = wanted.checks(to);
  return {
    valid: (x) => `not (${anyBrokenSql(checks, text(x), noBind)})`,
    value: (x) => `${text(x)}::${wanted.base}`,
    lossy: lossSql(from, to, text),
  };
}

/** Whether every value stays as it is, so that rules that held before still hold. */
export function keepsValues(from: Column, to: Column): boolean {
  return typeOf(from).physical(from) === typeOf(to).physical(to) || isWidening(from, to);
}

// PostgreSQL reads no row to make texts longer or decimals wider, as long as nothing is computed
// from the value.
function isWidening(from: Column, to: Column): boolean {
  const { family } = typeOf(from);
  if (family !== typeOf(to).family) return false;
  if (family === 'text') return lengthOf(from) <= lengthOf(to);
  if (family === 'integer') return bytes[from.data_type as IntegerType] <= bytes[to.data_type as IntegerType];
  if (family !== 'decimal') return false;
  const [was, will] = [digitsOf(from), digitsOf(to)];
  return was.whole <= will.whole && was.fraction <= will.fraction;
}

const lengthOf = ({ data_type, length }: Column) => (data_type === 'string' && length !== null ? length : Infinity);

const bytes: Record<IntegerType, number> = { smallint: 2, integer: 4, bigint: 8 };

function digitsOf({ length, scale }: Column): { whole: number; fraction: number } {
  if (length === null && scale === null) return { whole: Infinity, fraction: Infinity };
  return { whole: (length ?? 1000) - (scale ?? 0), fraction: scale ?? 0 };
}

function textCast({ length }: Column): Cast {
  return { valid: () => 'true', value: (x) => `left(${x}, ${length})`, lossy: (x) => `char_length(${x}) > ${length}` };
}

function decimalCast(to: Column): Cast {
  const { whole, fraction } = digitsOf(to);
  return {
    valid: (x) => `abs(round(${x}, ${fraction})) < 10::numeric ^ ${whole}`,
    value: (x) => `round(${x}, ${fraction})`,
    lossy: (x) => `scale(trim_scale(${x})) > ${fraction}`,
  };
}

/** The text form of a value that the rules of the new type read. */
function textForm(from: Column, to: Column): (x: string) => string {
  const old = typeOf(from).family;
  const wanted = typeOf(to).family;
  if (old === 'date' && wanted === 'instant') return (x) => `(${x}::text || 'T00:00:00Z')`;
  if (old === 'instant' && wanted === 'date') return (x) => `left(${typeOf(from).textSql(x)}, 10)`;
  const number = wanted === 'integer' || wanted === 'decimal';
  if (number && old === 'decimal') return (x) => `(trim_scale(${x})::text)`;
  if (number && (old === 'real' || old === 'double')) return (x) => `(trim_scale(${x}::text::numeric)::text)`;
  return (x) => `(${typeOf(from).textSql(x)})`;
}

function lossSql(from: Column, to: Column, text: (x: string) => string): Cast['lossy'] {
  const old = typeOf(from).family;
  const wanted = typeOf(to).family;
  if (old === 'instant' && wanted === 'date') return (x) => `right(${typeOf(from).textSql(x)}, 14) <> 'T00:00:00.000Z'`;
  if (wanted === 'real' || wanted === 'double') {
    if (old !== 'integer' && old !== 'decimal' && old !== 'double' && old !== 'real') return undefined;
    const base = typeOf(to).base;
    return (x) => `${text(x)}::${base}::text::numeric <> ${text(x)}::numeric`;
  }
  return undefined;
}
