// How values go on: `1, 2` by `3`, `2026-01-31, 2026-02-01` by the next day, `C08, C09` by `C10`.

const dayMs = 86_400_000;
const day = /^\d{4}-\d{2}-\d{2}$/;
const decimal = /^(-?)(\d{1,60})(?:\.(\d{1,60}))?$/;
const counted = /^(.*?\D)(\d{1,15})$/s;

/** A kind of values that count: a value as a whole number, and back. */
type Counter = { read: (value: unknown) => bigint; write: (count: bigint) => unknown };

/**
 * The next values after the given ones. Two or more that count in equal steps count on; all others
 * are repeated in their order.
 */
export function continued(values: readonly unknown[], count: number): unknown[] {
  const counter = values.length > 1 ? counterOf(values) : undefined;
  const counts = counter ? values.map(counter.read) : [];
  const step = (counts[1] ?? 0n) - (counts[0] ?? 0n);
  const isEven = counts.every((each, place) => place === 0 || each - (counts[place - 1] as bigint) === step);
  const last = counts.at(-1);
  if (!counter || last === undefined || !isEven || step === 0n)
    return Array.from({ length: count }, (_, place) => values[place % values.length]);
  return Array.from({ length: count }, (_, place) => counter.write(last + step * BigInt(place + 1)));
}

function counterOf(values: readonly unknown[]): Counter | undefined {
  if (values.every((value) => Number.isSafeInteger(value)))
    return { read: (value) => BigInt(value as number), write: Number };
  if (!values.every((value) => typeof value === 'string')) return undefined;
  const texts = values as string[];
  if (texts.every((text) => day.test(text) && !Number.isNaN(Date.parse(text)))) return days;
  if (texts.every((text) => decimal.test(text))) return decimals(texts);
  return numbered(texts);
}

const days: Counter = {
  read: (value) => BigInt(Date.parse(value as string) / dayMs),
  write: (count) => new Date(Number(count) * dayMs).toISOString().slice(0, 10),
};

/** Texts of digits, with as many behind the point as the longest has: no digit is lost. */
function decimals(texts: readonly string[]): Counter | undefined {
  const scale = Math.max(...texts.map((text) => decimal.exec(text)?.[3]?.length ?? 0));
  // `007` is a code: it goes on with its zeros.
  const width = texts.every((text) => /^0\d/.test(text) && text.length === texts[0]?.length) ? texts[0]?.length : 0;
  return {
    read: (value) => {
      const [, minus = '', whole = '', fraction = ''] = decimal.exec(value as string) ?? [];
      return BigInt(`${minus}${whole}${fraction.padEnd(scale, '0')}`);
    },
    write: (count) => {
      const digits = (count < 0n ? -count : count).toString().padStart(Math.max(scale + 1, width ?? 0), '0');
      const whole = digits.slice(0, digits.length - scale);
      return `${count < 0n ? '-' : ''}${whole}${scale > 0 ? `.${digits.slice(-scale)}` : ''}`;
    },
  };
}

/** Texts that are alike but for a number at their end. */
function numbered(texts: readonly string[]): Counter | undefined {
  const parts = texts.map((text) => counted.exec(text));
  const [first] = parts;
  if (!first || parts.some((part) => part?.[1] !== first[1])) return undefined;
  const width = first[2]?.startsWith('0') ? first[2].length : 0;
  return {
    read: (value) => BigInt(counted.exec(value as string)?.[2] ?? 0),
    write: (count) => `${first[1]}${(count < 0n ? 0n : count).toString().padStart(width, '0')}`,
  };
}
