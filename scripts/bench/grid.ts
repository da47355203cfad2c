// Grid pages through the gateway beside a Node HTTP server with one prepared query that passes PostgreSQL's JSON through.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Api } from '@almanac/api-client/api';
import type { DeployedTable } from '@almanac/testkit/builders';
import { runLoad } from './load.ts';
import type { RawDatabase } from './raw-database.ts';
import { type Comparison, median } from './table.ts';

type Given = {
  api: Api;
  raw: RawDatabase;
  table: DeployedTable;
  rounds: number;
  seconds: number;
  say(text: string): void;
};

const connections = 16;
const pageRows = 100;

const shapes = [
  { name: 'grid page of 100, sorted', path: '/sorted', filterModel: {}, sortModel: [{ colId: 'code', sort: 'asc' }] },
  {
    name: 'grid page of 100, filtered',
    path: '/filtered',
    filterModel: { category: { filterType: 'text', type: 'equals', filter: 'garden' } },
    sortModel: [{ colId: 'code', sort: 'asc' }],
  },
];

/** Interleaves slices of both; answers pages a second. */
export async function compareGrid({ api, raw, table, rounds, seconds, say }: Given): Promise<Comparison[]> {
  const bare = await startBareServer(raw.url);
  const results: Comparison[] = [];
  try {
    for (const { name, path, ...model } of shapes) {
      const ours: number[] = [];
      const theirs: number[] = [];
      const grid = (startRow: number) =>
        JSON.stringify({ table_definition_id: table.id, startRow, endRow: startRow + pageRows, ...model });
      const headers = { Authorization: `Bearer ${api.token}`, 'Content-Type': 'application/json' };
      const target = { url: `${api.baseUrl}/api/v1/table_data/grid`, headers, body: grid };
      const limit = {
        url: `${bare.url}${path}`,
        headers: {},
        body: (startRow: number) => JSON.stringify({ startRow }),
      };
      await runLoad({ ...target, connections, seconds: 1 });
      await runLoad({ ...limit, connections, seconds: 1 });
      for (let round = 1; round <= rounds; round++) {
        const one = await runLoad({ ...target, connections, seconds });
        const other = await runLoad({ ...limit, connections, seconds });
        ours.push(one.perSecond);
        theirs.push(other.perSecond);
        say(
          `${name}, round ${round}: ${one.perSecond.toFixed(0)}/s, p99 ${one.p99.toFixed(0)} ms (bare ${other.perSecond.toFixed(0)}/s, p99 ${other.p99.toFixed(0)} ms)`,
        );
      }
      results.push({ name, unit: 'pages/s', ours: median(ours), bare: median(theirs), bareIs: 'Node + 1 query' });
    }
  } finally {
    bare.stop();
  }
  return results;
}

function startBareServer(databaseUrl: string): Promise<{ url: string; stop(): void }> {
  const child = fork(join(import.meta.dirname, 'bare-server.ts'), [databaseUrl], { stdio: 'inherit' });
  return new Promise((done, fail) => {
    child.once('exit', (code) => fail(new Error(`The bare server ended with ${code}`)));
    child.once('message', (port) => done({ url: `http://127.0.0.1:${port}`, stop: () => void child.kill() }));
  });
}
