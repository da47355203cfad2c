// The audit log of the whole system: actions and refused attempts of every service are read in one
// place.
import { type Api, createApi, type Page } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, givenAccount, givenDeployedTable, unique } from '@almanac/testkit/system/builders';
import { admin } from '@almanac/testkit/system/system';

type Entry = {
  id: number;
  action: string;
  result: string;
  actor: { type: string; id: number | null; name: string | null };
  address: string | null;
  resource_id: number | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  request_id: string | null;
};

describe('the audit log', () => {
  let account: Account;
  let api: Api;

  beforeAll(async () => {
    account = await givenAccount();
    api = await account.person();
  });

  const entries = async (query: string) => (await api.get<Page<Entry>>(`/audit_events?${query}`)).data;
  const entry = (query: string) =>
    eventually(async () => {
      const [found] = await entries(query);
      if (!found) throw new Error(`There is no entry ${query} yet.`);
      return found;
    });

  it('shows who made a domain, from where, in which request', async () => {
    const name = `Domain ${unique()}`;
    const made = await api.send<{ id: number }>('POST', '/domains', { domain: { name } });
    expect(await entry(`q=action:eq:domain.created&q=resource_id:eq:${made.body.id}`)).toMatchObject({
      result: 'succeeded',
      actor: { type: 'user', name: account.admin.email },
      address: expect.stringMatching(/^(::ffff:)?127\.0\.0\.1$|^::1$/),
      after: { name },
      request_id: made.headers.get('x-request-id'),
    });
  });

  it('shows machines as the application they are', async () => {
    const machine = await account.machine();
    const { id } = await machine.post<{ id: number }>('/users', { email: `${unique()}@example.com` });
    const { actor } = await entry(`q=action:eq:user.created&q=resource_id:eq:${id}`);
    expect(actor).toEqual({ type: 'application', id: expect.any(Number), name: 'First application' });
  });

  it('shows what was tried without the scope, and without the right', async () => {
    const reader = await account.machine('api:read');
    expect((await reader.send('DELETE', '/domains/1')).status).toBe(403);
    const refused = await entry('q=action:eq:access.refused');
    expect(refused).toMatchObject({ result: 'refused', after: { method: 'DELETE', path: '/domains/1' } });
    const email = `${unique()}@example.com`;
    const password = 'correct horse battery';
    await api.post('/users', { email, password });
    const { access_token } = await signInPerson(account.baseUrl, account.application, { email, password });
    const userWithoutRights = createApi(account.baseUrl, access_token);
    expect((await userWithoutRights.send('POST', '/domains', { domain: { name: 'Mine' } })).status).toBe(403);
    expect(await entry(`q=action:eq:access.refused&q=id:gt:${refused.id}`)).toMatchObject({
      actor: { type: 'user', name: email },
      after: { method: 'POST', path: '/domains', errors: [expect.stringContaining('"admin"')] },
    });
  });

  it('shows a table going into service, its rows going out, and the operator changing the plan', async () => {
    const table = await givenDeployedTable(api);
    const wanted = { branch_id: table.branchId, table_definition_key: table.key, pattern: 'full' };
    const exported = await api.post<{ id: number }>('/exports', wanted);
    await admin(['accounts', 'update', String(account.id), '--plan', 'enterprise']);
    await entry(`q=action:eq:export.created&q=resource_id:eq:${exported.id}`);
    expect(await entry('q=action:eq:account.updated')).toMatchObject({
      actor: { type: 'system' },
      before: { plan: 'business' },
      after: { plan: 'enterprise' },
    });
    // The entries come over the bus, which promises no order.
    await eventually(async () => {
      const steps = await entries('q=action:starts_with:deployment.&sort=occurred_at');
      expect(steps.map(({ action }) => action).toSorted()).toEqual([
        'deployment.begun',
        'deployment.created',
        'deployment.deployed',
      ]);
      expect(steps[0]?.action).toBe('deployment.created');
    });
  });
});
