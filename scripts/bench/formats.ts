// Each format of files: a whole table exported, and imported again, with the memory that it takes of each process.

import type { Product } from './measuring/product.ts';
import { tellCpu, tellMemory, watch } from './measuring/watched.ts';
import { deployBulkProducts, deployReferences, makeBulkCsv } from './tables/bulk-tables.ts';
import { runExport } from './tables/exports.ts';
import { importFile } from './tables/imports.ts';

type Given = { product: Product; rows: number; say(text: string): void };

const formats = [
  { format: 'csv' },
  { format: 'csv', gzip: true },
  { format: 'tsv' },
  { format: 'ndjson' },
  { format: 'json' },
  { format: 'parquet' },
  { format: 'xlsx' },
];

/** Says time, CPU and memory of each as it comes. */
export async function measureFormats({ product, rows, say }: Given): Promise<void> {
  const { api, processes } = product;
  const table = await deployBulkProducts(api, 'Products of all formats', await deployReferences(api));
  await importFile(api, table, makeBulkCsv({ rows }));
  say(`\nfiles of ${rows.toLocaleString('en')} rows: seconds; seconds of CPU; memory before → at most`);
  for (const how of formats) {
    const name = `${how.format}${how.gzip ? '.gz' : ''}`;
    const exported = await watch(processes, () => runExport(api, table, rows, how));
    const { seconds, downloadUrl } = exported.result;
    say(`export ${name.padEnd(8)} ${seconds.toFixed(1)} s; ${tellCpu(exported.cost)}; ${tellMemory(exported.cost)}`);
    const file = Buffer.from(await (await fetch(downloadUrl)).arrayBuffer());
    const imported = await watch(processes, () => importFile(api, table, file));
    say(
      `import ${name.padEnd(8)} ${imported.result.toFixed(1)} s; ${tellCpu(imported.cost)}; ${tellMemory(imported.cost)}`,
    );
  }
}
