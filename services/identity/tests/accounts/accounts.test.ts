// Accounts: opened by operators, shown with what billing knows, changed by administrators.
import { Browser } from '@almanac/api-client/browser';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, adminOf, authorizeUrl, givenIdentity, type Identity, openConsent, postForm } from '../given.ts';

describe('accounts', () => {
  let identity: Identity;
  let account: Account;

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account();
  });
  afterAll(() => identity.close());

  const operator = { accountId: 0 };
  const create = (more: Record<string, string> = {}) =>
    identity.rpc('operator').CreateAccount(operator, {
      name: 'Acme',
      admin_email: 'root@acme.example',
      redirect_uri: '',
      plan: 'plus',
      ...more,
    });

  it('are created with an administrator who can log in and an application that gets tokens', async () => {
    const made = await create();
    expect(made).toMatchObject({
      admin_email: 'root@acme.example',
      admin_password: expect.stringMatching(/^[a-z2-9]{5}(-[a-z2-9]{5}){3}$/),
      redirect_uri: 'urn:ietf:wg:oauth:2.0:oob',
    });
    const { client_id, client_secret } = made;
    const url = authorizeUrl(identity, made, { redirect_uri: made.redirect_uri });
    const person = { email: made.admin_email, password: made.admin_password };
    expect((await openConsent(new Browser(), url, person)).status).toBe(200);
    const token = await postForm(`${identity.url}/oauth/token`, {
      grant_type: 'client_credentials',
      client_id,
      client_secret,
    });
    expect(token).toMatchObject({ status: 200, body: { scope: 'api' } });
    await eventually(() =>
      expect(identity.events).toContainEqual(
        expect.objectContaining({
          type: 'identity.account.created',
          payload: { account_id: made.account_id, name: 'Acme', plan: 'plus' },
        }),
      ),
    );
    const { accounts } = await identity.rpc('operator').ListAccounts(operator, {});
    expect(accounts).toContainEqual(
      expect.objectContaining({ id: made.account_id, name: 'Acme', status: 'active', date_style: 'ISO' }),
    );
  });

  it('are not created from invalid input, which leaves nothing behind', async () => {
    const before = await identity.context.prisma.account.count();
    const made = create({ name: ' ', admin_email: 'x', redirect_uri: 'http://evil.test', plan: 'gold' });
    await expect(made).rejects.toMatchObject({ kind: 'validation_failed', errors: expect.any(Array) });
    await expect(made).rejects.toHaveProperty('errors.length', 4);
    expect(await identity.context.prisma.account.count()).toBe(before);
  });

  it('are created and listed by operators only', async () => {
    await expect(identity.rpc('gateway').ListAccounts(operator, {})).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(identity.rpc('metadata').RotateSigningKey(operator, {})).rejects.toMatchObject({ kind: 'forbidden' });
    await expect(identity.rpc('jobs').ListRevocations(operator, {})).rejects.toMatchObject({ kind: 'forbidden' });
  });

  it('are shown in the contract’s form', async () => {
    expect((await account.machine('GET', '/account')).body).toEqual({
      id: account.account_id,
      name: 'Account 1',
      plan: 'business',
      billing_status: 'current',
      overdue_since: null,
      overage_enabled: false,
      branching_enabled: true,
      date_style: 'ISO',
      usage: {
        period_start: '2026-11-01T00:00:00.000Z',
        period_end: '2026-12-01T00:00:00.000Z',
        calls: 12,
        allowance: 45_000,
        overage_calls: 0,
      },
    });
  });

  it('are changed by administrators; a change of overage is passed to billing', async () => {
    const changed = await account.admin('PATCH', '/account', {
      account: { name: 'Acme Ltd', date_style: 'DMY', overage_enabled: true },
    });
    expect(changed).toMatchObject({
      status: 200,
      body: { name: 'Acme Ltd', date_style: 'DMY', overage_enabled: true },
    });
    expect(identity.billing.overage_enabled).toBe(true);
    expect((await account.machine('GET', '/account')).body).toEqual(changed.body);
    const made = await account.admin('POST', '/users', { email: 'ordinary@example.com' });
    const ordinary = identity.as({ accountId: account.account_id, userId: made.body.id });
    expect((await ordinary('GET', '/account')).status).toBe(200);
    expect((await ordinary('PATCH', '/account', { name: 'Mine' })).status).toBe(403);
  });

  it('report the problems of a change', async () => {
    const bad = await account.admin('PATCH', '/account', { name: '', date_style: 'YMD' });
    expect(bad.status).toBe(422);
    expect(bad.body.errors).toHaveLength(2);
    for (const body of [{ plan: 'enterprise' }, { billing_status: 'current' }, { id: 1 }, { overage_enabled: 'yes' }])
      expect((await account.admin('PATCH', '/account', body)).status).toBe(400);
  });

  it('that are closed get no tokens and no log-ins', async () => {
    const closed = await identity.account();
    await identity.context.prisma.account.update({ where: { id: closed.account_id }, data: { status: 'closed' } });
    const { client_id, client_secret } = closed;
    const token = await postForm(`${identity.url}/oauth/token`, {
      grant_type: 'client_credentials',
      client_id,
      client_secret,
    });
    expect(token.status).toBe(401);
    const page = await openConsent(new Browser(), authorizeUrl(identity, closed), adminOf(closed));
    expect(page.status).toBe(400);
  });
});
