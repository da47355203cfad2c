// Recognises dates in a sample: the order of day and month that values prove, and the patterns that
// read them. Pure.

export type DateKind = 'date' | 'datetime' | 'timestamptz' | 'time';

export type Dates = {
  kind: DateKind;
  /**
   * Whether the day or the month comes first; `either`: both readings are possible; `none`: there
   * is no such order.
   */
  order: 'DMY' | 'MDY' | 'either' | 'none';
  /** Whether the date style alone reads them, without a pattern. */
  isReadByStyle: boolean;
  /** The pattern for an order; null: ISO dates, which need none. */
  format: (order: 'DMY' | 'MDY') => string | null;
};

const clock = '(?:[01]?\\d|2[0-3]):[0-5]\\d';
const iso = '\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])';
const months = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const fullMonths = '(?:January|February|March|April|May|June|July|August|September|October|November|December)';

const isoForms: [RegExp, DateKind][] = [
  [new RegExp(`^${iso}$`), 'date'],
  [new RegExp(`^${iso}[T ](?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,3})?)?$`), 'datetime'],
  [
    new RegExp(`^${iso}[T ](?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,3})?)?(?:Z|[+-]\\d{2}(?::?\\d{2})?)$`),
    'timestamptz',
  ],
  [/^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?$/, 'time'],
];

const patternForms: [RegExp, string][] = [
  [/^\d{4}\/\d{1,2}\/\d{1,2}$/, 'YYYY/MM/DD'],
  [/^\d{4}\.\d{1,2}\.\d{1,2}$/, 'YYYY.MM.DD'],
  [new RegExp(`^\\d{1,2}-${months}-\\d{4}$`, 'i'), 'DD-MON-YYYY'],
  [new RegExp(`^\\d{1,2} ${months} \\d{4}$`, 'i'), 'DD MON YYYY'],
  [new RegExp(`^${months} \\d{1,2}, \\d{4}$`, 'i'), 'MON DD, YYYY'],
  [new RegExp(`^\\d{1,2} ${fullMonths} \\d{4}$`, 'i'), 'DD MONTH YYYY'],
  [new RegExp(`^${fullMonths} \\d{1,2}, \\d{4}$`, 'i'), 'MONTH DD, YYYY'],
];

/** Undefined when a text is no date or time, or the texts differ in form. */
export function readDates(texts: readonly string[]): Dates | undefined {
  if (texts.length === 0) return undefined;
  const all = (pattern: RegExp) => texts.every((text) => pattern.test(text));
  const known = isoForms.find(([pattern]) => all(pattern));
  if (known) return { kind: known[1], order: 'none', isReadByStyle: false, format: () => null };
  const pattern = patternForms.find(([each]) => all(each));
  if (pattern) return { kind: 'date', order: 'none', isReadByStyle: false, format: () => pattern[1] };
  return readNumericDates(texts);
}

const numericDate = new RegExp(
  `^(\\d{1,2})([/.-])(\\d{1,2})\\2(\\d{4}|\\d{2})(?:([ T])(${clock})(:[0-5]\\d)?( ?[ap]m)?)?$`,
  'i',
);

type Form = { separator: string; year: string; time: string };

function readNumericDates(texts: readonly string[]): Dates | undefined {
  let form: (Form & { text: string }) | undefined;
  const most = [0, 0];
  for (const text of texts) {
    const found = numericDate.exec(text);
    if (!found) return undefined;
    const [, first, separator, second, years, gap, hours, seconds, half] = found as unknown as string[];
    const own = formOf({ separator, years, gap, hours, seconds, half });
    form ??= own;
    if (form.text !== own.text || Number(first) === 0 || Number(second) === 0) return undefined;
    most[0] = Math.max(most[0] as number, Number(first));
    most[1] = Math.max(most[1] as number, Number(second));
  }
  const [first, second] = most as [number, number];
  const [canBeDayFirst, canBeMonthFirst] = [first <= 31 && second <= 12, first <= 12 && second <= 31];
  if (!form || (!canBeDayFirst && !canBeMonthFirst)) return undefined;
  const { separator, year, time } = form;
  return {
    kind: time === '' ? 'date' : 'datetime',
    order: canBeDayFirst && canBeMonthFirst ? 'either' : canBeDayFirst ? 'DMY' : 'MDY',
    isReadByStyle: year === 'YYYY' && time === '',
    format: (order) => `${[...orders[order], year].join(separator)}${time}`,
  };
}

const orders = { DMY: ['DD', 'MM'], MDY: ['MM', 'DD'] };

function formOf(found: Partial<Record<string, string>>): Form & { text: string } {
  const { separator = '', years = '', gap = '', hours, seconds, half } = found;
  const year = years.length === 4 ? 'YYYY' : 'YY';
  const meridiem = half === undefined ? '' : half.startsWith(' ') ? ' AM' : 'AM';
  const time =
    hours === undefined ? '' : `${gap}${half ? 'HH12' : 'HH24'}:MI${seconds === undefined ? '' : ':SS'}${meridiem}`;
  return { separator, year, time, text: [separator, year, time].join('|') };
}

/** The pattern that a column needs besides the file's date style; null: none, or unknown. */
export function formatIn(dates: Dates, style: 'DMY' | 'MDY' | undefined): string | null {
  if (dates.order === 'none') return dates.format('DMY');
  const order = dates.order === 'either' ? style : dates.order;
  return order === undefined || (dates.isReadByStyle && order === style) ? null : dates.format(order);
}
