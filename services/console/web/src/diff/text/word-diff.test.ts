import { wordDiff } from './word-diff.ts';

const before = 'Rented until the end of the year; the contract is renewed by the owner.';
const after = 'Rented until the end of next year; the contract is renewed by the new owner.';

describe('the difference of two long texts', () => {
  it('is found word by word', () => {
    expect(wordDiff(before, after)).toEqual([
      { kind: 'same', text: 'Rented until the end of ' },
      { kind: 'removed', text: 'the ' },
      { kind: 'added', text: 'next ' },
      { kind: 'same', text: 'year; the contract is renewed by the ' },
      { kind: 'added', text: 'new ' },
      { kind: 'same', text: 'owner.' },
    ]);
  });

  it('makes up both texts again', () => {
    const parts = wordDiff(before, after) ?? [];
    const text = (without: string) =>
      parts
        .filter(({ kind }) => kind !== without)
        .map((part) => part.text)
        .join('');
    expect([text('added'), text('removed')]).toEqual([before, after]);
  });

  it('is none of short texts, of other values, and of texts with little in common', () => {
    expect(wordDiff('open', 'closed')).toBeUndefined();
    expect(wordDiff(null, after)).toBeUndefined();
    expect(wordDiff(before, 'Something else entirely, which has no word of the other one in it')).toBeUndefined();
    expect(wordDiff('a '.repeat(700), 'a '.repeat(701))).toBeUndefined();
  });
});
