// What numbers look like in a sample: which decimal separator the values prove. Pure.

export type Separator = '.' | ',';

// Whole parts in groups of three or in none; a zero in front is no number's.
const forms: Record<Separator, RegExp> = {
  '.': /^[+-]?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:[,'\u00a0\u202f ]\d{3})+)(?:\.\d+)?$/,
  ',': /^[+-]?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:[.'\u00a0\u202f ]\d{3})+)(?:,\d+)?$/,
};
const grouped = /[,.'\u00a0\u202f ]\d{3}(?:[,.'\u00a0\u202f ]|$)/;

export type Numbers = {
  /** `none`: whole numbers without groups; `either`: 1,234 could be both. */
  separator: Separator | 'either' | 'none';
  /** Whether whole parts are in groups, when the separator is a point. */
  isGrouped: boolean;
};

/** Undefined when the texts are not all numbers that one separator reads. */
export function readNumbers(texts: readonly string[]): Numbers | undefined {
  if (texts.length === 0) return undefined;
  const fits = (separator: Separator) => texts.every((text) => forms[separator].test(text));
  const [point, comma] = [fits('.'), fits(',')];
  if (!point && !comma) return undefined;
  const isGrouped = texts.some((text) => grouped.test(text) && !/^[+-]?\d+\.\d+$/.test(text));
  if (point !== comma) return { separator: point ? '.' : ',', isGrouped };
  return { separator: texts.some((text) => /[.,]/.test(text)) ? 'either' : 'none', isGrouped };
}

/** How many digits a number has before and after its separator. */
export function digitsOf(text: string, separator: Separator): { whole: number; fraction: number } {
  const [whole = '', fraction = ''] = text.replaceAll(/[^\d.,]/g, '').split(separator);
  return { whole: whole.replaceAll(/\D/g, '').length, fraction: fraction.length };
}
