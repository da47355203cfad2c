// Requests that are wrong in terms of the API: the answer is the contract's body with the right
// 4xx, and nothing is written. Input that is wrong below that level is in hostile/.
import type { Api } from '@almanac/api-client/api';
import { refusalFault } from '@almanac/testkit/calls/refusal';
import { type Account, type DeployedTable, givenAccount, givenDeployedTable } from '@almanac/testkit/system/builders';

const contractBody = { error: expect.any(String), errors: expect.any(Array), problems: expect.any(Array) };

const isContractBody = (body: unknown) =>
  refusalFault(body) === undefined && Object.keys(body as object).join() === 'error,errors,problems';

describe('bad input', () => {
  let account: Account;
  let api: Api;
  let table: DeployedTable;
  let row: number;

  beforeAll(async () => {
    account = await givenAccount();
    api = await account.person();
    table = await givenDeployedTable(api, {
      columns: [
        { name: 'code', data_type: 'string', length: 5, is_primary_key: true, is_required: true },
        { name: 'amount', data_type: 'decimal', length: 10, scale: 2 },
        { name: 'since', data_type: 'date' },
        { name: 'kind', data_type: 'string', length: 10, valid_values: 'a|b' },
      ],
    });
    const made = await api.post('/table_data', { table_definition_id: table.id, record: { code: 'A', amount: 1 } });
    row = made.record.svc_sk;
  });

  const everything = async () => {
    const grid = await api.post('/table_data/grid', { table_definition_id: table.id, startRow: 0, endRow: 1000 });
    const lists = [];
    for (const resource of ['domains', 'branches', 'table_definitions', 'deployments', 'imports', 'exports'])
      lists.push((await api.get(`/${resource}?per_page=1000`)).meta.total_count);
    const columns = await api.get(`/column_definitions?table_definition_id=${table.id}`);
    return { rows: grid.rows, lists, columns: columns.data };
  };

  type Case = [string, number, () => [string, string, unknown?, Record<string, string>?]];
  const record = (values: object) => ({ table_definition_id: table.id, record: values });
  const grid = (more: object) => ({ table_definition_id: table.id, startRow: 0, endRow: 10, ...more });

  const cases: Case[] = [
    ['an unknown route', 404, () => ['GET', '/nothing']],
    ['an unknown property of a domain', 400, () => ['POST', '/domains', { domain: { name: 'X', colour: 'red' } }]],
    ['an unknown parameter of a list', 400, () => ['GET', '/domains?colour=red']],
    ['a page that is no number', 400, () => ['GET', '/domains?page=zero']],
    ['a page of zero', 400, () => ['GET', '/domains?page=0']],
    ['an operator that does not exist', 400, () => ['GET', '/domains?q=name:resembles:x']],
    ['a field that does not exist', 400, () => ['GET', '/domains?q=colour:eq:x']],
    ['an id that is no number', 400, () => ['GET', '/domains/abc']],
    ['an id that was never given', 404, () => ['GET', '/domains/4000000000']],
    ['an id beyond all numbers', 400, () => ['GET', '/domains/99999999999999999999']],
    ['a domain without a name', 422, () => ['POST', '/domains', { domain: {} }]],
    ['a domain with a blank name', 422, () => ['POST', '/domains', { domain: { name: '  ' } }]],
    ['a name of the wrong type', 400, () => ['POST', '/domains', { domain: { name: 7 } }]],
    ['broken JSON', 400, () => ['POST', '/domains', '{"domain": {"name": "X"']],
    ['JSON that is a list', 400, () => ['POST', '/domains', []]],
    ['JSON that is null', 400, () => ['POST', '/domains', 'null']],
    ['no body', 400, () => ['POST', '/domains', '']],
    ['a repeated key', 400, () => ['POST', '/domains', '{"domain":{"name":"X","name":"Y"}}']],
    [
      'a prototype in the body',
      400,
      () => ['POST', '/domains', '{"domain":{"name":"X","__proto__":{"polluted":true}}}'],
    ],
    ['another content type', 415, () => ['POST', '/domains', '<domain/>', { 'Content-Type': 'application/xml' }]],
    [
      'a definition in a domain that is not there',
      422,
      () => [
        'POST',
        '/table_definitions',
        { branch_id: table.branchId, table_definition: { name: 'X', domain_id: 2_000_000_000 } },
      ],
    ],
    [
      'a definition on a branch that is not there',
      404,
      () => [
        'POST',
        '/table_definitions',
        { branch_id: 2_000_000_000, table_definition: { name: 'X', domain_id: table.domainId } },
      ],
    ],
    [
      'a column with an unknown type',
      422,
      () => [
        'POST',
        '/column_definitions',
        { table_definition_id: table.id, column_definition: { name: 'x', data_type: 'colour' } },
      ],
    ],
    [
      'a column with a system name',
      422,
      () => [
        'POST',
        '/column_definitions',
        { table_definition_id: table.id, column_definition: { name: 'svc_x', data_type: 'text' } },
      ],
    ],
    [
      'a column with SQL for a name',
      422,
      () => [
        'POST',
        '/column_definitions',
        { table_definition_id: table.id, column_definition: { name: 'x"; drop table x; --', data_type: 'text' } },
      ],
    ],
    ['a deployment of nothing', 400, () => ['POST', '/deployments', { branch_id: table.branchId }]],
    ['a row with an unknown column', 422, () => ['POST', '/table_data', record({ code: 'B', colour: 'red' })]],
    ['a row with a system column', 422, () => ['POST', '/table_data', record({ code: 'B', svc_sk: 1 })]],
    ['a row without its key', 422, () => ['POST', '/table_data', record({ amount: 1 })]],
    ['a row whose key exists', 422, () => ['POST', '/table_data', record({ code: 'A' })]],
    ['a text that is too long', 422, () => ['POST', '/table_data', record({ code: 'TOO LONG' })]],
    ['a decimal with too many places', 422, () => ['POST', '/table_data', record({ code: 'B', amount: '1.005' })]],
    ['a date that never was', 422, () => ['POST', '/table_data', record({ code: 'B', since: '2026-02-30' })]],
    ['a value that is not in the list', 422, () => ['POST', '/table_data', record({ code: 'B', kind: 'c' })]],
    [
      'a record that is no object',
      400,
      () => ['POST', '/table_data', { table_definition_id: table.id, record: 'code=B' }],
    ],
    ['a row of no table', 400, () => ['POST', '/table_data', { record: { code: 'B' } }]],
    [
      'a row of a table that is not there',
      404,
      () => ['POST', '/table_data', { table_definition_id: 2_000_000_000, record: { code: 'B' } }],
    ],
    ['a change of a row that is not there', 404, () => ['PATCH', '/table_data/2000000000', record({ amount: 2 })]],
    ['a change to a wrong value', 422, () => ['PATCH', `/table_data/${row}`, record({ kind: 'c' })]],
    [
      'deleting rows that are not there',
      404,
      () => ['POST', '/table_data/delete_records', { table_definition_id: table.id, ids: [row, 2_000_000_000] }],
    ],
    [
      'a batch in which one row is wrong',
      422,
      () => {
        const operations = [
          { operation: 'create', record: { code: 'B' } },
          { operation: 'update', id: row, record: { kind: 'c' } },
        ];
        return ['POST', '/table_data/batch', { table_definition_id: table.id, operations }];
      },
    ],
    [
      'a batch of something that is no operation',
      400,
      () => ['POST', '/table_data/batch', { table_definition_id: table.id, operations: [{ operation: 'drop' }] }],
    ],
    ['deleting without ids', 400, () => ['POST', '/table_data/delete_records', { table_definition_id: table.id }]],
    [
      'deleting ids that are texts',
      400,
      () => ['POST', '/table_data/delete_records', { table_definition_id: table.id, ids: ['x'] }],
    ],
    ['a grid without its window', 400, () => ['POST', '/table_data/grid', { table_definition_id: table.id }]],
    ['a grid of more than 1,000 rows', 400, () => ['POST', '/table_data/grid', grid({ endRow: 1001 })]],
    ['a grid that ends before it begins', 400, () => ['POST', '/table_data/grid', grid({ startRow: 10, endRow: 5 })]],
    [
      'a filter on an unknown column',
      400,
      () => [
        'POST',
        '/table_data/grid',
        grid({ filterModel: { colour: { filterType: 'text', type: 'equals', filter: 'x' } } }),
      ],
    ],
    [
      'a filter that does not fit the column',
      400,
      () => [
        'POST',
        '/table_data/grid',
        grid({ filterModel: { kind: { filterType: 'number', type: 'equals', filter: 1 } } }),
      ],
    ],
    [
      'a sort by an unknown column',
      400,
      () => ['POST', '/table_data/grid', grid({ sortModel: [{ colId: 'colour', sort: 'asc' }] })],
    ],
    [
      'a sort in an unknown direction',
      400,
      () => ['POST', '/table_data/grid', grid({ sortModel: [{ colId: 'code', sort: 'up' }] })],
    ],
    ['an import without a branch', 400, () => ['POST', '/imports', {}]],
    ['an import to a branch that is not there', 404, () => ['POST', '/imports', { branch_id: 2_000_000_000 }]],
    [
      'an export in an unknown pattern',
      422,
      () => ['POST', '/exports', { branch_id: table.branchId, table_definition_key: table.key, pattern: 'some' }],
    ],
    [
      'an incremental export without a mark',
      400,
      () => [
        'POST',
        '/exports',
        { branch_id: table.branchId, table_definition_key: table.key, pattern: 'incremental' },
      ],
    ],
    [
      'an export of a table that is not there',
      404,
      () => ['POST', '/exports', { branch_id: table.branchId, table_definition_key: 'nothing', pattern: 'full' }],
    ],
  ];

  it("answers each with the contract's body and status, and writes nothing", async () => {
    const before = await everything();
    const surprises: unknown[] = [];
    for (const [name, expected, request] of cases) {
      const [method, path, body, headers] = request();
      const answer = await api.send(method, path, body, { headers });
      const isAsExpected =
        answer.status === expected && isContractBody(answer.body) && answer.headers.has('x-request-id');
      if (!isAsExpected) surprises.push({ name, expected, status: answer.status, body: answer.body });
    }
    expect(surprises).toEqual([]);
    expect(await everything()).toEqual(before);
  });

  it('names every problem of a row at once', async () => {
    const answer = await api.send<{ errors: string[] }>(
      'POST',
      '/table_data',
      record({ code: 'TOO LONG', kind: 'c', since: 'soon' }),
    );
    expect(answer.status).toBe(422);
    for (const column of ['code', 'kind', 'since'])
      expect(answer.body.errors).toContainEqual(expect.stringMatching(new RegExp(column, 'i')));
  });

  it('refuses a body that is too large', async () => {
    const answer = await api.send('POST', '/domains', { domain: { name: 'X', description: 'x'.repeat(1_100_000) } });
    expect(answer).toMatchObject({ status: 413, body: contractBody });
  });

  it('asks a machine for a user where one is needed', async () => {
    const machine = await account.machine();
    const answer = await machine.send('POST', '/deployments', {
      branch_id: table.branchId,
      table_definition_ids: [table.id],
    });
    expect(answer).toMatchObject({ status: 401, body: { error: expect.stringContaining('authorization code flow') } });
  });
});
