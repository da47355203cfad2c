import fc from 'fast-check';
import { amountOf, writeAmount } from './money.ts';
import { totalsOf } from './statement.ts';

const currencies = ['USD', 'EUR', 'JPY', 'KWD'] as const;
const digits = { USD: 2, EUR: 2, JPY: 0, KWD: 3 } as const;

const price = fc
  .tuple(fc.integer({ min: 0, max: 99_999_999 }), fc.integer({ min: 0, max: 9_999 }))
  .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(4, '0')}`);
const line = fc.record({
  calls: fc.integer({ min: 0, max: 1_000_000_000_000 }),
  price,
  currency: fc.constantFrom(...currencies),
});

/** The text of an amount as a whole number of the smallest units. */
const units = (text: string) => BigInt(text.replace('.', ''));

describe('money', () => {
  it.each([
    [7, '2.0000', 'USD', '0.01'],
    [1_000, '1.5000', 'USD', '1.50'],
    [2, '2.5000', 'USD', '0.01'],
    [1, '2.5000', 'USD', '0.00'],
    [333, '1', 'JPY', '0'],
    [500, '1', 'JPY', '1'],
    [1_234, '9.9999', 'KWD', '12.340'],
    [9_007_199_254_740_991, '99999999.9999', 'USD', '900719925473198380074.53'],
    [0, '2.0000', 'EUR', '0.00'],
  ])('%s calls at %s %s a thousand are %s', (calls, rate, currency, text) => {
    expect(writeAmount(amountOf(calls, rate, currency), currency)).toBe(text);
  });

  it('differs from the exact amount by at most half a unit, and rounds half up', () => {
    fc.assert(
      fc.property(line, ({ calls, price, currency }) => {
        // In units of 10^-(4 + 3) of the smallest: calls × price × 10^digits, without a division.
        const exact = BigInt(calls) * units(price) * 10n ** BigInt(digits[currency]);
        const error = amountOf(calls, price, currency) * 10_000_000n - exact;
        expect(error > -5_000_000n && error <= 5_000_000n).toBe(true);
      }),
    );
  });

  it('adds up: the written lines sum to the written totals', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
        const charged = lines.map(({ price, ...rest }) => ({
          ...rest,
          amount: amountOf(rest.calls, price, rest.currency),
        }));
        for (const total of totalsOf(charged)) {
          const own = charged.filter(({ currency }) => currency === total.currency);
          const written = own.map(({ amount, currency }) => units(writeAmount(amount, currency)));
          expect(written.reduce((sum, each) => sum + each, 0n)).toBe(units(total.amount));
          expect(own.reduce((sum, { calls }) => sum + calls, 0)).toBe(total.calls);
        }
      }),
    );
  });

  it('refuses a malformed price', () => {
    for (const wrong of ['', '-1', '1e3', 'NaN', '1,5']) expect(() => amountOf(1, wrong, 'USD')).toThrow('decimal');
  });
});
