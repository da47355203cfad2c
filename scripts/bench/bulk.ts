// Imports beside COPY into a finished table, exports beside COPY TO: the same file, rounds of one after rounds of the other.
import type { Api } from '@almanac/api-client/api';
import type { DeployedTable } from '@almanac/testkit/builders';
import type { BareDatabase } from './bare-database.ts';
import { deployCategories, deployProducts, finished, importFile } from './imports.ts';
import { median } from './quantiles.ts';
import { makeCsv } from './rows.ts';

type Given = { api: Api; bare: BareDatabase; rows: number; rounds: number; say(text: string): void };
type BulkComparison = { name: string; ours: number; bare: number; bareIs: string };

/** Compares rows a second. */
export async function compareBulk({ api, bare, rows, rounds, say }: Given): Promise<BulkComparison[]> {
  const csv = makeCsv(rows);
  const categoriesId = await deployCategories(api);
  const times = { import: [] as number[], copyIn: [] as number[], export: [] as number[], copyOut: [] as number[] };
  for (let round = 1; round <= rounds; round += 1) {
    const table = await deployProducts(api, `Products ${round}`, categoriesId);
    times.import.push(await importFile(api, table, csv));
    times.copyIn.push(await bare.copyIn(`product_${round}`, csv));
    times.export.push(await runExport(api, table, rows));
    times.copyOut.push(await bare.copyOut(`product_${round}`));
    const last = (list: number[]) => `${(list.at(-1) as number).toFixed(2)} s`;
    say(
      `round ${round}: import ${last(times.import)} (COPY ${last(times.copyIn)}), export ${last(times.export)} (COPY TO ${last(times.copyOut)})`,
    );
  }
  const rate = (list: number[]) => rows / median(list);
  return [
    { name: 'import, CSV', ours: rate(times.import), bare: rate(times.copyIn), bareIs: 'COPY FROM' },
    { name: 'export, CSV', ours: rate(times.export), bare: rate(times.copyOut), bareIs: 'COPY TO' },
  ];
}

type Export = { id: number; status: string; download_url: string | null; rows_exported: number };

// From the order to the last byte in the client's hands.
async function runExport(api: Api, table: DeployedTable, rows: number): Promise<number> {
  const begun = performance.now();
  const how = { branch_id: table.branchId, table_definition_key: table.key, pattern: 'full' };
  const { id } = await api.post<Export>('/exports', how);
  const done = await finished(() => api.get<Export>(`/exports/${id}`));
  if (done.status !== 'completed' || done.rows_exported !== rows)
    throw new Error(`The export ended as ${JSON.stringify(done)}`);
  const file = await fetch(done.download_url as string);
  let bytes = 0;
  for await (const chunk of file.body as AsyncIterable<Uint8Array>) bytes += chunk.length;
  if (!file.ok || bytes === 0) throw new Error(`The download answered ${file.status} with ${bytes} bytes`);
  return (performance.now() - begun) / 1_000;
}

/** Says what was measured. */
export function tellBulk(results: BulkComparison[], say: (text: string) => void): void {
  const number = (value: number) => Math.round(value).toLocaleString('en').padStart(10);
  say('\nwhole files, rows a second');
  for (const { name, ours, bare, bareIs } of results)
    say(`${name.padEnd(14)} ${number(ours)}   ${bareIs.padEnd(9)} ${number(bare)}   ratio ${(ours / bare).toFixed(2)}`);
}
