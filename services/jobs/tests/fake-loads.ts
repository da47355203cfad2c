// Loads as data makes them, in memory: files are read, rows merged by their primary key.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { parse } from 'csv-parse';

type Row = Record<string, string>;
export type Column = { name: string; data_type: string; is_primary_key: boolean; foreign_key_table_id?: number };

export type FakeTable = {
  account_id: number;
  table_definition_id: number;
  key: string;
  branch_id: number;
  domain_id: number;
  columns: Column[];
  /** Label columns of its exports. */
  labels?: { name: string; data_type: string }[];
  rows: Map<string, Row>;
};

export type Load = {
  load_id: string;
  account_id: number;
  key: string;
  columns: string[];
  /** The options of the load: how data reads the file. */
  options: Record<string, unknown>;
  bytes: number;
  from: CallContext;
};

export async function count(requests: AsyncIterable<{ chunk?: Uint8Array }>, load: Load) {
  let rows = 0;
  for await (const { chunk } of requests) {
    load.bytes += chunk?.length ?? 0;
    const bytes = Buffer.from(chunk ?? []);
    for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) rows += 1;
  }
  return { status: 'completed', rows_read: rows, inserted: rows, rejections: [], errors: [] };
}

export async function readRecords(
  requests: AsyncIterable<{ chunk?: Uint8Array }>,
  load: Load,
  { delimiter, quote }: Options,
) {
  const parser = parse({ delimiter, quote, columns: false });
  const records: string[][] = [];
  const reading = (async () => {
    for await (const record of parser) records.push(record as string[]);
  })();
  reading.catch(() => {});
  for await (const { chunk } of requests) {
    if (!chunk) continue;
    if (chunk.length > 256 * 1024) throw new ServiceError('internal', 'a chunk was larger than 256 kB');
    load.bytes += chunk.length;
    parser.write(Buffer.from(chunk));
  }
  parser.end();
  try {
    await reading;
  } catch (cause) {
    throw new ServiceError('validation_failed', {
      code: 'invalid',
      message: `The file is not CSV: ${(cause as Error).message}`,
    });
  }
  return records;
}

type Options = {
  delimiter: string;
  quote: string;
  pattern: string;
  on_error: string;
  file_columns: string[];
  columns: { position: number; target_column: string }[];
  numbered: boolean;
  first_row: number;
  corrections: { row: number; cells: { position: number; value?: string }[] }[];
};

export type RejectedRow = { row: number; cells: string[]; problems: { column: string; value: string }[] };

export function merge(table: FakeTable, options: Options, records: string[][], badValue: string) {
  const result = {
    status: 'completed',
    rows_read: records.length,
    inserted: 0,
    updated: 0,
    deleted: 0,
    unchanged: 0,
    rejected: 0,
    rejections: [] as { row: number; column: string; value: string; message: string }[],
    errors: [] as string[],
    rejectedRows: [] as RejectedRow[],
  };
  const keys = table.columns.filter((column) => column.is_primary_key).map(({ name }) => name);
  const wanted = new Map<string, { row: Row; code: string }>();
  for (const [index, record] of records.entries()) {
    const own = options.numbered ? record.splice(0, 2) : [String(index + Math.max(options.first_row, 1)), ''];
    const number = Number(own[0]);
    const corrected = options.corrections.find(({ row }) => row === number);
    for (const { position, value = '' } of corrected?.cells ?? []) record[position] = value;
    const row: Row = {};
    for (const { position, target_column } of options.columns) row[target_column] = record[position] ?? '';
    const { svc_transaction_code: code = 'u', ...values } = row;
    const bad = Object.entries(values).find(([, value]) => value === badValue);
    const found = bad ? [{ column: bad[0], value: bad[1], message: 'is not allowed' }] : [];
    const problems: typeof found = own[1] && !corrected ? JSON.parse(own[1]) : found;
    for (const problem of problems) result.rejections.push({ row: number, ...problem });
    if (problems.length > 0) result.rejectedRows.push({ row: number, cells: record, problems });
    else wanted.set(JSON.stringify(keys.map((key) => values[key])), { row: values, code });
  }
  result.rejected = result.rejections.length;
  if (result.rejected > 0 && options.on_error === 'reject_file')
    return { ...result, status: 'failed', errors: [`${result.rejected} row(s) break the rules of the table.`] };
  if (result.rejected > 0) result.status = 'completed_with_errors';
  for (const [key, { row, code }] of wanted) {
    const before = table.rows.get(key);
    if (code === 'd') {
      if (table.rows.delete(key)) result.deleted += 1;
    } else if (!before) result.inserted += 1;
    else if (JSON.stringify(before) === JSON.stringify(row)) result.unchanged += 1;
    else result.updated += 1;
    if (code !== 'd') table.rows.set(key, row);
  }
  if (options.pattern === 'full')
    for (const key of table.rows.keys()) if (!wanted.has(key) && table.rows.delete(key)) result.deleted += 1;
  return result;
}
