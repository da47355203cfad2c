// The audit log: every act with its actor, before and after, in the transaction of the act.
import type { AuditEntry } from '@almanac/service-kit/messaging/audit';
import { callHeaders } from '@almanac/testkit/calls/call';
import { eventually } from '@almanac/testkit/eventually';
import {
  type Account,
  givenAccount,
  givenAdmin,
  givenTable,
  givenUser,
  type Metadata,
  startMetadata,
} from './given.ts';

let metadata: Metadata;
let account: Account;

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  account = await givenAccount(metadata);
});

/** Waits for this many acts of the account; without the creation of its first domain. */
async function actsOf({ id, domainId }: Account, count: number) {
  const isFirst = (act: AuditEntry) => act.resource_type === 'domain' && act.resource_id === domainId;
  const mine = () => metadata.acts.filter((act) => act.account_id === id && !isFirst(act));
  await eventually(() => expect(mine().length).toBeGreaterThanOrEqual(count));
  expect(mine()).toHaveLength(count);
  return mine();
}

describe('the audit log gets', () => {
  it('the creation, change and deletion of a domain, with before and after, and nothing without a change', async () => {
    const admin = givenAdmin(metadata, account.id);
    const { id } = await admin.post('/domains', { name: 'Places', abbreviation: 'PLC' });
    await admin.send('PATCH', `/domains/${id}`, { abbreviation: null });
    await admin.send('PATCH', `/domains/${id}`, { name: 'Places' });
    await admin.send('DELETE', `/domains/${id}`);
    const by = { account_id: account.id, user_id: admin.id, resource_type: 'domain', resource_id: id };
    expect(await actsOf(account, 3)).toMatchObject([
      { ...by, action: 'domain.created', after: { name: 'Places', abbreviation: 'PLC', description: null } },
      { ...by, action: 'domain.updated', before: { abbreviation: 'PLC' }, after: { abbreviation: null } },
      { ...by, action: 'domain.deleted', before: { name: 'Places', abbreviation: null, description: null } },
    ]);
  });

  it('the creation, change and deletion of a branch, but not the current branch of a user', async () => {
    const admin = givenAdmin(metadata, account.id);
    const { id } = await admin.post('/branches', { name: 'work' });
    await admin.post('/branches/set_current_branch', { branch_id: id });
    await admin.send('PATCH', `/branches/${id}`, { is_protected: true });
    await admin.send('DELETE', `/branches/${id}`);
    expect(await actsOf(account, 3)).toMatchObject([
      { action: 'branch.created', resource_id: id, after: { name: 'work', parent_branch_id: account.mainId } },
      { action: 'branch.updated', before: { is_protected: false }, after: { is_protected: true } },
      { action: 'branch.deleted', before: { name: 'work', owner_id: admin.id } },
    ]);
  });

  it('a deployment from its proposal to its end, and the removal of its table', async () => {
    const admin = givenAdmin(metadata, account.id);
    const table = await givenTable(account, 'Codes');
    const body = { branch_id: account.mainId, table_definition_ids: [table.id] };
    const { id } = await admin.post('/deployments', body);
    await admin.post(`/deployments/${id}/send_request`, { comment: 'please' });
    await admin.post(`/deployments/${id}/deploy`);
    await admin.send('POST', `/table_definitions/${table.id}/remove`);
    const on = { user_id: admin.id, resource_type: 'deployment', resource_id: id };
    const version = expect.any(Number);
    expect(await actsOf(account, 5)).toMatchObject([
      { ...on, action: 'deployment.created', after: { status: 'created', table_definition_ids: [table.id] } },
      {
        ...on,
        action: 'deployment.submitted',
        before: { status: 'created' },
        after: { status: 'requested', comment: 'please' },
      },
      {
        ...on,
        action: 'deployment.begun',
        before: { status: 'requested' },
        after: { status: 'deploying', tables: [{ table_definition_id: table.id, version }] },
      },
      { ...on, action: 'deployment.deployed', before: { status: 'deploying' }, after: { status: 'deployed' } },
      {
        action: 'table_definition.removed',
        resource_id: table.id,
        user_id: admin.id,
        before: { key: 'codes', name: 'Codes', column_names: ['code'] },
      },
    ]);
  });

  it('the rejection, abandonment and failure of a deployment', async () => {
    const admin = givenAdmin(metadata, account.id);
    const table = await givenTable(account, 'Codes');
    for (const step of ['reject', 'cancel', 'abandon']) {
      const { id } = await admin.post('/deployments', { branch_id: account.mainId, table_definition_ids: [table.id] });
      await admin.post(`/deployments/${id}/${step}`, { comment: 'no' });
    }
    metadata.neighbours.data.blockers.set(table.id, [{ message: 'Rows are in the way', rows: 3 }]);
    const { id } = await admin.post('/deployments', { branch_id: account.mainId, table_definition_ids: [table.id] });
    expect((await admin.send('POST', `/deployments/${id}/deploy`)).status).toBe(422);
    const acts = await actsOf(account, 9);
    expect(acts.map(({ action, result }) => [action, result])).toEqual([
      ...['rejected', 'cancelled', 'abandoned'].flatMap((end) => [
        ['deployment.created', 'succeeded'],
        [`deployment.${end}`, 'succeeded'],
      ]),
      ['deployment.created', 'succeeded'],
      ['deployment.begun', 'succeeded'],
      ['deployment.failed', 'failed'],
    ]);
    expect(acts.at(-1)).toMatchObject({ after: { reasons: [expect.stringContaining('Rows are in the way')] } });
  });

  it('the deletion of a draft', async () => {
    const table = await givenTable(account, 'Drafted');
    await account.api.send('DELETE', `/table_definitions/${table.id}`);
    expect(await actsOf(account, 1)).toMatchObject([
      {
        action: 'table_definition.deleted',
        resource_id: table.id,
        before: { name: 'Drafted', column_names: ['code'] },
      },
    ]);
  });

  it('acts of applications, with their address and request, and without a user', async () => {
    const headers = await callHeaders(metadata.keys, { accountId: account.id, applicationId: 77 });
    await fetch(`${metadata.baseUrl}/api/v1/domains`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'x-forwarded-for': '6.6.6.6, 192.0.2.7' },
      body: JSON.stringify({ name: 'Machines' }),
    });
    const [act] = await actsOf(account, 1);
    expect(act).toMatchObject({
      action: 'domain.created',
      application_id: 77,
      address: '192.0.2.7',
      request_id: headers['x-request-id'],
    });
    expect(act).not.toHaveProperty('user_id');
  });

  it('what was refused for a missing right, and no other failure', async () => {
    const user = givenUser(metadata, account.id);
    expect((await user.send('POST', '/domains', { name: 'Mine' })).status).toBe(403);
    expect((await user.send('DELETE', `/branches/${account.mainId}`)).status).toBe(403);
    expect((await user.send('GET', '/domains/2000000000')).status).toBe(404);
    expect((await account.api.send('POST', '/domains', { name: ' ' })).status).toBe(422);
    const errors = [expect.stringContaining('You need the right "admin"')];
    const refused = { action: 'access.refused', result: 'refused', user_id: user.id };
    expect(await actsOf(account, 2)).toMatchObject([
      { ...refused, after: { method: 'POST', path: '/domains', errors } },
      { ...refused, after: { method: 'DELETE', path: `/branches/${account.mainId}`, errors } },
    ]);
  });
});
