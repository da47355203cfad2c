// NDJSON and JSON arrays of objects. The set of columns is known only at the end, so the file is
// read twice: for the names of its properties, then for the rows. A property missing from a record
// is null; one missing from all records is no column.

import { ExactNumber, parseJson } from '@almanac/service-kit/api/json-body';
import { plainNumber } from '@almanac/service-kit/api/plain-number';
import { ServiceError } from '@almanac/service-kit/errors';
import { fileError } from '../table-file/file-error.ts';
import { type CellProblem, excerpt, type StagedRow, stagedBytes } from '../table-file/staged-rows.ts';
import { type ColumnTarget, maxFileColumns, type TableFile } from '../table-file/table-file.ts';
import { type JsonRecord, jsonElements, jsonLines } from './json-records.ts';

type Options = {
  format: 'ndjson' | 'json';
  /** Columns of the table: the header of a file without records. */
  columns: readonly string[];
};

const textTypes = new Set(['string', 'text']);

/** `open` starts reading the file's text from its beginning. */
export async function openJson(open: () => AsyncIterable<Uint8Array>, options: Options): Promise<TableFile> {
  const { format, columns } = options;
  const records = () => (format === 'json' ? jsonElements(open()) : jsonLines(open()));
  const names = await readNames(records());
  const header = names.length === 0 ? [...columns] : names;
  let seen = 0;
  let reading: AsyncGenerator<JsonRecord[]> | undefined;
  return {
    format,
    header,
    layout: { delimiter: ',', quote: '"', numbered: true, first_row: 1 },
    rows: (targets) => {
      reading = records();
      const read = async function* (source: AsyncIterable<JsonRecord[]>) {
        for await (const batch of source) {
          seen += batch.length;
          yield batch.map((record) => readRow(record, header, targets));
        }
      };
      return stagedBytes(
        read(reading),
        targets.map((place) => place?.target),
      );
    },
    rowsRead: () => seen,
    close: async () => {
      await reading?.return(undefined);
    },
  };
}

// Unreadable records are reported when the rows are read.
async function readNames(batches: AsyncIterable<JsonRecord[]>): Promise<string[]> {
  const names = new Set<string>();
  for await (const batch of batches)
    for (const { bytes } of batch) {
      const record = tryParse(bytes);
      for (const name of record ? Object.keys(record) : []) names.add(name);
      if (names.size > maxFileColumns)
        throw fileError(`The records have more than ${maxFileColumns} different properties.`);
    }
  return [...names];
}

function tryParse(bytes: Uint8Array): object | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readRow(
  { number, bytes }: JsonRecord,
  header: readonly string[],
  targets: readonly (ColumnTarget | undefined)[],
): StagedRow {
  const record = parseRecord(bytes);
  if (typeof record === 'string') {
    const problem = { column: '', value: excerpt(Buffer.from(bytes).toString('utf8')), message: record };
    return { number, cells: header.map(() => null), problems: [problem] };
  }
  const problems: CellProblem[] = [];
  const cells = header.map((name, i) => {
    const value = Object.hasOwn(record, name) ? record[name] : null;
    const place = targets[i];
    const text = cellText(value, place?.dataType ?? '');
    if (text !== null && place && textTypes.has(place.dataType) && typeof value !== 'string')
      problems.push({ column: place.target, value: excerpt(text), message: `${place.target} must be text` });
    return text;
  });
  return { number, cells, problems };
}

// The record, or the reason why it is none.
function parseRecord(bytes: Uint8Array): Record<string, unknown> | string {
  try {
    const value = parseJson(bytes, 'The record');
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber))
      return value as Record<string, unknown>;
    return 'The record is not a JSON object.';
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'bad_request') return error.message;
    throw error;
  }
}

/** A value as the text of a cell, with all of its digits; data applies the rules of the type. */
function cellText(value: unknown, dataType: string): string | null {
  if (value === null || value === undefined) return null;
  if (dataType === 'json') return JSON.stringify(value);
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || value instanceof ExactNumber) return plainNumber(value);
  return JSON.stringify(value);
}
