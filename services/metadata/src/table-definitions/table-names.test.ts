import { deriveKey, tableNameSchema } from './table-names.ts';

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

describe('the name of a table', () => {
  it('starts with a letter or _', () => {
    for (const name of ['1st', '-x', ' x', '😀']) expect(tableNameSchema.safeParse(name).success).toBe(false);
    for (const name of ['x', '_x', 'Émile', '国']) expect(tableNameSchema.safeParse(name).success).toBe(true);
  });

  // Hangul fillers are letters, but invisible and no part of the key.
  it.each(['\u115f', '\u1160', '\u3164', '\uffa0'])(
    'does not start with a letter because of an invisible %j',
    (filler) => {
      const refused = tableNameSchema.safeParse(`${filler}123`);
      expect(refused.error?.issues.map(({ message }) => message)).toEqual(['must start with a letter or _']);
      expect(tableNameSchema.safeParse(`${filler}x`).success).toBe(true);
    },
  );
});
