import { normalizeName, visibleNameSchema } from './names.ts';

describe('normalizeName', () => {
  it('makes names equal that a reader takes for the same', () => {
    const same = ['Café  Codes', 'cafe\u0301 codes', 'CAF\u00c9 CODES ', '\u202ecafé codes', 'ca\u200bfé\u00a0codes'];
    expect(new Set(same.map(normalizeName))).toEqual(new Set(['café codes']));
    expect(normalizeName('Team A')).not.toBe(normalizeName('TeamA'));
  });
});

describe('a visible name', () => {
  it('is not of blanks and invisible characters', () => {
    for (const name of ['', '  ', '\u200b\u200d', '\ufeff'])
      expect(visibleNameSchema.safeParse(name).success).toBe(false);
  });

  it('has 255 characters and not one more', () => {
    expect(visibleNameSchema.safeParse('😀'.repeat(255)).success).toBe(true);
    expect(visibleNameSchema.safeParse('x'.repeat(256)).success).toBe(false);
  });
});
