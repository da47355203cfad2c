// The values of Parquet columns as exact text: decimals with all digits, timestamps with all
// fractions, bytes decoded. Pure.
import { plainNumber } from '@almanac/service-kit/api/plain-number';
import type { SchemaElement, TimeUnit } from 'hyparquet';
import { parseFloat16 } from 'hyparquet/src/convert.js';

/** Undefined: the value has no text. Null is handled before. */
export type ToText = (value: unknown, dataType: string) => string | undefined;

const secondUnits = { MILLIS: 1000n, MICROS: 1_000_000n, NANOS: 1_000_000_000n } satisfies Record<TimeUnit, bigint>;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The conversion for the values of a column; undefined when its type has no text. */
export function toTextOf(element: SchemaElement): ToText | undefined {
  const { type, converted_type: converted, logical_type: logical } = element;
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') {
    const scale = element.scale ?? (logical?.type === 'DECIMAL' ? logical.scale : 0);
    return (value) => decimalText(wholeOf(value), scale);
  }
  switch (type) {
    case 'BOOLEAN':
      return String;
    case 'FLOAT':
      return (value) => numberText(shortestSingle(value as number));
    case 'DOUBLE':
      return (value) => numberText(value as number);
    case 'INT96':
      return (value, dataType) => timestampText(value as bigint, 'NANOS', dataType);
    case 'INT32':
    case 'INT64':
      return integerText(element);
    case 'BYTE_ARRAY':
      if (converted === 'BSON' || logical?.type === 'BSON' || isShape(logical?.type)) return undefined;
      return textOf;
    case 'FIXED_LEN_BYTE_ARRAY':
      if (logical?.type === 'UUID') return (value) => uuidText(value as Uint8Array);
      if (logical?.type === 'FLOAT16') return (value) => numberText(parseFloat16(value as Uint8Array) as number);
      return converted === 'INTERVAL' || logical !== undefined ? undefined : textOf;
    default:
      return undefined;
  }
}

const isShape = (type: string | undefined) => type === 'GEOMETRY' || type === 'GEOGRAPHY' || type === 'VARIANT';

function integerText({ type, converted_type: converted, logical_type: logical }: SchemaElement): ToText {
  if (converted === 'DATE' || logical?.type === 'DATE') return (value) => dayText(Number(value));
  const unit =
    logical?.type === 'TIME' || logical?.type === 'TIMESTAMP'
      ? logical.unit
      : converted?.endsWith('_MICROS')
        ? 'MICROS'
        : 'MILLIS';
  if (logical?.type === 'TIME' || converted?.startsWith('TIME_')) return (value) => clockText(wholeOf(value), unit);
  if (logical?.type === 'TIMESTAMP' || converted?.startsWith('TIMESTAMP_'))
    return (value, dataType) => timestampText(wholeOf(value), unit, dataType);
  const unsigned = converted?.startsWith('UINT_') || (logical?.type === 'INTEGER' && !logical.isSigned);
  const bits = type === 'INT32' ? 32 : 64;
  return (value) => (unsigned ? BigInt.asUintN(bits, wholeOf(value)) : wholeOf(value)).toString();
}

// Big-endian two's complement, where it isn't a number already.
function wholeOf(value: unknown): bigint {
  if (!(value instanceof Uint8Array)) return BigInt(value as number | bigint);
  let whole = 0n;
  for (const byte of value) whole = (whole << 8n) | BigInt(byte);
  return BigInt.asIntN(value.length * 8, whole);
}

function decimalText(whole: bigint, scale: number): string {
  if (scale <= 0) return (whole * 10n ** BigInt(-scale)).toString();
  const digits = (whole < 0n ? -whole : whole).toString().padStart(scale + 1, '0');
  return `${whole < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

const numberText = (value: number) => (Number.isFinite(value) ? plainNumber(value) : String(value));

// The shortest text that is the same number in 32 bits.
function shortestSingle(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

function textOf(value: unknown): string | undefined {
  try {
    return utf8.decode(value as Uint8Array);
  } catch {
    return undefined;
  }
}

function uuidText(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function dayText(days: number): string | undefined {
  const moment = new Date(days * 86_400_000);
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString().replace(/T.*/, '');
}

function clockText(time: bigint, unit: TimeUnit): string | undefined {
  const second = secondUnits[unit];
  if (time < 0n || time >= 86_400n * second) return undefined;
  const at = new Date(Number(time / second) * 1000).toISOString().slice(11, 19);
  return at + fractionText(time % second, unit, 0);
}

function timestampText(time: bigint, unit: TimeUnit, dataType: string): string | undefined {
  const second = secondUnits[unit];
  const fraction = ((time % second) + second) % second;
  const moment = new Date(Number((time - fraction) / second) * 1000);
  if (Number.isNaN(moment.getTime())) return undefined;
  const [date = '', clock = ''] = moment.toISOString().slice(0, -5).split('T');
  if (dataType === 'date' && clock === '00:00:00' && fraction === 0n) return date;
  return `${date}T${clock}${fractionText(fraction, unit, 3)}Z`;
}

// Trailing zeros are dropped, down to the least number of digits.
function fractionText(fraction: bigint, unit: TimeUnit, least: number): string {
  const digits = fraction.toString().padStart({ MILLIS: 3, MICROS: 6, NANOS: 9 }[unit], '0');
  let end = digits.length;
  while (end > least && digits[end - 1] === '0') end -= 1;
  return end === 0 ? '' : `.${digits.slice(0, end)}`;
}
