// How far a request for rows is from its SQL: the files that its routes reach, and the calls from
// the handler of the grid to the client of PostgreSQL.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Rights } from '@almanac/service-kit/rights/rights';
import type pg from 'pg';
import { CountCache } from '../pages/count-cache.ts';
import { PageCache } from '../pages/page-cache.ts';
import { PageLimiter } from '../pages/page-limiter.ts';
import type { Pools } from '../postgres/pools.ts';
import { Catalogue } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';
import { tableDataRoutes } from './table-data.routes.ts';

const src = join(import.meta.dirname, '..');

/** The files of this service that a file imports, directly or by way of others; types included. */
function reachedFrom(file: string, reached = new Set<string>()): Set<string> {
  if (reached.has(file)) return reached;
  reached.add(file);
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/\bfrom '(\.[^']+)'/g))
    reachedFrom(join(file, '..', path as string), reached);
  return reached;
}

it('the routes of rows reach at most sixty files, and no context', () => {
  const files = [...reachedFrom(join(src, 'api/table-data.routes.ts'))].map((file) => relative(src, file));
  expect(files.length).toBeLessThanOrEqual(60);
  expect(files).not.toContain('context.ts');
});

const table = {
  table_definition_id: 7,
  account_id: 3,
  branch_id: 2,
  domain_id: 1,
  lineage_id: 5,
  revision: 40,
  structure: { columns: [], foreign_keys: [] },
} as unknown as DeployedTable;

/**
 * The routes over a database that has the table, and the calls that led to the statement of a page.
 */
function given(rows: number) {
  const stacks: string[] = [];
  const query = async ({ text }: pg.QueryConfig) => {
    if (text.includes('from deployed_table where')) return { rows: [table] };
    stacks.push(new Error().stack ?? '');
    return { rows: [{ answer: '{"rows":[],"rowCount":0}' }] };
  };
  const pool = { connect: async () => ({ query, release: () => {} }) } as unknown as pg.Pool;
  const highWaterMark = { find: () => undefined };
  const routes = tableDataRoutes(
    {
      pools: { rows: pool } as Pools,
      catalogue: new Catalogue(pool),
      rights: {} as Rights,
      announcer: { touch: () => {} },
      usage: { note: () => {} },
      indexing: { note: () => {}, serve: (_table, plan) => plan },
      pages: {
        cache: new PageCache({ lastChange: async () => 0, highWaterMark }),
        counts: new CountCache(highWaterMark, { find: () => rows }),
        limiter: new PageLimiter(10),
      },
    },
    { openReading: () => Promise.reject(new Error('no request')) },
  );
  const grid = routes.find(({ path }) => path === '/table_data/grid');
  const body = () => ({ table_definition_id: 7, startRow: 0, endRow: 10 });
  return { stacks, ask: () => grid?.handle({ call: { accountId: 3 }, query: {}, headers: {}, body } as never) };
}

describe('from the handler of the grid to the client of PostgreSQL', () => {
  const limit = Error.stackTraceLimit;
  beforeAll(() => {
    Error.stackTraceLimit = 50;
  });
  afterAll(() => {
    Error.stackTraceLimit = limit;
  });

  // `getGrid` and its closure are not seen: they return the promise of the call below them.
  it.each([10, 1_000_000])('there are eight calls, in a table of %d rows', async (rows) => {
    const { stacks, ask } = given(rows);
    await ask();
    const calls = [...(stacks.at(-1) ?? '').matchAll(/\/services\/data\/src\/(\S+\.ts):/g)];
    expect(calls.map(([, file]) => file).filter((file) => !file?.endsWith('.test.ts'))).toEqual([
      'postgres/pools.ts', // runOn
      'postgres/pools.ts', // run
      'pages/pages.ts', // readPage
      'pages/pages.ts', // answerPage
      'tables/open-table.ts', // withTable
      'api/table-data.routes.ts', // handle
    ]);
  });
});
