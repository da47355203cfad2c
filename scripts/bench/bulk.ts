// Imports beside COPY, exports beside COPY TO: the same file, rounds of one after rounds of the other.
import { type Api, poll, upload } from '@almanac/api-client/api';
import { type DeployedTable, givenDeployedTable } from '@almanac/testkit/builders';
import type { RawDatabase } from './raw-database.ts';
import { columns, makeCsv } from './rows.ts';
import { type Comparison, median } from './table.ts';

type Given = { api: Api; raw: RawDatabase; rows: number; rounds: number; say(text: string): void };

/** Answers the last table that was loaded; the raw database has the same rows in `bench`. */
export async function compareBulk({ api, raw, rows, rounds, say }: Given) {
  const csv = makeCsv(rows);
  const times = { import: [] as number[], copyIn: [] as number[], export: [] as number[], copyOut: [] as number[] };
  let table: DeployedTable | undefined;
  for (let round = 1; round <= rounds; round++) {
    table = await givenDeployedTable(api, { columns: columns.map(({ sql, ...column }) => column) });
    const rawName = round === rounds ? 'bench' : `bench_${round}`;
    times.import.push(await runImport(api, table, csv, rows));
    times.copyIn.push(await raw.copyIn(rawName, csv));
    times.export.push(await runExport(api, table, rows));
    times.copyOut.push(await raw.copyOut(rawName));
    const last = (list: number[]) => `${(list.at(-1) as number).toFixed(2)} s`;
    say(
      `round ${round}: import ${last(times.import)} (COPY ${last(times.copyIn)}), export ${last(times.export)} (COPY TO ${last(times.copyOut)})`,
    );
  }
  await raw.finish('bench');
  const rate = (list: number[]) => rows / median(list);
  const results: Comparison[] = [
    { name: 'import, CSV', unit: 'rows/s', ours: rate(times.import), bare: rate(times.copyIn), bareIs: 'COPY FROM' },
    { name: 'export, CSV', unit: 'rows/s', ours: rate(times.export), bare: rate(times.copyOut), bareIs: 'COPY TO' },
  ];
  return { table: table as DeployedTable, results };
}

type Job = { id: number; status: string; download_url: string | null; rows_exported: number };

// From "the upload is complete" to "completed"; the upload itself is not the system's work.
async function runImport(api: Api, table: DeployedTable, csv: Buffer, rows: number): Promise<number> {
  const { id } = await api.post<Job>('/imports', { branch_id: table.branchId });
  const { upload_url } = await api.post(`/imports/${id}/tables`, { table_definition_id: table.id, pattern: 'full' });
  await upload(upload_url, csv);
  const begun = performance.now();
  await api.post(`/imports/${id}/upload_complete`);
  const done = await finished(() => api.get(`/imports/${id}`));
  const seconds = (performance.now() - begun) / 1000;
  const inserted = done.import_tables?.[0]?.metrics?.inserted;
  if (done.status !== 'completed' || inserted !== rows) throw new Error(`The import ended as ${JSON.stringify(done)}`);
  return seconds;
}

// From the order to the last byte in the client's hands.
async function runExport(api: Api, table: DeployedTable, rows: number): Promise<number> {
  const begun = performance.now();
  const how = { branch_id: table.branchId, table_definition_key: table.key, pattern: 'full' };
  const { id } = await api.post<Job>('/exports', how);
  const done = await finished(() => api.get(`/exports/${id}`));
  if (done.status !== 'completed' || done.rows_exported !== rows)
    throw new Error(`The export ended as ${JSON.stringify(done)}`);
  const file = await fetch(done.download_url as string);
  let bytes = 0;
  for await (const chunk of file.body as AsyncIterable<Uint8Array>) bytes += chunk.length;
  if (!file.ok || bytes === 0) throw new Error(`The download answered ${file.status} with ${bytes} bytes`);
  return (performance.now() - begun) / 1000;
}

// biome-ignore lint/suspicious/noExplicitAny: an import or an export.
const finished = (ask: () => Promise<any>) =>
  poll(ask, ({ status }) => !/^(created|uploading|processing)$/.test(status), { timeoutMs: 600_000, everyMs: 20 });
