import { create, type DataNet, deploy, givenData, type TableInput } from '../../given.ts';
import { patch, remove, restore, revert, versionsOf } from '../../versions.ts';

let net: DataNet;
let last = 0;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

type Columns = TableInput['columns'];
const key: Columns[number] = { name: 'code', length: 5, is_primary_key: true };

async function givenTable(columns: Columns, more: Partial<TableInput> = {}): Promise<number> {
  last += 10;
  await deploy(net, [{ id: last, columns: [key, ...columns], ...more }]);
  return last;
}

const shown = async (table: number) =>
  (await net.call('GET', `/api/v1/table_data?table_definition_id=${table}&sort=svc_sk`)).body.data;

describe('restoring', () => {
  it('restores deleted rows as they were, and leaves the others as they are', async () => {
    const table = await givenTable([{ name: 'x' }]);
    const rows = [];
    for (const code of ['A', 'B', 'C']) rows.push(await create(net, table, { code, x: code }));
    const ids = rows.map((row) => row.svc_sk);
    await remove(net.call, table, ids.slice(0, 2));
    expect(await restore(net.call, table, [...ids, ids[0]])).toMatchObject({
      status: 200,
      body: { message: '2 records restored', restored_count: 2 },
    });
    const now = await shown(table);
    expect(now.map((row: Record<string, unknown>) => [row.code, row.x, row.svc_version])).toEqual([
      ['A', 'A', 3],
      ['B', 'B', 3],
      ['C', 'C', 1],
    ]);
  });

  it('is all or nothing: unknown rows are named', async () => {
    const table = await givenTable([]);
    const { svc_sk: id } = await create(net, table, { code: 'A' });
    await remove(net.call, table, [id]);
    expect(await restore(net.call, table, [id, 777, 778])).toMatchObject({
      status: 404,
      body: { errors: ['Record 777 not found', 'Record 778 not found'] },
    });
    expect(await shown(table)).toEqual([]);
  });

  it('names every row and every rule that it breaks', async () => {
    const parent = await givenTable([]);
    const kid: Columns = [
      { name: 'ref', length: 5, foreign_key_table_id: parent },
      { name: 'kind' },
      { name: 'must', data_type: 'integer' },
    ];
    const table = await givenTable(kid);
    const p = await create(net, parent, { code: 'P' });
    const rows = [];
    for (const code of ['A', 'B', 'C', 'D'])
      rows.push(await create(net, table, { code, ref: code === 'B' ? 'P' : null, kind: 'old', must: 1 }));
    const twin = await create(net, table, { code: 'E', kind: 'new', must: 1 });
    await patch(net.call, table, rows[3].svc_sk, { must: null });
    const ids = rows.map((row) => row.svc_sk);
    await remove(net.call, table, [...ids, twin.svc_sk]);
    await remove(net.call, parent, [p.svc_sk]);
    await create(net, table, { code: 'A', kind: 'new', must: 1 });
    const again = await create(net, table, { code: 'E', kind: 'new', must: 2 });
    await remove(net.call, table, [again.svc_sk]);
    const strict = kid.map((column) => ({ ...column, is_required: column.name === 'must' }));
    await deploy(net, [
      { id: table, columns: [key, ...strict.map((c) => (c.name === 'kind' ? { ...c, valid_values: ['new'] } : c))] },
    ]);
    const answer = await restore(net.call, table, [...ids, twin.svc_sk, again.svc_sk]);
    expect(answer.status).toBe(422);
    const unique = 'code must be unique: a record with this value exists';
    expect(answer.body.errors).toEqual([
      `Record ${ids[0]}: ${unique}`,
      `Record ${ids[0]}: kind must be one of new`,
      `Record ${ids[1]}: ref must refer to a record of the referenced table`,
      `Record ${ids[1]}: kind must be one of new`,
      `Record ${ids[2]}: kind must be one of new`,
      `Record ${ids[3]}: kind must be one of new`,
      `Record ${ids[3]}: must can't be blank`,
      `Record ${twin.svc_sk}: ${unique}`,
      `Record ${again.svc_sk}: ${unique}`,
    ]);
    expect((await shown(table)).length).toBe(1);
    expect(await restore(net.call, table, [twin.svc_sk])).toMatchObject({ body: { restored_count: 1 } });
  });

  it('restores rows that refer to each other in one request', async () => {
    last += 10;
    const table = last;
    const columns: Columns = [key, { name: 'parent', length: 5, foreign_key_table_id: table }];
    await deploy(net, [{ id: table, columns }]);
    const a = await create(net, table, { code: 'A', parent: 'A' });
    const b = await create(net, table, { code: 'B', parent: 'A' });
    await remove(net.call, table, [a.svc_sk, b.svc_sk]);
    expect(await restore(net.call, table, [b.svc_sk])).toMatchObject({
      status: 422,
      body: { errors: [`Record ${b.svc_sk}: parent must refer to a record of the referenced table`] },
    });
    expect(await restore(net.call, table, [b.svc_sk, a.svc_sk])).toMatchObject({ body: { restored_count: 2 } });
  });

  it('takes ids like deletion does, and requires the right to edit', async () => {
    const table = await givenTable([]);
    const { svc_sk: id } = await create(net, table, { code: 'A' });
    for (const ids of [[], ['1'], [0], [1.5], Array.from({ length: 1001 }, (_, i) => i + 1), undefined])
      expect(
        (await net.call('POST', '/api/v1/table_data/restore_records', { table_definition_id: table, ids })).status,
      ).toBe(400);
    const view = [{ action: 'view', resource_type: 'account', resource_id: 1 }];
    net.rights.set(11, { license_type: 'developer', permissions: view });
    expect((await restore(net.as({ userId: 11 }), table, [id])).status).toBe(403);
    expect((await revert(net.as({ userId: 11 }), table, id, 1)).status).toBe(403);
    expect((await restore(net.as({ accountId: 2 }), table, [id])).status).toBe(404);
  });
});

describe('reverting', () => {
  it('writes the values of a version as a new one, and undeletes', async () => {
    const table = await givenTable([
      { name: 'n', data_type: 'decimal', length: 20, scale: 4 },
      { name: 'at', data_type: 'datetime' },
      { name: 'j', data_type: 'json' },
      { name: 'd', data_type: 'double' },
      { name: 'b', data_type: 'boolean' },
    ]);
    const values = {
      n: '1234567890123456.5',
      at: '2024-02-29T10:00:00.123Z',
      j: { a: [1, 'x', null] },
      d: 0.1,
      b: true,
    };
    const made = await create(net, table, { code: 'A', ...values });
    await patch(net.call, table, made.svc_sk, { code: 'B', n: null, at: null, j: null, d: null, b: null });
    await remove(net.call, table, [made.svc_sk]);
    const { status, body } = await revert(net.call, table, made.svc_sk, 1);
    expect(status).toBe(200);
    const { svc_updated_at, svc_version, svc_is_deleted, ...rest } = body;
    expect(made).toMatchObject(rest);
    expect([svc_version, svc_is_deleted]).toEqual([4, false]);
    expect((await versionsOf(net.call, table, made.svc_sk))[0]).toMatchObject({ action: 'reverted', valid_to: null });
  });

  it('applies today’s rules and names all that are broken', async () => {
    const parent = await givenTable([]);
    const p = await create(net, parent, { code: 'P' });
    const ref = { name: 'ref', length: 5, foreign_key_table_id: parent };
    const columns: Columns = [ref, { name: 'kind' }, { name: 'dropped' }];
    const table = await givenTable(columns);
    const row = await create(net, table, { code: 'A', ref: 'P', kind: 'old', dropped: 'x' });
    await patch(net.call, table, row.svc_sk, { code: 'B', ref: null, kind: 'new' });
    await patch(net.call, table, row.svc_sk, { code: 'C' });
    await create(net, table, { code: 'A', kind: 'new' });
    await remove(net.call, parent, [p.svc_sk]);
    await deploy(net, [{ id: table, columns: [key, ref, { name: 'kind', valid_values: ['new'] }] }]);
    const answer = await revert(net.call, table, row.svc_sk, 1);
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toEqual([
      'kind must be one of new',
      'code must be unique: a record with this value exists',
      'ref must refer to a record of the referenced table',
    ]);
    const second = await revert(net.call, table, row.svc_sk, 2);
    // The deployment, which dropped a value of the row, made a version of it.
    expect(second).toMatchObject({ status: 200, body: { code: 'B', kind: 'new', svc_version: 5 } });
    expect(second.body).not.toHaveProperty('dropped');
  });

  it('names the referrers that an earlier key would leave without a target', async () => {
    const parent = await givenTable([]);
    const table = await givenTable([{ name: 'ref', length: 5, foreign_key_table_id: parent }]);
    const p = await create(net, parent, { code: 'P' });
    await patch(net.call, parent, p.svc_sk, { code: 'Q' });
    await create(net, table, { code: 'A', ref: 'Q' });
    expect(await revert(net.call, parent, p.svc_sk, 1)).toMatchObject({
      status: 422,
      body: { errors: [`Record ${p.svc_sk} is still referred to by 1 record of Table ${table}.`] },
    });
  });

  it('honours If-Match', async () => {
    const table = await givenTable([{ name: 'x' }]);
    const { svc_sk: id } = await create(net, table, { code: 'A', x: '1' });
    await patch(net.call, table, id, { x: '2' });
    expect((await revert(net.call, table, id, 1, { 'if-match': '"1"' })).status).toBe(412);
    expect(await revert(net.call, table, id, 1, { 'if-match': '"2"' })).toMatchObject({
      status: 200,
      body: { x: '1' },
    });
  });

  it('is 404 for a version or a row that does not exist, and 422 for a deletion', async () => {
    const table = await givenTable([]);
    const { svc_sk: id } = await create(net, table, { code: 'A' });
    await remove(net.call, table, [id]);
    expect(await revert(net.call, table, id, 9)).toMatchObject({
      status: 404,
      body: { errors: ['Version not found'] },
    });
    expect(await revert(net.call, table, 777, 1)).toMatchObject({
      status: 404,
      body: { errors: ['Record not found'] },
    });
    expect(await revert(net.call, table, id, 2)).toMatchObject({
      status: 422,
      body: { errors: ['Version 2 is a deletion; name a version before it.'] },
    });
    for (const version of [0, -1, 1.5, '1', null, 2 ** 31])
      expect((await revert(net.call, table, id, version as number)).status).toBe(400);
  });
});
