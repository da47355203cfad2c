// The casts of values between types, in plain JavaScript: through their text, by the rules of the
// new type.
import { canonicalInstant, canonicalTime } from '../../src/values/dates.ts';
import { canonicalInteger } from '../../src/values/integers.ts';
import { type DataType, typeOf } from '../../src/values/value-types.ts';

export type Type = { data_type: DataType; length?: number; scale?: number };

/** `to`: the value as it is stored afterwards; undefined: it can't be cast. */
export type Became = { to: string | undefined | null; isShortened?: boolean };

/** Takes a value as it is stored, never null. */
export function cast(value: string, from: Type, wish: Type): Became {
  const [old, wanted] = [typeOf(from).family, typeOf(wish).family];
  if (old === 'text' && wanted === 'text') return cutText(value, wish.data_type === 'string' ? wish.length : undefined);
  if (old === 'decimal' && wanted === 'decimal') return round(value, wish);
  let text = value;
  if (old === 'date' && wanted === 'instant') text = `${value}T00:00:00Z`;
  if (old === 'instant' && wanted === 'date') text = value.slice(0, 10);
  if (old === 'decimal' && wanted === 'integer') text = value.replace(/\.0*$/, '').replace(/(\.\d*?)0+$/, '$1');
  const shape = { data_type: wish.data_type, length: wish.length ?? null, scale: wish.scale ?? null };
  if (
    typeOf(wish)
      .checks(shape)
      .some((check) => check.brokenBy(text))
  )
    return { to: undefined };
  return {
    to: store(text, wish),
    isShortened: old === 'instant' && wanted === 'date' && !value.endsWith('T00:00:00.000Z'),
  };
}

function cutText(value: string, length: number | undefined): Became {
  const points = [...value];
  const isShortened = length !== undefined && points.length > length;
  return { to: isShortened ? points.slice(0, length).join('') : value, isShortened };
}

/** As PostgreSQL writes the value of a text that passed the checks. */
function store(text: string, type: Type): string {
  switch (typeOf(type).family) {
    case 'integer':
      return canonicalInteger(text);
    case 'decimal':
      return writeDecimal(readDecimal(text), type);
    case 'instant':
      return canonicalInstant(text);
    case 'time':
      return canonicalTime(text);
    case 'boolean':
    case 'uuid':
      return text.toLowerCase();
    default:
      return text;
  }
}

/** A whole number of units of 10^-fraction. */
type Decimal = { units: bigint; fraction: number };

function readDecimal(text: string): Decimal {
  const [whole = '', decimals = ''] = text.replace('-', '').split('.');
  const units = BigInt(`${whole}${decimals}`);
  return { units: text.startsWith('-') ? -units : units, fraction: decimals.length };
}

const scaleOf = ({ length, scale }: Type) => (length === undefined && scale === undefined ? undefined : (scale ?? 0));

// At a fixed scale all its digits are written, else as many as were given.
function writeDecimal({ units, fraction }: Decimal, type: Type): string {
  const scale = scaleOf(type) ?? fraction;
  const scaled = scale >= fraction ? units * 10n ** BigInt(scale - fraction) : units / 10n ** BigInt(fraction - scale);
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(scale + 1, '0');
  const point = digits.length - scale;
  return `${scaled < 0n ? '-' : ''}${digits.slice(0, point)}${scale > 0 ? `.${digits.slice(point)}` : ''}`;
}

/** Rounds half away from zero. */
function round(value: string, wish: Type): Became {
  const { units, fraction } = readDecimal(value);
  const scale = scaleOf(wish);
  if (scale === undefined) return { to: value };
  if (scale >= fraction) return fit({ units, fraction }, wish, false);
  const step = 10n ** BigInt(fraction - scale);
  const size = units < 0n ? -units : units;
  const rounded = (size + step / 2n) / step;
  return fit({ units: units < 0n ? -rounded : rounded, fraction: scale }, wish, size % step !== 0n);
}

function fit(decimal: Decimal, wish: Type, isShortened: boolean): Became {
  const { units, fraction } = decimal;
  const whole = (wish.length ?? 1000) - (wish.scale ?? 0);
  const size = units < 0n ? -units : units;
  if (size >= 10n ** BigInt(whole + fraction)) return { to: undefined };
  return { to: writeDecimal(decimal, wish), isShortened };
}
