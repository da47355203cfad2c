// Opens a file that was sent, in whatever format it is.
import { type CsvStyle, openCsv } from './csv/csv-reader.ts';
import type { IsolatedFormat } from './isolation/isolated-messages.ts';
import { openIsolated } from './isolation/isolated-reader.ts';
import { openJson } from './json/json-reader.ts';
import { fileError } from './table-file/file-error.ts';
import { detectFormat, type FileFormat, isGzip, isParquet, isZip } from './table-file/file-format.ts';
import { gunzip } from './table-file/gunzip.ts';
import type { FileSource, TableFile } from './table-file/table-file.ts';
import { type Encoding, textBytes } from './table-file/text-bytes.ts';

export type Wanted = {
  /** What the sender says it is; undefined: what it looks like. */
  format: FileFormat | undefined;
  /** Of text, what is known beforehand. */
  style: Partial<CsvStyle> & { encoding?: Encoding | undefined };
  /** Names that a right header would have, as `foldName` makes them. */
  expected: ReadonlySet<string>;
  /** The columns of the table. */
  columns: readonly string[];
  /** How many columns a file without a header should have. */
  width?: number | undefined;
  /**
   * Whether rows that can't be read are told one by one, where the format lets go on behind them.
   */
  rejectsRows?: boolean | undefined;
};

const headBytes = 4096;

/** Reads as much as it takes to know the header. What is wrong with the file is a file error. */
export async function openTableFile(source: FileSource, wanted: Wanted): Promise<TableFile> {
  const head = await firstBytes(source.range(0, Math.min(headBytes, source.size)));
  const packed = isGzip(head);
  const inside = packed ? await firstBytes(gunzip(source.open())) : head;
  const format = wanted.format ?? detectFormat(inside);
  const { encoding, ...style } = wanted.style;
  if (style.hasHeader === false && format !== 'csv' && format !== 'tsv')
    throw fileError('A file without a header can only be CSV or TSV; the mapping says that this one has none.');
  switch (format) {
    case 'xlsx':
    case 'parquet':
      requireForm(format, inside);
      // Their parts are read in any order, which can't be done in a packed file.
      return openIsolated(packed ? await source.keep(gunzip(source.open())) : source, format);
    case 'json':
    case 'ndjson':
      return openJson(() => textBytes(source.open(), encoding), { format, columns: wanted.columns });
    default:
      return openCsv(textBytes(source.open(), encoding), {
        ...style,
        delimiter: format === 'tsv' ? '\t' : style.delimiter,
        hasHeader: style.hasHeader ?? true,
        expected: wanted.expected,
        width: wanted.width,
        rejectsRows: wanted.rejectsRows,
      });
  }
}

function requireForm(format: IsolatedFormat, head: Uint8Array): void {
  if (format === 'xlsx' ? isZip(head) : isParquet(head)) return;
  throw fileError(`The file is not ${format === 'xlsx' ? 'an XLSX workbook' : 'a Parquet file'}.`);
}

async function firstBytes(source: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= headBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, headBytes);
}
