// The process in which DuckDB writes a Parquet file (`parquet-writer.ts`). It opens the two given
// pipes and nothing else.
import { rmSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import type { WriteRequest, WriterMessage } from './writer-messages.ts';

const maxMemory = '192MB';
const groupRows = 20_000;
const groupBytes = '16MB';

const send = (message: WriterMessage) => void process.send?.(message);

process.once('message', async (request: WriteRequest) => {
  // The parent process has ended, so this one removes the pipes.
  process.on('disconnect', () => {
    rmSync(request.folder, { recursive: true, force: true });
    process.exit();
  });
  try {
    await write(request);
    send({ type: 'written' });
  } catch (error) {
    const problem = String(error);
    send({ type: 'failed', problem, tooLong: /maximum line size/i.test(problem) });
  }
});
// The parent process kills this one.

async function write({ input, output, columns, rowBytes }: WriteRequest): Promise<void> {
  const database = await DuckDBInstance.create(':memory:', {
    memory_limit: maxMemory,
    temp_directory: '',
    threads: '1',
    // One thread keeps the order anyway, and only without this guarantee are groups bounded by
    // bytes.
    preserve_insertion_order: 'false',
    allow_community_extensions: 'false',
    allow_unsigned_extensions: 'false',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const connection = await database.connect();
  await connection.run(`set allowed_paths = [${quoted(input)}, ${quoted(output)}]`);
  await connection.run('set enable_external_access = false');
  await connection.run('set lock_configuration = true');
  const names = columns.map(({ name, type }) => `${quoted(name)}: ${quoted(type)}`).join(', ');
  // As PostgreSQL writes CSV: an unquoted empty cell is null, "" an empty text.
  const rows = [
    quoted(input),
    'auto_detect = false',
    'header = false',
    `delim = ','`,
    `quote = '"'`,
    `escape = '"'`,
    `new_line = '\\n'`,
    `nullstr = ''`,
    'allow_quoted_nulls = false',
    `max_line_size = ${rowBytes}`,
    `buffer_size = ${rowBytes}`,
    `columns = {${names}}`,
  ].join(', ');
  const file = [
    'format parquet',
    'compression snappy',
    'use_tmp_file false',
    `row_group_size ${groupRows}`,
    `row_group_size_bytes '${groupBytes}'`,
  ].join(', ');
  await connection.run(`copy (select * from read_csv(${rows})) to ${quoted(output)} (${file})`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
