import { isMailAddress, readMailAddress, shownName } from './addresses.ts';

describe('mail addresses', () => {
  it.each(['a@b.test', "o'hara+x@b.test", 'jürgen@bücher.test', 'a@localhost'])('include %s', (text) => {
    expect(isMailAddress(text)).toBe(true);
  });

  it.each([
    '',
    'a',
    '@b.test',
    'a@',
    'a@b@c',
    'a@b.test, c@d.test',
    'a@b.test;c@d.test',
    '<a@b.test>',
    '"a@b.test"@c.test',
    'a b@c.test',
    'a@b.test\r\nBcc: c@d.test',
    'a@b.test\u0000',
    'a\u202E@b.test',
    'a(comment)@b.test',
    'group:a@b.test',
  ])('do not include %j', (text) => {
    expect(isMailAddress(text)).toBe(false);
  });

  it.each([
    ['almanac@example.test', { name: '', address: 'almanac@example.test' }],
    [' Almanac <almanac@example.test> ', { name: 'Almanac', address: 'almanac@example.test' }],
    ['"Almanac, Inc." <almanac@example.test>', { name: 'Almanac, Inc.', address: 'almanac@example.test' }],
  ])('are read from %j', (text, address) => {
    expect(readMailAddress(text)).toEqual(address);
  });

  it.each([
    'Almanac',
    'Almanac <>',
    'Almanac <a@b.test',
    '<a@b.test> x',
    'a@b.test\nBcc: c@d.test',
    'x <a@b.test>, <c@d.test>',
  ])('are not read from %j', (text) => {
    expect(readMailAddress(text)).toBeUndefined();
  });
});

describe('shownName', () => {
  it('is one line of visible characters, not endless', () => {
    expect(shownName(' Ada\r\nBcc:\u202E evil\u0000 \t Lovelace ')).toBe('Ada Bcc: evil Lovelace');
    expect(shownName('ä'.repeat(300))).toHaveLength(100);
  });
});
