// Writers of one hierarchy at the same moment: of two references that close a cycle only one is
// ever stored, through any channel.
import { eventually } from '@almanac/testkit/eventually';
import { watchLog } from '@almanac/testkit/secrets/watched-logs';
import pg from 'pg';
import { load } from '../files.ts';
import { create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';

const codes = Array.from({ length: 12 }, (_, n) => `c${n}`);

const log = watchLog();
let net: DataNet;
let last = 0;
beforeAll(async () => {
  net = await givenData({ log: log.destination, env: { ALMANAC_LOG_LEVEL: 'error' } });
});
afterAll(() => net.stop());

/** A hierarchy of rows that refer to nothing: its id, and theirs. */
async function given(): Promise<{ id: number; ids: number[] }> {
  last += 10;
  const table: TableInput = {
    id: last,
    columns: [
      { name: 'code', length: 9, is_primary_key: true },
      { name: 'parent', length: 9, foreign_key_table_id: last, is_hierarchy: true },
    ],
  };
  await deploy(net, [table]);
  const ids: number[] = [];
  for (const code of codes) ids.push((await create(net, table.id, { code })).svc_sk);
  return { id: table.id, ids };
}

/** As of one snapshot. */
async function expectNoCycle(table: number): Promise<void> {
  const rows = await net.query(
    `select c_${table}001 as code, c_${table}002 as parent from b_1.t_${table} where svc_live`,
  );
  const parents = new Map(rows.map(({ code, parent }) => [code, parent]));
  for (const code of parents.keys()) {
    let above: unknown = parents.get(code);
    for (let steps = 0; above !== null && above !== undefined; steps += 1) {
      if (steps > parents.size) throw new Error(`${code} leads into a cycle: ${JSON.stringify([...parents])}`);
      above = parents.get(above);
    }
  }
}

describe.each(['read committed', 'repeatable read'])('two transactions that each set one edge, %s', (isolation) => {
  it.each([
    ['at once', true],
    ['one after the other had begun', false],
  ])('do not both succeed: %s', async (_, overlap) => {
    const { id } = await given();
    const clients = [0, 1].map(() => new pg.Client({ connectionString: net.database.url }));
    const [one, two] = clients as [pg.Client, pg.Client];
    for (const client of clients) await client.connect();
    const set = (client: pg.Client, code: string, parent: string) =>
      client.query(`update b_1.t_${id} set c_${id}002 = $2, svc_version = svc_version + 1 where c_${id}001 = $1`, [
        code,
        parent,
      ]);
    for (const client of clients) {
      await client.query(`begin isolation level ${isolation}`);
      await client.query('select count(*) from deployed_table');
    }
    await set(one, 'c1', 'c0');
    if (!overlap) await one.query('commit');
    const second = set(two, 'c0', 'c1').then(
      () => 'done',
      (error: { code: string }) => error.code,
    );
    if (overlap) await one.query('commit');
    expect(await second).toBe(isolation === 'read committed' ? '23514' : '40001');
    await two.query('rollback');
    for (const client of clients) await client.end();
    await expectNoCycle(id);
  });
});

it('a load sees a reference that was set after it began', async () => {
  const { id } = await given();
  const client = new pg.Client({ connectionString: net.database.url });
  await client.connect();
  await client.query('begin');
  await client.query(`update b_1.t_${id} set c_${id}002 = 'c0', svc_version = svc_version + 1 where c_${id}001 = 'c1'`);
  const loading = load(net, id, 'c0,c2\nc2,c1\n', { file_columns: ['code', 'parent'], on_error: 'reject_rows' });
  await eventually(async () =>
    expect(
      await net.query("select true from pg_locks where not granted and locktype = 'transactionid'"),
    ).not.toHaveLength(0),
  );
  await client.query('commit');
  await client.end();
  expect(await loading).toMatchObject({ status: 'completed_with_errors', rejected: 2, updated: 0 });
  await expectNoCycle(id);
});

it('many writers, batches and files at random leave no cycle, ever', async () => {
  const { id, ids } = await given();
  const statuses = new Map<string, number>();
  const seen = (status: number | string) => statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1);
  const some = <T>(list: T[]) => list[Math.floor(Math.random() * list.length)] as T;
  const parent = () => (Math.random() < 0.2 ? null : some(codes));
  let isOver = false;
  const write = async () => {
    for (let n = 0; n < 25; n += 1) {
      const record = { parent: parent() };
      seen((await net.call('PATCH', `/api/v1/table_data/${some(ids)}`, { table_definition_id: id, record })).status);
    }
  };
  const batches = async () => {
    for (let n = 0; n < 15; n += 1) {
      const rows = new Set([some(ids), some(ids), some(ids)]);
      const operations = [...rows].map((row) => ({ operation: 'update', id: row, record: { parent: parent() } }));
      seen((await net.call('POST', '/api/v1/table_data/batch', { table_definition_id: id, operations })).status);
    }
  };
  const loads = async () => {
    for (let n = 0; n < 4; n += 1) {
      const rows = new Set([some(codes), some(codes), some(codes)]);
      const text = [...rows].map((code) => `${code},${parent() ?? ''}\n`).join('');
      seen((await load(net, id, text, { file_columns: ['code', 'parent'], on_error: 'reject_rows' })).status);
    }
  };
  const watch = async () => {
    while (!isOver) await expectNoCycle(id);
  };
  const watching = watch();
  await Promise.all([...Array.from({ length: 12 }, write), batches(), batches(), loads()]);
  isOver = true;
  await watching;
  await expectNoCycle(id);
  for (const status of ['200', '422']) expect(statuses.get(status)).toBeGreaterThan(10);
  const unexpected = [...statuses.keys()].filter((status) => !/^(200|422|503|completed.*)$/.test(status));
  // With the log, so that a fault shows its cause.
  expect({ unexpected, log: unexpected.length > 0 ? log.text() : '' }).toEqual({ unexpected: [], log: '' });
});
