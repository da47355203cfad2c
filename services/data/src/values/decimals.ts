// Decimals, exact: more places than the scale are refused, never rounded. Trailing zeros don't
// count.
import { brokenUnlessSql, type Check, matchesSql } from './check.ts';

const source = '-?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)';
const pattern = new RegExp(`^${source}$`);
const maxLength = 1000;
/** The JSON text of a decimal is no longer: all places of its scale, a sign, a point and quotes. */
export const maxDecimalJsonBytes = 2 * maxLength + 4;

/** numeric(precision, scale); without a precision up to a thousand digits. */
export type DecimalShape = { precision: number | null; scale: number | null };

/** The type of PostgreSQL. */
export function decimalType({ precision, scale }: DecimalShape): string {
  if (precision === null && scale === null) return 'numeric';
  return `numeric(${precision ?? 1000},${scale ?? 0})`;
}

/** The rules of a decimal of this precision and scale. */
export function decimalChecks(shape: DecimalShape): Check[] {
  const form: Check = {
    code: 'wrong_format',
    message: 'must be a decimal number',
    messageIn: (form) => `must be a decimal number, ${form}`,
    brokenBy: (text) => text.length > maxLength || !pattern.test(text),
    brokenSql: (x) =>
      brokenUnlessSql(
        x,
        'numeric',
        `length(${x}) <= ${maxLength} and (right(${x}, 1) < ':' collate "C" and ${x}::numeric::text = ${x} or ${matchesSql(x, source)})`,
      ),
  };
  if (shape.precision === null && shape.scale === null) return [form];
  const scale = shape.scale ?? 0;
  const whole = (shape.precision ?? 1000) - scale;
  return [
    form,
    {
      code: 'out_of_range',
      params: { scale },
      message: scale === 0 ? 'must have no decimal places' : `must have at most ${scale} decimal places`,
      brokenBy: (text) => (text.split('.')[1] ?? '').replace(/0+$/, '').length > scale,
      brokenSql: (x) =>
        `(length(split_part(${x}, '.', 2)) > ${scale} and length(rtrim(split_part(${x}, '.', 2), '0')) > ${scale})`,
    },
    {
      code: 'out_of_range',
      params: { whole_digits: whole },
      message: `must have at most ${whole} digits before the decimal point`,
      brokenBy: (text) => ((text.split('.')[0] as string).replace('-', '').replace(/^0+/, '') || '').length > whole,
      brokenSql: (x) => `not pg_input_is_valid(${x}, '${decimalType(shape)}')`,
    },
  ];
}

/** The canonical text of a decimal; equal numbers have equal texts. */
export function canonicalDecimal(text: string): string {
  const negative = text.startsWith('-');
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const left = whole.replace(/^0+/, '') || '0';
  const right = fraction.replace(/0+$/, '');
  const digits = right === '' ? left : `${left}.${right}`;
  return negative && digits !== '0' ? `-${digits}` : digits;
}
