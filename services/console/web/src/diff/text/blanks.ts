// Blanks that a reader would not see: at the ends of a text, several in a row, and those that are
// no ordinary space.

export type TextPiece = { text: string; isBlank: boolean };

const hidden = /^\s+|\s+$|\s{2,}|[^\S ]/gu;

const signs: Record<string, string> = { '\t': '⇥', '\n': '↵', '\r': '↵', ' ': '␣' };

/** The text in pieces; a piece that is blank has a sign for each of its characters. */
export function showBlanks(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let at = 0;
  for (const { 0: blank, index } of text.matchAll(hidden)) {
    if (index > at) pieces.push({ text: text.slice(at, index), isBlank: false });
    pieces.push({ text: [...blank].map((character) => signs[character] ?? '⍽').join(''), isBlank: true });
    at = index + blank.length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), isBlank: false });
  return pieces;
}
