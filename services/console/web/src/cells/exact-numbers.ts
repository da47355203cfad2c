// Numbers as the API sends them: decimals and bigints are texts of digits, so that none is rounded.
// They are laid out here without ever becoming a number of JavaScript.

const plain = /^(-?)(\d+)(\.\d+)?$/;

export type NumberSigns = { group: string; decimal: string };

/** The signs that a language puts into numbers. */
export function numberSigns(locale: string): NumberSigns {
  const parts = new Intl.NumberFormat(locale).formatToParts(12_345_678.5);
  const sign = (type: string) => parts.find((part) => part.type === type)?.value;
  return { group: sign('group') ?? '', decimal: sign('decimal') ?? '.' };
}

/** `5968.00` as `5,968.00`: all digits stay. What is no plain number is returned as it is. */
export function layOutNumber(text: string, { group, decimal }: NumberSigns): string {
  const [, minus = '', whole = '', fraction = ''] = plain.exec(text) ?? [];
  if (whole === '') return text;
  return `${minus}${whole.replace(/\B(?=(\d{3})+$)/g, group)}${fraction.replace('.', decimal)}`;
}

/**
 * A typed number as the API takes it, with all its digits: `1.234,50` becomes `1234.50` where
 * thousands are set off by dots. Null for what is no number.
 */
export function readNumber(typed: string, { group, decimal }: NumberSigns): string | null {
  const bare = typed.trim().replaceAll(' ', '').replaceAll('\u00a0', '').replaceAll('\u202f', '');
  const grouped = group.trim() === '' ? bare : bare.replaceAll(group, '');
  const text = decimal === '.' ? grouped : grouped.replace(decimal, '.');
  return plain.test(text) ? text : null;
}
