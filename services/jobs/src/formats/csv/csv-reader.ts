// Opens a CSV file: reads only its first line, detects its style, and passes the rows on as bytes.
import { parse } from 'csv-parse/sync';
import { foldName } from '../table-file/column-names.ts';
import { fileError, quoted } from '../table-file/file-error.ts';
import { toChunks } from '../table-file/message-chunks.ts';
import { maxFileColumns, type TableFile } from '../table-file/table-file.ts';
import { RowNumberer } from './row-numberer.ts';
import { firstRecord, type QuoteMark, quoteAdvice, quoteMarks, RowScanner } from './row-scanner.ts';

export const delimiters = [',', ';', '\t', '|'] as const;
export const quotes = ['"', "'", 'none'] as const satisfies QuoteMark[];

export const maxHeaderBytes = 1024 * 1024;

export type CsvStyle = {
  /** A known delimiter; else the one that fits the first line best. */
  delimiter?: string | undefined;
  /**
   * A known quote; else single quotes if they enclose every cell of the first line, double quotes
   * otherwise.
   */
  quote?: QuoteMark | undefined;
  /** False: the first line is a row, and columns are named by position, from 1. */
  hasHeader: boolean;
};

type Options = CsvStyle & {
  /** Names that a correct header would contain, as `foldName` makes them. */
  expected: ReadonlySet<string>;
  /** The expected number of columns, for a file without a header. */
  width?: number | undefined;
  /** Whether unreadable rows are reported one by one; else the first one fails the file. */
  rejectsRows?: boolean | undefined;
};

/** Reads up to the end of the first line. A file that is not CSV is a file error. */
export async function openCsv(text: AsyncIterable<Uint8Array>, options: Options): Promise<TableFile> {
  const iterator = text[Symbol.asyncIterator]();
  try {
    const { line, rest, stated, quote } = await readFirstLine(iterator, options);
    const { delimiter, cells } = splitFirst(line, quote, stated ? { ...options, delimiter: stated } : options);
    const { hasHeader, rejectsRows: numbered = false } = options;
    const firstRow = hasHeader ? 2 : 1;
    const scanner = new RowScanner({ delimiter, quote, firstRow });
    const numberer = numbered
      ? new RowNumberer({ delimiter, quote, width: cells.length, firstRow, hasHeader })
      : undefined;
    const close = async () => {
      await iterator.return?.();
    };
    return {
      format: delimiter === '\t' ? 'tsv' : 'csv',
      layout: {
        delimiter,
        quote: String.fromCharCode(quoteMarks[quote]),
        numbered,
        first_row: firstRow,
      },
      header: hasHeader ? cells : cells.map((_, i) => String(i + 1)),
      rows: () => rowsOf(hasHeader ? [rest] : [Buffer.from(line), rest], iterator, scanner, numberer),
      rowsRead: () => scanner.records,
      close,
    };
  } catch (error) {
    await iterator.return?.();
    throw error;
  }
}

type FirstLine = { line: string; rest: Uint8Array; quote: QuoteMark; stated?: string };

async function readFirstLine(iterator: AsyncIterator<Uint8Array>, options: Options): Promise<FirstLine> {
  let bytes: Buffer = Buffer.alloc(0);
  let stated: string | undefined;
  const what = options.hasHeader ? 'header' : 'first';
  for (let done = false; ; ) {
    const start = bytes.findIndex((byte) => byte !== 0x0a && byte !== 0x0d);
    if (start > 0) bytes = bytes.subarray(start);
    const known = stated ?? options.delimiter;
    const possible = known === undefined ? delimiters : [known];
    const quote = options.quote ?? findQuote(bytes, possible);
    const { end, isOpen } = firstRecord(start < 0 ? bytes.subarray(0, 0) : bytes, quote, possible);
    if (end >= 0 || (done && start >= 0)) {
      const line = bytes.subarray(0, end < 0 ? bytes.length : end).toString('utf8');
      const rest = end < 0 ? new Uint8Array(0) : bytes.subarray(end);
      const separator = /^sep=(.)$/.exec(line)?.[1]; // written by spreadsheet programs
      if (stated === undefined && separator !== undefined) {
        stated = separator;
        bytes = Buffer.from(rest);
        continue;
      }
      if (isOpen) throw fileError(`A quote in the ${what} line is never closed.`);
      return { line, rest, quote, ...(stated === undefined ? {} : { stated }) };
    }
    if (done) throw fileError(`The file is empty${options.hasHeader ? '; it should begin with a header line' : ''}.`);
    if (bytes.length > maxHeaderBytes)
      throw fileError(`The ${what} line is longer than ${maxHeaderBytes} bytes. A quote in it may never be closed.`);
    const next = await iterator.next();
    if (next.done) done = true;
    else bytes = start < 0 ? Buffer.from(next.value) : Buffer.concat([bytes, next.value]);
  }
}

// Whether single quotes enclose every cell of the first line. An apostrophe in an unquoted name is
// no quote.
function findQuote(bytes: Uint8Array, possible: readonly string[]): QuoteMark {
  if (bytes[0] !== quoteMarks["'"]) return '"';
  const end = bytes.findIndex((byte) => byte === 0x0a || byte === 0x0d);
  const line = Buffer.from(bytes.subarray(0, end < 0 ? bytes.length : end)).toString('utf8');
  return possible.some((each) => isOfQuotedCells(line, each)) ? "'" : '"';
}

// Not a regular expression: the file states the delimiter, which may be a special character.
function isOfQuotedCells(line: string, delimiter: string): boolean {
  for (let at = 0; line[at] === "'"; at += 1) {
    at += 1;
    let end = line.indexOf("'", at);
    while (end >= 0 && line[end + 1] === "'") end = line.indexOf("'", end + 2);
    if (end < 0) return false;
    at = end + 1;
    if (at === line.length) return true;
    if (line[at] !== delimiter) return false;
  }
  return false;
}

function splitFirst(line: string, quote: QuoteMark, { delimiter, expected, width, hasHeader }: Options) {
  const fits = (delimiter === undefined ? delimiters : [delimiter])
    .map((each) => ({ delimiter: each, cells: splitLine(line, each, quote) }))
    .filter((each): each is { delimiter: string; cells: string[] } => each.cells !== undefined)
    .map((each) => ({
      ...each,
      known: hasHeader
        ? each.cells.filter((name) => expected.has(foldName(name))).length
        : Number(each.cells.length === width),
    }));
  const [best, second] = fits.toSorted((a, b) => b.known - a.known || b.cells.length - a.cells.length);
  if (!best)
    throw fileError(`The ${hasHeader ? 'header' : 'first'} line has quotes in the wrong places. ${quoteAdvice}`);
  // Names reveal a wrong split of a header; nothing would reveal that of a row.
  if (!hasHeader && best.cells.length > 1 && best.cells.length === second?.cells.length)
    throw fileError(
      `The first line can be cut at ${quoted(best.delimiter)} or at ${quoted(second.delimiter)}; say in the mapping which delimiter the file has.`,
    );
  if (best.cells.length > maxFileColumns)
    throw fileError(
      `The ${hasHeader ? 'header' : 'first line'} has ${best.cells.length} columns; at most ${maxFileColumns} are read.`,
    );
  return best;
}

function splitLine(line: string, delimiter: string, quote: QuoteMark): string[] | undefined {
  try {
    const marks = quote === 'none' ? { quote: false as const } : { quote, escape: quote };
    const [cells = []] = parse(line, { delimiter, columns: false, to: 1, ...marks }) as string[][];
    return cells.map((cell) => cell.trim());
  } catch {
    return undefined;
  }
}

async function* rowsOf(
  first: Uint8Array[],
  iterator: AsyncIterator<Uint8Array>,
  scanner: RowScanner,
  numberer: RowNumberer | undefined,
): AsyncGenerator<Uint8Array> {
  const passed = (bytes: Uint8Array) => toChunks(numberer?.pass(bytes) ?? bytes);
  try {
    for (const bytes of first) yield* passed(scanner.scan(bytes));
    for (;;) {
      const next = await iterator.next();
      if (next.done) break;
      yield* passed(scanner.scan(next.value));
    }
    yield* passed(scanner.end());
  } finally {
    await iterator.return?.();
  }
}
