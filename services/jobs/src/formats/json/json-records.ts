// Splits JSON into records without parsing them: lines of NDJSON, elements of an array. Only one
// record is held in memory.
import { fileError } from '../table-file/file-error.ts';
import { maxRecordBytes } from '../table-file/table-file.ts';

/** `number` is that of its line, or its position in the array, from 1. */
export type JsonRecord = { number: number; bytes: Uint8Array };

const lineFeed = 0x0a;
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

const isBlank = (byte: number) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

/** The lines that aren't blank. */
export async function* jsonLines(
  source: AsyncIterable<Uint8Array>,
  maxRecord = maxRecordBytes,
): AsyncGenerator<JsonRecord[]> {
  let number = 1;
  let buffer = new RecordBuffer(maxRecord, 'Line');
  for await (const chunk of source) {
    const records: JsonRecord[] = [];
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      buffer.add(chunk.subarray(start, end), number);
      const bytes = buffer.join();
      if (!bytes.every(isBlank)) records.push({ number, bytes });
      buffer = new RecordBuffer(maxRecord, 'Line');
      number += 1;
      start = end + 1;
    }
    buffer.add(chunk.subarray(start), number);
    if (records.length > 0) yield records;
  }
  const bytes = buffer.join();
  if (!bytes.every(isBlank)) yield [{ number, bytes }];
}

/** The elements of the array that makes up the file. */
export async function* jsonElements(
  source: AsyncIterable<Uint8Array>,
  maxRecord = maxRecordBytes,
): AsyncGenerator<JsonRecord[]> {
  let state = 'before' as 'before' | 'first' | 'element' | 'inside' | 'after';
  let number = 0;
  let depth = 0;
  let inString = false;
  let escaped = false;
  let buffer = new RecordBuffer(maxRecord, 'Record');
  for await (const chunk of source) {
    const records: JsonRecord[] = [];
    let start = 0; // of the element, in this chunk
    for (let i = 0; i < chunk.length; i += 1) {
      const byte = chunk[i] as number;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) inString = false;
        continue;
      }
      if (state === 'inside') {
        if (byte === quote) inString = true;
        else if (byte === openBrace || byte === openBracket) depth += 1;
        else if (depth > 0 && (byte === closeBrace || byte === closeBracket)) depth -= 1;
        else if (depth === 0 && (byte === comma || byte === closeBracket)) {
          buffer.add(chunk.subarray(start, i), number);
          records.push({ number, bytes: buffer.join() });
          buffer = new RecordBuffer(maxRecord, 'Record');
          state = byte === comma ? 'element' : 'after';
        }
        continue;
      }
      if (isBlank(byte)) continue;
      if (state === 'before' && byte === openBracket) state = 'first';
      else if (state === 'first' && byte === closeBracket) state = 'after';
      else if ((state === 'first' || state === 'element') && byte !== comma && byte !== closeBracket) {
        state = 'inside';
        number += 1;
        start = i;
        depth = 0;
        i -= 1; // looked at again, as its first byte
      } else if (state === 'before') throw fileError('A JSON file must be one array of objects: it begins with [.');
      else if (state === 'after') throw fileError('Something follows after the end of the JSON array.');
      else throw fileError(`After record ${number} of the JSON array, a record is missing between commas.`);
    }
    if (state === 'inside') buffer.add(chunk.subarray(start), number);
    if (records.length > 0) yield records;
  }
  if (state !== 'after') throw fileError(`The JSON array is never closed; the file ends in or after record ${number}.`);
}

// The pieces of a record that began in an earlier chunk.
class RecordBuffer {
  private readonly pieces: Uint8Array[] = [];
  private size = 0;
  private readonly maxBytes: number;
  private readonly what: string;

  constructor(maxBytes: number, what: string) {
    this.maxBytes = maxBytes;
    this.what = what;
  }

  add(part: Uint8Array, number: number): void {
    if (part.length === 0) return;
    this.size += part.length;
    if (this.size > this.maxBytes) throw fileError(`${this.what} ${number} is longer than ${this.maxBytes} bytes.`);
    this.pieces.push(part);
  }

  join(): Uint8Array {
    return this.pieces.length === 1 ? (this.pieces[0] as Uint8Array) : Buffer.concat(this.pieces);
  }
}
