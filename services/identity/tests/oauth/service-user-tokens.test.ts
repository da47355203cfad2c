// The grant refresh_token for a service user: a token is replaced when a token that was exchanged
// for it is used (ADR 26).
import { type Account, actsOf, givenIdentity, type Identity, refresh } from '../given.ts';

describe('a refresh token of a service user', () => {
  let identity: Identity;
  let account: Account;
  let applicationId: number;

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account();
    applicationId = (await account.admin('GET', '/oauth_applications')).body.data[0].id;
  });
  afterAll(() => identity.close());

  const begin = async () => {
    const user = await account.admin('POST', '/users', { user_type: 'service', first_name: 'Pipeline' });
    const body = { oauth_application_id: applicationId };
    const issued = await account.admin('POST', `/users/${user.body.id}/refresh_tokens`, body);
    return { userId: user.body.id as number, token: issued.body.refresh_token as string };
  };
  const exchange = async (token: string, place: Pick<Identity, 'url'> = identity) =>
    (await refresh(place, account, token)).body as { refresh_token: string; access_token: string };
  const statusOf = async (token: string) => (await refresh(identity, account, token)).status;
  const isActive = async (token: string) => {
    const { client_id, client_secret } = account;
    const body = new URLSearchParams({ client_id, client_secret, token });
    const answer = await fetch(`${identity.url}/oauth/introspect`, { method: 'POST', body });
    return ((await answer.json()) as { active: boolean }).active;
  };

  it('gives access tokens of the user, and works again while no answer was stored', async () => {
    const { userId, token } = await begin();
    const answers = [await exchange(token), await exchange(token), await exchange(token)];
    const introspected = await fetch(`${identity.url}/oauth/introspect`, {
      method: 'POST',
      body: new URLSearchParams({
        client_id: account.client_id,
        client_secret: account.client_secret,
        token: answers[0]?.access_token as string,
      }),
    });
    expect(await introspected.json()).toMatchObject({ active: true, user_id: userId, account_id: account.account_id });
    expect(new Set(answers.map(({ refresh_token }) => refresh_token)).size).toBe(3);
    expect(await statusOf(token)).toBe(200);
  });

  it('is replaced when the next one is used; then its reuse revokes the family with its access tokens', async () => {
    const { userId, token } = await begin();
    const first = await exchange(token);
    const second = await exchange(first.refresh_token);
    expect(await isActive(token)).toBe(false);
    expect(await isActive(first.refresh_token)).toBe(true);
    expect(await statusOf(token)).toBe(400);
    expect(await statusOf(second.refresh_token)).toBe(400);
    expect([await isActive(first.access_token), await isActive(second.access_token)]).toEqual([false, false]);
    const acts = (await actsOf(identity, account, 'token.refresh_reused')).filter(({ user_id }) => user_id === userId);
    expect(acts).toMatchObject([{ result: 'refused', address: '127.0.0.1' }]);
  });

  it('is replaced with all others that came from the same one', async () => {
    const { token } = await begin();
    const [lost, stored] = [await exchange(token), await exchange(token)];
    await exchange(stored.refresh_token);
    expect(await statusOf(lost.refresh_token)).toBe(400); // only a copy of a lost answer can be sent now
    expect(await statusOf(stored.refresh_token)).toBe(400);
  });

  it('may be used again with what it was exchanged for still valid', async () => {
    const { token } = await begin();
    const early = await exchange(token);
    await exchange(token);
    expect(await statusOf(early.refresh_token)).toBe(200);
  });

  it('works in fifty jobs at the same time on two instances', async () => {
    const another = await identity.another();
    const { token } = await begin();
    const places = Array.from({ length: 50 }, (_, i) => (i % 2 ? another : identity));
    const answers = await Promise.all(places.map((place) => refresh(place, account, token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await statusOf(token)).toBe(200);
  });

  it('lets one of two that came from the same one win, when both are used at the same time', async () => {
    for (let i = 0; i < 5; i += 1) {
      const { userId, token } = await begin();
      const pair = [await exchange(token), await exchange(token)];
      const answers = await Promise.all(pair.map(({ refresh_token }) => refresh(identity, account, refresh_token)));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
      const alive = { user_id: userId, revoked_at: null };
      expect(await identity.context.prisma.token_family.count({ where: alive })).toBe(0);
    }
  });

  it('is revoked by its program at /oauth/revoke, with all that came from it', async () => {
    const { token } = await begin();
    const next = await exchange(token);
    const { client_id, client_secret } = account;
    const body = new URLSearchParams({ client_id, client_secret, token: next.refresh_token });
    expect((await fetch(`${identity.url}/oauth/revoke`, { method: 'POST', body })).status).toBe(200);
    expect([await statusOf(token), await isActive(next.access_token)]).toEqual([400, false]);
  });
});
