import { randomBytes } from 'node:crypto';
import { seal, unseal } from './sealed-text.ts';

const key = randomBytes(32);

describe('a sealed text', () => {
  it('is read with its key, as that of its owner alone', () => {
    const sealed = seal(key, 'endpoint 1', 'a secret ☂');
    expect(unseal(key, 'endpoint 1', sealed)).toBe('a secret ☂');
    expect(unseal(key, 'endpoint 2', sealed)).toBeUndefined();
    expect(unseal(randomBytes(32), 'endpoint 1', sealed)).toBeUndefined();
    expect(Buffer.from(sealed).includes('secret')).toBe(false);
  });

  it('is not read once a byte of it differs, or is missing', () => {
    const sealed = seal(key, 'a', 'text');
    for (const place of [0, 12, 28]) {
      const changed = Uint8Array.from(sealed);
      changed[place] = (changed[place] as number) ^ 1;
      expect(unseal(key, 'a', changed)).toBeUndefined();
    }
    expect(unseal(key, 'a', sealed.subarray(0, 20))).toBeUndefined();
  });
});
