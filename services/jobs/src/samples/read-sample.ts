// Reads the beginning of a file, sent as text, with the readers of imports, so that a sample and an
// import give the same result.
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse/sync';
import type { CsvStyle } from '../formats/csv/csv-reader.ts';
import { openTableFile } from '../formats/open-file.ts';
import { fileError } from '../formats/table-file/file-error.ts';
import { detectFormat, type FileFormat } from '../formats/table-file/file-format.ts';
import type { FileSource, TableFile } from '../formats/table-file/table-file.ts';

/** Rows beyond this number are ignored. */
export const sampleRows = 1000;
/** The maximum length; leaves room in a JSON body for escaped characters. */
export const sampleCharacters = 250_000;

export type Sample = {
  format: FileFormat;
  /** Of CSV. */
  delimiter: string | null;
  quote: string;
  header: string[];
  /** Cells by column of the header; null: no value. */
  rows: (string | null)[][];
};

export type SampleOptions = Partial<CsvStyle> & {
  /** Names that a correct header would contain, as `foldName` makes them. */
  expected?: ReadonlySet<string>;
  width?: number | undefined;
};

/** Reads CSV, TSV, JSON or NDJSON. An unreadable sample is a file error. */
export async function readSample(
  text: string,
  { expected = new Set(), width, ...style }: SampleOptions,
): Promise<Sample> {
  const source = memorySource(Buffer.from(text));
  const format = detectFormat(Buffer.from(text.slice(0, 4096)));
  if (format === 'xlsx' || format === 'parquet') throw fileError('A sample is text: CSV, TSV or JSON.');
  const file = await openTableFile(source, {
    format: style.delimiter === '\t' && format === 'csv' ? 'tsv' : format,
    style: { ...style, encoding: 'utf-8' },
    expected,
    columns: [],
    width,
  });
  try {
    const rows = await readRows(file);
    if (file.layout.numbered) return { format: file.format, delimiter: null, quote: '"', header: file.header, rows };
    // The text may end in the middle of a row.
    const isCut = !/[\r\n]$/.test(text) && rows.length > 1 && (rows.at(-1)?.length ?? 0) < file.header.length;
    const { delimiter, quote } = file.layout;
    return { format: file.format, delimiter, quote, header: file.header, rows: isCut ? rows.slice(0, -1) : rows };
  } finally {
    await file.close();
  }
}

async function readRows(file: TableFile): Promise<(string | null)[][]> {
  const targets = file.header.map((name) => ({ target: name, dataType: 'text' }));
  const parts: Uint8Array[] = [];
  for await (const part of file.rows(targets)) parts.push(part);
  const { delimiter, quote, numbered } = file.layout;
  try {
    const rows = parse(Buffer.concat(parts), {
      ...{ delimiter, quote, escape: quote, relax_column_count: true, to: sampleRows },
      cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
    }) as (string | null)[][];
    return numbered ? rows.map((row) => row.slice(2)) : rows;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw fileError("The sample can't be read as CSV: its quotes are not in their places.");
  }
}

function memorySource(bytes: Buffer): FileSource {
  const range = (start: number, end: number) => Readable.from([bytes.subarray(start, end)]);
  return {
    size: bytes.length,
    open: () => range(0, bytes.length),
    range,
    spool: () => Promise.reject(new Error('a sample is never unpacked')),
  };
}

/** The cells of a column that have a value. */
export const filledCells = ({ rows }: Sample, position: number): string[] =>
  rows.flatMap((row) => row[position]?.trim() || []);

/** Whether a cell of the column has blanks around its value. */
export const isPadded = ({ rows }: Sample, position: number): boolean =>
  rows.some((row) => row[position] && row[position] !== row[position]?.trim());
