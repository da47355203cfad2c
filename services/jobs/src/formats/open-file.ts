// Opens a file in any supported format.
import { type CsvStyle, openCsv } from './csv/csv-reader.ts';
import type { IsolatedFormat } from './isolation/isolated-messages.ts';
import { openIsolated } from './isolation/isolated-reader.ts';
import { openJson } from './json/json-reader.ts';
import { fileError } from './table-file/file-error.ts';
import { detectFormat, type FileFormat, isGzip, isParquet, isZip } from './table-file/file-format.ts';
import { gunzip } from './table-file/gunzip.ts';
import type { FileSource, TableFile } from './table-file/table-file.ts';
import { type Encoding, textBytes } from './table-file/text-bytes.ts';

export type OpenOptions = {
  /** The declared format; undefined: detected. */
  format: FileFormat | undefined;
  /** The known style of text. */
  style: Partial<CsvStyle> & { encoding?: Encoding | undefined };
  /** Names that a correct header would contain, as `foldName` makes them. */
  expected: ReadonlySet<string>;
  /** The columns of the table. */
  columns: readonly string[];
  /** The expected number of columns of a file without a header. */
  width?: number | undefined;
  /**
   * Whether unreadable rows are reported one by one, if the format allows reading on after them.
   */
  rejectsRows?: boolean | undefined;
};

const headBytes = 4096;

/** Reads as much as the header takes. Problems of the file are file errors. */
export async function openTableFile(source: FileSource, options: OpenOptions): Promise<TableFile> {
  const head = await firstBytes(source.range(0, Math.min(headBytes, source.size)));
  const packed = isGzip(head);
  const inside = packed ? await firstBytes(gunzip(source.open())) : head;
  const format = options.format ?? detectFormat(inside);
  const { encoding, ...style } = options.style;
  if (style.hasHeader === false && format !== 'csv' && format !== 'tsv')
    throw fileError('A file without a header can only be CSV or TSV; the mapping says that this one has none.');
  switch (format) {
    case 'xlsx':
    case 'parquet':
      requireForm(format, inside);
      // Their parts are read in any order, which a packed file does not allow.
      return openIsolated(packed ? await source.spool(gunzip(source.open())) : source, format);
    case 'json':
    case 'ndjson':
      return openJson(() => textBytes(source.open(), encoding), { format, columns: options.columns });
    default:
      return openCsv(textBytes(source.open(), encoding), {
        ...style,
        delimiter: format === 'tsv' ? '\t' : style.delimiter,
        hasHeader: style.hasHeader ?? true,
        expected: options.expected,
        width: options.width,
        rejectsRows: options.rejectsRows,
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
