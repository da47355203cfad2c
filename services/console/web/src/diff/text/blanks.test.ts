import { showBlanks } from './blanks.ts';

const shown = (text: string) => showBlanks(text).map((piece) => (piece.isBlank ? `[${piece.text}]` : piece.text));

describe('blanks', () => {
  it.each([
    ['Comorian Franc ', ['Comorian Franc', '[␣]']],
    ['  a  b', ['[␣␣]', 'a', '[␣␣]', 'b']],
    ['a\tb\nc', ['a', '[⇥]', 'b', '[↵]', 'c']],
    ['New\u00a0York', ['New', '[⍽]', 'York']],
    ['New York', ['New York']],
    [' ', ['[␣]']],
    ['', []],
  ])('of %j are shown', (text, expected) => {
    expect(shown(text)).toEqual(expected);
  });
});
