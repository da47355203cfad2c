import { sizeText } from './size-text.ts';

it('sizes are in units of a thousand', () => {
  expect([0, 999, 1_000, 125_546, 1_240_000, 5e9, 7e12].map((bytes) => sizeText(bytes, 'en'))).toEqual([
    '0 bytes',
    '999 bytes',
    '1 kB',
    '126 kB',
    '1.2 MB',
    '5 GB',
    '7,000 GB',
  ]);
  expect(sizeText(1_240_000, 'de')).toBe('1,2 MB');
});
