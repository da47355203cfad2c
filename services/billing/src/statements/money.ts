// Money without floats: an amount is a whole number of the currency's smallest unit, a price is
// decimal text.

/**
 * The cost of calls at a price per 1,000, in the smallest unit of the currency, rounded half up.
 */
export function amountOf(calls: number | bigint, pricePer1000: string, currency: string): bigint {
  const [whole = '', fraction = ''] = readDecimal(pricePer1000);
  const price = BigInt(whole + fraction); // × 10^-fraction.length
  const scaled = BigInt(calls) * price * 10n ** BigInt(digitsOf(currency));
  const divisor = 1000n * 10n ** BigInt(fraction.length);
  return (2n * scaled + divisor) / (2n * divisor);
}

/** An amount as text, with the decimals of its currency: 1234 of USD is `12.34`. */
export function writeAmount(amount: bigint, currency: string): string {
  const digits = digitsOf(currency);
  if (digits === 0) return String(amount);
  const text = String(amount).padStart(digits + 1, '0');
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

function readDecimal(text: string): string[] {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new Error('A price should be a decimal number, zero or more.');
  return text.split('.');
}

const digitsByCurrency = new Map<string, number>();

// ISO 4217: two for most currencies, none for JPY, three for KWD.
function digitsOf(currency: string): number {
  let digits = digitsByCurrency.get(currency);
  if (digits === undefined) {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency });
    digits = format.resolvedOptions().maximumFractionDigits ?? 2;
    digitsByCurrency.set(currency, digits);
  }
  return digits;
}
