// Recognises numbers in a sample: the decimal separator that values prove. Pure.

export type Separator = '.' | ',';

// Digits in groups of three or ungrouped; a number has no leading zero.
const forms: Record<Separator, RegExp> = {
  '.': /^[+-]?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:[,'\u00a0\u202f ]\d{3})+)(?:\.\d+)?$/,
  ',': /^[+-]?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:[.'\u00a0\u202f ]\d{3})+)(?:,\d+)?$/,
};
const grouped = /[,.'\u00a0\u202f ]\d{3}(?:[,.'\u00a0\u202f ]|$)/;

export type Numbers = {
  /** `none`: whole numbers without groups; `either`: 1,234 could be both. */
  separator: Separator | 'either' | 'none';
  /** Whether whole parts are grouped, when the separator is a point. */
  isGrouped: boolean;
};

/** Undefined unless one separator reads all of the texts as numbers. */
export function readNumbers(texts: readonly string[]): Numbers | undefined {
  if (texts.length === 0) return undefined;
  const fits = (separator: Separator) => texts.every((text) => forms[separator].test(text));
  const [point, comma] = [fits('.'), fits(',')];
  if (!point && !comma) return undefined;
  const isGrouped = texts.some((text) => grouped.test(text) && !/^[+-]?\d+\.\d+$/.test(text));
  if (point !== comma) return { separator: point ? '.' : ',', isGrouped };
  return { separator: texts.some((text) => /[.,]/.test(text)) ? 'either' : 'none', isGrouped };
}

/** The number of digits before and after the separator. */
export function digitsOf(text: string, separator: Separator): { whole: number; fraction: number } {
  const [whole = '', fraction = ''] = text.replaceAll(/[^\d.,]/g, '').split(separator);
  return { whole: whole.replaceAll(/\D/g, '').length, fraction: fraction.length };
}
