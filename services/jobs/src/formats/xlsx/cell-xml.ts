// The cells of a written workbook as XML: numbers, dates and booleans in native form, anything else
// as text. Pure.
import { cellStyles } from './workbook-parts.ts';

/** The XML after `<c r="A1"`: the other attributes, and the value. */
export type CellWriter = (text: string) => string;

export const textCell: CellWriter = (text) => ` t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is>`;
const numberCell: CellWriter = (text) => `><v>${text}</v>`;

// Spreadsheet programs keep fifteen digits of a number.
const exactNumberCell: CellWriter = (text) =>
  text.replace(/^-?0*|\./g, '').length <= 15 ? numberCell(text) : textCell(text);

// Programs disagree on the numbers of days before March 1900.
const dayCell =
  (style: number): CellWriter =>
  (text) => {
    const days = Date.parse(text) / 86_400_000 + 25_569;
    return days >= 61 ? ` s="${style}"><v>${days}</v>` : textCell(text);
  };

const byType: Record<string, CellWriter> = {
  smallint: numberCell,
  integer: numberCell,
  bigint: exactNumberCell,
  decimal: exactNumberCell,
  real: numberCell,
  double: numberCell,
  boolean: (text) => ` t="b"><v>${text === 'true' ? 1 : 0}</v>`,
  date: dayCell(cellStyles.date),
  datetime: dayCell(cellStyles.dateTime),
  timestamptz: dayCell(cellStyles.dateTime),
};

/** The writer for a type; text for any type not listed above. */
export const cellWriterOf = (dataType: string): CellWriter => byType[dataType] ?? textCell;

/** Characters that XML cannot hold or would change become _xHHHH_; so does text of that form. */
export const escaped = (text: string) =>
  text
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are meant
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, (character) => {
      const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
      return `_x${code}_`;
    })
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;');
