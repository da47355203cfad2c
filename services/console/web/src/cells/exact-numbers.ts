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
 * thousands are set off by dots. What no thousands are set off in is read as programs write it:
 * `1234.50` is never a hundred times as much. Null for what is no number.
 */
export function readNumber(typed: string, signs: NumberSigns): string | null {
  const bare = typed.trim().replaceAll(' ', '').replaceAll('\u00a0', '').replaceAll('\u202f', '');
  const group = signs.group.trim();
  const [whole = '', ...fractions] = bare.split(signs.decimal);
  if (fractions.length <= 1 && (isGrouped(whole, group) || /^-?\d+$/.test(whole))) {
    const text = [group === '' ? whole : whole.replaceAll(group, ''), ...fractions].join('.');
    if (plain.test(text)) return text;
  }
  return plain.test(bare) ? bare : null;
}

/** Whether all digits but the first ones stand in groups of three. */
function isGrouped(whole: string, group: string): boolean {
  if (group === '') return false;
  const [first = '', ...rest] = whole.split(group);
  return /^-?\d{1,3}$/.test(first) && rest.every((digits) => /^\d{3}$/.test(digits));
}
