// What ends a user's access early: a password set by an administrator, a suspension, and the age of
// a grant.
import { Browser } from '@almanac/api-client/browser';
import { eventually } from '@almanac/testkit/eventually';
import {
  type Account,
  actsOf,
  authorizeUrl,
  codeOf,
  exchange,
  givenIdentity,
  type Identity,
  openConsent,
  postForm,
  refresh,
} from '../given.ts';

const password = 'correct horse battery';
let identity: Identity;
let account: Account;
let count = 0;

beforeAll(async () => {
  identity = await givenIdentity();
  account = await identity.account();
});
afterAll(() => identity.close());

const newUser = async (more: Record<string, unknown> = {}, of = account) => {
  count += 1;
  return (await of.machine('POST', '/users', { email: `person${count}@example.com`, ...more })).body;
};
const grant = async (email: string) => {
  const person = { ...account, admin_email: email, admin_password: password };
  return (await exchange(identity, account, await codeOf(identity, person))).body;
};
const isActive = async (token: string) => {
  const { client_id, client_secret } = account;
  return (await postForm(`${identity.url}/oauth/introspect`, { client_id, client_secret, token })).body.active;
};
const administratorsOf = async (of: Account) =>
  (await of.machine('GET', '/user_groups?q=name:eq:Administrators')).body.data[0].id as number;
const announcedReasons = async () => {
  const { revocations } = await identity.rpc('gateway').ListRevocations({ accountId: 0 }, {});
  return revocations.map(({ reason }) => reason);
};

describe('a password that an administrator sets', () => {
  it('ends the sessions, refresh tokens and access tokens of this user only', async () => {
    const [user, other] = [await newUser({ password }), await newUser({ password })];
    const [granted, kept] = [await grant(user.email), await grant(other.email)];
    expect((await account.admin('PATCH', `/users/${user.id}`, { password: 'another horse battery' })).status).toBe(200);
    expect(await isActive(granted.access_token)).toBe(false);
    expect((await refresh(identity, account, granted.refresh_token)).body.error).toBe('invalid_grant');
    expect([await isActive(kept.access_token), (await refresh(identity, account, kept.refresh_token)).status]).toEqual([
      true,
      200,
    ]);
    const acts = await actsOf(identity, account, 'password.changed');
    expect(acts.at(-1)).toMatchObject({ resource_id: user.id, after: { by: 'administrator', ended_tokens: true } });
  });

  it('keeps them with keep_sessions', async () => {
    const user = await newUser({ password });
    const granted = await grant(user.email);
    const change = { password: 'another horse battery', keep_sessions: true };
    expect((await account.admin('PATCH', `/users/${user.id}`, change)).status).toBe(200);
    expect(await isActive(granted.access_token)).toBe(true);
    expect((await refresh(identity, account, granted.refresh_token)).status).toBe(200);
    const alone = await account.admin('PATCH', `/users/${user.id}`, { keep_sessions: true });
    expect([alone.status, alone.body.errors]).toEqual([422, ['Keep sessions needs a password.']]);
  });
});

describe('a suspended user', () => {
  const suspend = (id: number, of = account) => of.admin('PATCH', `/users/${id}`, { status: 'suspended' });
  const reinstate = (id: number, of = account) => of.admin('PATCH', `/users/${id}`, { status: 'active' });

  it('can’t log in, has no session, token or right, and gets none of the old ones back later', async () => {
    const user = await newUser({ password });
    const person = { email: user.email, password };
    const browser = new Browser();
    await openConsent(browser, authorizeUrl(identity, account), person);
    const granted = await grant(user.email);
    expect((await suspend(user.id)).body).toMatchObject({ id: user.id, status: 'suspended' });
    expect(await isActive(granted.access_token)).toBe(false);
    expect(await announcedReasons()).toContain('user_suspended');
    expect((await refresh(identity, account, granted.refresh_token)).body.error).toBe('invalid_grant');
    expect((await browser.open(authorizeUrl(identity, account))).html).toContain('type="password"');
    const refused = await openConsent(new Browser(), authorizeUrl(identity, account), person);
    expect([refused.status, refused.html]).toEqual([422, expect.stringContaining('is wrong')]);
    const rights = identity
      .rpc('metadata')
      .GetEffectivePermissions({ accountId: account.account_id }, { user_id: user.id });
    await expect(rights).rejects.toMatchObject({ kind: 'not_found' });
    const call = await identity.as({ accountId: account.account_id, userId: user.id })('GET', '/users');
    expect([call.status, call.body.error]).toEqual([401, 'Invalid resource owner']);
    expect((await reinstate(user.id)).body.status).toBe('active');
    expect(await isActive(granted.access_token)).toBe(false);
    expect((await refresh(identity, account, granted.refresh_token)).body.error).toBe('invalid_grant');
    expect(await isActive((await grant(user.email)).access_token)).toBe(true);
    await eventually(() =>
      expect(identity.events.filter(({ payload }) => payload.user_id === user.id).map(({ type }) => type)).toContain(
        'identity.permission.changed',
      ),
    );
  });

  it('stays a member, is found by the filter, is reported as suspended to other services, and gets no mail', async () => {
    const user = await newUser({ password });
    const group = await administratorsOf(account);
    await account.machine('POST', '/user_group_assignments', { user_id: user.id, user_group_id: group });
    const caller = { accountId: account.account_id };
    const written = async () => {
      const administrators = await identity.rpc('jobs').ListAdministrators(caller, {});
      const approvers = await identity.rpc('metadata').ListApprovers(caller, { branch_id: 6 });
      return [administrators, approvers].map(({ users }) => users.some(({ id }) => id === user.id));
    };
    expect(await written()).toEqual([true, true]);
    await suspend(user.id);
    expect(await written()).toEqual([false, false]);
    const found = await account.admin('GET', '/users?q=status:eq:suspended&per_page=1000');
    expect(found.body.data.map(({ id }: { id: number }) => id)).toContain(user.id);
    expect((await account.admin('GET', `/users/${user.id}`)).body.user_groups).toMatchObject([{ id: group }]);
    const { users } = await identity.rpc('jobs').ListUsers({ accountId: account.account_id }, { ids: [user.id] });
    expect(users).toMatchObject([{ id: user.id, status: 'suspended' }]);
    const acts = await actsOf(identity, account, 'user.updated');
    expect(acts.at(-1)).toMatchObject({ before: { status: 'active' }, after: { status: 'suspended' } });
  });

  it('has no working link, old or new, and is not activated by a password', async () => {
    const invited = await newUser();
    const link = () =>
      identity
        .rpc('jobs')
        .CreatePasswordLink({ accountId: account.account_id }, { user_id: invited.id, purpose: 'invitation' });
    const { url } = await link();
    expect((await new Browser().open(url)).status).toBe(303);
    await suspend(invited.id);
    expect((await new Browser().open(url)).status).toBe(410);
    await expect(link()).rejects.toMatchObject({ kind: 'not_found' });
    expect((await account.admin('POST', `/users/${invited.id}/send_invitation`)).status).toBe(422);
    expect((await reinstate(invited.id)).body.status).toBe('invited');
    expect((await new Browser().open(url)).status).toBe(410);
    expect((await account.admin('POST', `/users/${invited.id}/send_invitation`)).status).toBe(200);
    await suspend(invited.id);
    expect((await account.admin('PATCH', `/users/${invited.id}`, { password })).body.status).toBe('suspended');
    expect((await reinstate(invited.id)).body.status).toBe('active');
  });

  it('can’t be oneself or the last administrator; an invited user can’t be set active', async () => {
    const own = await identity.account();
    const self = await suspend(own.admin_user_id, own);
    expect([self.status, self.body.errors]).toEqual([422, ["You can't suspend yourself."]]);
    const last = await own.machine('PATCH', `/users/${own.admin_user_id}`, { status: 'suspended' });
    expect([last.status, last.body.errors]).toEqual([422, ['The account must keep at least one administrator.']]);
    const invited = await newUser({}, own);
    expect((await reinstate(invited.id, own)).body.errors).toEqual(['An invited user becomes active by a password.']);
    for (const status of ['invited', 'disabled', 'king'])
      expect((await own.machine('PATCH', `/users/${invited.id}`, { status })).status).toBe(422);
  });
});

describe('a grant', () => {
  const age = (interval: string, token: string) =>
    identity.context.prisma.$executeRawUnsafe(
      `update token_family set created_at = now() - interval '${interval}' where id = (
         select family_id from refresh_token where access_token_id = '${claimsOf(token).jti}')`,
    );
  const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());

  it('ends 90 days after its creation, however often it was used, and the error says so', async () => {
    const user = await newUser({ password });
    const first = await grant(user.email);
    await age('89 days', first.access_token);
    const second = await refresh(identity, account, first.refresh_token);
    expect(second.status).toBe(200);
    const row = await identity.context.prisma.token_family.findFirstOrThrow({
      where: { id: claimsOf(first.access_token).family_id },
      include: { tokens: { orderBy: { id: 'desc' }, take: 1 } },
    });
    const end = row.created_at.getTime() + 90 * 86_400_000;
    expect([row.expires_at.getTime(), row.tokens[0]?.expires_at.getTime()]).toEqual([end, end]);
    await age('90 days', second.body.access_token);
    const third = await refresh(identity, account, second.body.refresh_token);
    expect(third).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant', error_description: 'The grant has ended: the user has to log in again.' },
    });
    const { client_id, client_secret } = account;
    const form = { client_id, client_secret, token: second.body.refresh_token };
    expect((await postForm(`${identity.url}/oauth/introspect`, form)).body).toEqual({ active: false });
  });
});

describe('an access token', () => {
  it('from the future is invalid, beyond the tolerance for clocks', async () => {
    const user = await newUser({ password });
    const { access_token } = await grant(user.email);
    const claims = JSON.parse(Buffer.from(access_token.split('.')[1], 'base64url').toString());
    const from = (seconds: number) =>
      identity.context.keys.sign({ ...claims, iat: Math.floor(Date.now() / 1000) + seconds }, 'at+jwt');
    expect(await isActive(await from(20))).toBe(true);
    expect(await isActive(await from(120))).toBe(false);
  });
});
