// Connections that break at the worst moment, and writers that PostgreSQL ends because of a
// deadlock: every write is done once or not at all, and the client can find out which.

import { eventually } from '@almanac/testkit/eventually';
import { startTcpProxy, type TcpProxy } from '@almanac/testkit/network/tcp-proxy';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import pg from 'pg';
import { create, type DataNet, deploy, givenData } from '../given.ts';
import { gaps, patch, remove, versionsOf } from '../versions.ts';

let database: TestDatabase;
let proxy: TcpProxy;
let net: DataNet;
let last = 0;
/** What is on its way in a connection that rows are written through, when it breaks; once. */
let breakAt: { to: 'target' | 'client'; text: string } | undefined;

beforeAll(async () => {
  database = await createTestDatabase('data');
  proxy = await startTcpProxy(database.url, () => {
    let writesRows = false;
    return (chunk, to) => {
      const text = chunk.toString('latin1');
      writesRows ||= text.includes('application_name\0almanac-data\0');
      if (!writesRows || breakAt?.to !== to || !text.includes(breakAt.text)) return false;
      breakAt = undefined;
      return true;
    };
  });
  net = await givenData({ database, env: { DATA_DATABASE_URL: proxy.urlOf(database.url) } });
});

afterAll(async () => {
  await net.stop();
  await proxy.stop();
  await database.drop();
});

type Given = { table: number; id: number };

async function givenRow(): Promise<Given> {
  last += 10;
  const parent = { name: 'parent', length: 5, foreign_key_table_id: last };
  await deploy(net, [
    { id: last, columns: [{ name: 'code', length: 5, is_primary_key: true }, { name: 'x' }, parent] },
  ]);
  const row = await create(net, last, { code: 'A', x: 'first' });
  await patch(net.call, last, row.svc_sk, { x: 'second' });
  return { table: last, id: row.svc_sk };
}

type Write = { name: string; path: string; body: object };

const writesOf = ({ table: table_definition_id, id }: Given): Write[] => [
  { name: 'create', path: '', body: { table_definition_id, record: { code: 'B' } } },
  { name: 'revert', path: `/${id}/revert`, body: { table_definition_id, version: 1 } },
  { name: 'delete', path: '/delete_records', body: { table_definition_id, ids: [id] } },
  { name: 'restore', path: '/restore_records', body: { table_definition_id, ids: [id] } },
  {
    name: 'batch',
    path: '/batch',
    body: {
      table_definition_id,
      operations: [
        { operation: 'create', record: { code: 'C' } },
        { operation: 'update', id, record: { x: 'new' } },
      ],
    },
  },
];
const names = writesOf({ table: 1, id: 1 }).map(({ name }) => name);

const send = ({ path, body }: Write, key?: string) =>
  net.call('POST', `/api/v1/table_data${path}`, body, key === undefined ? {} : { 'idempotency-key': key });

/** How often it was done: rows and versions that are more than before. */
async function doneSince({ table, id }: Given): Promise<() => Promise<number>> {
  const count = async () => {
    const rows = await net.query(`select count(*)::int as n from b_1.t_${table} where svc_sk <> ${id}`);
    return [rows[0]?.n as number, (await versionsOf(net.call, table, id)).length] as const;
  };
  const [rows, versions] = await count();
  return async () => {
    const [rowsNow, versionsNow] = await count();
    return Math.max(rowsNow - rows, versionsNow - versions);
  };
}

const expectUnavailable = ({ status, headers }: { status: number; headers: Headers }) =>
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);

describe.each(names)('a %s whose connection breaks', (name) => {
  const given = async () => {
    const row = await givenRow();
    if (name === 'restore') await remove(net.call, row.table, [row.id]);
    const write = writesOf(row).find((each) => each.name === name) as Write;
    return { write, done: await doneSince(row) };
  };

  it('before the commit is not done, and repeating it with its key does it', async () => {
    const { write, done } = await given();
    breakAt = { to: 'target', text: 'commit\0' };
    expectUnavailable(await send(write, `early-${last}`));
    expect([breakAt, await done()]).toEqual([undefined, 0]);
    expect((await send(write, `early-${last}`)).status).toBeLessThan(300);
    expect(await done()).toBe(1);
  });

  it('after the commit is done once, and repeating it with its key gets its answer', async () => {
    const { write, done } = await given();
    breakAt = { to: 'client', text: 'COMMIT\0' };
    expectUnavailable(await send(write, `late-${last}`));
    expect([breakAt, await done()]).toEqual([undefined, 1]);
    const [first, second] = [await send(write, `late-${last}`), await send(write, `late-${last}`)];
    expect(first.status).toBeLessThan(300);
    expect([second.status, second.body]).toEqual([first.status, first.body]);
    expect(await done()).toBe(1);
  });

  it('at the answer, without a key, is done once: only the client repeats it', async () => {
    const { write, done } = await given();
    const tags: Record<string, string> = { create: 'INSERT 0 1\0', revert: 'UPDATE 1\0' };
    breakAt = { to: 'client', text: tags[name] ?? 'SELECT 1\0' };
    expectUnavailable(await send(write));
    expect([breakAt, await done()]).toEqual([undefined, 1]);
  });
});

describe('writers in each other’s way', () => {
  const batch = (table: number, operations: object[]) =>
    net.call('POST', '/api/v1/table_data/batch', { table_definition_id: table, operations });
  const update = (id: number, record: object) => ({ operation: 'update', id, record });

  const waiting = async (count: number) =>
    eventually(async () =>
      expect(
        await net.query(
          "select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'almanac-data' and wait_event_type = 'Lock'",
        ),
      ).toEqual([{ n: count }]),
    );

  // Each changes a row with its key and then refers to the row of the other.
  it('that wait for each other are both done, one of them after a retry', async () => {
    const { table, id: a } = await givenRow();
    const b = (await create(net, table, { code: 'B' })).svc_sk;
    const c = (await create(net, table, { code: 'C' })).svc_sk;
    const d = (await create(net, table, { code: 'D' })).svc_sk;
    const [before] = await net.query(
      'select deadlocks::int as n from pg_stat_database where datname = current_database()',
    );
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query(`begin; select from b_1.t_${table} where svc_sk in (${c}, ${d}) for update`);
    const writers = [
      batch(table, [update(a, { code: 'A', x: 'one' }), update(c, { parent: 'B' })]),
      batch(table, [update(b, { code: 'B', x: 'two' }), update(d, { parent: 'A' })]),
    ];
    await waiting(2);
    await holder.query('commit');
    await holder.end();
    expect((await Promise.all(writers)).map(({ status }) => status)).toEqual([200, 200]);
    await eventually(async () => {
      const [now] = await net.query(
        'select deadlocks::int as n from pg_stat_database where datname = current_database()',
      );
      expect((now?.n as number) - (before?.n as number)).toBe(1);
    });
    const rows = await net.query(`select svc_sk::int as id, svc_version from b_1.t_${table} order by 1`);
    expect(rows).toEqual([a, b, c, d].map((id) => ({ id, svc_version: id === a ? 3 : 2 })));
    expect(await gaps(net, table)).toEqual([]);
  });

  it.each(names.flatMap((name) => [[name, undefined] as const, [name, 'key'] as const]))(
    'get three attempts, with at most one effect: %s (%s)',
    async (name, key) => {
      const row = await givenRow();
      if (name === 'restore') await remove(net.call, row.table, [row.id]);
      const write = writesOf(row).find((each) => each.name === name) as Write;
      const done = await doneSince(row);
      const table = `b_1.t_${row.table}`;
      await net.query(`create sequence tries_${row.table}`);
      // A sequence counts on when its transaction is undone.
      const refuse = (tries: number) =>
        net.query(
          `create or replace function refuse_${row.table}() returns trigger language plpgsql as $$begin
             if nextval('public.tries_${row.table}') <= ${tries} then raise exception 'in the way' using errcode = '40001'; end if;
             return null; end$$`,
        );
      await refuse(99);
      await net.query(
        `create trigger refuse after insert or update on ${table} for each row execute function refuse_${row.table}()`,
      );
      expectUnavailable(await send(write, key && `${key}-${row.table}`));
      expect(await net.query(`select last_value::int as n from tries_${row.table}`)).toEqual([{ n: 3 }]);
      expect(await done()).toBe(0);
      await refuse(5);
      expect((await send(write, key && `${key}-${row.table}`)).status).toBeLessThan(300);
      expect(await done()).toBe(1);
    },
  );
});
