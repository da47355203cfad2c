// Watches CSV pass by, run by run and never cell by cell: knows where records end, gives all line ends one form, drops blank lines,
// refuses quotes that are not in their places, and stops what would not fit into memory. Bytes that need no change are passed on as they are.
import { fileError } from '../table-file/file-error.ts';
import { maxRecordBytes } from '../table-file/table-file.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** What stands around cells that hold delimiters or line ends; `none` is a byte that no text has any use for. */
export const quoteMarks = { '"': 0x22, "'": 0x27, none: 0x01 } as const;
export type QuoteMark = keyof typeof quoteMarks;

/** What to do about quotes that are not where RFC 4180 has them. */
export const quoteAdvice =
  'Where quotes are text, the mapping says quote: none; else put the whole cell in quotes and double those in it.';

/** Before: no byte of the cell yet. Closed: after a quote in quotes, which ends them or is the first of two. */
type Place = 'before' | 'unquoted' | 'quoted' | 'closed';

/** Where a file that may come in pieces stands between its cells: the one reading of quotes there is. */
class Cells {
  place: Place = 'before';
  /** The first thing wrong with the quotes. They are text from there on. */
  wrong: 'inside' | 'behind' | undefined;
  private readonly quote: number;
  private readonly isQuoting: boolean;
  private readonly isDelimiter = new Uint8Array(256);

  constructor(mark: QuoteMark, delimiters: readonly string[]) {
    this.quote = quoteMarks[mark];
    this.isQuoting = mark !== 'none';
    for (const byte of Buffer.from(delimiters.join(''))) this.isDelimiter[byte] = 1;
  }

  /** Where the record that goes on at `from` ends: the index of its line end; -1: not in these bytes. */
  lineEnd(bytes: Uint8Array, from: number): number {
    const { quote, isDelimiter } = this;
    const { length } = bytes;
    let { place } = this;
    let at = from;
    let byte = 0;
    while (at < length) {
      if (place === 'quoted') {
        while (at < length && bytes[at] !== quote) at += 1;
        if (at === length) break;
        at += 1;
        place = 'closed';
        if (at === length) break;
      }
      byte = bytes[at] as number;
      if (place === 'closed') {
        if (byte === quote) {
          at += 1;
          place = 'quoted';
          continue;
        }
        if (isDelimiter[byte] === 0 && byte !== lineFeed && byte !== carriageReturn) this.wrong ??= 'behind';
        place = 'unquoted';
      }
      // Only a quote tells one unquoted cell from the next: its own begins where a delimiter or nothing is before it.
      const start = at;
      while (byte !== quote && byte !== lineFeed && byte !== carriageReturn) {
        at += 1;
        if (at === length) break;
        byte = bytes[at] as number;
      }
      const isBefore = at === start ? place === 'before' : isDelimiter[bytes[at - 1] as number] === 1;
      if (at === length) {
        place = isBefore ? 'before' : 'unquoted';
        break;
      }
      if (byte !== quote) {
        this.place = 'before';
        return at;
      }
      at += 1;
      if (isBefore && this.isQuoting) place = 'quoted';
      else {
        this.wrong ??= 'inside';
        place = 'unquoted';
      }
    }
    this.place = place;
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

export class RowScanner {
  /** Records seen so far, the one in progress not counted. */
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
    let out: Uint8Array | undefined; // made when the first byte has to go
    let written = 0;
    let kept = 0; // where the bytes begin that are not yet in `out`
    for (let at = 0; ; ) {
      const end = cells.lineEnd(chunk, at);
      this.recordBytes += (end < 0 ? chunk.length : end) - at;
      if (cells.wrong) throw this.misplaced(cells.wrong);
      if (this.recordBytes > this.maxRecord) throw this.tooLong();
      if (end < 0) break;
      at = end + 1;
      const isBlank = this.recordBytes === 0; // also what follows the CR of a CRLF
      if (!isBlank) this.records += 1;
      this.recordBytes = 0;
      if (!isBlank && chunk[end] === lineFeed) continue;
      out ??= Buffer.from(chunk);
      if (kept !== written) out.copyWithin(written, kept, end);
      written += end - kept;
      kept = at;
      if (isBlank) continue;
      out[written] = lineFeed;
      written += 1;
    }
    if (!out) return chunk;
    out.copyWithin(written, kept);
    return out.subarray(0, written + chunk.length - kept);
  }

  /** The end of the file: an open quote is an error, a last line without its end gets one. */
  end(): Uint8Array {
    if (this.cells.place === 'quoted') throw fileError(`The quote that is open in row ${this.row()} is never closed.`);
    if (this.recordBytes === 0) return new Uint8Array(0);
    this.records += 1;
    this.recordBytes = 0;
    return Uint8Array.of(lineFeed);
  }

  private row(): number {
    return this.firstRow + this.records;
  }

  private misplaced(wrong: 'inside' | 'behind') {
    const row = `Row ${this.row()}`;
    if (this.quote === 'none') return fileError(`${row} holds the character U+0001, which is no text.`);
    return fileError(
      wrong === 'inside'
        ? `${row}: a quote (${this.quote}) stands inside a cell that does not begin with one (blanks count). ${quoteAdvice}`
        : `${row}: a cell goes on after its closing quote (${this.quote}). ${quoteAdvice}`,
    );
  }

  private tooLong() {
    const hint = this.cells.place === 'quoted' ? ' A quote may never be closed.' : '';
    return fileError(`Row ${this.row()} is longer than ${this.maxRecord} bytes.${hint}`);
  }
}

/**
 * Where the first record of these bytes ends (the index of its line end; -1: not here), and whether a quote is open there. Quotes hide
 * line ends; those that are not in their places are text, and left to who cuts the line into cells.
 */
export function firstRecord(bytes: Uint8Array, mark: QuoteMark, delimiters: readonly string[]) {
  const cells = new Cells(mark, delimiters);
  const end = cells.lineEnd(bytes, 0);
  return { end, isOpen: cells.place === 'quoted' };
}
