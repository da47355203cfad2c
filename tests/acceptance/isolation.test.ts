// What one account owns doesn't exist for another: every id answers exactly as one that was never given.
import type { Answer, Api } from '@almanac/api-client/api';
import { type DeployedTable, givenAccount, givenDeployedTable } from '@almanac/testkit/builders';

const unknown = 2_000_000_000;

const withoutRequestId = ({ status, body }: Answer) => ({ status, body });

describe('two accounts', () => {
  let ours: Api;
  let theirs: Api;
  let theirTable: DeployedTable;
  let ourTable: DeployedTable;
  let theirRow: number;
  let ids: Record<string, number>;

  beforeAll(async () => {
    const [one, other] = [await givenAccount(), await givenAccount()];
    [ours, theirs] = [await one.person(), await other.person()];
    ourTable = await givenDeployedTable(ours);
    theirTable = await givenDeployedTable(theirs);
    const table_definition_id = theirTable.id;
    const { record } = await theirs.post('/table_data', { table_definition_id, record: { code: 'A', name: 'theirs' } });
    theirRow = record.svc_sk;
    const columns = await theirs.get(`/column_definitions?table_definition_id=${table_definition_id}`);
    const deployments = await theirs.get('/deployments');
    const made = await theirs.post('/imports', { branch_id: theirTable.branchId });
    const exported = await theirs.post('/exports', {
      branch_id: theirTable.branchId,
      table_definition_key: theirTable.key,
      pattern: 'full',
    });
    const users = await theirs.get('/users');
    const groups = await theirs.get('/user_groups');
    const acts = await theirs.get('/audit_events');
    ids = {
      domains: theirTable.domainId,
      branches: theirTable.branchId,
      table_definitions: theirTable.id,
      column_definitions: columns.data[0].id,
      deployments: deployments.data[0].id,
      imports: made.id,
      exports: exported.id,
      users: users.data[0].id,
      user_groups: groups.data[0].id,
      audit_events: acts.data[0].id,
    };
  });

  const paths: [string, string, (id: number) => unknown][] = [
    ['GET', 'domains', () => undefined],
    ['PATCH', 'domains', () => ({ domain: { name: 'Taken over' } })],
    ['DELETE', 'domains', () => undefined],
    ['GET', 'branches', () => undefined],
    ['PATCH', 'branches', () => ({ branch: { description: 'taken over' } })],
    ['DELETE', 'branches', () => undefined],
    ['GET', 'table_definitions', () => undefined],
    ['PATCH', 'table_definitions', () => ({ table_definition: { description: 'taken over' } })],
    ['DELETE', 'table_definitions', () => undefined],
    ['PATCH', 'column_definitions', () => ({ column_definition: { description: 'taken over' } })],
    ['DELETE', 'column_definitions', () => undefined],
    ['GET', 'deployments', () => undefined],
    ['GET', 'imports', () => undefined],
    ['GET', 'exports', () => undefined],
    ['GET', 'users', () => undefined],
    ['DELETE', 'users', () => undefined],
    ['GET', 'user_groups', () => undefined],
    ['GET', 'audit_events', () => undefined],
  ];

  it.each(paths)('%s /%s/{id} of another account answers as an unknown id', async (method, resource, body) => {
    const id = ids[resource] as number;
    const foreign = await ours.send(method, `/${resource}/${id}`, body(id));
    const never = await ours.send(method, `/${resource}/${unknown}`, body(unknown));
    expect(foreign.status).toBe(404);
    expect(withoutRequestId(foreign)).toEqual(withoutRequestId(never));
    if (method !== 'GET' && resource !== 'column_definitions')
      expect((await theirs.send('GET', `/${resource}/${id}`)).status).toBe(200);
  });

  it.each(['remove', 'clone'])('POST /table_definitions/{id}/%s of another account is unknown', async (action) => {
    const body = action === 'clone' ? { target_branch_id: ourTable.branchId } : {};
    expect((await ours.send('POST', `/table_definitions/${theirTable.id}/${action}`, body)).status).toBe(404);
  });

  it.each(['deploy', 'cancel', 'reject', 'abandon', 'send_request'])(
    'POST /deployments/{id}/%s of another account is unknown',
    async (action) => {
      expect((await ours.send('POST', `/deployments/${ids.deployments}/${action}`, {})).status).toBe(404);
    },
  );

  it('rows of another account can neither be seen nor changed', async () => {
    const table_definition_id = theirTable.id;
    const grid = { table_definition_id, startRow: 0, endRow: 10 };
    const answers = [
      await ours.send('POST', '/table_data/grid', grid),
      await ours.send('GET', `/table_data/${theirRow}?table_definition_id=${table_definition_id}`),
      await ours.send('POST', '/table_data', { table_definition_id, record: { code: 'B' } }),
      await ours.send('PATCH', `/table_data/${theirRow}`, { table_definition_id, record: { name: 'ours' } }),
      await ours.send('POST', '/table_data/delete_records', { table_definition_id, ids: [theirRow] }),
      await ours.send('GET', `/table_data/${theirRow}?table_definition_id=${ourTable.id}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
    const { rows } = await theirs.post('/table_data/grid', grid);
    expect(rows).toMatchObject([{ svc_sk: theirRow, name: 'theirs' }]);
  });

  it('ids of another account inside a body are unknown too', async () => {
    const answers = [
      await ours.send('POST', '/table_definitions', {
        branch_id: ourTable.branchId,
        table_definition: { name: 'Hers', domain_id: theirTable.domainId },
      }),
      await ours.send('POST', '/table_definitions', {
        branch_id: theirTable.branchId,
        table_definition: { name: 'Hers', domain_id: ourTable.domainId },
      }),
      await ours.send('POST', '/column_definitions', {
        table_definition_id: theirTable.id,
        column_definition: { name: 'x', data_type: 'text' },
      }),
      await ours.send('POST', '/deployments', { branch_id: theirTable.branchId, table_definition_ids: [ourTable.id] }),
      await ours.send('POST', '/deployments', { branch_id: ourTable.branchId, table_definition_ids: [theirTable.id] }),
      await ours.send('POST', '/imports', { branch_id: theirTable.branchId }),
      await ours.send('POST', '/exports', {
        branch_id: theirTable.branchId,
        table_definition_key: theirTable.key,
        pattern: 'full',
      }),
    ];
    for (const { status, body } of answers) {
      expect([404, 422]).toContain(status);
      expect(body).toEqual({ error: expect.any(String), errors: expect.any(Array) });
    }
    expect((await theirs.get(`/table_definitions/${theirTable.id}`)).column_definitions).toHaveLength(2);
  });

  it("lists hold only what is one's own", async () => {
    const lists = ['domains', 'branches', 'deployments', 'imports', 'exports', 'users', 'user_groups', 'audit_events'];
    for (const resource of lists) {
      const { data } = await ours.get(`/${resource}?per_page=1000`);
      expect(data.map(({ id }: { id: number }) => id)).not.toContain(ids[resource]);
    }
  });
});
