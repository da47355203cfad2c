import { habitsOf } from '../cells/typed-values.ts';
import { localeOf } from './locale.ts';

describe('the locale of dates and numbers', () => {
  it.each([
    ['en', ['en-GB', 'en-US'], 'en-GB'],
    ['en', ['de-AT', 'de', 'en-US'], 'en-US'],
    ['de', ['fr-CH', 'de-CH'], 'de-CH'],
    ['de', ['en-GB'], 'de'],
    ['pseudo', ['en-GB'], 'en'],
  ])('of %s in a browser with %j is %s', (language, preferred, locale) => {
    expect(localeOf(language, preferred)).toBe(locale);
  });

  it('says which of 03/04 is the day', () => {
    const orderIn = (tag: string) => habitsOf(localeOf('en', [tag])).dayOrder;
    expect([orderIn('en-GB'), orderIn('en-US')]).toEqual(['day-first', 'month-first']);
  });
});
