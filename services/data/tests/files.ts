// Loads and reads whole files the way jobs does.

import type { BulkReadRequest } from '@almanac/protos/generated/almanac/data/v1/BulkReadRequest.ts';
import type { RowCorrection } from '@almanac/protos/generated/almanac/data/v1/RowCorrection.ts';
import type { RpcCaller, RpcOptions } from '@almanac/service-kit/rpc/contract';
import { caller, type DataNet } from './given.ts';

type FileColumn = {
  position: number;
  target_column: string;
  date_format?: string;
  trim?: boolean;
  default_value?: string;
  lookup?: string;
  values?: { position: number; map?: string; otherwise?: string; otherwise_value?: string; round?: number };
};

type Options = {
  pattern?: string;
  on_error?: string;
  dry_run?: boolean;
  import_table_id?: number;
  import_id?: number;
  allow_mass_delete?: boolean;
  mass_delete_percent?: number;
  delimiter?: string;
  quote?: string;
  date_style?: string;
  load_id?: string;
  numbered?: boolean;
  versioned?: boolean;
  first_row?: number;
  most_bytes?: number;
  corrections?: RowCorrection[];
  /** Columns of the file; each fills the column of its name, unless `columns` is given. */
  file_columns: string[];
  columns?: FileColumn[];
  decimal_separator?: string;
};

let loads = 0;

export type LoadAnswer = Awaited<ReturnType<DataNet['jobs']['BulkLoad']>>;

/** Loads CSV text (or bytes, or chunks in their order) into a table. */
export function load(
  net: Pick<DataNet, 'jobs'>,
  table: number,
  content: string | Buffer | AsyncIterable<Buffer>,
  options: Options,
  as: RpcCaller = caller,
  call: RpcOptions = {},
): Promise<LoadAnswer> {
  loads += 1;
  const load_id = `load-${process.pid}-${loads}`;
  const { file_columns, ...rest } = options;
  async function* messages() {
    yield {
      options: {
        load_id,
        table_definition_id: table,
        pattern: 'incremental',
        on_error: 'reject_file',
        date_style: 'ISO',
        delimiter: ',',
        quote: '"',
        file_columns,
        columns: file_columns.map((target_column, position) => ({ position, target_column, date_format: '' })),
        ...rest,
      },
    };
    if (typeof content === 'string' || Buffer.isBuffer(content)) {
      const bytes = Buffer.from(content as string);
      for (let at = 0; at < bytes.length; at += 65_536) yield { chunk: bytes.subarray(at, at + 65_536) };
    } else for await (const chunk of content) yield { chunk };
  }
  return net.jobs.BulkLoad(as, messages(), call);
}

export type ReadAnswer = { columns: string[]; text: string; rows: number; mark: string; chunks: number };

/**
 * Reads a table as CSV, with a header of column names. `mark`: only changes after it; `asOf`: as it
 * was then.
 */
export async function read(
  net: Pick<DataNet, 'jobs'>,
  table: number,
  mark = '',
  as: RpcCaller = caller,
  asOf = '',
  call: RpcOptions = {},
): Promise<ReadAnswer> {
  const pattern = mark === '' ? 'full' : 'incremental';
  return readAll(net, { table_definition_id: table, pattern, high_water_mark: mark, as_of: asOf }, as, call);
}

/** The same for any request. */
export async function readAll(
  net: Pick<DataNet, 'jobs'>,
  request: BulkReadRequest,
  as: RpcCaller = caller,
  call: RpcOptions = {},
): Promise<ReadAnswer> {
  const answer: ReadAnswer = { columns: [], text: '', rows: -1, mark: '', chunks: 0 };
  const parts: Buffer[] = [];
  for await (const message of net.jobs.BulkRead(as, request, call)) {
    if (message.start) answer.columns = message.start.columns;
    if (message.chunk) parts.push(message.chunk as Buffer);
    if (message.end) {
      answer.rows = message.end.rows;
      answer.mark = message.end.next_high_water_mark;
    }
  }
  answer.text = `${answer.columns.join(',')}\n${Buffer.concat(parts).toString()}`;
  answer.chunks = parts.length;
  return answer;
}

/** The rejected rows of a load as CSV. */
export async function rejected(net: DataNet, loadId: string, as: RpcCaller = caller): Promise<string> {
  const parts: Buffer[] = [];
  for await (const { chunk } of net.jobs.ReadRejectedRows(as, { load_id: loadId })) parts.push(chunk as Buffer);
  return Buffer.concat(parts).toString();
}
