// Scans the bytes of a JSON text before it is parsed, and reports depth and numbers in their order.
// It doesn't check that the text is JSON: the parser does.

export type JsonVisitor = {
  /** An array or an object begins at this depth. */
  open?(depth: number): void;
  /** The bytes from `start` to `end` are a number. */
  number(start: number, end: number, hasExponent: boolean): void;
};

const [quote, backslash, colon, minus, plus, dot] = [0x22, 0x5c, 0x3a, 0x2d, 0x2b, 0x2e];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Returns the number of properties, which is the number of colons outside of strings. Only ASCII
 * has a meaning there, and no byte of a longer UTF-8 character looks like ASCII.
 */
export function scanJson(bytes: Uint8Array, visitor: JsonVisitor): number {
  let properties = 0;
  let depth = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] as number;
    if (byte === quote) i = endOfString(bytes, i + 1);
    else if (byte === colon) properties += 1;
    else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      visitor.open?.(depth);
    } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
    else if (isDigit(byte) || byte === minus) i = scanNumber(bytes, i, visitor) - 1;
  }
  return properties;
}

/** The index of the quote that ends a string. */
function endOfString(bytes: Uint8Array, start: number): number {
  let i = start;
  while (i < bytes.length && bytes[i] !== quote) i += bytes[i] === backslash ? 2 : 1;
  return i;
}

function scanNumber(bytes: Uint8Array, start: number, visitor: JsonVisitor): number {
  let end = start + 1;
  let hasExponent = false;
  for (; end < bytes.length; end += 1) {
    const byte = bytes[end] as number;
    const isExponent = byte === 0x65 || byte === 0x45;
    if (!isExponent && !isDigit(byte) && byte !== dot && byte !== minus && byte !== plus) break;
    hasExponent ||= isExponent;
  }
  visitor.number(start, end, hasExponent);
  return end;
}

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;
