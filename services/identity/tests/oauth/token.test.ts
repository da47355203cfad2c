// POST /oauth/token: parameters, client authentication, responses; and the grant
// client_credentials.
import { createHash } from 'node:crypto';
import { eventually } from '@almanac/testkit/eventually';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { throttleRules } from '../../src/security/throttle.ts';
import { type Account, actsOf, basic, givenIdentity, type Identity, postForm } from '../given.ts';

describe('the token endpoint', () => {
  let identity: Identity;
  let account: Account;
  let token: (form: Parameters<typeof postForm>[1], headers?: Record<string, string>) => ReturnType<typeof postForm>;
  let credentials: { client_id: string; client_secret: string };

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account();
    token = (form, headers) => postForm(`${identity.url}/oauth/token`, form, headers);
    credentials = { client_id: account.client_id, client_secret: account.client_secret };
  });
  afterAll(() => identity.close());

  const machine = { grant_type: 'client_credentials' };

  it('returns exactly the fields of the contract, not to be cached', async () => {
    const answer = await token({ ...machine, ...credentials });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).toSorted()).toEqual([
      'access_token',
      'created_at',
      'expires_in',
      'scope',
      'token_type',
    ]);
    expect(answer.body).toMatchObject({ token_type: 'Bearer', expires_in: 7200, scope: 'api' });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('pragma')).toBe('no-cache');
  });

  it.each(['token/', 'nope', 'token/7', ''])('has no neighbour at /oauth/%s', async (path) => {
    const answer = await postForm(`${identity.url}/oauth/${path}`, { ...machine, ...credentials });
    expect([answer.status, answer.headers.get('cache-control'), answer.body]).toEqual([
      404,
      'no-store',
      { error: 'invalid_request', error_description: 'There is nothing at this address.' },
    ]);
  });

  it('issues a JWT access token (RFC 9068) with subject, audience and expiry', async () => {
    const { body } = await token({ ...machine, ...credentials });
    expect(decodeProtectedHeader(body.access_token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    const claims = decodeJwt(body.access_token);
    expect(claims).toMatchObject({
      iss: identity.url,
      aud: `${identity.url}/api/v1`,
      sub: account.client_id,
      client_id: account.client_id,
      account_id: account.account_id,
      scope: 'api',
      iat: body.created_at,
      exp: body.created_at + 7200,
    });
    expect(claims).not.toHaveProperty('user_id');
    expect(claims).toMatchObject({ application_id: expect.any(Number), jti: expect.any(String) });
  });

  it('accepts credentials by HTTP Basic, form-encoded as RFC 6749 says', async () => {
    const encoded = account.client_secret.replace(/./g, (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
    expect((await token(machine, basic(account.client_id, account.client_secret))).status).toBe(200);
    expect((await token(machine, basic(account.client_id, encoded))).status).toBe(200);
    const both = await token({ ...machine, client_id: account.client_id }, basic(account.client_id, encoded));
    expect(both.status).toBe(200);
  });

  it.each(['a%2Fb', 'plus+and blank', 'colon:colon', 'equals=', 'ünïcode', '%', '100% "sure"'])(
    'reads the secret %j from the header just as it was encoded',
    async (secret) => {
      const made = await account.machine('POST', '/oauth_applications', { name: 'Odd', scopes: 'api' });
      const digest = new Uint8Array(createHash('sha256').update(secret).digest());
      await identity.context.prisma.oauth_secret.create({ data: { application_id: made.body.id, digest } });
      const encoded = new URLSearchParams({ s: secret }).toString().slice(2);
      expect((await token(machine, basic(made.body.client_id, encoded))).status).toBe(200);
      const percents = encodeURIComponent(secret);
      expect((await token(machine, basic(made.body.client_id, percents))).status).toBe(200);
      expect((await token(machine, basic(made.body.client_id, `${encoded}x`))).status).toBe(401);
    },
  );

  it('refuses wrong secrets and unknown clients alike', async () => {
    const wrong = await token({ ...machine, client_id: account.client_id, client_secret: 'wrong' });
    const unknown = await token({ ...machine, client_id: 'unknown', client_secret: 'wrong' });
    expect(wrong.status).toBe(401);
    expect(unknown.status).toBe(401);
    expect(unknown.body).toEqual(wrong.body);
    expect(wrong.body.error).toBe('invalid_client');
    expect(wrong.headers.get('www-authenticate')).toBeNull();
    const byHeader = await token(machine, basic(account.client_id, 'wrong'));
    expect(byHeader.status).toBe(401);
    expect(byHeader.headers.get('www-authenticate')).toMatch(/^Basic /);
  });

  it.each([
    ['no secret', () => ({ client_id: account.client_id })],
    ['an empty secret', () => ({ client_id: account.client_id, client_secret: '' })],
    ['a verifier instead of a secret', () => ({ client_id: account.client_id, code_verifier: 'x'.repeat(43) })],
    ['no credentials at all', () => ({})],
    ['a client id with U+0000', () => ({ client_id: 'a\0b', client_secret: 'x' })],
  ])('refuses %s with invalid_client', async (_what, form) => {
    const answer = await token({ ...machine, ...form() });
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
  });

  it('refuses the stored digest as a secret', async () => {
    const row = await identity.context.prisma.oauth_secret.findFirstOrThrow();
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const client_secret = Buffer.from(row.digest).toString(encoding);
      expect((await token({ ...machine, client_id: account.client_id, client_secret })).status).toBe(401);
    }
  });

  it('never accepts credentials in two places at once', async () => {
    const header = basic(account.client_id, account.client_secret);
    const otherId = await token({ ...machine, client_id: 'other' }, header);
    expect([otherId.status, otherId.body.error]).toEqual([400, 'invalid_request']);
    const twice = await token({ ...machine, client_secret: account.client_secret }, header);
    expect([twice.status, twice.body.error]).toEqual([400, 'invalid_request']);
  });

  it.each(['grant_type', 'client_id', 'client_secret', 'scope', 'code', 'refresh_token', 'unknown'])(
    'refuses a repeated %s',
    async (name) => {
      const pairs: [string, string][] = [
        ...Object.entries({ ...machine, ...credentials, scope: 'api', code: 'x', refresh_token: 'x', unknown: 'x' }),
      ];
      const again = pairs.find(([key]) => key === name) as [string, string];
      const answer = await token([...pairs, again]);
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request']);
    },
  );

  it('refuses a JSON body and other forms', async () => {
    for (const type of ['application/json', 'text/plain', 'multipart/form-data']) {
      const answer = await token(JSON.stringify({ ...machine, ...credentials }), { 'content-type': type });
      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request']);
    }
  });

  it('refuses a body over its limit', async () => {
    const answer = await token({ ...machine, ...credentials, padding: 'x'.repeat(70_000) });
    expect([answer.status, answer.body.error]).toEqual([413, 'invalid_request']);
  });

  it.each(['__proto__', 'constructor', 'toString', 'password', 'implicit'])('has no grant %s', async (name) => {
    const answer = await token({ ...credentials, grant_type: name });
    expect([answer.status, answer.body.error]).toEqual([400, 'unsupported_grant_type']);
  });

  it('needs a grant type', async () => {
    expect((await token({ ...credentials, grant_type: '' })).body.error).toBe('invalid_request');
  });

  it('responds 405 to other methods', async () => {
    const answer = await fetch(`${identity.url}/oauth/token`);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  });

  it('grants scopes of the application and no others', async () => {
    const asked = async (scope: string) => (await token({ ...machine, ...credentials, scope })).body;
    expect((await asked('api:write api:read')).scope).toBe('api:read api:write');
    for (const scope of ['api:readx', 'API', 'api:', 'api:read\tapi:admin', 'openid', '*'])
      expect((await asked(scope)).error).toBe('invalid_scope');
  });

  it('grants an application all of its scopes when it requests none, and never more', async () => {
    const made = await account.machine('POST', '/oauth_applications', {
      name: 'Reader',
      scopes: 'api:read api:delete',
    });
    const own = { client_id: made.body.client_id, client_secret: made.body.client_secret };
    expect((await token({ ...machine, ...own })).body.scope).toBe('api:read api:delete');
    expect((await token({ ...machine, ...own, scope: 'api:read' })).body.scope).toBe('api:read');
    expect((await token({ ...machine, ...own, scope: 'api' })).body.error).toBe('invalid_scope');
    expect((await token({ ...machine, ...own, scope: 'api:read api:admin' })).body.error).toBe('invalid_scope');
  });

  it('grants a public application no token of its own', async () => {
    const made = await account.machine('POST', '/oauth_applications', { name: 'Public', confidential: false });
    expect(made.body.client_secret).toBeNull();
    const answer = await token({ ...machine, client_id: made.body.client_id });
    expect([answer.status, answer.body.error]).toEqual([400, 'unauthorized_client']);
    expect((await token({ ...machine, client_id: made.body.client_id, client_secret: 'x' })).status).toBe(401);
  });

  it('throttles guessing with 429 but never refuses the right secret', async () => {
    const from = (address: string) => ({ 'x-forwarded-for': `203.0.113.9, ${address}` });
    const other = await identity.account();
    const statuses: number[] = [];
    for (let i = 0; i < 40; i += 1)
      statuses.push(
        (await token({ ...machine, client_id: other.client_id, client_secret: `no${i}` }, from('198.51.100.7'))).status,
      );
    expect(statuses.slice(0, 30)).toEqual(Array(30).fill(401));
    expect(statuses.slice(30)).toEqual(Array(10).fill(429));
    const wrong = await token({ ...machine, client_id: other.client_id, client_secret: 'no' }, from('198.51.100.7'));
    expect(Number(wrong.headers.get('retry-after'))).toBeGreaterThan(0);
    const right = { ...machine, client_id: other.client_id, client_secret: other.client_secret };
    expect((await token(right, from('198.51.100.7'))).status).toBe(200);
    expect((await token(right, from('192.0.2.1'))).status).toBe(200);
    // The audit log has every guess that was checked, and one entry for all throttled ones.
    const failures = await eventually(async () => {
      const acts = await actsOf(identity, other, 'login.failed');
      expect(acts.length).toBeGreaterThanOrEqual(30);
      expect(await actsOf(identity, other, 'login.throttled')).toHaveLength(1);
      return acts;
    });
    expect(failures).toHaveLength(30);
    const of = { application_id: expect.any(Number), user_id: null, address: '198.51.100.7', result: 'failed' };
    expect(failures[0]).toMatchObject(of);
    expect(JSON.stringify(failures.map(({ before, after }) => [before, after]))).toBe(
      JSON.stringify(Array(30).fill([null, null])),
    );
  });

  it('throttles guessing from many networks, too, and still never refuses the right secret', async () => {
    const other = await identity.account();
    const guess = (i: number) =>
      token(
        { ...machine, client_id: other.client_id, client_secret: `no${i}` },
        { 'x-forwarded-for': `10.${i >> 8}.${i & 255}.1` },
      );
    const answers: Awaited<ReturnType<typeof guess>>[] = [];
    for (let i = 0; i < 320; i += 20)
      answers.push(...(await Promise.all(Array.from({ length: 20 }, (_, j) => guess(i + j)))));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(throttleRules.clientTo.tries);
    expect(statuses.filter((status) => status === 429)).toHaveLength(320 - throttleRules.clientTo.tries);
    expect(Number(answers.find(({ status }) => status === 429)?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await token({ ...machine, client_id: other.client_id, client_secret: other.client_secret })).status).toBe(
      200,
    );
  });
});
