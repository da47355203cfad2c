// POST /oauth/revoke and /oauth/introspect: for a client's own tokens only.
import { eventually } from '@almanac/testkit/eventually';
import { decodeJwt } from 'jose';
import { type Account, actsOf, codeOf, exchange, givenIdentity, type Identity, postForm, refresh } from '../given.ts';

describe('revocation and introspection', () => {
  let identity: Identity;
  let account: Account;

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account();
  });
  afterAll(() => identity.close());

  const own = (of: Account) => ({ client_id: of.client_id, client_secret: of.client_secret });
  const revoke = (token: string, of = account) => postForm(`${identity.url}/oauth/revoke`, { ...own(of), token });
  const introspect = async (token: string, of = account) =>
    (await postForm(`${identity.url}/oauth/introspect`, { ...own(of), token })).body;
  const machineToken = async () =>
    (await postForm(`${identity.url}/oauth/token`, { ...own(account), grant_type: 'client_credentials' })).body
      .access_token as string;
  const personTokens = async () => (await exchange(identity, account, await codeOf(identity, account))).body;

  it('revokes an access token and informs gateways until it would have expired', async () => {
    const token = await machineToken();
    expect(await introspect(token)).toMatchObject({ active: true, client_id: account.client_id, token_type: 'Bearer' });
    expect((await revoke(token)).status).toBe(200);
    expect(await introspect(token)).toEqual({ active: false });
    const { jti, exp } = decodeJwt(token);
    const { revocations } = await identity.rpc('gateway').ListRevocations({ accountId: 0 }, {});
    const expires_at = new Date((exp as number) * 1000).toISOString();
    const revocation = { kind: 'token', subject: jti, issued_before: expires_at, expires_at, reason: 'revoked' };
    expect(revocations).toContainEqual({ ...revocation, scope: '' });
    await eventually(() =>
      expect(identity.events.map(({ payload }) => payload)).toContainEqual({
        ...revocation,
        account_id: account.account_id,
      }),
    );
  });

  it('records once what was revoked and by whom', async () => {
    const [token, pair] = [await machineToken(), await personTokens()];
    for (const text of [token, token, pair.refresh_token, pair.refresh_token]) await revoke(text);
    const acts = (await actsOf(identity, account, 'token.revoked')).slice(-2);
    const by = { application_id: expect.any(Number), address: '127.0.0.1', result: 'succeeded' };
    expect(acts).toMatchObject([
      { ...by, user_id: null, after: { token_id: decodeJwt(token).jti } },
      { ...by, user_id: account.admin_user_id, after: { family_id: decodeJwt(pair.access_token).family_id } },
    ]);
    expect(await actsOf(identity, await identity.account(), 'token.revoked')).toEqual([]);
  });

  it('revokes a refresh token with its family', async () => {
    const first = await personTokens();
    const second = (await refresh(identity, account, first.refresh_token)).body;
    expect(await introspect(second.refresh_token)).toMatchObject({ active: true, user_id: account.admin_user_id });
    await revoke(second.refresh_token);
    for (const token of [first.access_token, second.access_token, second.refresh_token])
      expect(await introspect(token)).toEqual({ active: false });
    expect((await refresh(identity, account, second.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('revokes and describes no token of another client', async () => {
    const otherAccount = await identity.account();
    const { access_token, refresh_token } = await personTokens();
    for (const token of [access_token, refresh_token]) {
      expect((await revoke(token, otherAccount)).status).toBe(200);
      expect(await introspect(token, otherAccount)).toEqual({ active: false });
      expect(await introspect(token)).toMatchObject({ active: true });
    }
  });

  it('responds 200 to an invalid token, and needs one', async () => {
    for (const token of ['x', 'a.b.c', '{}', 'a\0b'])
      expect(await revoke(token)).toMatchObject({ status: 200, body: {} });
    expect((await revoke('')).body.error).toBe('invalid_request');
  });

  it('needs client authentication', async () => {
    const token = await machineToken();
    for (const endpoint of ['revoke', 'introspect'])
      for (const credentials of [{}, { client_id: account.client_id }, { ...own(account), client_secret: 'wrong' }]) {
        const answer = await postForm(`${identity.url}/oauth/${endpoint}`, { ...credentials, token } as Record<
          string,
          string
        >);
        expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
      }
    expect(await introspect(token)).toMatchObject({ active: true });
  });

  it('lets no public application introspect', async () => {
    const made = await account.machine('POST', '/oauth_applications', { name: 'Public', confidential: false });
    const { client_id } = made.body;
    const answer = await postForm(`${identity.url}/oauth/introspect`, { client_id, token: 'x' });
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
  });

  describe('are listed for gateways', () => {
    const list = (request: { page_size?: number; after?: number }) =>
      identity.rpc('gateway').ListRevocations({ accountId: 0 }, request);
    const given = async (count: number) => {
      const { prisma } = identity.context;
      await prisma.revocation.deleteMany();
      await prisma.$executeRaw`
        insert into revocation (account_id, kind, subject, issued_before, expires_at, reason)
        select 1, 'token', 'n' || i, now() + interval '2 hours', now() + interval '2 hours', 'revoked'
        from generate_series(1, ${count}::int) i`;
    };
    const all = (count: number) => Array.from({ length: count }, (_, i) => `n${i + 1}`);
    type Listed = Awaited<ReturnType<typeof list>>;
    const subjects = ({ revocations }: Listed) => revocations.map(({ subject }) => subject);

    it('page by page, each after the end of the last one', async () => {
      await given(10);
      const whole = await list({ page_size: 10 });
      expect([subjects(whole), whole.more_after]).toEqual([all(10), 0]);
      await given(11);
      const first = await list({ page_size: 10 });
      expect([subjects(first), first.more_after > 0]).toEqual([all(10), true]);
      const last = await list({ page_size: 10, after: first.more_after });
      expect([subjects(last), last.more_after]).toEqual([['n11'], 0]);
    });

    it('in pages of 5,000 at most', async () => {
      await given(5_001);
      for (const page_size of [5_000, 5_001, 2_147_483_647]) {
        const first = await list({ page_size });
        expect([subjects(first), first.more_after > 0]).toEqual([all(5_000), true]);
        const last = await list({ page_size, after: first.more_after });
        expect([subjects(last), last.more_after]).toEqual([['n5001'], 0]);
      }
    });

    it('all at once, for a release without pages', async () => {
      await given(5_001);
      for (const request of [{}, { page_size: 0 }, { page_size: -1 }]) {
        const answer = await list(request);
        expect([subjects(answer), answer.more_after]).toEqual([all(5_001), 0]);
      }
    });

    it('without those whose tokens have expired', async () => {
      await given(11);
      await identity.context.prisma.$executeRaw`
        update revocation set expires_at = now() - interval '1 second' where subject in ('n1', 'n11')`;
      const page = await list({ page_size: 9 });
      expect([subjects(page), page.more_after]).toEqual([all(10).slice(1), 0]);
    });
  });
});
