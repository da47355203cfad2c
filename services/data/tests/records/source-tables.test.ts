// Tables of load type source: their rows come from imports and promotions; every write by hand is
// refused.
import { refusal } from '@almanac/testkit/calls/refusal';
import { load } from '../files.ts';
import { type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { type Edits, edit, givenCopy, merge, rowsOf } from '../merges/row-merges.ts';
import { patch, remove, restore, revert } from '../versions.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const rows: Edits = { A: { name: 'Alpha', size: 1 }, B: { name: 'Beta', size: 2 } };

/** A table of load type source with these rows: written while it was manual. */
async function givenSource(): Promise<{ table: TableInput; ids: number[] }> {
  const { main } = await givenCopy(net, rows);
  const ids = (await net.query(`select svc_sk from b_1.t_${main.id} order by svc_sk`)).map((row) => Number(row.svc_sk));
  await patch(net.call, main.id, ids[0] as number, { size: 10 });
  await remove(net.call, main.id, [ids[1] as number]);
  const table: TableInput = { ...main, load_type: 'source', version: 2 };
  await deploy(net, [table]);
  return { table, ids };
}

const batch = (table: number, operations: unknown[], headers = {}, call = net.call) =>
  call('POST', '/api/v1/table_data/batch', { table_definition_id: table, operations }, headers);

const stateOf = (table: number) =>
  net.query(
    `select (select json_agg(v) from b_1.t_${table} v) as now, (select json_agg(v) from b_1.h_${table} v) as h`,
  );

const refused = {
  status: 422,
  body: refusal(
    'Validation failed',
    'read_only',
    'Rows of this table come from imports (load type source); they are not written by hand.',
  ),
};

describe('a table of load type source', () => {
  it('refuses every write by hand alike, and stays as it is', async () => {
    const { table, ids } = await givenSource();
    const [live, deleted] = ids as [number, number];
    const before = await stateOf(table.id);
    const record = { code: 'C', name: 'Gamma' };
    const writes = {
      creation: () => net.call('POST', '/api/v1/table_data', { table_definition_id: table.id, record }),
      change: () => patch(net.call, table.id, live, { size: 11 }),
      'a change of nothing': () => patch(net.call, table.id, live, { size: 10 }),
      deletion: () => remove(net.call, table.id, [live]),
      restoration: () => restore(net.call, table.id, [deleted]),
      reversion: () => revert(net.call, table.id, live, 1),
      'creation in a batch': () => batch(table.id, [{ operation: 'create', record }]),
      'a change in a batch': () => batch(table.id, [{ operation: 'update', id: live, record: { size: 11 } }]),
      'deletion in a batch': () => batch(table.id, [{ operation: 'delete', id: live }]),
    };
    const answers = await Promise.all(
      Object.entries(writes).map(async ([name, write]) => {
        const { status, body } = await write();
        return [name, { status, body }];
      }),
    );
    expect(Object.fromEntries(answers)).toEqual(Object.fromEntries(Object.keys(writes).map((name) => [name, refused])));
    expect(await stateOf(table.id)).toEqual(before);
  });

  it('is refused before rows and values are checked, and after the right to write', async () => {
    const { table } = await givenSource();
    expect(await patch(net.call, table.id, 999_999, { nothing: 1 })).toMatchObject(refused);
    expect(await batch(table.id, [{ operation: 'delete', id: 999_999 }])).toMatchObject(refused);
    const view = [{ action: 'view', resource_type: 'account', resource_id: 1 }];
    net.rights.set(12, { license_type: 'developer', permissions: view });
    expect((await remove(net.as({ userId: 12 }), table.id, [1])).status).toBe(403);
  });

  it('repeats the answer of a request from when rows were written by hand', async () => {
    const { main } = await givenCopy(net, {});
    const operations = [{ operation: 'create', record: { code: 'A', name: 'Alpha' } }];
    const headers = { 'idempotency-key': `before-${main.id}` };
    const first = await batch(main.id, operations, headers);
    expect(first.status).toBe(200);
    await deploy(net, [{ ...main, load_type: 'source', version: 2 }]);
    expect(await batch(main.id, operations, headers)).toMatchObject({ status: 200, body: first.body });
    expect(await batch(main.id, operations, { 'idempotency-key': 'after' })).toMatchObject(refused);
  });

  it('is written by imports', async () => {
    const { table } = await givenSource();
    const file_columns = ['code', 'name', 'size'];
    const result = await load(net, table.id, 'A,Aleph,10\nC,Gamma,3\n', { file_columns });
    expect(result).toMatchObject({ inserted: 1, updated: 1 });
    expect(await rowsOf(net, table.id)).toEqual({ A: { name: 'Aleph', size: 10 }, C: { name: 'Gamma', size: 3 } });
  });

  it('is written by promotions, and begins with the rows of its original', async () => {
    const { main, copy } = await givenCopy(net, rows);
    await deploy(net, [{ ...copy, load_type: 'source', version: 2 }]);
    expect(await rowsOf(net, copy.id)).toEqual(rows);
    await edit(net, main.id, { A: { size: 10 }, B: null, C: { name: 'Gamma', size: 3 } });
    expect(await merge(net, [[main.id, copy.id]])).toMatchObject({ status: 'merged' });
    expect(await rowsOf(net, copy.id)).toEqual({ A: { name: 'Alpha', size: 10 }, C: { name: 'Gamma', size: 3 } });
  });
});
