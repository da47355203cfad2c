// `include=can`: what the caller may do with what they read. It says what the operations say: a
// refusal has the sentence that `can_not` gave.
import {
  type Account,
  type Answer,
  type Api,
  callingAs,
  givenAccount,
  givenTable,
  givenUser,
  type Metadata,
  startMetadata,
} from '../given.ts';

let metadata: Metadata;
let account: Account;

beforeAll(async () => {
  metadata = await startMetadata();
});
beforeEach(async () => {
  account = await givenAccount(metadata);
});
afterAll(() => metadata.stop());

type Allowed = { can: string[]; can_not: Record<string, string> };
const kinds = () => ({
  admin: givenUser(metadata, account.id, [['admin', 'account', account.id]]),
  developer: givenUser(metadata, account.id, [['develop', 'domain', account.domainId]]),
  approver: givenUser(metadata, account.id, [['approve', 'branch', account.mainId]]),
  editor: givenUser(metadata, account.id, [['edit', 'domain', account.domainId]]),
  viewer: givenUser(metadata, account.id, [['view', 'domain', account.domainId]]),
  application: account.api,
});
const allowedAt = async (by: Api, path: string): Promise<Allowed> => {
  const { can, can_not } = await by.get(`${path}?include=can`);
  return { can, can_not };
};

/** Tries what `can` and `can_not` say; the calls change nothing where they are allowed. */
async function expectTrue(by: Api, path: string, calls: Record<string, () => Promise<Answer>>): Promise<void> {
  const { can, can_not } = await allowedAt(by, path);
  expect([...can, ...Object.keys(can_not)].toSorted()).toEqual(
    [...new Set([...can, ...Object.keys(can_not)])].toSorted(),
  );
  for (const [action, call] of Object.entries(calls)) {
    const { status, body } = await call();
    const said = can.includes(action) ? 'can' : can_not[action];
    // The right may also come from the branch, which the domain or the original doesn't know.
    const isElsewhere = status === 403 && (action === 'create_table' || action === 'clone') && said !== 'can';
    if (isElsewhere) continue;
    const refused = status === 403 || status === 401 || body?.problems?.[0]?.code === 'wrong_state';
    expect({ action, said }).toEqual({ action, said: refused ? body.errors[0] : 'can' });
  }
}

it('answers are as before without it, and everywhere', async () => {
  const { admin } = kinds();
  const table = await givenTable(account, 'Countries');
  for (const path of ['/branches', '/domains', '/table_definitions', '/deployments', '/promotions'])
    expect(JSON.stringify(await admin.get(path))).not.toContain('"can');
  expect(await admin.get(`/table_definitions/${table.id}`)).not.toHaveProperty('can');
  expect((await admin.send('GET', '/branches?include=cannot')).body.problems).toMatchObject([
    { code: 'not_in_list', field: 'include' },
  ]);
});

it('lists say the same of each as its own address', async () => {
  const people = kinds();
  await givenTable(account, 'Countries');
  const branch = await people.admin.post('/branches', { branch: { name: 'Work', branch_type: 'private' } });
  const deployment = await people.admin.post('/deployments', {
    branch_id: account.mainId,
    table_definition_ids: [(await account.api.get('/table_definitions')).data[0].id],
  });
  for (const by of Object.values(people))
    for (const path of ['/branches', '/domains', '/table_definitions', '/deployments']) {
      const answer = await by.send('GET', `${path}?include=can`);
      if (answer.status === 401) continue; // deployments take a person
      for (const { id, can, can_not } of answer.body.data) {
        expect(await allowedAt(by, `${path}/${id}`)).toEqual({ can, can_not });
        expect(can).toBeInstanceOf(Array);
      }
    }
  expect([branch.id, deployment.id]).toEqual([expect.any(Number), expect.any(Number)]);
});

describe('what may be done with', () => {
  it('a domain', async () => {
    const path = `/domains/${account.domainId}`;
    for (const by of Object.values(kinds()))
      await expectTrue(by, path, {
        update: () => by.send('PATCH', path, { name: '' }),
        create_table: () =>
          by.send('POST', '/table_definitions', {
            branch_id: account.mainId,
            table_definition: { name: 'x', domain_id: account.domainId, lookup_display_column_id: 2_000_000_000 },
          }),
      });
    expect((await allowedAt(kinds().admin, path)).can).toEqual(['update', 'delete', 'create_table']);
  });

  it('a branch, main or not, protected or not, and one’s own', async () => {
    const people = kinds();
    const opened = await people.developer.post('/branches', { branch: { name: 'Work' } });
    for (const id of [account.mainId, opened.id])
      for (const by of Object.values(people))
        await expectTrue(by, `/branches/${id}`, {
          update: () => by.send('PATCH', `/branches/${id}`, { name: '' }),
          protect: () => by.send('PATCH', `/branches/${id}`, { is_protected: id === account.mainId }),
          change_type: async () =>
            id === account.mainId
              ? { status: 403, body: { errors: [(await allowedAt(by, `/branches/${id}`)).can_not.change_type] } }
              : by.send('PATCH', `/branches/${id}`, { branch_type: 'shared' }),
        });
    expect((await allowedAt(people.developer, `/branches/${opened.id}`)).can).toEqual([
      'update',
      'change_type',
      'delete',
      'create_table',
    ]);
    expect((await allowedAt(people.admin, `/branches/${account.mainId}`)).can_not).toEqual({
      change_type: "Branch type of main can't be private",
      delete: "The branch main can't be deleted",
    });
    expect((await allowedAt(people.editor, `/branches/${opened.id}`)).can_not.delete).toMatch(/"admin"/);
    expect((await people.developer.send('DELETE', `/branches/${opened.id}`)).status).toBe(204);
  });

  it('a table', async () => {
    const people = kinds();
    const table = await givenTable(account, 'Countries');
    const path = `/table_definitions/${table.id}`;
    for (const by of Object.values(people))
      await expectTrue(by, path, {
        update: () => by.send('PATCH', path, { name: '' }),
        clone: () => by.send('POST', `${path}/clone`, { target_branch_id: account.mainId }),
        deploy: () =>
          'id' in by
            ? by.send('POST', '/deployments', { branch_id: account.mainId, table_definition_ids: [table.id] })
            : by.send('POST', '/deployments', {}),
      });
    expect(await allowedAt(people.developer, path)).toEqual({
      can: ['update', 'deploy', 'clone', 'remove', 'delete'],
      can_not: {
        view_rows: 'The table is not deployed, so it has no rows.',
        edit_rows: 'The table is not deployed, so it has no rows.',
        import_rows: 'The table is not deployed, so it has no rows.',
      },
    });
  });

  it('a table in service on a protected branch, and one that is fed from a source', async () => {
    const people = kinds();
    const table = await givenTable(account, 'Countries');
    const { id } = await people.admin.post('/deployments', {
      branch_id: account.mainId,
      table_definition_ids: [table.id],
    });
    await people.admin.post(`/deployments/${id}/deploy`);
    const path = `/table_definitions/${table.id}`;
    for (const by of [people.developer, people.editor, people.viewer])
      await expectTrue(by, path, {
        remove: () => by.send('POST', `${path}/remove`, {}),
        delete: () => by.send('DELETE', path),
      });
    expect((await allowedAt(people.viewer, path)).can).toEqual(['view_rows']);
    expect((await allowedAt(people.editor, path)).can).toEqual(['view_rows', 'edit_rows', 'import_rows']);
    expect((await allowedAt(people.admin, path)).can_not).toEqual({});
    await people.admin.send('PATCH', path, { load_type: 'source' });
    expect((await allowedAt(people.editor, path)).can).toEqual(['view_rows', 'import_rows']);
    expect((await allowedAt(people.approver, path)).can).toEqual([]);
  });

  it('a deployment, in every state of it', async () => {
    const people = kinds();
    const { application: _application, ...persons } = people;
    const steps = ['send_request', 'reject', 'cancel', 'abandon'];
    const states = [[], ['send_request'], ['send_request', 'reject'], ['cancel']];
    for (const taken of states) {
      const table = await givenTable(account, `Table ${taken.join(' ')}`);
      const deployment = await people.developer.post('/deployments', {
        branch_id: account.mainId,
        table_definition_ids: [table.id],
      });
      const path = `/deployments/${deployment.id}`;
      for (const step of taken) await (step === 'reject' ? people.approver : people.developer).post(`${path}/${step}`);
      for (const by of Object.values(persons)) {
        const { can, can_not } = await allowedAt(by, path);
        expect([...can, ...Object.keys(can_not)].toSorted()).toEqual([...steps, 'deploy'].toSorted());
        // Those that are refused change nothing, so they can be tried.
        for (const [action, reason] of Object.entries(can_not)) {
          const { status, body } = await by.send('POST', `${path}/${action}`, {});
          expect({ action, status: status === 403 || status === 422, errors: body.errors }).toEqual({
            action,
            status: true,
            errors: [reason],
          });
        }
      }
    }
    const table = await givenTable(account, 'Last');
    const proposal = { branch_id: account.mainId, table_definition_ids: [table.id] };
    const { id } = await people.developer.post('/deployments', proposal);
    expect((await allowedAt(people.developer, `/deployments/${id}`)).can).toEqual([
      'send_request',
      'cancel',
      'abandon',
    ]);
    expect((await allowedAt(people.approver, `/deployments/${id}`)).can).toEqual(['deploy', 'reject', 'abandon']);
    expect((await allowedAt(people.viewer, `/deployments/${id}`)).can).toEqual([]);
    expect((await people.approver.send('POST', `/deployments/${id}/reject`, {})).status).toBe(200);
  });

  it('a promotion', async () => {
    const people = kinds();
    const table = await givenTable(account, 'Countries');
    const branch = await people.admin.post('/branches', { branch: { name: 'Work' } });
    const copy = await people.admin.post(`/table_definitions/${table.id}/clone`, { target_branch_id: branch.id });
    await people.admin.send('PATCH', `/table_definitions/${copy.id}`, { description: 'changed' });
    const { id } = await people.developer.post('/promotions', {
      from_branch_id: branch.id,
      to_branch_id: account.mainId,
      table_definition_ids: [copy.id],
    });
    const listed = (await people.approver.get('/promotions?include=can')).data[0];
    expect(listed.can).toEqual(['promote', 'reject', 'abandon']);
    for (const by of [people.developer, people.approver, people.editor, people.viewer])
      for (const [action, reason] of Object.entries((await allowedAt(by, `/promotions/${id}`)).can_not))
        expect((await by.send('POST', `/promotions/${id}/${action}`, {})).body.errors).toEqual([reason]);
  });
});

it('scopes of the token and the plan count', async () => {
  const reader = callingAs(metadata, { accountId: account.id, scopes: ['api:read'] });
  const { can, can_not } = await allowedAt(reader, `/branches/${account.mainId}`);
  expect(can).toEqual([]);
  expect(can_not).toMatchObject({
    update: 'Insufficient scope. Required: api:write',
    protect: 'Insufficient scope. Required: api:admin',
    delete: 'Insufficient scope. Required: api:delete',
  });
  const table = await givenTable(account, 'Countries');
  const small = callingAs(metadata, { accountId: account.id, branching: false });
  expect((await allowedAt(small, `/table_definitions/${table.id}`)).can).toContain('deploy');
  expect((await allowedAt(account.api, `/table_definitions/${table.id}`)).can).not.toContain('deploy');
});
