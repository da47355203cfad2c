// Scans CSV as bytes, never cell by cell: finds the ends of records, normalises line ends, drops
// blank lines, rejects misplaced quotes, and bounds the size of records. Bytes that need no change
// are passed on as they are.
import { fileError } from '../table-file/file-error.ts';
import { maxRecordBytes } from '../table-file/table-file.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * The quotes that enclose cells with delimiters or line ends; `none` is a byte that no text uses.
 */
export const quoteMarks = { '"': 0x22, "'": 0x27, none: 0x01 } as const;
export type QuoteMark = keyof typeof quoteMarks;

/** Advice for quotes that are not where RFC 4180 allows them. */
export const quoteAdvice =
  'Where quotes are text, the mapping says quote: none; else put the whole cell in quotes and double those in it.';

/**
 * before: at the start of a cell. closed: after a quote within quotes, which ends them or is the
 * first of two.
 */
type CellState = 'before' | 'unquoted' | 'quoted' | 'closed';

/** The state between cells of a file that arrives in chunks: the only implementation of quoting. */
class Cells {
  state: CellState = 'before';
  /** The first misplaced quote; from there on quotes are text. */
  misplaced: 'inside' | 'behind' | undefined;
  private readonly quote: number;
  private readonly isQuoting: boolean;
  private readonly isDelimiter = new Uint8Array(256);

  constructor(mark: QuoteMark, delimiters: readonly string[]) {
    this.quote = quoteMarks[mark];
    this.isQuoting = mark !== 'none';
    for (const byte of Buffer.from(delimiters.join(''))) this.isDelimiter[byte] = 1;
  }

  /** The index of the line end of the record that continues at `from`; -1: not in these bytes. */
  lineEnd(bytes: Uint8Array, from: number): number {
    const { quote, isDelimiter } = this;
    const { length } = bytes;
    let { state } = this;
    let at = from;
    let byte = 0;
    while (at < length) {
      if (state === 'quoted') {
        while (at < length && bytes[at] !== quote) at += 1;
        if (at === length) break;
        at += 1;
        state = 'closed';
        if (at === length) break;
      }
      byte = bytes[at] as number;
      if (state === 'closed') {
        if (byte === quote) {
          at += 1;
          state = 'quoted';
          continue;
        }
        if (isDelimiter[byte] === 0 && byte !== lineFeed && byte !== carriageReturn) this.misplaced ??= 'behind';
        state = 'unquoted';
      }
      // Only a quote makes the start of a cell matter: a cell begins after a delimiter or at the
      // start of a record.
      const start = at;
      while (byte !== quote && byte !== lineFeed && byte !== carriageReturn) {
        at += 1;
        if (at === length) break;
        byte = bytes[at] as number;
      }
      const isBefore = at === start ? state === 'before' : isDelimiter[bytes[at - 1] as number] === 1;
      if (at === length) {
        state = isBefore ? 'before' : 'unquoted';
        break;
      }
      if (byte !== quote) {
        this.state = 'before';
        return at;
      }
      at += 1;
      if (isBefore && this.isQuoting) state = 'quoted';
      else {
        this.misplaced ??= 'inside';
        state = 'unquoted';
      }
    }
    this.state = state;
    return -1;
  }
}

type ScannerOptions = {
  delimiter: string;
  quote?: QuoteMark | undefined;
  /** The number of the first row, for messages. */
  firstRow?: number | undefined;
  maxRecord?: number | undefined;
};

/** Scans one file, chunk by chunk. */
export class RowScanner {
  /** Complete records so far. */
  records = 0;
  private recordBytes = 0;
  private readonly cells: Cells;
  private readonly quote: QuoteMark;
  private readonly firstRow: number;
  private readonly maxRecord: number;

  constructor({ delimiter, quote = '"', firstRow = 1, maxRecord = maxRecordBytes }: ScannerOptions) {
    this.cells = new Cells(quote, [delimiter]);
    this.quote = quote;
    this.firstRow = firstRow;
    this.maxRecord = maxRecord;
  }

  /** The chunk with line ends as LF and without blank lines. */
  scan(chunk: Uint8Array): Uint8Array {
    const { cells } = this;
    let out: Uint8Array | undefined; // allocated when the first byte is removed
    let written = 0;
    let copiedFrom = 0; // start of the bytes that are not yet in `out`
    for (let at = 0; ; ) {
      const end = cells.lineEnd(chunk, at);
      this.recordBytes += (end < 0 ? chunk.length : end) - at;
      if (cells.misplaced) throw this.misplacedError(cells.misplaced);
      if (this.recordBytes > this.maxRecord) throw this.tooLong();
      if (end < 0) break;
      at = end + 1;
      const isBlank = this.recordBytes === 0; // also the LF of a CRLF
      if (!isBlank) this.records += 1;
      this.recordBytes = 0;
      if (!isBlank && chunk[end] === lineFeed) continue;
      out ??= Buffer.from(chunk);
      if (copiedFrom !== written) out.copyWithin(written, copiedFrom, end);
      written += end - copiedFrom;
      copiedFrom = at;
      if (isBlank) continue;
      out[written] = lineFeed;
      written += 1;
    }
    if (!out) return chunk;
    out.copyWithin(written, copiedFrom);
    return out.subarray(0, written + chunk.length - copiedFrom);
  }

  /** The end of the file: an open quote is an error; a last line without a line end gets one. */
  end(): Uint8Array {
    if (this.cells.state === 'quoted') throw fileError(`The quote that is open in row ${this.row()} is never closed.`);
    if (this.recordBytes === 0) return new Uint8Array(0);
    this.records += 1;
    this.recordBytes = 0;
    return Uint8Array.of(lineFeed);
  }

  private row(): number {
    return this.firstRow + this.records;
  }

  private misplacedError(misplaced: 'inside' | 'behind') {
    const row = `Row ${this.row()}`;
    if (this.quote === 'none') return fileError(`${row} holds the character U+0001, which is no text.`);
    return fileError(
      misplaced === 'inside'
        ? `${row}: a quote (${this.quote}) stands inside a cell that does not begin with one (blanks count). ${quoteAdvice}`
        : `${row}: a cell goes on after its closing quote (${this.quote}). ${quoteAdvice}`,
    );
  }

  private tooLong() {
    const hint = this.cells.state === 'quoted' ? ' A quote may never be closed.' : '';
    return fileError(`Row ${this.row()} is longer than ${this.maxRecord} bytes.${hint}`);
  }
}

/**
 * The end of the first record of these bytes (the index of its line end; -1: not here), and whether
 * a quote is open there. Quotes hide line ends; misplaced ones are text, left to the code that
 * splits the line.
 */
export function firstRecord(bytes: Uint8Array, mark: QuoteMark, delimiters: readonly string[]) {
  const cells = new Cells(mark, delimiters);
  const end = cells.lineEnd(bytes, 0);
  return { end, isOpen: cells.state === 'quoted' };
}
