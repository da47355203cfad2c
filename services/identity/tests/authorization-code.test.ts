// Grant authorization_code: one code, one use, by whom it was made for and with the proof it was made with.
import { createHash, randomBytes } from 'node:crypto';
import { eventually } from '@almanac/testkit/eventually';
import { decodeJwt } from 'jose';
import {
  type Account,
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
} from './given.ts';

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

  it('takes a code once; a second use takes back what the first gave', async () => {
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

  it('gives tokens exactly once to twenty exchanges at the same time, and no faults', async () => {
    const code = await codeOf(identity, account);
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(identity, account, code)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(400)]);
  });

  it('refuses a code past its minute', async () => {
    const code = await codeOf(identity, account);
    await identity.context.prisma.$executeRaw`update authorization_code set expires_at = now() - interval '1 second'`;
    expect(await exchange(identity, account, code)).toMatchObject(refused);
  });

  it('refuses another address than the one the code was sent to, and needs one', async () => {
    const code = await codeOf(identity, account);
    const other = await exchange(identity, account, code, { redirect_uri: `${redirectUri}/` });
    expect(other).toMatchObject(refused);
    const none = await exchange(identity, account, code, { redirect_uri: '' });
    expect(none).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  it('refuses a code to other clients, of this and of another account, and keeps it for its owner', async () => {
    const code = await codeOf(identity, account);
    const sibling = await account.machine('POST', '/oauth_applications', {
      name: 'Sibling',
      redirect_uri: redirectUri,
      scopes: 'api',
    });
    const stranger = await identity.account();
    expect(await exchange(identity, sibling.body, code)).toMatchObject(refused);
    expect(await exchange(identity, stranger, code)).toMatchObject(refused);
    expect((await exchange(identity, account, code)).status).toBe(200);
  });

  it('refuses codes that were never made', async () => {
    for (const code of ['x', 'a\0b', '__proto__', 'é'.repeat(100)])
      expect(await exchange(identity, account, code)).toMatchObject(refused);
  });

  it('refuses the code of a user who was disabled meanwhile', async () => {
    const code = await codeOf(identity, account);
    const { prisma } = identity.context;
    await prisma.user.update({ where: { id: account.admin_user_id }, data: { status: 'disabled' } });
    expect(await exchange(identity, account, code)).toMatchObject(refused);
    await prisma.user.update({ where: { id: account.admin_user_id }, data: { status: 'active' } });
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

    it('refuses a verifier for a code that was made without a challenge', async () => {
      const code = await codeOf(identity, account);
      expect(await exchange(identity, account, code, { code_verifier: newVerifier() })).toMatchObject(refused);
    });

    it('lets a public application prove itself with it alone', async () => {
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
