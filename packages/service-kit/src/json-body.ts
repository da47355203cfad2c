// Turns the bytes of a request body into JSON that is safe to look into: valid UTF-8, no prototype keys, bounded depth,
// no property twice, and numbers that JavaScript can't hold exactly kept as their own text.

import { ServiceError } from './errors.ts';
import { limits } from './limits.ts';

/** A JSON number that a double can't hold exactly (a bigint, a long decimal), kept as it was written. */
export class ExactNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toJSON(): unknown {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(this.text);
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const mayBeInexact = /[\d.]{16}|\d[eE]/;
const smallestNormal = 2 ** -1022;
const forbiddenKeys = new Set(['__proto__']);

const bad = (problem: string) => new ServiceError('bad_request', problem);

/** Parses a request body; every defect is `bad_request` with a sentence. Numbers that would be rounded become ExactNumber. */
export const parseJsonBody = (bytes: Uint8Array): unknown => parseJson(bytes, 'The body');

/** The same for any JSON that comes from outside; `what` begins the sentences. */
export function parseJson(bytes: Uint8Array, what: string): unknown {
  const propertiesWritten = scan(bytes, what);
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw bad(`${what} is not valid UTF-8.`);
  }
  let value: unknown;
  try {
    value = mayBeInexact.test(text) ? JSON.parse(text, keepExact as never) : JSON.parse(text);
  } catch {
    throw bad(`${what} is not valid JSON.`);
  }
  // JSON.parse keeps the last of two properties with one name, and a reader of the first would be misled.
  if (inspect(value, what) < propertiesWritten) throw bad(`${what} names a property twice in one object.`);
  return value;
}

/**
 * Refuses what is nested too deep before anything is built of it; answers how many properties are written, each of which
 * has one colon. Only ASCII has a meaning outside of texts, and no byte of a longer UTF-8 character looks like it.
 */
function scan(bytes: Uint8Array, what: string): number {
  let properties = 0;
  let depth = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i];
    if (byte === quote) i = endOfText(bytes, i + 1);
    else if (byte === colon) properties += 1;
    else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > limits.jsonDepth) throw bad(`${what} is nested deeper than ${limits.jsonDepth} levels.`);
    } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
  }
  return properties;
}

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Where the quote stands that ends the text; an escaped one ends none. */
function endOfText(bytes: Uint8Array, start: number): number {
  let i = start;
  while (i < bytes.length && bytes[i] !== quote) i += bytes[i] === backslash ? 2 : 1;
  return i;
}

function keepExact(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== 'number' || context.source === undefined) return value;
  return isExact(value, context.source) ? value : new ExactNumber(context.source);
}

// A double prints back its shortest text; up to 15 significant digits that text is the number that was written.
function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value);
  const digits = source
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  // Too near to zero a double has fewer digits, or none at all.
  return digits === '' || (digits.length <= 15 && Math.abs(value) >= smallestNormal);
}

/** Refuses what no body may hold; answers how many properties there are. */
function inspect(value: unknown, what: string): number {
  if (typeof value === 'string') inspectText(value, what);
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return 0;
  let properties = 0;
  if (Array.isArray(value)) {
    for (const item of value) properties += inspect(item, what);
    return properties;
  }
  for (const key of Object.keys(value)) {
    if (forbiddenKeys.has(key)) throw bad(`The property name ${key} is not allowed.`);
    inspectText(key, what);
    properties += 1 + inspect((value as Record<string, unknown>)[key], what);
  }
  return properties;
}

function inspectText(text: string, what: string): void {
  if (!text.isWellFormed()) throw bad(`${what} holds a lone surrogate, which is no character.`);
  if (text.includes('\u0000')) throw bad(`${what} holds the character U+0000, which no text may hold.`);
}
