// Decimals, exact: what doesn't fit the scale is refused, never rounded. Zeros at the end don't count.
import { brokenUnlessSql, type Check, matchesSql } from './check.ts';

const source = '-?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)';
const pattern = new RegExp(`^${source}$`);
const longest = 1000;
/** Of the JSON text of a decimal: with all places of its scale, a sign, a point and quotes. */
export const longestDecimal = 2 * longest + 4;

/** numeric(precision, scale); no precision: as many digits as a thousand. */
export type DecimalShape = { precision: number | null; scale: number | null };

export function decimalType({ precision, scale }: DecimalShape): string {
  if (precision === null && scale === null) return 'numeric';
  return `numeric(${precision ?? 1000},${scale ?? 0})`;
}

export function decimalChecks(shape: DecimalShape): Check[] {
  const form: Check = {
    message: 'must be a decimal number',
    messageIn: (form) => `must be a decimal number, ${form}`,
    brokenBy: (text) => text.length > longest || !pattern.test(text),
    brokenSql: (x) =>
      brokenUnlessSql(
        x,
        'numeric',
        `length(${x}) <= ${longest} and (right(${x}, 1) < ':' collate "C" and ${x}::numeric::text = ${x} or ${matchesSql(x, source)})`,
      ),
  };
  if (shape.precision === null && shape.scale === null) return [form];
  const scale = shape.scale ?? 0;
  const whole = (shape.precision ?? 1000) - scale;
  return [
    form,
    {
      message: scale === 0 ? 'must have no decimal places' : `must have at most ${scale} decimal places`,
      brokenBy: (text) => (text.split('.')[1] ?? '').replace(/0+$/, '').length > scale,
      brokenSql: (x) =>
        `(length(split_part(${x}, '.', 2)) > ${scale} and length(rtrim(split_part(${x}, '.', 2), '0')) > ${scale})`,
    },
    {
      message: `must have at most ${whole} digits before the decimal point`,
      brokenBy: (text) => ((text.split('.')[0] as string).replace('-', '').replace(/^0+/, '') || '').length > whole,
      brokenSql: (x) => `not pg_input_is_valid(${x}, '${decimalType(shape)}')`,
    },
  ];
}

/** The one way to write a decimal, for comparing. */
export function canonicalDecimal(text: string): string {
  const negative = text.startsWith('-');
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const left = whole.replace(/^0+/, '') || '0';
  const right = fraction.replace(/0+$/, '');
  const digits = right === '' ? left : `${left}.${right}`;
  return negative && digits !== '0' ? `-${digits}` : digits;
}
