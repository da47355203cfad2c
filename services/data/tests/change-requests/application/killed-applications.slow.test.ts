// Data killed at each step of an application: it is applied whole or not at all, and data says
// which when it is back.
import { createTestKeys, type TestKeys } from '@almanac/testkit/calls/keys';
import { eventually } from '@almanac/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import pg from 'pg';
import { caller, type TableInput } from '../../given.ts';
import { type DataProcess, startData } from '../../process.ts';
import { apply, givenRequest } from './applied-requests.ts';

const gate = 4712;
const key = { name: 'code', length: 5, is_primary_key: true };
const parent: TableInput = { id: 10, columns: [key] };
const child: TableInput = { id: 20, columns: [key, { name: 'of', length: 5, foreign_key_table_id: 10 }] };
const request = 1;
const rest = 2;

let database: TestDatabase;
let keys: TestKeys;
let test: pg.Client;
let holder: pg.Client;
let data: DataProcess;

const query = async (text: string, values?: unknown[]) => (await test.query(text, values)).rows;

beforeAll(async () => {
  [database, keys] = await Promise.all([createTestDatabase('data'), createTestKeys()]);
  [test, holder] = [
    new pg.Client({ connectionString: database.url }),
    new pg.Client({ connectionString: database.url }),
  ];
  await Promise.all([test.connect(), holder.connect()]);
  data = await startData(database.url, keys);
  await data.apply('first', [parent, child]);
  const ids = new Map<string, number>();
  for (const [table, record] of [
    [10, { code: 'P' }],
    [10, { code: 'Q' }],
    [20, { code: 'A', of: 'P' }],
    [20, { code: 'B', of: 'Q' }],
  ] as const) {
    const { body } = await data.call('POST', '/api/v1/table_data', { table_definition_id: table, record });
    ids.set(record.code, body.record.svc_sk);
  }
  const id = (code: string) => ids.get(code) as number;
  await givenRequest({ metadata: data.metadata, query }, request, [
    { table: parent, kind: 'create', cells: { code: 'R' } },
    { table: parent, kind: 'delete', id: id('P') },
    { table: child, kind: 'update', id: id('A'), cells: { of: 'R' } },
    { table: child, kind: 'create', cells: { code: 'C', of: 'R' } },
    { table: child, kind: 'delete', id: id('B'), decision: 'returned' },
  ]);
  await query(
    `create function public.wait_at_gate() returns trigger language plpgsql as $$begin perform pg_advisory_xact_lock(${gate}); return null; end$$`,
  );
});

afterAll(async () => {
  await data.end();
  await Promise.all([test.end(), holder.end()]);
  await database.drop();
});

/** Everything that applications change. */
const state = async () =>
  (
    await query(
      `select (select jsonb_agg(to_jsonb(t) order by svc_sk) from b_1.t_10 t) as parents, (select jsonb_agg(to_jsonb(t) order by svc_sk) from b_1.t_20 t) as children,
         (select jsonb_agg(to_jsonb(r) order by id) from change_request r) as requests, (select jsonb_agg(to_jsonb(o) order by id) from change_request_operation o) as operations,
         (select count(*)::int from applied_change_request) as applied, (select count(*)::int from bulk_write) as writes,
         (select count(*)::int from b_1.h_10) + (select count(*)::int from b_1.h_20) as superseded`,
    )
  )[0];

const inWork = () =>
  query(
    "select wait_event_type as waits from pg_stat_activity where datname = current_database() and application_name = 'almanac-data-work' and state <> 'idle'",
  );

const status = async (apply_id: string) => (await data.metadata.GetAppliedChangeRequest(caller, { apply_id })).status;

/** Kills data when the application waits for what `hold` holds, and starts it again. */
async function killAt(applyId: string, hold: string, release: string): Promise<void> {
  await holder.query(hold);
  const applied = apply(data, request, { applyId, rest }).catch(() => undefined);
  await eventually(async () => expect(await inWork()).toEqual([{ waits: 'Lock' }]));
  await data.end('SIGKILL');
  await applied;
  await holder.query(release);
  await eventually(async () => expect(await inWork()).toEqual([]));
  data = await startData(database.url, keys);
}

const locks = (name: string, mode: string): [string, string] => [
  `begin; lock table ${name} in ${mode} mode`,
  'rollback',
];
const waits: [string, string] = [`select pg_advisory_lock(${gate})`, `select pg_advisory_unlock(${gate})`];

describe('data killed in the middle of an application', () => {
  it.each<[string, [hold: string, release: string], trigger: string]>([
    ['when it locks the tables', locks('b_1.t_20', 'exclusive'), ''],
    ['when it begins its result', locks('applied_change_request', 'exclusive'), ''],
    ['when it locks the request', ['begin; select from change_request for update', 'rollback'], ''],
    ['when it deletes', ["begin; select from b_1.t_10 where c_10001 = 'P' for update", 'rollback'], ''],
    ['when it changes', ["begin; select from b_1.t_20 where c_20001 = 'A' for update", 'rollback'], ''],
    ['when the rows are written', locks('bulk_write', 'share row exclusive'), ''],
    ['when it makes the rest a draft', waits, 'after insert on change_request'],
    ['when the rest is moved', waits, 'after update on change_request_operation'],
    ['when it closes the request', waits, 'after update on change_request'],
    ['when it keeps its result', waits, 'after update on applied_change_request'],
  ])('%s has done nothing', async (name, [hold, release], trigger) => {
    const before = await state();
    if (trigger)
      await query(`create trigger waits ${trigger} for each statement execute function public.wait_at_gate()`);
    await killAt(name, hold, release);
    if (trigger) await query(`drop trigger waits on ${trigger.split(' on ')[1]}`);
    expect(await state()).toEqual(before);
    expect(await status(name)).toBe('unknown');
  });

  it('when it commits has done everything, and answers so when it is asked again', async () => {
    await query(
      'create constraint trigger waits after update on applied_change_request deferrable initially deferred for each row execute function public.wait_at_gate()',
    );
    await killAt('commit', ...waits);
    await query('drop trigger waits on applied_change_request');
    expect(await status('commit')).toBe('applied');
    const after = await state();
    const shown = (rows: Record<string, unknown>[], ...names: string[]) =>
      rows.filter((row) => !row.svc_is_deleted).map((row) => names.map((name) => row[name]).join(' '));
    expect(shown(after.parents, 'c_10001')).toEqual(['Q', 'R']);
    expect(shown(after.children, 'c_20001', 'c_20002')).toEqual(['A R', 'B Q', 'C R']);
    expect(shown(after.requests, 'id', 'phase', 'operation_count')).toEqual(['1 closed 4', '2 draft 1']);
    const again = await apply(data, request, { applyId: 'commit', rest });
    expect(again).toMatchObject({
      status: 'applied',
      left: 1,
      tables: [
        { key: 'table_10', created: 1, updated: 0, deleted: 1, restored: 0 },
        { key: 'table_20', created: 1, updated: 1, deleted: 0, restored: 0 },
      ],
    });
    expect(await apply(data, request, { applyId: 'another', rest })).toEqual(again);
    expect(await state()).toEqual(after);
  });
});
