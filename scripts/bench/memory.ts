// What the gateway and the data service hold in memory while many clients page through a whole table at the same time.

import type { LargeTable } from './large-tables.ts';
import { writeRequest } from './measuring/connection.ts';
import { runLoad } from './measuring/load.ts';
import { residentOf } from './measuring/processes.ts';
import type { Product } from './measuring/product.ts';

const clients = 64;
const pageRows = 1_000; // the most there may be
const lookEveryMs = 100;

/** Pages through every row once, each page by whoever is free, and says the memory at the start, the most, and at the end. */
export async function measureMemory(
  { gateway, processes }: Product,
  table: LargeTable,
  say: (text: string) => void,
): Promise<void> {
  const names = ['gateway', 'data'] as const;
  const now = () => names.map((name) => residentOf(processes[name] as number));
  const start = now();
  const most = [...start];
  const look = setInterval(() => {
    for (const [place, mb] of now().entries()) most[place] = Math.max(most[place] as number, mb);
  }, lookEveryMs);
  const headers = await gateway.headers();
  const host = `127.0.0.1:${gateway.port}`;
  const write = (number: number) => {
    const startRow = number * pageRows;
    const sortModel = [{ colId: 'code', sort: 'asc' }];
    const body = { table_definition_id: table.id, startRow, endRow: startRow + pageRows, sortModel };
    return writeRequest('POST', '/api/v1/table_data/grid', { host, headers, body });
  };
  const requests = Math.ceil(table.rows / pageRows);
  const { seconds } = await runLoad({ port: gateway.port, connections: clients, write, requests });
  clearInterval(look);
  const end = now();
  say(`\nmemory, ${clients} clients paging through ${table.rows.toLocaleString('en')} rows (${seconds.toFixed(1)} s)`);
  const mb = (list: number[], place: number) => `${(list[place] as number).toFixed(0)} MB`;
  for (const [place, name] of names.entries())
    say(
      `${name.padEnd(10)} at the start ${mb(start, place)}, at most ${mb(most, place)}, at the end ${mb(end, place)}`,
    );
}
