// Grant authorization_code: a code works once, for its client, with its verifier.
import { createHash, randomBytes } from 'node:crypto';
import { eventually } from '@almanac/testkit/eventually';
import { decodeJwt } from 'jose';
import {
  type Account,
  actsOf,
  adminOf,
  allow,
  authorizeUrl,
  codeOf,
  exchange,
  givenIdentity,
  type Identity,
  postForm,
  redirectUri,
  refresh,
} from '../given.ts';

const newVerifier = () => randomBytes(32).toString('base64url');
const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

describe('authorization_code', () => {
  let identity: Identity;
  let account: Account;

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account();
  });
  afterAll(() => identity.close());

  const refused = { status: 400, body: { error: 'invalid_grant' } };
  const familyOf = async (code: string) => {
    const digest = new Uint8Array(createHash('sha256').update(code).digest());
    return (await identity.context.prisma.authorization_code.findUniqueOrThrow({ where: { digest } })).family_id;
  };
  const isActive = async (token: string) => {
    const { client_id, client_secret } = account;
    return (await postForm(`${identity.url}/oauth/introspect`, { client_id, client_secret, token })).body.active;
  };

  it('gives a pair of tokens for the user', async () => {
    const answer = await exchange(identity, account, await codeOf(identity, account, { scope: 'api:read api:write' }));
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).toSorted()).toEqual([
      'access_token',
      'created_at',
      'expires_in',
      'refresh_token',
      'scope',
      'token_type',
    ]);
    expect(answer.body.scope).toBe('api:read api:write');
    expect(decodeJwt(answer.body.access_token)).toMatchObject({
      sub: String(account.admin_user_id),
      user_id: account.admin_user_id,
      account_id: account.account_id,
      client_id: account.client_id,
      family_id: expect.any(String),
    });
  });

  it('gives all scopes of the application when none is asked for', async () => {
    const answer = await exchange(identity, account, await codeOf(identity, account, { scope: undefined }));
    expect(answer.body.scope).toBe('api');
  });

  it('accepts a code once; a second use revokes the tokens of the first', async () => {
    const code = await codeOf(identity, account);
    const { body } = await exchange(identity, account, code);
    expect(await isActive(body.access_token)).toBe(true);
    expect(await exchange(identity, account, code)).toMatchObject(refused);
    expect(await isActive(body.access_token)).toBe(false);
    expect(await refresh(identity, account, body.refresh_token)).toMatchObject(refused);
    const { jti } = decodeJwt(body.access_token);
    await eventually(() =>
      expect(identity.events).toContainEqual(
        expect.objectContaining({
          type: 'identity.token.revoked',
          payload: expect.objectContaining({ kind: 'token', subject: jti, account_id: account.account_id }),
        }),
      ),
    );
  });

  it('gives tokens exactly once to fifty concurrent exchanges on two instances, without a 500', async () => {
    const another = await identity.another();
    const code = await codeOf(identity, account);
    const { family_id } = await identity.context.prisma.authorization_code.findFirstOrThrow({
      orderBy: { id: 'desc' },
    });
    const places = Array.from({ length: 50 }, (_, i) => (i % 2 ? another : identity));
    const answers = await Promise.all(places.map((place) => exchange(place, account, code)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(49).fill(400)]);
    // The other 49 were replays: the code has leaked.
    const family = await identity.context.prisma.token_family.findUniqueOrThrow({ where: { id: family_id } });
    expect(family).toMatchObject({ revoke_reason: 'code_replayed', revoked_at: expect.any(Date) });
    const acts = await actsOf(identity, account, 'token.code_replayed');
    expect(acts.filter(({ after }) => (after as { family_id: string }).family_id === family_id)).toHaveLength(1);
  });

  it.each([
    ['right', 0],
    ['30 s fast', 30_000],
    ['30 s slow', -30_000],
  ])('refuses a code past its minute and takes one before it, with a clock that is %s', async (_what, offMs) => {
    const [late, early] = [await codeOf(identity, account), await codeOf(identity, account)];
    const { prisma } = identity.context;
    const expire = (code: string, seconds: number) =>
      prisma.$executeRaw`
        update authorization_code set expires_at = now() + make_interval(secs => ${seconds}::int)
        where digest = sha256(${code}::bytea)`;
    expect([await expire(late, -1), await expire(early, 20)]).toEqual([1, 1]);
    const { now } = Date;
    Date.now = () => now() + offMs;
    try {
      expect(await exchange(identity, account, late)).toMatchObject(refused);
      expect((await exchange(identity, account, early)).status).toBe(200);
    } finally {
      Date.now = now;
    }
    const replays = await actsOf(identity, account, 'token.code_replayed');
    expect(replays.map(({ after }) => after)).not.toContainEqual({ family_id: await familyOf(late) });
  });

  it('records a replay once, and an expired code not at all', async () => {
    const code = await codeOf(identity, account);
    const family_id = await familyOf(code);
    const notes = async () =>
      (await actsOf(identity, account, 'token.code_replayed')).filter(
        ({ after }) => (after as { family_id: string }).family_id === family_id,
      );
    await exchange(identity, account, code);
    expect(await notes()).toEqual([]);
    for (const _time of [1, 2]) await exchange(identity, account, code);
    expect(await notes()).toMatchObject([
      { result: 'refused', user_id: account.admin_user_id, application_id: expect.any(Number), address: '127.0.0.1' },
    ]);
  });

  it('refuses another redirect URI than the one the code was sent to, and needs one', async () => {
    const code = await codeOf(identity, account);
    const other = await exchange(identity, account, code, { redirect_uri: `${redirectUri}/` });
    expect(other).toMatchObject(refused);
    const none = await exchange(identity, account, code, { redirect_uri: '' });
    expect(none).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  it('refuses a code to other clients, of this and of another account, and leaves it usable for its client', async () => {
    const code = await codeOf(identity, account);
    const sibling = await account.machine('POST', '/oauth_applications', {
      name: 'Sibling',
      redirect_uri: redirectUri,
      scopes: 'api',
    });
    const otherAccount = await identity.account();
    expect(await exchange(identity, sibling.body, code)).toMatchObject(refused);
    expect(await exchange(identity, otherAccount, code)).toMatchObject(refused);
    expect((await exchange(identity, account, code)).status).toBe(200);
  });

  it('refuses codes that were never issued', async () => {
    for (const code of ['x', 'a\0b', '__proto__', 'é'.repeat(100)])
      expect(await exchange(identity, account, code)).toMatchObject(refused);
  });

  it('refuses the code of a user who was disabled in between', async () => {
    const code = await codeOf(identity, account);
    const { prisma } = identity.context;
    await prisma.user.update({ where: { id: account.admin_user_id }, data: { status: 'suspended' } });
    expect(await exchange(identity, account, code)).toMatchObject(refused);
    await prisma.user.update({ where: { id: account.admin_user_id }, data: { status: 'active' } });
  });

  describe('of an application that has changed since', () => {
    const other = `${redirectUri}/other`;
    const given = async () => {
      const attributes = { name: 'Changed', redirect_uri: `${redirectUri}\n${other}`, scopes: 'api:read api:write' };
      const made = await account.machine('POST', '/oauth_applications', attributes);
      return { ...account, ...made.body } as Account & { id: number };
    };
    const change = (made: { id: number }, attributes: object) =>
      account.machine('PATCH', `/oauth_applications/${made.id}`, attributes);

    it('refuses a code for a redirect URI that was removed', async () => {
      const made = await given();
      const code = await codeOf(identity, made, { scope: '' });
      await change(made, { redirect_uri: other });
      expect(await exchange(identity, made, code)).toMatchObject(refused);
    });

    it('gives the remaining scopes, and no tokens when none remains', async () => {
      const made = await given();
      const codes = [await codeOf(identity, made, { scope: '' }), await codeOf(identity, made, { scope: 'api:write' })];
      await change(made, { scopes: 'api:read' });
      expect(await exchange(identity, made, codes[0] as string)).toMatchObject({
        status: 200,
        body: { scope: 'api:read' },
      });
      expect(await exchange(identity, made, codes[1] as string)).toMatchObject(refused);
    });

    it('refuses codes without PKCE once it is public: the secret was the only proof', async () => {
      const made = await given();
      const code = await codeOf(identity, made, { scope: '' });
      await change(made, { confidential: false });
      const form = { grant_type: 'authorization_code', client_id: made.client_id, code, redirect_uri: redirectUri };
      expect(await postForm(`${identity.url}/oauth/token`, form)).toMatchObject(refused);
    });
  });

  it('needs the secret of a confidential application, whatever else proves the request', async () => {
    const verifier = newVerifier();
    const request = { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' };
    const code = await codeOf(identity, account, request);
    for (const client_secret of ['', 'wrong'])
      expect(await exchange(identity, { ...account, client_secret }, code, { code_verifier: verifier })).toMatchObject({
        status: 401,
        body: { error: 'invalid_client' },
      });
    expect((await exchange(identity, account, code, { code_verifier: verifier })).status).toBe(200);
  });

  describe('with PKCE', () => {
    it('gives tokens for the right verifier', async () => {
      const verifier = newVerifier();
      const request = { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' };
      const code = await codeOf(identity, account, request);
      expect((await exchange(identity, account, code, { code_verifier: verifier })).status).toBe(200);
    });

    it.each([
      ['a wrong one', () => newVerifier()],
      ['none', () => ''],
      ['42 characters', () => 'a'.repeat(42)],
      ['129 characters', () => 'a'.repeat(129)],
      ['one with =', (right: string) => `${right}=`],
    ])('refuses %s and burns the code', async (_what, wrong) => {
      const verifier = newVerifier();
      const request = { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' };
      const code = await codeOf(identity, account, request);
      expect(await exchange(identity, account, code, { code_verifier: wrong(verifier) })).toMatchObject(refused);
      expect(await exchange(identity, account, code, { code_verifier: verifier })).toMatchObject(refused);
    });

    it('refuses a verifier for a code that was created without a challenge', async () => {
      const code = await codeOf(identity, account);
      expect(await exchange(identity, account, code, { code_verifier: newVerifier() })).toMatchObject(refused);
    });

    it('authenticates a public application', async () => {
      const made = await account.machine('POST', '/oauth_applications', {
        name: 'Phone app',
        redirect_uri: 'com.example.phone:/callback',
        confidential: false,
        scopes: 'api:read',
      });
      const { client_id } = made.body;
      const verifier = newVerifier();
      const page = await allow(
        authorizeUrl(identity, made.body, {
          redirect_uri: 'com.example.phone:/callback',
          scope: undefined,
          code_challenge: challengeOf(verifier),
          code_challenge_method: 'S256',
        }),
        adminOf(account),
      );
      expect(page.location).toMatch(/^com\.example\.phone:\/callback\?code=/);
      const code = new URL(page.location as string).searchParams.get('code') as string;
      const answer = await postForm(`${identity.url}/oauth/token`, {
        grant_type: 'authorization_code',
        client_id,
        code,
        redirect_uri: 'com.example.phone:/callback',
        code_verifier: verifier,
      });
      expect(answer).toMatchObject({ status: 200, body: { scope: 'api:read' } });
      const renewed = await postForm(`${identity.url}/oauth/token`, {
        grant_type: 'refresh_token',
        client_id,
        refresh_token: answer.body.refresh_token,
      });
      expect(renewed.status).toBe(200);
    });
  });
});
