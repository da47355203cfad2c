import { randomBytes } from 'node:crypto';
import type { ProblemCode } from '@almanac/service-kit/problems';
import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { apiRoutes } from '../../src/routes.ts';
import { publicUrl } from '../fakes.ts';
import { callWith } from '../given.ts';
import { announce, useNeighbours } from '../neighbours.ts';

const { identity, billing, useGateway, startGateway, connectBus } = useNeighbours();
const gateway = useGateway();

const get = (token: string) => callWith(gateway, token, 'GET', '/api/v1/domains');

const codes: Record<string, ProblemCode> = {
  'Tenant context not set': 'missing_token',
  'Invalid token': 'invalid_token',
  'Invalid resource owner': 'unknown_user',
  'Token/user account mismatch': 'account_mismatch',
};

async function expectRefused(answer: Response, message: string): Promise<void> {
  expect([answer.status, await answer.json()]).toEqual([401, refusal(message, codes[message] as ProblemCode, message)]);
  expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="almanac"/);
}

async function signedBy(algorithm: string, header: Record<string, unknown>): Promise<string> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const now = Math.floor(Date.now() / 1000);
  const claims = { account_id: 1, client_id: 'c', scope: 'api', jti: 'j', sub: 'c' };
  return new SignJWT({ ...claims, iss: publicUrl, aud: `${publicUrl}/api/v1`, iat: now, exp: now + 60 })
    .setProtectedHeader({ alg: algorithm, typ: 'at+jwt', ...header } as never)
    .sign(privateKey);
}

describe('an invalid token', () => {
  it.each([
    ['no header', undefined],
    ['the scheme alone', 'Bearer'],
    ['another scheme', 'Basic YTpi'],
    ['nothing after the scheme', 'Bearer   '],
    ['an empty header', ''],
  ])('(%s) leaves the tenant context unset', async (_case, authorization) => {
    const headers = authorization === undefined ? {} : { authorization };
    await expectRefused(await fetch(`${gateway.url}/api/v1/domains`, { headers }), 'Tenant context not set');
  });

  it('is not read from the query', async () => {
    const token = await identity.token();
    const answer = await fetch(`${gateway.url}/api/v1/domains?access_token=${token}`);
    await expectRefused(answer, 'Tenant context not set');
  });

  it('is not read from a body', async () => {
    const form = new URLSearchParams({ access_token: await identity.token() });
    const answer = await fetch(`${gateway.url}/api/v1/domains`, { method: 'POST', body: form });
    await expectRefused(answer, 'Tenant context not set');
  });

  it('is refused when it is a refresh token, a code or a client secret', async () => {
    await expectRefused(await get(randomBytes(32).toString('base64url')), 'Invalid token');
  });

  it.each(['x', 'a.b.c', 'a.b', '..', 'a.b.c.d.e', 'é.b.c'.normalize()])('is refused: %s', async (text) => {
    await expectRefused(await get(encodeURI(text)), 'Invalid token');
  });

  it.each([
    ['another issuer', { iss: 'http://evil.test' }],
    ['another audience', { aud: publicUrl }],
    ['no audience', { aud: undefined }],
    ['no expiry', { exp: undefined }],
    ['an expiry that is text', { exp: '9999999999' as never }],
    ['an issue in the future', { iat: Math.floor(Date.now() / 1000) + 600 }],
    ['an expiry in the past', { exp: Math.floor(Date.now() / 1000) - 1 }],
    ['a beginning in the future', { nbf: Math.floor(Date.now() / 1000) + 600 }],
    ['no account', { account_id: undefined }],
    ['an account that is text', { account_id: '1' }],
    ['account 0', { account_id: 0 }],
    ['a user that is not an id', { user_id: 'admin' }],
    ['no client', { client_id: undefined }],
    ['no scope', { scope: undefined }],
    ['a list of scopes', { scope: ['api'] }],
    ['no id', { jti: undefined }],
  ])('is refused with %s', async (_case, claims) => {
    await expectRefused(await get(await identity.token(claims)), 'Invalid token');
  });

  it.each([
    ['another type', { typ: 'JWT' }],
    ["the call context's type", { typ: 'ctx+jwt' }],
    ['no type', { typ: undefined }],
    ['an unknown key', { kid: 'unknown' }],
    ['no key', { kid: undefined }],
  ])('is refused with %s in the header', async (_case, header) => {
    await expectRefused(await get(await identity.token({}, header)), 'Invalid token');
  });

  it('is refused with a signature of another key or algorithm, or without one', async () => {
    const good = await identity.token();
    const [header, payload, signature] = good.split('.') as [string, string, string];
    const kid = JSON.parse(Buffer.from(header, 'base64url').toString()).kid as string;
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    // A signature has 64 bytes, so the last four bits of its text are unused.
    const padded = signature.slice(0, -1) + alphabet[alphabet.indexOf(signature.at(-1) as string) ^ 1];
    const flipped = (signature[0] === 'A' ? 'B' : 'A') + signature.slice(1);
    const { publicKey } = await generateKeyPair('ES256', { extractable: true });
    const secret = new TextEncoder().encode(JSON.stringify(await exportJWK(publicKey)));
    const hs256 = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid }).sign(secret);
    const bad = [
      await signedBy('ES256', { kid }),
      await signedBy('EdDSA', { kid }),
      await signedBy('RS256', { kid }),
      hs256,
      `${encode({ alg: 'none', typ: 'at+jwt', kid })}.${payload}.`,
      `${encode({ typ: 'at+jwt', kid })}.${payload}.${signature}`,
      `${header}.${payload}.`,
      `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
      `${header}.${payload}.${flipped}`,
      `${header}.${payload}.${padded}`,
      `${header}.${encode({ ...claims, account_id: 2 })}.${signature}`,
    ];
    for (const text of bad) await expectRefused(await get(text), 'Invalid token');
    expect((await get(good)).status).toBe(200);
  });

  it('is refused once it has expired, even if it is cached', async () => {
    const now = Date.now();
    const exp = Math.floor(now / 1000) + 2;
    const token = await identity.token({ exp });
    expect((await get(token)).status).toBe(200);
    await eventually(async () => expect((await get(token)).status).toBe(401));
    expect(Date.now()).toBeGreaterThanOrEqual(exp * 1000);
  });

  it('says when application and user belong to different accounts', async () => {
    await expectRefused(
      await get(await identity.token({ user_id: 5, user_account_id: 2 })),
      'Token/user account mismatch',
    );
  });

  it('is never counted', async () => {
    const before = billing.calls() + billing.reserved();
    await get('a.b.c');
    expect(billing.calls() + billing.reserved()).toBe(before);
  });

  it('two Authorization headers are refused', async () => {
    const token = await identity.token();
    const answer = await fetch(`${gateway.url}/api/v1/domains`, {
      headers: [
        ['authorization', `Bearer ${token}`],
        ['Authorization', 'Bearer a.b.c'],
      ],
    });
    expect([400, 401]).toContain(answer.status);
  });
});

describe('signing keys', () => {
  it('are not fetched for each unknown key id', async () => {
    const before = identity.keyFetches();
    const bad = await Promise.all(Array.from({ length: 50 }, (_, i) => identity.token({}, { kid: `unknown-${i}` })));
    for (const token of bad) await get(token);
    expect(identity.keyFetches() - before).toBeLessThanOrEqual(3);
  });

  it('that are new are fetched', async () => {
    await identity.rotate();
    const token = await identity.token();
    await eventually(async () => expect((await get(token)).status).toBe(200));
  });
});

describe('scopes', () => {
  const scopes = ['api', 'api:read', 'api:write', 'api:delete', 'api:admin'];

  it('admit exactly the right tokens, for every route', async () => {
    const tokens = await Promise.all(scopes.map((scope) => identity.token({ scope })));
    for (const route of apiRoutes) {
      const path = `/api/v1${route.path.replace(/\{\w+\}/g, '7')}`;
      for (const [i, scope] of scopes.entries()) {
        const answer = await callWith(gateway, tokens[i] as string, route.method, path);
        const isAllowed = scope === 'api' || scope === route.scope;
        const message = `Insufficient scope. Required: ${route.scope}`;
        const expected = isAllowed
          ? [200, {}]
          : [403, refusal(message, 'insufficient_scope', message, { params: { scope: route.scope } })];
        expect([scope, route.method, path, answer.status, await answer.json()]).toEqual([
          scope,
          route.method,
          path,
          ...expected,
        ]);
        if (!isAllowed)
          expect(answer.headers.get('www-authenticate')).toBe(
            `Bearer realm="almanac", error="insufficient_scope", scope="${route.scope}"`,
          );
      }
    }
  });

  it.each(['api:readx', 'API', 'API:READ', 'api:', 'apix', 'ap', '', 'api:read\napi:admin', 'api:read,api:write'])(
    'are whole words: %j is not a scope',
    async (scope) => {
      const token = await identity.token({ scope });
      expect((await callWith(gateway, token, 'POST', '/api/v1/domains')).status).toBe(403);
      expect((await callWith(gateway, token, 'GET', '/api/v1/branches')).status).toBe(403);
    },
  );

  it('that are missing still give an answer with the allowance headers', async () => {
    expect((await callWith(gateway, await identity.token(), 'GET', '/api/v1/domains')).status).toBe(200);
    const answer = await callWith(gateway, await identity.token({ scope: 'api:read' }), 'POST', '/api/v1/domains');
    expect([answer.status, answer.headers.get('x-allowance-limit')]).toEqual([403, expect.stringMatching(/^\d+$/)]);
  });

  it('treat HEAD as a read, and no header changes the method', async () => {
    const token = await identity.token({ scope: 'api:write' });
    const answer = await callWith(gateway, token, 'HEAD', '/api/v1/domains');
    expect(answer.status).toBe(403);
    const override = { headers: { 'x-http-method-override': 'POST' } };
    expect((await callWith(gateway, token, 'GET', '/api/v1/branches', override)).status).toBe(403);
  });
});

describe('revocations', () => {
  const soon = () => new Date(Date.now() + 7_200_000).toISOString();
  const revoke = async (kind: string, subject: string, reason: string) => {
    await announce(await connectBus('identity'), 'identity.token.revoked', {
      account_id: 1,
      kind,
      subject,
      issued_before: new Date(Date.now() + 1_000).toISOString(),
      expires_at: soon(),
      reason,
    });
  };

  it.each([
    ['the token', { jti: 'dead-token' }, 'token', 'dead-token', 'revoked', 'Invalid token'],
    ['its application', { client_id: 'dead-app' }, 'application', 'dead-app', 'application_deleted', 'Invalid token'],
    ['its user', { user_id: 666 }, 'user', '666', 'user_deleted', 'Invalid resource owner'],
    ['its suspended user', { jti: 'idle-token' }, 'token', 'idle-token', 'user_suspended', 'Invalid resource owner'],
    ['its account', { account_id: 667 }, 'account', '667', 'account_closed', 'Invalid token'],
  ])('of %s reach the gateway by event', async (_case, claims, kind, subject, reason, message) => {
    const token = await identity.token(claims);
    const other = await identity.token();
    expect((await get(token)).status).toBe(200);
    await revoke(kind, subject, reason);
    await eventually(async () => expect((await get(token)).status).toBe(401));
    await expectRefused(await get(token), message);
    expect((await get(other)).status).toBe(200);
  });

  it('are read before the first token is accepted', async () => {
    identity.revocations.push({
      kind: 'token',
      subject: 'dead-before',
      issued_before: soon(),
      expires_at: soon(),
      reason: 'revoked',
    });
    const late = await startGateway();
    const token = await identity.token({ jti: 'dead-before' });
    await expectRefused(await callWith(late, token, 'GET', '/api/v1/domains'), 'Invalid token');
  });

  it('that could not be read keep the gateway from accepting tokens and from being ready', async () => {
    const isolated = await startGateway({ identityRpc: '127.0.0.1:1' });
    const answer = await callWith(isolated, await identity.token(), 'GET', '/api/v1/domains');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await fetch(`${isolated.url}/readyz`)).status).toBe(503);
  });

  it('do not affect tokens that were issued later', async () => {
    const now = Math.floor(Date.now() / 1000);
    const old = await identity.token({ client_id: 'app-9', iat: now - 100 });
    const fresh = await identity.token({ client_id: 'app-9', iat: now + 5 });
    await revoke('application', 'app-9', 'secret_regenerated');
    await eventually(async () => expect((await get(old)).status).toBe(401));
    expect((await get(fresh)).status).toBe(200);
  });
});
