// Parses the bytes of a request body into JSON that is safe to use: valid UTF-8, no prototype keys,
// bounded depth, no property twice. Numbers that JavaScript can't hold exactly stay text.

import { randomBytes } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { scanJson } from './json-scan.ts';

/**
 * A JSON number that a double can't hold exactly (a bigint, a long decimal), kept as it was
 * written.
 */
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
/** A shorter number without an exponent survives the way through a double. */
const inexactLength = 16;
const jsonNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const smallestNormal = 2 ** -1022;
const forbiddenKeys = new Set(['__proto__']);

const bad = (message: string) => new ServiceError('bad_request', { code: 'malformed', message });
const invalid = (what: string) => bad(`${what} is not valid JSON.`);

/**
 * Parses a request body. Throws `bad_request` for any defect. Inexact numbers become ExactNumber.
 */
export const parseJsonBody = (bytes: Uint8Array): unknown => parseJson(bytes, 'The body');

/** Parses any JSON from outside; `what` is the subject of the error texts. */
export function parseJson(bytes: Uint8Array, what: string): unknown {
  const { propertiesWritten, inexact } = scan(bytes, what);
  let text: string;
  try {
    text = decoder.decode(inexact.length === 0 ? bytes : withMarks(bytes, inexact));
  } catch {
    throw bad(`${what} is not valid UTF-8.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(what);
  }
  const inspector = new Inspector(what, inexact);
  const inspected = inspector.inspect(value);
  // JSON.parse keeps the last of two properties with one name; a reader of the first would be
  // misled.
  if (inspector.properties < propertiesWritten) throw bad(`${what} names a property twice in one object.`);
  return inspected;
}

type Inexact = { start: number; end: number; text: string };

/** Refuses deep nesting before anything is parsed, and finds the numbers that would be rounded. */
function scan(bytes: Uint8Array, what: string): { propertiesWritten: number; inexact: Inexact[] } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const inexact: Inexact[] = [];
  const propertiesWritten = scanJson(bytes, {
    open: (depth) => {
      if (depth > limits.jsonDepth) throw bad(`${what} is nested deeper than ${limits.jsonDepth} levels.`);
    },
    number: (start, end, hasExponent) => {
      if (!hasExponent && end - start < inexactLength) return;
      const text = buffer.toString('latin1', start, end);
      if (jsonNumber.test(text) && !isExact(Number(text), text)) inexact.push({ start, end, text });
    },
  });
  return { propertiesWritten, inexact };
}

// A placeholder for a number that would be rounded, while the body is parsed. JSON.parse gives the
// source of a number to a reviver only, which takes seconds for a body of many values. No request
// can contain the mark: no text may hold U+0000, and the rest is random.
const mark = `\u0000${randomBytes(9).toString('base64url')}`;
const writtenMark = mark.replace('\u0000', '\\u0000');

function withMarks(bytes: Uint8Array, inexact: Inexact[]): Buffer {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const longestMark = `"${writtenMark}${inexact.length}"`.length;
  const written = Buffer.allocUnsafe(bytes.length + inexact.length * longestMark);
  let [done, length] = [0, 0];
  for (const [place, { start, end }] of inexact.entries()) {
    length += buffer.copy(written, length, done, start);
    length += written.write(`"${writtenMark}${place}"`, length, 'latin1');
    done = end;
  }
  length += buffer.copy(written, length, done);
  return written.subarray(0, length);
}

// A double prints its shortest text, which equals the written number up to 15 significant digits.
function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value);
  const digits = source
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  // Subnormal doubles have fewer digits.
  return digits === '' || (digits.length <= 15 && Math.abs(value) >= smallestNormal);
}

/** Refuses forbidden keys and texts, replaces marks by their numbers, and counts the properties. */
class Inspector {
  properties = 0;
  private readonly what: string;
  private readonly inexact: Inexact[];

  constructor(what: string, inexact: Inexact[]) {
    this.what = what;
    this.inexact = inexact;
  }

  inspect(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) for (const place of value.keys()) this.inspectAt(value, place);
    else for (const key of Object.keys(value)) this.property(value, key);
    return value;
  }

  private property(object: object, key: string): void {
    if (forbiddenKeys.has(key)) throw bad(`The property name ${key} is not allowed.`);
    if (key.startsWith(mark)) throw invalid(this.what); // a number was written as a name
    inspectText(key, this.what);
    this.properties += 1;
    this.inspectAt(object, key);
  }

  private inspectAt(home: object, place: PropertyKey): void {
    const all = home as Record<PropertyKey, unknown>;
    const value = all[place];
    const inspected = this.inspect(value);
    if (inspected !== value) all[place] = inspected;
  }

  private text(value: string): unknown {
    if (value.startsWith(mark)) {
      const { text } = this.inexact[Number(value.slice(mark.length))] as Inexact;
      return new ExactNumber(text);
    }
    inspectText(value, this.what);
    return value;
  }
}

function inspectText(text: string, what: string): void {
  if (!text.isWellFormed()) throw bad(`${what} holds a lone surrogate, which is no character.`);
  if (text.includes('\u0000')) throw bad(`${what} holds the character U+0000, which no text may hold.`);
}
