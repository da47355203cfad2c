// Grant refresh_token: rotation, and the revocation of a family after reuse.
import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import {
  type Account,
  actsOf,
  codeOf,
  exchange,
  givenIdentity,
  type Identity,
  postForm,
  redirectUri,
  refresh,
} from '../given.ts';

describe('refresh_token', () => {
  let identity: Identity;
  let account: Account;

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account();
  });
  afterAll(() => identity.close());

  const refused = { status: 400, body: { error: 'invalid_grant' } };
  const begin = async (scope = 'api') =>
    (await exchange(identity, account, await codeOf(identity, account, { scope }))).body;
  const isActive = async (token: string) => {
    const { client_id, client_secret } = account;
    return (await postForm(`${identity.url}/oauth/introspect`, { client_id, client_secret, token })).body.active;
  };

  it('rotates: each token works once and returns the next', async () => {
    let { refresh_token } = await begin();
    for (let i = 0; i < 3; i += 1) {
      const answer = await refresh(identity, account, refresh_token);
      expect(answer).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 7200, scope: 'api' } });
      expect(answer.body.refresh_token).not.toBe(refresh_token);
      refresh_token = answer.body.refresh_token;
    }
  });

  it('revokes the whole family and its access tokens when a rotated token is reused', async () => {
    const first = await begin();
    const second = (await refresh(identity, account, first.refresh_token)).body;
    expect(await refresh(identity, account, first.refresh_token)).toMatchObject(refused);
    expect(await refresh(identity, account, second.refresh_token)).toMatchObject(refused);
    expect([await isActive(first.access_token), await isActive(second.access_token)]).toEqual([false, false]);
    const { revocations } = await identity.rpc('gateway').ListRevocations({ accountId: 0 }, {});
    const killed = revocations.filter(({ kind }) => kind === 'token').map(({ subject }) => subject);
    expect(killed).toEqual(
      expect.arrayContaining([decodeJwt(first.access_token).jti, decodeJwt(second.access_token).jti]),
    );
  });

  it('leaves other families alone', async () => {
    const [one, two] = [await begin(), await begin()];
    await refresh(identity, account, one.refresh_token);
    await refresh(identity, account, one.refresh_token);
    expect((await refresh(identity, account, two.refresh_token)).status).toBe(200);
    expect(await isActive(two.access_token)).toBe(true);
  });

  it('accepts one of fifty concurrent uses on two instances, without a 500, and leaves no valid token', async () => {
    const another = await identity.another();
    const { refresh_token, access_token } = await begin();
    const places = Array.from({ length: 50 }, (_, i) => (i % 2 ? another : identity));
    const answers = await Promise.all(places.map((place) => refresh(place, account, refresh_token)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(49).fill(400)]);
    const { family_id } = decodeJwt(access_token) as { family_id: string };
    const { prisma } = identity.context;
    const family = await prisma.token_family.findUniqueOrThrow({ where: { id: family_id }, include: { tokens: true } });
    expect(family.tokens.filter(({ used_at }) => used_at === null).length).toBeLessThanOrEqual(1);
    expect(family.revoke_reason).toBe('refresh_reuse');
    const acts = await actsOf(identity, account, 'token.refresh_reused');
    const about = { user_id: account.admin_user_id, application_id: family.application_id, after: { family_id } };
    expect(acts.filter(({ after }) => (after as { family_id: string }).family_id === family_id)).toMatchObject([
      { ...about, result: 'refused', address: '127.0.0.1', request_id: expect.any(String) },
    ]);
  });

  it('narrows the access token on request, keeps the grant, and never widens it', async () => {
    const granted = await begin('api:read api:write');
    const narrow = await refresh(identity, account, granted.refresh_token, { scope: 'api:read' });
    expect(narrow).toMatchObject({ status: 200, body: { scope: 'api:read' } });
    const wide = await refresh(identity, account, narrow.body.refresh_token, { scope: 'api:admin' });
    expect(wide).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
    const whole = await refresh(identity, account, narrow.body.refresh_token);
    expect(whole).toMatchObject({ status: 200, body: { scope: 'api:read api:write' } });
  });

  it('gives what the user allowed and the application still has, and refuses only requests for more', async () => {
    const made = await account.machine('POST', '/oauth_applications', {
      name: 'Shrinking',
      redirect_uri: redirectUri,
      scopes: 'api:read api:write',
    });
    const own = { ...account, ...made.body };
    const become = (scopes: string) => account.machine('PATCH', `/oauth_applications/${made.body.id}`, { scopes });
    const granted = (await exchange(identity, own, await codeOf(identity, own, { scope: undefined }))).body;
    expect((await become('api:read')).status).toBe(200);
    const wider = await refresh(identity, own, granted.refresh_token, { scope: 'api:read api:write' });
    expect(wider).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
    const less = await refresh(identity, own, granted.refresh_token);
    expect(less).toMatchObject({ status: 200, body: { scope: 'api:read' } });
    await become('api:delete');
    const nothing = await refresh(identity, own, less.body.refresh_token);
    expect(nothing).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
    await become('api');
    const again = await refresh(identity, own, less.body.refresh_token);
    expect(again).toMatchObject({ status: 200, body: { scope: 'api:read api:write' } });
  });

  it('refuses the token to other clients without revoking the family', async () => {
    const { refresh_token } = await begin();
    const otherAccount = await identity.account();
    expect(await refresh(identity, otherAccount, refresh_token)).toMatchObject(refused);
    expect((await refresh(identity, account, refresh_token)).status).toBe(200);
  });

  it('refuses access tokens, unknown tokens and expired ones', async () => {
    const { access_token, refresh_token } = await begin();
    expect(await refresh(identity, account, access_token)).toMatchObject(refused);
    expect(await refresh(identity, account, randomUUID())).toMatchObject(refused);
    await identity.context.prisma.$executeRaw`update refresh_token set expires_at = now() - interval '1 second'`;
    expect(await refresh(identity, account, refresh_token)).toMatchObject(refused);
  });

  it('refuses a disabled user, and one who is deleted', async () => {
    const made = await account.machine('POST', '/users', {
      email: 'leaver@example.com',
      password: 'correct horse battery',
    });
    const leaver = { ...account, admin_email: 'leaver@example.com', admin_password: 'correct horse battery' };
    const granted = (await exchange(identity, account, await codeOf(identity, leaver))).body;
    const { prisma } = identity.context;
    await prisma.user.update({ where: { id: made.body.id }, data: { status: 'suspended' } });
    expect(await refresh(identity, account, granted.refresh_token)).toMatchObject(refused);
    await prisma.user.update({ where: { id: made.body.id }, data: { status: 'active' } });
    const again = await refresh(identity, account, granted.refresh_token);
    expect(again.status).toBe(200);
    expect((await account.machine('DELETE', `/users/${made.body.id}`)).status).toBe(204);
    expect(await refresh(identity, account, again.body.refresh_token)).toMatchObject(refused);
    expect(await isActive(again.body.access_token)).toBe(false);
  });

  it('refuses a user who has moved to another account', async () => {
    const { refresh_token } = await begin();
    const other = await identity.account();
    const { prisma } = identity.context;
    const where = { id: account.admin_user_id };
    await prisma.user.update({ where, data: { account_id: other.account_id } });
    expect(await refresh(identity, account, refresh_token)).toMatchObject(refused);
    await prisma.user.update({ where, data: { account_id: account.account_id } });
  });
});
