// Retired tables that are restored: rows, history, constraints; and what prevents it.
import { caller, create, type DataNet, deploy, failureOf, givenData, type TableInput } from '../given.ts';
import { kept, passed, patch, rowsAsOf, versionsOf } from '../versions.ts';

let net: DataNet;
let last = 0;
const nextId = () => (last += 10);

beforeAll(async () => {
  net = await givenData();
});
afterAll(() => net.stop());

const key = { name: 'id', data_type: 'integer', is_primary_key: true };
const drop = (id: number) => net.metadata.DropTable(caller, { table_definition_id: id });
const restore = (id: number) => net.metadata.RestoreTable(caller, { table_definition_id: id });
const rowsOf = async (id: number) => (await net.call('GET', `/api/v1/table_data?table_definition_id=${id}`)).body.data;

describe('a table taken out of service', () => {
  it('is restored with its rows, history, constraints and foreign keys, once', async () => {
    const [parent, child] = [nextId(), nextId()];
    await deploy(net, [
      { id: parent, columns: [key] },
      {
        id: child,
        columns: [
          key,
          { name: 'p', data_type: 'integer', foreign_key_table_id: parent },
          { name: 'x', valid_values: ['a', 'b'] },
        ],
      },
    ]);
    await create(net, parent, { id: 1 });
    const row = await create(net, child, { id: 1, p: 1, x: 'a' });
    await passed(net, row.svc_updated_at);
    await patch(net.call, child, row.svc_sk, { x: 'b' });
    const before = await rowsOf(child);
    const past = await versionsOf(net.call, child, row.svc_sk);
    await drop(child);
    expect(await Promise.all([restore(child), restore(child)])).toEqual([{ restored: true }, { restored: true }]);
    expect(await rowsOf(child)).toEqual(before);
    expect(await versionsOf(net.call, child, row.svc_sk)).toEqual(past);
    expect(await rowsAsOf(net.call, child, row.svc_updated_at)).toMatchObject([{ id: 1, x: 'a' }]);
    await patch(net.call, child, row.svc_sk, { x: 'a' });
    expect(await kept(net, child)).toBe(2);
    const write = (record: object) => net.call('POST', '/api/v1/table_data', { table_definition_id: child, record });
    for (const record of [
      { id: 1, p: 1, x: 'a' },
      { id: 2, p: 7, x: 'a' },
      { id: 2, p: 1, x: 'c' },
    ])
      expect((await write(record)).status).toBe(422);
    expect((await write({ id: 2, p: 1, x: 'b' })).status).toBe(201);
    expect((await failureOf(drop(parent))).kind).toBe('validation_failed');
    await deploy(net, [{ id: child, version: 2, columns: [key] }]);
    await drop(child);
    expect(await restore(child)).toEqual({ restored: true });
    expect(await net.query('select 1 from retired_table where table_definition_id = $1', [child])).toEqual([]);
  });

  it('is not restored after a week, nor one that never existed or is another account’s', async () => {
    const id = nextId();
    await deploy(net, [{ id, columns: [key] }]);
    await drop(id);
    expect(await net.metadata.RestoreTable({ ...caller, accountId: 999 }, { table_definition_id: id })).toEqual({
      restored: false,
    });
    await net.query("update retired_table set retired_at = now() - interval '8 days' where table_definition_id = $1", [
      id,
    ]);
    for (const absent of [id, 987_654]) expect(await restore(absent)).toEqual({ restored: false });
  });

  it('is not restored where its place is taken, or its referenced table is removed, changed or emptied', async () => {
    const [parent, child] = [nextId(), nextId()];
    const tables: TableInput[] = [
      { id: parent, columns: [key] },
      { id: child, columns: [key, { name: 'p', data_type: 'integer', foreign_key_table_id: parent }] },
    ];
    await deploy(net, tables);
    const row = await create(net, parent, { id: 1 });
    await create(net, child, { id: 1, p: 1 });
    await drop(child);
    await net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: parent, ids: [row.svc_sk] });
    expect((await failureOf(restore(child))).errors).toEqual([
      `Rows of Table ${child} refer to rows that no longer exist.`,
    ]);
    await deploy(net, [
      {
        id: parent,
        version: 2,
        columns: [
          { ...key, lineage_id: parent * 1000 + 1 },
          { name: 'more', is_primary_key: true },
        ],
      },
    ]);
    expect((await failureOf(restore(child))).errors).toEqual([
      `p refers to Table ${parent}, whose primary key has changed.`,
    ]);
    await drop(parent);
    expect((await failureOf(restore(child))).errors).toEqual(['p refers to a table that is no longer in service.']);
    await deploy(net, [{ id: child, version: 3, columns: [key] }]);
    expect((await failureOf(restore(child))).errors[0]).toContain('is in service again, as another table');
    expect(await rowsOf(child)).toEqual([]);
  });
});
