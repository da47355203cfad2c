// Watches CSV pass by, byte by byte and never cell by cell: knows where records end, gives all line ends one form, drops blank
// lines, and stops what would not fit into memory. Bytes that need no change are passed on as they are.
import { fileError } from './file-error.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** A record longer than this is a file error: an unclosed quote must not gather gigabytes anywhere. */
export const maxRecordBytes = 16 * 1024 * 1024;

/** What stands around cells that hold delimiters or line ends; `none` is a byte that no text has any use for. */
export const quoteMarks = { '"': 0x22, "'": 0x27, none: 0x01 } as const;
export type QuoteMark = keyof typeof quoteMarks;

export class RowScanner {
  /** Records seen so far, the one in progress not counted. */
  records = 0;
  private inQuotes = false;
  private afterReturn = false;
  private recordBytes = 0;
  private readonly quote: number;
  private readonly maxRecord: number;

  constructor(mark: QuoteMark = '"', maxRecord: number = maxRecordBytes) {
    this.quote = quoteMarks[mark];
    this.maxRecord = maxRecord;
  }

  /** The chunk with line ends as LF and without blank lines. */
  scan(chunk: Uint8Array): Uint8Array {
    let out: Uint8Array | undefined; // made when the first byte has to go
    let written = 0;
    let { inQuotes, afterReturn, recordBytes, records } = this;
    const { quote } = this;
    const length = chunk.length;
    for (let i = 0; i < length; i += 1) {
      let byte = chunk[i] as number;
      let drop = false;
      if (byte === quote) {
        if (quote === quoteMarks.none)
          throw fileError(`Row ${records + 1} holds the character U+0001, which is no text.`);
        inQuotes = !inQuotes;
        recordBytes += 1;
        afterReturn = false;
      } else if (!inQuotes && (byte === lineFeed || byte === carriageReturn)) {
        const second = byte === lineFeed && afterReturn;
        afterReturn = byte === carriageReturn;
        drop = second || recordBytes === 0;
        if (!drop) records += 1;
        recordBytes = 0;
        if (byte === carriageReturn) {
          byte = lineFeed;
          out ??= copyOf(chunk, i);
        }
      } else {
        recordBytes += 1;
        afterReturn = false;
        if (recordBytes > this.maxRecord) throw this.tooLong(records + 1, inQuotes);
      }
      if (drop) out ??= copyOf(chunk, i);
      else {
        if (out) out[written] = byte;
        written += 1;
      }
    }
    this.inQuotes = inQuotes;
    this.afterReturn = afterReturn;
    this.recordBytes = recordBytes;
    this.records = records;
    return out ? out.subarray(0, written) : chunk;
  }

  /** The end of the file: an open quote is an error, a last line without its end gets one. */
  end(): Uint8Array {
    if (this.inQuotes) throw fileError(`The quote that is open in row ${this.records + 1} is never closed.`);
    if (this.recordBytes === 0) return new Uint8Array(0);
    this.records += 1;
    this.recordBytes = 0;
    return Uint8Array.of(lineFeed);
  }

  private tooLong(row: number, inQuotes: boolean) {
    const hint = inQuotes ? ' A quote may never be closed.' : '';
    return fileError(`Row ${row} is longer than ${this.maxRecord} bytes.${hint}`);
  }
}

// With room for all of the chunk; what came before `until` is in it already.
function copyOf(chunk: Uint8Array, until: number): Uint8Array {
  const copy = Buffer.allocUnsafe(chunk.length);
  copy.set(chunk.subarray(0, until));
  return copy;
}

/** Where the first record of these bytes ends (the index of its line end); -1: not here. Quotes hide line ends. */
export function endOfRecord(bytes: Uint8Array, mark: QuoteMark): number {
  const quote = quoteMarks[mark];
  let inQuotes = false;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i];
    if (byte === quote) inQuotes = !inQuotes;
    else if (!inQuotes && (byte === lineFeed || byte === carriageReturn)) return i;
  }
  return -1;
}
