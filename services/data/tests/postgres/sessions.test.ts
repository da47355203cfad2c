// After all kinds of work the connections of the pools are like new ones: no setting of a call is
// left for the next.
import type pg from 'pg';
import { load, read } from '../files.ts';
import { caller, create, type DataNet, deploy, failureOf, givenData } from '../given.ts';
import { patch, remove, restore, revert } from '../versions.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

/** The settings and objects of each connection of a pool that a new one lacks. */
async function leftIn(pool: pg.Pool): Promise<unknown[]> {
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()));
  try {
    return await Promise.all(
      clients.map(async (client) => {
        const { rows } = await client.query(
          `select array(select name from pg_settings where source = 'session' order by name) as settings,
             (select count(*)::int from pg_locks where pid = pg_backend_pid() and locktype = 'advisory') as locks,
             pg_my_temp_schema()::int as temporary, current_user = session_user as is_itself,
             array(select name from pg_cursors) as cursors, now() = statement_timestamp() as is_outside, current_schemas(false)::text as path`,
        );
        return rows[0];
      }),
    );
  } finally {
    for (const client of clients) client.release();
  }
}

it('a connection that returns to its pool keeps no state', async () => {
  const columns = [{ name: 'code', length: 5, is_primary_key: true }, { name: 'x' }];
  await deploy(net, [{ id: 1, columns }]);
  await deploy(net, [{ id: 2, branch_id: 2, columns }], { accountId: 2 });
  const { svc_sk: id } = await create(net, 1, { code: 'A' });
  const call = net.as({ accountId: 2 });
  const post = (path: string, body: object, key?: string) =>
    call(
      'POST',
      `/api/v1/table_data${path}`,
      { table_definition_id: 2, ...body },
      key ? { 'idempotency-key': key } : {},
    );
  const operations = [{ operation: 'create', record: { code: 'B' } }];
  const works: (() => Promise<unknown>)[] = [
    () => post('/batch', { operations }, 'once'),
    () => post('/batch', { operations }),
    () => post('', { record: { code: 'too long' } }),
    () => post('/grid', { startRow: 0, endRow: 10 }),
    () => patch(net.call, 1, id, { x: 'y' }),
    () => remove(net.call, 1, [id]),
    () => restore(net.call, 1, [id]),
    () => revert(net.call, 1, id, 1),
    () => load(net, 1, 'C,c\nD,d\n', { file_columns: ['code', 'x'], pattern: 'full', allow_mass_delete: true }),
    () => load(net, 1, 'E,"', { file_columns: ['code', 'x'] }).catch(() => undefined),
    () => failureOf(load(net, 4711, 'E,e\n', { file_columns: ['code', 'x'] })),
    () => read(net, 1),
    () => net.jobs.CancelLoad(caller, { load_id: 'unwanted', table_definition_id: 1 }),
    () => deploy(net, [{ id: 1, version: 2, columns: [...columns, { name: 'more' }] }]),
    () => failureOf(deploy(net, [{ id: 3, columns: [{ name: 'of', foreign_key_table_id: 99 }] }])),
  ];
  for (const work of works) await work();
  await Promise.all(works.map((work) => work().catch(() => undefined)));
  const clean = {
    settings: [],
    locks: 0,
    temporary: 0,
    is_itself: true,
    cursors: [],
    is_outside: true,
    path: '{public}',
  };
  for (const pool of Object.values(net.context.pools)) {
    const found = await leftIn(pool);
    expect(found.length).toBeGreaterThan(0);
    for (const each of found) expect(each).toEqual(clean);
  }
});
