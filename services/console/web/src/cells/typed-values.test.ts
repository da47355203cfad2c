import type { Column } from '../api/queries.ts';
import { habitsOf, readTyped } from './typed-values.ts';

const german = habitsOf('de');
const american = habitsOf('en-US');
const column = (data_type: Column['data_type']) => ({ data_type }) as Column;

describe('a typed value', () => {
  it('is none when it is blank, and keeps the zeros and blanks of texts', () => {
    expect(['string', 'date', 'integer'].map((type) => readTyped('', column(type as 'string'), german))).toEqual([
      null,
      null,
      null,
    ]);
    expect(readTyped(' 007 ', column('string'), german)).toBe(' 007 ');
  });

  it('is a number by the signs of the language, exact where it has to be', () => {
    expect(readTyped('1.234,50', column('decimal'), german)).toBe('1234.50');
    expect(readTyped('1,234.50', column('decimal'), american)).toBe('1234.50');
    expect(readTyped('9007199254740993', column('bigint'), german)).toBe('9007199254740993');
    expect(readTyped('12', column('integer'), german)).toBe(12);
  });

  it('is a day by the order of the language', () => {
    expect(readTyped('3.12.2026', column('date'), german)).toBe('2026-12-03');
    expect(readTyped('12/3/2026', column('date'), american)).toBe('2026-12-03');
    expect(readTyped('3.12.2026', column('date'), american)).toBe('2026-12-03');
    expect(readTyped('31/1/2026', column('date'), american)).toBe('31/1/2026');
    expect(readTyped('1.2/2026', column('date'), american)).toBe('1.2/2026');
    expect(readTyped('2026-12-03', column('date'), american)).toBe('2026-12-03');
  });

  it('is true or false by the words for it', () => {
    expect(['Ja', 'no', 'TRUE', '0'].map((text) => readTyped(text, column('boolean'), german))).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it('is passed on as it is when it can’t be read', () => {
    expect(readTyped('ten', column('integer'), german)).toBe('ten');
    expect(readTyped('soon', column('date'), german)).toBe('soon');
    expect(readTyped('perhaps', column('boolean'), german)).toBe('perhaps');
  });
});
