// Rows read through a change request: as they would be, marked, with exact counts.
import { create, type DataNet, deploy, givenData, holding, type TableInput } from '../given.ts';
import { added, changed, deletion, type Op, restoration } from '../operations.ts';
import { remove } from '../versions.ts';
import { openRequest, propose, setPhase } from './requests.ts';

let net: DataNet;
let last = 0;

const code: TableInput['columns'][number] = { name: 'code', length: 5, is_primary_key: true };

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

/** Rows A to E, of which E is deleted, and a request that touches all but A. */
async function given(options: { createdBy?: number } = {}) {
  last += 10;
  const table = last;
  await deploy(net, [
    { id: table, columns: [code, { name: 'x', length: 9 }, { name: 'n', data_type: 'decimal', length: 20, scale: 2 }] },
  ]);
  const ids = {} as Record<'A' | 'B' | 'C' | 'D' | 'E', number>;
  for (const each of ['A', 'B', 'C', 'D', 'E'] as const)
    ids[each] = (await create(net, table, { code: each, x: `x${each}`, n: '1.5' })).svc_sk;
  await remove(net.call, table, [ids.E]);
  const request = await openRequest(net, options);
  const call = options.createdBy === undefined ? net.call : net.as({ userId: options.createdBy });
  const made = await propose(call, request, table, [
    added({ code: 'N', x: 'new', n: '12345678901234567.25' }),
    changed(ids.B, { x: 'b2' }),
    changed(ids.C, { code: 'CC', n: null }),
    deletion(ids.D),
    restoration(ids.E),
  ]);
  return { table, ids, request, operations: made.body.operations.map(({ id }: Op) => id) };
}

const grid = (request: number, table: number, model: Op = {}, call = net.call, query = '') =>
  call('POST', `/api/v1/table_data/grid${query}`, {
    table_definition_id: table,
    change_request_id: request,
    startRow: 0,
    endRow: 100,
    ...model,
  });

const shown = (rows: Op[]) => rows.map((row) => [row.code, row.x, (row.svc_change as Op | undefined)?.kind]);

describe('rows through a change request', () => {
  it('are as they would be, and marked', async () => {
    const { table, ids, request, operations } = await given();
    const byCode = { sortModel: [{ colId: 'code', sort: 'asc' }] };
    const { body } = await grid(request, table, byCode, net.call, '?exact_numbers=true');
    expect(body.rowCount).toBe(5);
    expect(shown(body.rows)).toEqual([
      ['A', 'xA', undefined],
      ['B', 'b2', 'update'],
      ['CC', 'xC', 'update'],
      ['E', 'xE', 'restore'],
      ['N', 'new', 'create'],
    ]);
    expect(body.rows[4]).toMatchObject({
      svc_sk: -operations[0],
      n: '12345678901234567.25',
      svc_change: { operation_id: operations[0], kind: 'create' },
    });
    expect(body.rows[2]).toMatchObject({ svc_sk: ids.C, n: null, svc_version: 1 });
    const all = await grid(request, table, { ...byCode, include_deleted: true });
    expect([all.body.rowCount, shown(all.body.rows)[3]]).toEqual([6, ['D', 'xD', 'delete']]);
    const plain = await net.call('GET', `/api/v1/table_data?table_definition_id=${table}&sort=code`);
    expect(shown(plain.body.data)).toEqual([
      ['A', 'xA', undefined],
      ['B', 'xB', undefined],
      ['C', 'xC', undefined],
      ['D', 'xD', undefined],
    ]);
  });

  it('are filtered, sorted and counted by the values that they would have', async () => {
    const { table, request } = await given();
    const filtered = async (filterModel: Op, more: Op = {}) => {
      const { body } = await grid(request, table, { filterModel, ...more });
      return [body.rowCount, ...body.rows.map((row: Op) => row.code)];
    };
    const text = (type: string, filter: string) => ({ filterType: 'text', type, filter });
    expect(await filtered({ x: text('equals', 'b2') })).toEqual([1, 'B']);
    expect(await filtered({ x: text('equals', 'xB') })).toEqual([0]);
    expect(await filtered({ code: text('startsWith', 'C') })).toEqual([1, 'CC']);
    expect(await filtered({ n: { filterType: 'number', type: 'blank' } })).toEqual([1, 'CC']);
    const sortModel = [{ colId: 'n', sort: 'desc' }];
    expect(await filtered({}, { sortModel, startRow: 0, endRow: 1 })).toEqual([5, 'N']);
    const query = `table_definition_id=${table}&change_request_id=${request}&q=x:eq:b2`;
    const list = await net.call('GET', `/api/v1/table_data?${query}`);
    expect([list.body.meta.total_count, shown(list.body.data)]).toEqual([1, [['B', 'b2', 'update']]]);
  });

  it('are shown one by one', async () => {
    const { table, ids, request, operations } = await given();
    const show = async (id: unknown) =>
      (await net.call('GET', `/api/v1/table_data/${id}?table_definition_id=${table}&change_request_id=${request}`))
        .body;
    expect(await show(ids.A)).toMatchObject({ x: 'xA' });
    expect(await show(ids.B)).toMatchObject({ x: 'b2', svc_change: { operation_id: operations[1], kind: 'update' } });
    expect(await show(ids.D)).toMatchObject({ svc_is_deleted: true, svc_change: { kind: 'delete' } });
  });

  it('leave out what was rejected or returned', async () => {
    const { table, request, operations } = await given();
    await setPhase(net, request, 'review');
    net.rights.set(91, {
      license_type: 'developer',
      permissions: [{ action: 'approve', resource_type: 'branch', resource_id: 1 }],
    });
    await net.as({ userId: 91 })('POST', `/api/v1/change_requests/${request}/decisions`, {
      decisions: [
        { operation_ids: operations.slice(0, 2), decision: 'reject' },
        { operation_ids: operations.slice(2, 4), decision: 'return' },
      ],
    });
    const { body } = await grid(request, table, { sortModel: [{ colId: 'code', sort: 'asc' }] });
    expect(shown(body.rows)).toEqual([
      ['A', 'xA', undefined],
      ['B', 'xB', undefined],
      ['C', 'xC', undefined],
      ['D', 'xD', undefined],
      ['E', 'xE', 'restore'],
    ]);
  });

  it('show lookups, and columns of every kind', async () => {
    last += 10;
    const [parent, table] = [last, last + 1];
    await deploy(net, [{ id: parent, columns: [code, { name: 'name', length: 20 }] }]);
    const kinds = ['text', 'integer', 'bigint', 'smallint', 'decimal', 'real', 'double', 'boolean'];
    const columns = [...kinds, 'date', 'time', 'datetime', 'timestamptz', 'uuid', 'json'].map((data_type) => ({
      name: `c_${data_type}`,
      data_type,
    }));
    await deploy(net, [
      { id: table, columns: [code, { name: 'parent', length: 5, foreign_key_table_id: parent }, ...columns] },
    ]);
    await create(net, parent, { code: 'P', name: 'Parent' });
    const row = await create(net, table, { code: 'A' });
    const request = await openRequest(net);
    const values = {
      parent: 'P',
      c_text: '漢字',
      c_integer: 1,
      c_bigint: '9007199254740993',
      c_smallint: 2,
      c_decimal: '1.0000000001',
      c_real: 0.5,
      c_double: 1e300,
      c_boolean: false,
      c_date: '2024-02-29',
      c_time: '07:30:00',
      c_datetime: '2024-01-01T00:00:00.500Z',
      c_timestamptz: '2024-01-01T00:00:00.000Z',
      c_uuid: '0f8fad5b-d9cb-469f-a165-70867728950e',
      c_json: { a: null },
    };
    await propose(net.call, request, table, [added({ code: 'B', ...values }), changed(row.svc_sk, values)]);
    for (const sort of Object.keys(values)) {
      const sortModel = sort === 'c_json' ? [] : [{ colId: sort, sort: 'asc' }];
      const { body } = await grid(
        request,
        table,
        { sortModel, include_lookups: true },
        net.call,
        '?exact_numbers=true',
      );
      expect(body.rows).toHaveLength(2);
      for (const each of body.rows) expect(each).toMatchObject({ ...values, svc_lookups: { parent: 'Parent' } });
    }
    const byLabel = await grid(request, table, { sortModel: [{ colId: 'parent.$label', sort: 'desc' }], endRow: 1 });
    expect([byLabel.body.rowCount, byLabel.body.rows.length]).toEqual([2, 1]);
  });

  it('are read by viewers; approvers without `view` read those alone that it changes', async () => {
    const may = (userId: number, ...permissions: [string, string, number][]) => {
      net.rights.set(userId, holding(...permissions));
      return net.as({ userId });
    };
    const creator = may(92, ['edit', 'account', 1]);
    const { table, ids, request } = await given({ createdBy: 92 });
    const sortModel = [{ colId: 'code', sort: 'asc' }];
    const seen = async (call: typeof net.call) => {
      const { status, body } = await grid(request, table, { sortModel }, call);
      return status === 200 ? [body.rowCount, ...body.rows.map((row: Op) => row.code)] : status;
    };
    expect(await seen(creator)).toEqual([5, 'A', 'B', 'CC', 'E', 'N']);
    expect(await seen(may(93, ['view', 'table_definition', table]))).toEqual([5, 'A', 'B', 'CC', 'E', 'N']);
    const approver = may(94, ['approve', 'branch', 1]);
    expect(await seen(approver)).toEqual([4, 'B', 'CC', 'E', 'N']);
    const show = (id: unknown) =>
      approver('GET', `/api/v1/table_data/${id}?table_definition_id=${table}&change_request_id=${request}`);
    expect([(await show(ids.A)).status, (await show(ids.B)).status]).toEqual([404, 200]);
    expect((await approver('GET', `/api/v1/table_data/${ids.B}?table_definition_id=${table}`)).status).toBe(403);
    expect(await seen(may(95))).toBe(403);
    expect(await seen(may(96, ['approve', 'branch', 2]))).toBe(403);
    expect(await seen(net.as({ accountId: 2 }))).toBe(404);
  });

  it('are refused of another branch, another account, an instant, and what was applied', async () => {
    const { table, request } = await given();
    const codeOf = async (model: Op) => {
      const { status, body } = await grid(request, table, model);
      return [status, body.problems[0].code];
    };
    expect(await codeOf({ as_of: new Date(0).toISOString() })).toEqual([400, 'incompatible']);
    expect(await codeOf({ change_request_id: 987_654 })).toEqual([404, 'not_found']);
    expect(await codeOf({ change_request_id: await openRequest(net, { branchId: 2 }) })).toEqual([422, 'incompatible']);
    expect(await codeOf({ change_request_id: await openRequest(net, { accountId: 2 }) })).toEqual([404, 'not_found']);
    for (const id of ['1', 0, -1, 1.5, null])
      expect((await grid(request, table, { change_request_id: id })).status).toBe(400);
    await net.query(
      `insert into applied_change_request (account_id, apply_id, change_request_id, result) values (1, 'x', $1, '{}')`,
      [request],
    );
    expect(await codeOf({})).toEqual([422, 'wrong_state']);
  });
});
