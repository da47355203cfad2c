import { eventually } from '@almanac/testkit/eventually';
import pg from 'pg';
import { Indexing } from '../../src/maintenance/automatic-indexes/automatic-indexes.ts';
import type { ExistingIndexes } from '../../src/maintenance/automatic-indexes/existing-indexes.ts';
import { enableTrigrams } from '../../src/maintenance/automatic-indexes/trigrams.ts';
import { planGrid } from '../../src/pages/grid-plan.ts';
import { gridSql } from '../../src/pages/page-sql.ts';
import { load } from '../files.ts';
import { type DataNet, deploy, givenData, type TableInput } from '../given.ts';

type Column = TableInput['columns'][number];

let net: DataNet;
const rows = 25_000;
const columns: TableInput['columns'] = [
  { name: 'id', data_type: 'integer', is_primary_key: true },
  { name: 'size', data_type: 'integer' },
  { name: 'name', length: 40 },
  { name: 'essay', data_type: 'text' },
];

beforeAll(async () => {
  net = await givenData({ env: { DATA_INDEX_FROM_ROWS: '21000' } });
  // Rounds run when a test starts one; the timer would start one every few seconds.
  const own = net.context.indexing as unknown as { timer: NodeJS.Timeout | undefined; schedule(): void };
  clearTimeout(own.timer);
  own.schedule = () => {};
  await deploy(net, [
    { id: 1, columns },
    { id: 2, columns },
  ]);
  for (const table of ['t_1', 't_2']) {
    const id = table.slice(2);
    await net.query(
      `insert into b_1.${table} (svc_created_at, svc_updated_at, c_${id}001, c_${id}002, c_${id}003)
       select clock_timestamp(), clock_timestamp(), n, n % 10, md5(n::text) from generate_series(1, $1::int) n`,
      [rows],
    );
    await net.query(`vacuum analyze b_1.${table}`);
  }
});

afterAll(() => net.stop());

type Model = { filterModel?: unknown; sortModel?: unknown; q?: string };

async function page(table: number, model: Model) {
  const body = { table_definition_id: table, startRow: 0, endRow: 5, ...model };
  const answer = await net.call('POST', '/api/v1/table_data/grid', body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

/** Requests a page a few times, once the table is known to be large. */
async function askFor(table: number, model: Model) {
  const entry = await net.context.catalogue.get(1, { id: table });
  await eventually(() => expect(net.context.pages.counts.isLarge(entry)).toBe(true));
  for (let i = 0; i < 3; i += 1) await page(table, model);
}

const round = () => net.context.indexing.round();

async function indexes(table: number): Promise<string[]> {
  const found = await net.query(
    `select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = $1::regclass and c.relname like 'g\\_%' and i.indisvalid order by 1`,
    [`b_1.t_${table}`],
  );
  return found.map(({ name }) => name as string);
}

const bySize = { sortModel: [{ colId: 'size', sort: 'desc' }] };
const byWord = { filterModel: { name: { filterType: 'text', type: 'contains', filter: 'abcd' } } };

// The server is shared with the tests of other files, each with a database of its own.
const underWay = () => net.query('select phase from pg_stat_progress_create_index where datname = current_database()');

describe('indexes of large tables', () => {
  it('are made for requested pages, and serve them', async () => {
    await askFor(1, bySize);
    await askFor(1, byWord);
    const before = [await page(1, bySize), await page(1, byWord)];
    await round();
    expect(await indexes(1)).toEqual(['g_1_as1', 'g_1_d1002', 'g_1_w1003']);
    expect([await page(1, bySize), await page(1, byWord)]).toEqual(before);
    const plan = async (query: string) =>
      JSON.stringify(
        await net.query(`explain (format json) select svc_sk from b_1.t_1 where not svc_is_deleted ${query}`),
      );
    expect(await plan('order by c_1002 desc nulls last, svc_sk limit 5')).toContain('"g_1_d1002"');
    expect(await plan(`and lower(c_1003 collate "default") like '%abcd%'`)).toContain('"g_1_w1003"');
    expect(await plan('order by svc_sk offset 20000 limit 5')).toContain('"g_1_as1"');
  });

  it('serve a search that a label may meet, too', async () => {
    const [id, size, name] = columns as [Column, Column, Column];
    await deploy(net, [
      { id: 11, lookup_display_column_id: 11003, columns: [id, size, name] },
      { id: 12, columns: [id, { ...size, foreign_key_table_id: 11 }, name] },
    ]);
    await net.query(
      `insert into b_1.t_11 (svc_created_at, svc_updated_at, c_11001, c_11003)
       select clock_timestamp(), clock_timestamp(), n, 'of ' || n from generate_series(1, 5000) n`,
    );
    await net.query(
      `insert into b_1.t_12 (svc_created_at, svc_updated_at, c_12001, c_12002, c_12003)
       select clock_timestamp(), clock_timestamp(), n, n % 5000 + 1, 'No. ' || n from generate_series(1, $1::int) n`,
      [rows],
    );
    await net.query('vacuum analyze b_1.t_11, b_1.t_12');
    const search = { q: '4321' };
    await askFor(12, search);
    const before = await page(12, search);
    // Five refer to "of 4321", and three others have it in their own names.
    expect(before.rowCount).toBe(8);
    await round();
    expect(await indexes(12)).toEqual(['g_12_as1', 'g_12_w12003']);
    expect(await page(12, search)).toEqual(before);
    const entry = await net.context.catalogue.get(1, { id: 12 });
    const targets = new Map([[11, await net.context.catalogue.get(1, { id: 11 })]]);
    const { text, values } = gridSql(entry, planGrid(entry, { startRow: 0, endRow: 5, ...search }, targets));
    expect(JSON.stringify(await net.query(`explain (format json) ${text}`, values))).toContain('"g_12_w12003"');
  });

  it('hold the rows of one value side by side, and are dropped with either of their columns', async () => {
    const sized = { filterModel: { size: { filterType: 'number', type: 'equals', filter: 3 } } };
    const inOrder = { ...sized, sortModel: [{ colId: 'name', sort: 'desc' }] };
    const named = {
      filterModel: { name: { filterType: 'text', type: 'equals', filter: 'C4CA4238A0B923820DCC509A6F75849B' } },
    };
    for (const model of [inOrder, named]) await askFor(2, model);
    const before = [await page(2, inOrder), await page(2, named)];
    expect(before.map(({ rowCount }) => rowCount)).toEqual([2_500, 1]);
    await round();
    expect(await indexes(2)).toEqual(['g_2_e2002a2003', 'g_2_e2003as1']);
    const entry = await net.context.catalogue.get(1, { id: 2 });
    await (net.context.indexing as unknown as { existing: ExistingIndexes }).existing.read(entry);
    const served = (model: Model) => {
      const plan = planGrid(entry, { startRow: 0, endRow: 5, ...model });
      return net.context.indexing.serve(entry, plan);
    };
    expect([served(inOrder).isInOrder, served(named).filter]).toMatchObject([
      true,
      { all: [{ test: { isFolded: true } }] },
    ]);
    expect([await page(2, inOrder), await page(2, named)]).toEqual(before);
    const { text, values } = gridSql(entry, served(inOrder));
    const plan = JSON.stringify(await net.query(`explain (format json) ${text}`, values));
    expect(plan).toContain('"g_2_e2002a2003"');
    expect(
      JSON.stringify(
        await net.query(
          `explain (format json) ${gridSql(entry, served(named)).text}`,
          gridSql(entry, served(named)).values,
        ),
      ),
    ).toContain('"g_2_e2003as1"');

    await deploy(net, [
      {
        id: 2,
        version: 2,
        columns: columns.map((column) =>
          column.name === 'name' ? { ...column, data_type: 'text', length: undefined } : column,
        ) as TableInput['columns'],
      },
    ]);
    expect(await indexes(2)).toEqual([]);
    await net.query('delete from grid_index where table_definition_id = 2');
    await deploy(net, [{ id: 2, version: 3, columns }]);
  });

  it('take long texts as before', async () => {
    await askFor(1, { filterModel: { essay: { filterType: 'text', type: 'contains', filter: 'long' } } });
    await round();
    const essay = 'a long text, '.repeat(50_000);
    const made = await net.call('POST', '/api/v1/table_data', {
      table_definition_id: 1,
      record: { id: rows + 1, essay },
    });
    expect([made.status, await indexes(1)]).toEqual([201, ['g_1_as1', 'g_1_d1002', 'g_1_w1003', 'g_1_w1004']]);
  });

  it('are dropped when they are no longer requested, and when their column changes', async () => {
    await net.query(`update grid_index set last_asked_at = now() - interval '15 days' where column_id = 1002`);
    await round();
    expect(await indexes(1)).toEqual(['g_1_as1', 'g_1_w1003', 'g_1_w1004']);
    const [id, size, name, essay] = columns as [TableInput['columns'][0], ...TableInput['columns']];
    const changed = {
      id: 1,
      version: 2,
      columns: [id, size, { ...name, name: 'label' }, { ...essay, name: 'essay', data_type: 'json' }],
    };
    await deploy(net, [changed as TableInput]);
    expect(await indexes(1)).toEqual(['g_1_as1', 'g_1_w1003']);
    await round();
    expect(await indexes(1)).toEqual(['g_1_as1', 'g_1_w1003']);
  });

  it('are made again when a killed process has left one half made', async () => {
    await net.query(`update pg_index set indisvalid = false where indexrelid = 'b_1.g_1_w1003'::regclass`);
    expect(await indexes(1)).toEqual(['g_1_as1']);
    await round();
    expect(await indexes(1)).toEqual(['g_1_as1', 'g_1_w1003']);
  });

  it('are interrupted by a deployment while they are being made, and made later', async () => {
    await askFor(2, bySize);
    // An old snapshot: `create index concurrently` waits for its end.
    const reader = new pg.Client({ connectionString: net.database.url });
    await reader.connect();
    await reader.query('begin isolation level repeatable read');
    await reader.query('select 1 from deployed_table');
    const making = round();
    await eventually(async () => {
      const [progress] = await underWay();
      expect(progress?.phase).toMatch(/waiting/);
    });
    await deploy(net, [{ id: 2, version: 4, columns: [...columns, { name: 'more' }] }]);
    await reader.query('commit');
    await reader.end();
    await making;
    expect((await page(2, bySize)).rowCount).toBe(rows);
    await round();
    expect(await indexes(2)).toEqual(['g_2_d2002']);
  });

  it('end with the process that makes them', async () => {
    await net.query(`drop index b_1.g_2_d2002`);
    const other = new pg.Pool({ connectionString: net.database.url, max: 3 });
    const { pages, logger } = net.context;
    const killed = new Indexing({
      pool: other,
      sizes: (pages.counts as unknown as { sizes: never }).sizes,
      logger,
      rules: { minRows: 1 },
    });
    const reader = new pg.Client({ connectionString: net.database.url });
    await reader.connect();
    await reader.query('begin isolation level repeatable read');
    await reader.query('select 1 from deployed_table');
    const making = killed.round();
    await eventually(async () => expect(await underWay()).toHaveLength(1));
    await killed.stop();
    await making;
    await eventually(async () => expect(await underWay()).toHaveLength(0));
    await reader.query('commit');
    await reader.end();
    await other.end();
    await round();
    expect(await indexes(2)).toEqual(['g_2_d2002']);
  });

  it('are none by words where the role may not create the extension', async () => {
    await net.query('drop extension if exists pg_trgm cascade');
    await net.query('drop schema if exists trigrams cascade');
    const guest = `guest_${process.pid}`; // roles are the cluster's, which other tests use too
    await net.query(`create role ${guest} login password '${guest}'`);
    const url = new URL(net.database.url);
    url.username = url.password = guest;
    const pool = new pg.Pool({ connectionString: url.href });
    const client = await pool.connect();
    const { available, reason } = await enableTrigrams(client);
    client.release(true);
    await pool.end();
    await net.query(`drop role ${guest}`);
    expect(available).toBe(false);
    expect(reason).toMatch(/permission denied/);
  });
});

describe('a loaded table', () => {
  const visiblePages = async (table: number) => {
    const [row] = await net.query('select relallvisible as pages from pg_class where oid = $1::regclass', [
      `b_1.t_${table}`,
    ]);
    return Number(row?.pages);
  };
  const loadRows = (from: number, count: number) =>
    load(net, 3, Array.from({ length: count }, (_, i) => `${from + i},1,name,\n`).join(''), {
      file_columns: columns.map(({ name }) => name),
    });

  it('is vacuumed in the next round when the load wrote much of it', async () => {
    await deploy(net, [{ id: 3, columns }]);
    await loadRows(0, 1);
    await net.query('alter table b_1.t_3 set (autovacuum_enabled = off)');
    await loadRows(1, 9_999);
    await round();
    expect(await visiblePages(3)).toBe(0);
    await loadRows(10_001, 10_000);
    await round();
    expect(await visiblePages(3)).toBeGreaterThan(0);
  });
});
