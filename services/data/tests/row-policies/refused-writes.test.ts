// Tables whose changes are proposed: every other write is refused, whatever channel it takes, and
// what the policy lets through goes on.
import { refusal } from '@almanac/testkit/calls/refusal';
import { load } from '../files.ts';
import { caller, type DataNet, deploy, failureOf, givenData, setPolicy, type TableInput } from '../given.ts';
import { type Edits, edit, givenCopy, merge, nextId, rowsOf } from '../merges/row-merges.ts';
import { patch, remove, restore, revert } from '../versions.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const rows: Edits = { A: { name: 'Alpha', size: 1 }, B: { name: 'Beta', size: 2 } };
const path = '/api/v1/table_data';
const columns: TableInput['columns'] = [
  { name: 'code', length: 10, is_primary_key: true },
  { name: 'name', length: 20 },
];

/** A table with a live row of two versions and a deleted one, whose changes are proposed. */
async function givenProposed(): Promise<{ table: TableInput; ids: number[] }> {
  const { main } = await givenCopy(net, rows);
  const ids = (await net.query(`select svc_sk from b_1.t_${main.id} order by svc_sk`)).map((row) => Number(row.svc_sk));
  await patch(net.call, main.id, ids[0] as number, { size: 10 });
  await remove(net.call, main.id, [ids[1] as number]);
  expect(await setPolicy(net, main.id, 'request')).toEqual({ set: 1 });
  return { table: main, ids };
}

const batch = (table: number, operations: unknown[], headers = {}, call = net.call) =>
  call('POST', `${path}/batch`, { table_definition_id: table, operations }, headers);
const creation = (table: number, code: string, headers = {}, call = net.call) =>
  call('POST', path, { table_definition_id: table, record: { code } }, headers);

const stateOf = (table: number) =>
  net.query(
    `select (select json_agg(v) from b_1.t_${table} v) as now, (select json_agg(v) from b_1.h_${table} v) as h`,
  );
const entryOf = async (table: number) =>
  (
    await net.query(
      'select row_changes, machine_imports, revision::int from deployed_table where table_definition_id = $1',
      [table],
    )
  )[0];

const sentence = 'Changes to this table are proposed: create a change request (POST /change_requests).';
const refused = { status: 422, body: refusal('Validation failed', 'proposals_only', sentence) };

describe('a table whose changes are proposed', () => {
  it('refuses every write alike, of people and of applications, and stays as it is', async () => {
    const { table, ids } = await givenProposed();
    const [live, deleted] = ids as [number, number];
    const before = await stateOf(table.id);
    const record = { code: 'C', name: 'Gamma' };
    const admin = [{ action: 'admin', resource_type: 'account', resource_id: 1 }];
    net.rights.set(11, { license_type: 'developer', permissions: admin });
    for (const call of [net.call, net.as({ userId: 11 })]) {
      const named = { table_definition_id: table.id };
      const writes = {
        creation: () => call('POST', path, { ...named, record }),
        'keyed creation': () => call('POST', path, { ...named, record }, { 'idempotency-key': 'new' }),
        change: () => patch(call, table.id, live, { size: 11 }),
        'a change of nothing': () => patch(call, table.id, live, { size: 10 }),
        'a change of no record': () => patch(call, table.id, 999_999, { nothing: 1 }),
        deletion: () => remove(call, table.id, [live]),
        'deletion of no record': () => remove(call, table.id, [999_999]),
        restoration: () => restore(call, table.id, [deleted]),
        reversion: () => revert(call, table.id, live, 1),
        'creation in a batch': () => batch(table.id, [{ operation: 'create', record }], {}, call),
        'a change in a batch': () =>
          batch(table.id, [{ operation: 'update', id: live, record: { size: 11 } }], {}, call),
        'deletion in a batch': () => batch(table.id, [{ operation: 'delete', id: live }], {}, call),
        'an upsert in a batch': () => batch(table.id, [{ operation: 'upsert', record }], {}, call),
        'change by key': () => call('PUT', `${path}/by_key`, { ...named, record: { code: 'A', size: 11 } }),
        'creation by key': () => call('PUT', `${path}/by_key`, { ...named, record }),
        'deletion by key': () => call('DELETE', `${path}/by_key?table_definition_id=${table.id}&key[code]=A`),
      };
      for (const [name, write] of Object.entries(writes)) {
        const { status, body } = await write();
        expect({ name, status, body }).toEqual({ name, ...refused });
      }
    }
    expect(await stateOf(table.id)).toEqual(before);
    expect((await net.call('GET', `${path}/${live}?table_definition_id=${table.id}`)).status).toBe(200);
  });

  it('names a missing right and a missing table first', async () => {
    const { table, ids } = await givenProposed();
    const view = [{ action: 'view', resource_type: 'account', resource_id: 1 }];
    net.rights.set(12, { license_type: 'developer', permissions: view });
    expect((await remove(net.as({ userId: 12 }), table.id, ids)).status).toBe(403);
    expect((await remove(net.as({ accountId: 2 }), table.id, ids)).status).toBe(404);
  });

  it('is written again when the policy is lifted', async () => {
    const { table } = await givenProposed();
    expect(await creation(table.id, 'C')).toMatchObject(refused);
    await setPolicy(net, table.id, 'direct');
    expect((await creation(table.id, 'C')).status).toBe(201);
  });

  it('repeats the answer of a request from before the policy', async () => {
    const { main } = await givenCopy(net, {});
    const operations = [{ operation: 'create', record: { code: 'A', name: 'Alpha' } }];
    const headers = { 'idempotency-key': `before-${main.id}` };
    const first = await batch(main.id, operations, headers);
    expect(first.status).toBe(200);
    await setPolicy(net, main.id, 'request');
    expect(await batch(main.id, operations, headers)).toMatchObject({ status: 200, body: first.body });
    expect(await batch(main.id, operations, { 'idempotency-key': `after-${main.id}` })).toMatchObject(refused);
  });

  it('is written by promotions, and begins with the rows of its original', async () => {
    const { main, copy } = await givenCopy(net, rows);
    await setPolicy(net, copy.id, 'request');
    await edit(net, main.id, { A: { size: 10 }, B: null, C: { name: 'Gamma', size: 3 } });
    expect(await merge(net, [[main.id, copy.id]])).toMatchObject({ status: 'merged' });
    expect(await rowsOf(net, copy.id)).toEqual({ A: { name: 'Alpha', size: 10 }, C: { name: 'Gamma', size: 3 } });
    const next = { ...copy, id: copy.id + 1, branch_id: 3, row_changes: 'request', rows_from_table_id: main.id };
    await deploy(net, [next]);
    expect(await rowsOf(net, next.id)).toEqual(await rowsOf(net, main.id));
    expect(await creation(next.id, 'D')).toMatchObject(refused);
  });
});

describe('imports into such a table', () => {
  const options = { file_columns: ['code', 'name', 'size'] };
  const file = 'A,Aleph,10\nC,Gamma,3\n';
  const person = { ...caller, userId: 13 };
  const givenPerson = () =>
    net.rights.set(13, {
      license_type: 'developer',
      permissions: [{ action: 'edit', resource_type: 'account', resource_id: 1 }],
    });

  it('are loaded for applications, not for people', async () => {
    const { table } = await givenProposed();
    givenPerson();
    const refusal = await failureOf(load(net, table.id, file, options, person));
    expect(refusal).toEqual({ kind: 'validation_failed', errors: [sentence] });
    expect(await rowsOf(net, table.id)).toEqual({ A: { name: 'Alpha', size: 10 } });
    expect(await load(net, table.id, file, options)).toMatchObject({ inserted: 1, updated: 1 });
    expect(await rowsOf(net, table.id)).toEqual({ A: { name: 'Aleph', size: 10 }, C: { name: 'Gamma', size: 3 } });
  });

  it('are refused to applications too when the policy says so, and the result of an earlier one is answered', async () => {
    const { main } = await givenCopy(net, rows);
    const first = await load(net, main.id, file, { ...options, load_id: `first-${main.id}` });
    await setPolicy(net, main.id, 'request', { machine_imports: false });
    expect((await failureOf(load(net, main.id, file, options))).errors).toEqual([sentence]);
    expect(await load(net, main.id, file, { ...options, load_id: `first-${main.id}` })).toEqual(first);
  });

  it('are rehearsed for everybody', async () => {
    const { table } = await givenProposed();
    givenPerson();
    await setPolicy(net, table.id, 'request', { machine_imports: false });
    const before = await stateOf(table.id);
    for (const as of [caller, person])
      expect(await load(net, table.id, file, { ...options, dry_run: true }, as)).toMatchObject({
        inserted: 1,
        updated: 1,
      });
    expect(await stateOf(table.id)).toEqual(before);
  });
});

describe('a policy', () => {
  it('is that of a new table from its first instant, and no deployment changes it later', async () => {
    const id = nextId();
    const table = { id, columns, row_changes: 'request', machine_imports: false, row_policy_revision: 5 };
    await deploy(net, [table]);
    expect(await entryOf(id)).toMatchObject({ row_changes: 'request', machine_imports: false });
    expect(await creation(id, 'A')).toMatchObject(refused);
    await deploy(net, [{ ...table, version: 2, row_changes: 'direct', row_policy_revision: 6 }]);
    expect(await entryOf(id)).toMatchObject({ row_changes: 'request', machine_imports: false });
    await deploy(net, [{ id, columns, version: 3 }]);
    expect(await creation(id, 'A')).toMatchObject(refused);
  });

  it('is direct where nothing is said', async () => {
    const id = nextId();
    await deploy(net, [{ id, columns }]);
    expect(await entryOf(id)).toMatchObject({ row_changes: 'direct', machine_imports: true });
  });

  it('of an older revision changes nothing, and a repeated one neither', async () => {
    const id = nextId();
    await deploy(net, [{ id, columns, row_policy_revision: 3 }]);
    expect(await setPolicy(net, id, 'request', { revision: 2 })).toEqual({ set: 1 });
    expect(await entryOf(id)).toMatchObject({ row_changes: 'direct' });
    await setPolicy(net, id, 'request', { revision: 7 });
    const set = await entryOf(id);
    expect(set).toMatchObject({ row_changes: 'request' });
    await setPolicy(net, id, 'direct', { revision: 6 });
    await setPolicy(net, id, 'request', { revision: 7 });
    await setPolicy(net, id, 'request', { revision: 8 });
    expect(await entryOf(id)).toEqual(set);
  });

  it('reaches deployed tables of the account alone', async () => {
    const id = nextId();
    await deploy(net, [{ id, columns }]);
    expect(await setPolicy(net, id, 'request', { accountId: 2 })).toEqual({ set: 0 });
    expect(await setPolicy(net, 999_999, 'request')).toEqual({ set: 0 });
    expect(await entryOf(id)).toMatchObject({ row_changes: 'direct' });
    const unknown = { table_definition_id: id, row_changes: 'never', machine_imports: true, revision: 99 };
    expect((await failureOf(net.metadata.SetRowPolicies(caller, { policies: [unknown] }))).kind).toBe('bad_request');
  });

  it('reaches many tables in one call', async () => {
    const ids = Array.from({ length: 60 }, nextId);
    await deploy(
      net,
      ids.map((id) => ({ id, columns })),
    );
    const policies = ids.map((id) => ({
      table_definition_id: id,
      row_changes: 'request',
      machine_imports: true,
      revision: 1,
    }));
    expect(await net.metadata.SetRowPolicies(caller, { policies }, { deadlineMs: 60_000 })).toEqual({ set: 60 });
    const [left] = await net.query(
      `select count(*)::int as count from deployed_table where table_definition_id = any($1) and row_changes = 'direct'`,
      [ids],
    );
    expect(left).toEqual({ count: 0 });
  });

  it('comes with a restored table, or else is the one it had', async () => {
    const id = nextId();
    await deploy(net, [{ id, columns, row_changes: 'request' }]);
    await net.metadata.DropTable(caller, { table_definition_id: id });
    await net.metadata.RestoreTable(caller, { table_definition_id: id });
    expect(await creation(id, 'A')).toMatchObject(refused);
    await net.metadata.DropTable(caller, { table_definition_id: id });
    const policy = { table_definition_id: id, row_changes: 'direct', machine_imports: false, revision: 9 };
    await net.metadata.RestoreTable(caller, { table_definition_id: id, policy });
    expect(await entryOf(id)).toMatchObject({ row_changes: 'direct', machine_imports: false });
    expect((await creation(id, 'A')).status).toBe(201);
    await setPolicy(net, id, 'request', { revision: 8 });
    expect((await creation(id, 'B')).status).toBe(201);
  });
});
