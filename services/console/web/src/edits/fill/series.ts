// How values go on: `1, 2` by `3`, `2026-01-31, 2026-02-01` by the next day, `C08, C09` by `C10`.

/** What the values of a column count as; undefined where to count means nothing. */
export type Counted = 'numbers' | 'days' | 'texts' | undefined;

const dayMs = 86_400_000;
const day = /^(\d{4})-(\d{2})-(\d{2})$/;
const decimal = /^(-?)(\d{1,60})(?:\.(\d{1,60}))?$/;
const numbered = /^(.*?)(\d{1,15})$/s;

/** A value as a whole number, and back; undefined where there is no such value. */
type Counter = { read: (value: unknown) => bigint; write: (count: bigint) => unknown };

/**
 * The next values after the given ones. Two or more that count in equal steps count on; all others
 * are repeated in their order.
 */
export function continued(values: readonly unknown[], count: number, counted: Counted): unknown[] {
  const repeated = Array.from({ length: count }, (_, place) => values[place % values.length]);
  const counter = values.length > 1 ? counterOf(values, counted) : undefined;
  if (!counter) return repeated;
  const counts = values.map(counter.read);
  const [first = 0n, second = 0n] = counts;
  const step = second - first;
  const isEven = counts.every((each, place) => each === first + step * BigInt(place));
  if (!isEven || step === 0n) return repeated;
  const next = repeated.map((_, place) => counter.write(first + step * BigInt(counts.length + place)));
  return next.includes(undefined) ? repeated : next;
}

function counterOf(values: readonly unknown[], counted: Counted): Counter | undefined {
  if (counted === 'numbers' && values.every((value) => Number.isSafeInteger(value)))
    return { read: (value) => BigInt(value as number), write: Number };
  if (!counted || !values.every((value) => typeof value === 'string')) return undefined;
  if (counted === 'days') return calendar(values);
  return counted === 'numbers' ? decimals(values) : codes(values);
}

/** Days; the same day of each month counts in months. */
function calendar(texts: readonly string[]): Counter | undefined {
  if (!texts.every((text) => day.test(text) && !Number.isNaN(Date.parse(text)))) return undefined;
  const isMonthly = texts.every((text) => text.slice(8) === texts[0]?.slice(8)) && Number(texts[0]?.slice(8)) <= 28;
  return isMonthly ? months(texts[0]?.slice(8) ?? '01') : days;
}

const days: Counter = {
  read: (value) => BigInt(Date.parse(value as string) / dayMs),
  write: (count) => new Date(Number(count) * dayMs).toISOString().slice(0, 10),
};

const months = (dayOfMonth: string): Counter => ({
  read: (value) => {
    const [, year = 0, month = 0] = day.exec(value as string) ?? [];
    return BigInt(Number(year) * 12 + Number(month) - 1);
  },
  write: (count) => {
    const [year, month] = [count / 12n, (count % 12n) + 1n].map(String);
    return `${year?.padStart(4, '0')}-${month?.padStart(2, '0')}-${dayOfMonth}`;
  },
});

/** Texts of digits, with as many behind the point as the longest has: no digit is lost. */
function decimals(texts: readonly string[]): Counter | undefined {
  if (!texts.every((text) => decimal.test(text))) return undefined;
  const scale = Math.max(...texts.map((text) => decimal.exec(text)?.[3]?.length ?? 0));
  return {
    read: (value) => {
      const [, minus = '', whole = '', fraction = ''] = decimal.exec(value as string) ?? [];
      return BigInt(`${minus}${whole}${fraction.padEnd(scale, '0')}`);
    },
    write: (count) => {
      const digits = (count < 0n ? -count : count).toString().padStart(scale + 1, '0');
      const whole = digits.slice(0, digits.length - scale);
      return `${count < 0n ? '-' : ''}${whole}${scale > 0 ? `.${digits.slice(-scale)}` : ''}`;
    },
  };
}

/** Texts that are alike but for a number at their end, which has zeros before it where one has. */
function codes(texts: readonly string[]): Counter | undefined {
  const parts = texts.map((text) => numbered.exec(text));
  const [first] = parts;
  if (!first || parts.some((part) => part?.[1] !== first[1])) return undefined;
  const numbers = parts.map((part) => part?.[2] ?? '');
  const hasZeros = numbers.some((digits) => digits.length > 1 && digits.startsWith('0'));
  const width = hasZeros ? Math.max(...numbers.map((digits) => digits.length)) : 0;
  return {
    read: (value) => BigInt(numbered.exec(value as string)?.[2] ?? 0),
    write: (count) => (count < 0n ? undefined : `${first[1]}${count.toString().padStart(width, '0')}`),
  };
}
