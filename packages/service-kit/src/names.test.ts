import { normalizeName } from './names.ts';

describe('normalizeName', () => {
  it('makes names equal that a reader takes for the same', () => {
    const same = ['Café  Codes', 'cafe\u0301 codes', 'CAF\u00c9 CODES ', '\u202ecafé codes', 'ca\u200bfé\u00a0codes'];
    expect(new Set(same.map(normalizeName))).toEqual(new Set(['café codes']));
  });
});
