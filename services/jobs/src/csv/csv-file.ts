// Opens a CSV file: reads the header line and nothing more, finds the delimiter, and hands the rows on as bytes.
import { parse } from 'csv-parse/sync';
import type { TableFile } from '../formats/table-file.ts';
import { endOfRecord, RowScanner } from './csv-rows.ts';
import { fileError } from './file-error.ts';
import { slices } from './slices.ts';

export const delimiters = [',', ';', '\t', '|'] as const;

export const maxHeaderBytes = 1024 * 1024;
export const maxFileColumns = 1000;

type Options = {
  /** Known beforehand; else the one that makes the header fit best. */
  delimiter?: string | undefined;
  /** Lower-case names that a right header would have. */
  expected: ReadonlySet<string>;
};

/** Reads up to the end of the header. A file that can't be CSV is a file error. */
export async function openCsv(text: AsyncIterable<Uint8Array>, options: Options): Promise<TableFile> {
  const iterator = text[Symbol.asyncIterator]();
  try {
    const { line, rest, stated } = await readHeaderLine(iterator);
    const { delimiter, header } = splitHeader(line, stated ? { ...options, delimiter: stated } : options);
    const scanner = new RowScanner();
    const close = async () => {
      await iterator.return?.();
    };
    return {
      format: delimiter === '\t' ? 'tsv' : 'csv',
      layout: { delimiter, numbered: false, first_row: 2 },
      header,
      rows: () => rowsOf(rest, iterator, scanner),
      rowsSeen: () => scanner.records,
      close,
    };
  } catch (error) {
    await iterator.return?.();
    throw error;
  }
}

type HeaderLine = { line: string; rest: Uint8Array; stated?: string };

async function readHeaderLine(iterator: AsyncIterator<Uint8Array>): Promise<HeaderLine> {
  let bytes: Buffer = Buffer.alloc(0);
  let stated: string | undefined;
  for (let done = false; ; ) {
    const start = bytes.findIndex((byte) => byte !== 0x0a && byte !== 0x0d);
    if (start > 0) bytes = bytes.subarray(start);
    const end = start < 0 ? -1 : endOfRecord(bytes);
    if (end >= 0 || (done && start >= 0)) {
      const line = bytes.subarray(0, end < 0 ? bytes.length : end).toString('utf8');
      const rest = end < 0 ? new Uint8Array(0) : bytes.subarray(end);
      const separator = /^sep=(.)$/.exec(line)?.[1]; // how spreadsheets tell one another
      if (stated === undefined && separator !== undefined) {
        stated = separator;
        bytes = Buffer.from(rest);
        continue;
      }
      if (end < 0 && countQuotes(line) % 2 === 1) throw fileError('A quote in the header line is never closed.');
      return { line, rest, ...(stated === undefined ? {} : { stated }) };
    }
    if (done) throw fileError('The file is empty; it should begin with a header line.');
    if (bytes.length > maxHeaderBytes)
      throw fileError(`The header line is longer than ${maxHeaderBytes} bytes. A quote in it may never be closed.`);
    const next = await iterator.next();
    if (next.done) done = true;
    else bytes = start < 0 ? Buffer.from(next.value) : Buffer.concat([bytes, next.value]);
  }
}

const countQuotes = (text: string) => text.split('"').length - 1;

function splitHeader(line: string, { delimiter, expected }: Options): { delimiter: string; header: string[] } {
  const fits = (delimiter === undefined ? delimiters : [delimiter])
    .map((each) => ({ delimiter: each, header: splitLine(line, each) }))
    .filter((each): each is { delimiter: string; header: string[] } => each.header !== undefined)
    .map((each) => ({ ...each, known: each.header.filter((name) => expected.has(name.toLowerCase())).length }));
  const best = fits.toSorted((a, b) => b.known - a.known || b.header.length - a.header.length)[0];
  if (!best) throw fileError('The header line has quotes in the wrong places.');
  if (best.header.length > maxFileColumns)
    throw fileError(`The header has ${best.header.length} columns; at most ${maxFileColumns} are read.`);
  return { delimiter: best.delimiter, header: best.header };
}

function splitLine(line: string, delimiter: string): string[] | undefined {
  try {
    const [cells = []] = parse(line, { delimiter, columns: false, to: 1 }) as string[][];
    return cells.map((cell) => cell.trim());
  } catch {
    return undefined;
  }
}

async function* rowsOf(
  first: Uint8Array,
  iterator: AsyncIterator<Uint8Array>,
  scanner: RowScanner,
): AsyncGenerator<Uint8Array> {
  try {
    yield* slices(scanner.scan(first));
    for (;;) {
      const next = await iterator.next();
      if (next.done) break;
      yield* slices(scanner.scan(next.value));
    }
    yield* slices(scanner.end());
  } finally {
    await iterator.return?.();
  }
}
