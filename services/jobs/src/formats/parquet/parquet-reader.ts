// Parquet files with plain columns. Rows are numbered from 1.

import { ServiceError } from '@almanac/service-kit/errors';
import { type FileMetaData, parquetMetadata, type RowGroup, type SchemaElement } from 'hyparquet';
import { toExplicitInstant } from '../table-file/explicit-instant.ts';
import { fileError } from '../table-file/file-error.ts';
import { type CellProblem, type StagedRow, stagedBytes } from '../table-file/staged-rows.ts';
import {
  type ColumnTarget,
  type FileSource,
  maxFileColumns,
  SourceFailed,
  type TableFile,
} from '../table-file/table-file.ts';
import { columnPages, damaged } from './parquet-pages.ts';
import { type ToText, toTextOf } from './parquet-values.ts';

const maxFooterBytes = 16 * 1024 * 1024;
const totalWindowBytes = 32 * 1024 * 1024; // of all columns together
const rowsAtOnce = 1000;

/** `toText` is undefined for nested columns and for types that have no text. */
type Column = { name: string; element: SchemaElement; toText: ToText | undefined };

/** Reads the footer. */
export async function openParquet(source: FileSource): Promise<TableFile> {
  const { metadata, columns } = await asFileErrors(async () => {
    const read = await readFooter(source);
    return { metadata: read, columns: columnsOf(read.schema) };
  });
  const header = columns.map(({ name }) => name);
  if (header.length > maxFileColumns)
    throw fileError(`The file has ${header.length} columns; at most ${maxFileColumns} are read.`);
  let seen = 0;
  return {
    format: 'parquet',
    header,
    layout: { delimiter: ',', quote: '"', numbered: true, first_row: 1 },
    rows: (targets) => {
      const read = async function* () {
        for (const group of metadata.row_groups)
          for await (const batch of readGroup(source, metadata, group, columns, targets, seen)) {
            seen += batch.length;
            yield batch;
          }
      };
      return stagedBytes(
        read(),
        targets.map((place) => place?.target),
      );
    },
    rowsRead: () => seen,
    close: async () => {},
  };
}

async function readFooter(source: FileSource): Promise<FileMetaData> {
  const tail = await bytesOf(source, Math.max(0, source.size - 8), source.size);
  const length = tail.readUInt32LE(0);
  if (tail.toString('latin1', 4) !== 'PAR1') throw damaged();
  if (length > maxFooterBytes || length + 12 > source.size) throw damaged();
  return parquetMetadata(await bytesOf(source, source.size - 8 - length, source.size), { geoparquet: false });
}

async function bytesOf(source: FileSource, start: number, end: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of source.range(start, end)) parts.push(part);
  return Buffer.concat(parts);
}

/** Any error of the reader is the fault of a damaged file, unless the source failed. */
async function asFileErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError || error instanceof SourceFailed) throw error;
    throw damaged(error);
  }
}

function columnsOf(schema: SchemaElement[]): Column[] {
  const columns: Column[] = [];
  const sizeAt = (index: number): number => {
    const element = schema[index];
    if (!element) throw damaged();
    let size = 1;
    for (let i = 0; i < (element.num_children ?? 0); i += 1) size += sizeAt(index + size);
    return size;
  };
  for (let index = 1; index < schema.length; index += sizeAt(index)) {
    const element = schema[index] as SchemaElement;
    const isPlain = !element.num_children && element.repetition_type !== 'REPEATED';
    columns.push({ name: element.name, element, toText: isPlain ? toTextOf(element) : undefined });
  }
  return columns;
}

async function* readGroup(
  source: FileSource,
  { schema }: FileMetaData,
  group: RowGroup,
  columns: Column[],
  targets: readonly (ColumnTarget | undefined)[],
  before: number,
): AsyncGenerator<StagedRow[]> {
  const rows = Number(group.num_rows);
  if (!Number.isSafeInteger(rows) || rows < 0) throw damaged();
  const placed = columns.flatMap((column, i) =>
    targets[i] ? [{ ...column, at: i, place: targets[i] as ColumnTarget }] : [],
  );
  const windowBytes = Math.max(
    64 * 1024,
    Math.min(1024 * 1024, Math.floor(totalWindowBytes / Math.max(placed.length, 1))),
  );
  const readers = placed.map(({ name, element, toText, at, place }) => {
    const chunk = group.columns.find(({ meta_data }) => meta_data?.path_in_schema.join('.') === name)?.meta_data;
    if (!toText) throw fileError(`The column ${name} is nested or of a type that no text stands for; leave it out.`);
    if (!chunk) throw fileError(`The column ${name} is encrypted or missing in a part of the Parquet file.`);
    const root = schema[0] as SchemaElement;
    return {
      at,
      place,
      toText,
      isText: element.type === 'BYTE_ARRAY' || element.type === 'FIXED_LEN_BYTE_ARRAY',
      values: new ColumnValues(columnPages(source, { name, root, element }, chunk, rows, windowBytes)),
    };
  });
  if (readers.length === 0) throw fileError('No column of the file goes to a column of the table.');
  for (let done = 0; done < rows; ) {
    let count = Math.min(rowsAtOnce, rows - done);
    for (const { values } of readers) count = Math.min(count, await asFileErrors(() => values.available()));
    const batch: StagedRow[] = [];
    for (let i = 0; i < count; i += 1) {
      const cells: (string | null)[] = new Array(columns.length).fill(null);
      const problems: CellProblem[] = [];
      for (const { at, place, isText, toText, values } of readers) {
        const value = values.next();
        if (value === null || value === undefined) continue;
        const text = toText(value, place.dataType);
        if (text !== undefined) cells[at] = isText || !place.formatted ? text : toExplicitInstant(text);
        else
          problems.push({ column: place.target, value: '', message: `${place.target} holds a value that is no text` });
      }
      batch.push({ number: before + done + i + 1, cells, problems });
    }
    done += count;
    yield batch;
  }
}

// The values of a column one by one.
class ColumnValues {
  private readonly pages: AsyncGenerator<ArrayLike<unknown>>;
  private page: ArrayLike<unknown> = [];
  private at = 0;

  constructor(pages: AsyncGenerator<ArrayLike<unknown>>) {
    this.pages = pages;
  }

  /** How many values can be taken now, at least one. */
  async available(): Promise<number> {
    if (this.at === this.page.length) {
      const next = await this.pages.next();
      if (next.done) throw damaged();
      this.page = next.value;
      this.at = 0;
    }
    return this.page.length - this.at;
  }

  next(): unknown {
    const value = this.page[this.at];
    this.at += 1;
    return value;
  }
}
