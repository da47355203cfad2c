// Numbers the rows of CSV on their way to data, each led by its number and its problems
// (`staged-rows.ts`). So a row with too many or too few cells is rejected alone; without this it
// would fail the whole file.
import { excerpt, problemsCell } from '../table-file/staged-rows.ts';
import { type QuoteMark, quoteMarks } from './row-scanner.ts';

const lineFeed = 0x0a;
/** The most bytes that an excerpt of a value takes. */
const shownBytes = 800;

type Options = {
  delimiter: string;
  quote: QuoteMark;
  /** How many cells a row must have. */
  width: number;
  firstRow: number;
  hasHeader: boolean;
};

/** Reads the output of a `RowScanner`: quotes are well placed, and each row ends with LF. */
export class RowNumberer {
  private readonly options: Options;
  private row: number;
  /** The start of a row that continues in the next chunk. */
  private held: Uint8Array[] = [];
  private heldBytes = 0;
  private isQuoted = false;
  private delimiters = 0;
  /** The end of the last allowed cell, counted from the start of the row. */
  private end = 0;

  constructor(options: Options) {
    this.options = options;
    this.row = options.firstRow;
  }

  /** The rows that end in the chunk. */
  pass(chunk: Uint8Array): Uint8Array {
    const { delimiter, quote, width } = this.options;
    const [mark, delimiterByte] = [quoteMarks[quote], delimiter.charCodeAt(0)];
    const out = new ByteBuilder(chunk.length + this.heldBytes);
    let { isQuoted, delimiters } = this;
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === mark) isQuoted = !isQuoted;
      else if (isQuoted) continue;
      else if (byte === delimiterByte) {
        delimiters += 1;
        if (delimiters === width) this.end = this.heldBytes + at - start;
      } else if (byte === lineFeed) {
        this.add(out, chunk.subarray(start, at), delimiters + 1);
        start = at + 1;
        delimiters = 0;
      }
    }
    this.isQuoted = isQuoted;
    this.delimiters = delimiters;
    if (start < chunk.length) {
      this.held.push(chunk.subarray(start));
      this.heldBytes += chunk.length - start;
    }
    return out.bytes();
  }

  private add(out: ByteBuilder, last: Uint8Array, cells: number): void {
    const { delimiter, width } = this.options;
    const lead = `${this.row}${delimiter}`;
    if (cells === width) {
      out.addText(`${lead}${delimiter}`);
      for (const piece of this.held) out.add(piece);
      out.add(last);
    } else this.addUnreadable(out, lead, Buffer.concat([...this.held, last]), cells);
    out.addText('\n');
    this.row += 1;
    this.held = [];
    this.heldBytes = 0;
  }

  // The cells are kept as far as possible, so that people can correct the row.
  private addUnreadable(out: ByteBuilder, lead: string, row: Buffer, cells: number): void {
    const { delimiter, quote, width, hasHeader } = this.options;
    const message = `The row has ${cells} ${cells === 1 ? 'cell' : 'cells'}, ${hasHeader ? 'the header' : 'the first line'} has ${width}.`;
    const problem = { column: '', value: excerpt(row.subarray(0, shownBytes).toString()), message };
    const mark = String.fromCharCode(quoteMarks[quote]);
    out.add(Buffer.from(`${lead}${problemsCell([problem], mark)}${delimiter}`));
    out.add(cells > width ? row.subarray(0, this.end) : row);
    out.addText(delimiter.repeat(Math.max(width - cells, 0)));
  }
}

/** Collects many small pieces of bytes without an object for each. */
class ByteBuilder {
  private all: Buffer;
  private length = 0;

  constructor(expected: number) {
    this.all = Buffer.allocUnsafe(expected * 2);
  }

  /** ASCII only. */
  addText(text: string): void {
    this.require(text.length);
    this.length += this.all.write(text, this.length, 'latin1');
  }

  add(bytes: Uint8Array): void {
    this.require(bytes.length);
    this.all.set(bytes, this.length);
    this.length += bytes.length;
  }

  bytes(): Uint8Array {
    return this.all.subarray(0, this.length);
  }

  private require(more: number): void {
    if (this.length + more <= this.all.length) return;
    const larger = Buffer.allocUnsafe((this.length + more) * 2);
    this.all.copy(larger, 0, 0, this.length);
    this.all = larger;
  }
}
