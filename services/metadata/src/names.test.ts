import { deriveKey, tableNameSchema, visibleNameSchema } from './names.ts';

describe('deriveKey', () => {
  it.each([
    ['Country Codes', 'country_codes'],
    ['ISO 3166-2: Subdivisions!', 'iso_3166_2_subdivisions'],
    ['_draft', '_draft'],
    ['_', '_'],
    ['Länder', 'länder'],
    ['a - b', 'a_b'],
  ])('makes %s to %s', (name, key) => expect(deriveKey(name)).toBe(key));
});

describe('name schemas', () => {
  it('refuse names of blanks and invisible characters', () => {
    for (const name of ['', '  ', '\u200b\u200d', '\ufeff'])
      expect(visibleNameSchema.safeParse(name).success).toBe(false);
  });

  it('refuse tables that start with neither a letter nor _', () => {
    for (const name of ['1st', '-x', ' x', '😀']) expect(tableNameSchema.safeParse(name).success).toBe(false);
    for (const name of ['x', '_x', 'Émile', '国']) expect(tableNameSchema.safeParse(name).success).toBe(true);
  });

  it('take 255 characters and not one more', () => {
    expect(visibleNameSchema.safeParse('😀'.repeat(255)).success).toBe(true);
    expect(visibleNameSchema.safeParse('x'.repeat(256)).success).toBe(false);
  });
});
