// Group 4, tokens: whatever is not a token of ours is refused, however close it looks.
import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey, sign } from 'node:crypto';
import { signInMachine, signInPerson } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { unique } from '@almanac/testkit/system/builders';
import { admin } from '@almanac/testkit/system/system';
import { decode, encode, signed } from './forge.ts';
import { type Case, each, type Row } from './rows.ts';
import { exchange, request } from './wire.ts';
import type { World } from './world.ts';

const challenge = { 'www-authenticate': /^Bearer realm="almanac"/ };
const refused = (message: string) => ({ status: 401, says: `"error":"${message}"`, headers: challenge });
const noContext = refused('Tenant context not set');
const invalid = refused('Invalid token');

const withHeader = (line: string) => request('GET', '/account', { lines: [`Authorization: ${line}`] });
const withToken = (token: string) => request('GET', '/account', { token });
const refusedTokens = (tokens: [name: string, token: string][]): Case[] =>
  tokens.map(([name, token]) => ({ name, bytes: withToken(token), ...invalid }));

const now = () => Math.floor(Date.now() / 1_000);

export const bearerRows: Row[] = [
  {
    id: 'BRR-01',
    what: 'no token where one is due, or one in another place',
    free: true,
    cases: ({ api: { token }, attacker }) => {
      const basic = Buffer.from(`${attacker.application.client_id}:x`).toString('base64');
      const form = { type: 'application/x-www-form-urlencoded', body: `access_token=${token}` };
      return [
        { name: 'no header', bytes: request('GET', '/account'), ...noContext },
        ...each(
          [
            '',
            'Bearer',
            'Bearer ',
            'bearer',
            `Basic ${basic}`,
            `Token ${token}`,
            `Bearer:${token}`,
            token,
            'Negotiate x',
          ],
          (line) => ({ bytes: withHeader(line), ...noContext }),
        ),
        ...each(
          [
            `Bearer "${token}"`,
            `Bearer ${token}, Bearer ${token}`,
            `Bearer ${token}x y`,
            'bearer x',
            'Bearer \u00e9.b.c',
          ],
          (line) => ({ bytes: withHeader(line), ...invalid }),
        ),
        { name: 'in the query', bytes: request('GET', `/account?access_token=${token}`), ...noContext },
        { name: 'in a body', bytes: request('POST', '/domains', form), ...noContext },
        { name: 'in a cookie', bytes: request('GET', '/account', { lines: [`Cookie: token=${token}`] }), ...noContext },
        {
          name: 'in the header of a proxy',
          bytes: request('GET', '/account', { lines: [`Proxy-Authorization: Bearer ${token}`] }),
          ...noContext,
        },
      ];
    },
  },
  {
    id: 'BRR-02',
    what: 'another algorithm, or none',
    free: true,
    cases: async ({ forge: { header, claims }, api: { token, baseUrl } }) => {
      const [, payload, signature] = token.split('.') as [string, string, string];
      const { keys } = (await (await fetch(`${baseUrl}/.well-known/jwks.json`)).json()) as { keys: JsonWebKey[] };
      const jwk = keys.find((key) => (key as { kid?: string }).kid === header.kid) as JsonWebKey;
      const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
      const withKey = (secret: string | Buffer) => {
        const text = `${encode({ ...header, alg: 'HS256' })}.${payload}`;
        return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
      };
      const named = (alg: unknown) => `${encode({ ...header, alg })}.${payload}`;
      const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
      const rs256 = named('RS256');
      return refusedTokens([
        ...['none', 'None', 'NONE', 'nOnE', ''].map((alg): [string, string] => [`alg ${alg}`, `${named(alg)}.`]),
        ['alg none with a signature', `${named('none')}.${signature}`],
        ['HS256 with the public key as PEM', withKey(pem)],
        ['HS256 with the public key as JWK', withKey(JSON.stringify(jwk))],
        ['HS256 with nothing', withKey('')],
        ['RS256 of another key', `${rs256}.${sign('sha256', Buffer.from(rs256), rsa).toString('base64url')}`],
        ...['ES384', 'EdDSA', 'PS256', 'dir', 7, null, ['ES256']].map((alg): [string, string] => [
          `alg ${JSON.stringify(alg)} over a good signature`,
          `${named(alg)}.${signature}`,
        ]),
        ['no alg', `${encode({ ...header, alg: undefined })}.${payload}.${signature}`],
        ['a header that is no JSON', `${Buffer.from('{').toString('base64url')}.${payload}.${signature}`],
        ['a header that is a list', `${encode([header])}.${payload}.${signature}`],
        ['claims that are no JSON', `${encode(header)}.${Buffer.from('x').toString('base64url')}.${signature}`],
        ...ownKeys(header, claims),
      ]);
    },
  },
  {
    id: 'BRR-04',
    what: 'signed with the right key, but with wrong claims or headers',
    cases: ({ forge, victim }) => {
      const claims: [string, Record<string, unknown>][] = [
        ['another issuer', { iss: 'https://evil.test' }],
        ['the issuer with a slash', { iss: `${forge.claims.iss}/` }],
        ['no issuer', { iss: undefined }],
        ['another audience', { aud: 'https://evil.test/api/v1' }],
        ['the issuer as audience', { aud: forge.claims.iss }],
        ['no audience', { aud: undefined }],
        ['no expiry', { exp: undefined }],
        ['an expiry that is over', { exp: now() - 1 }],
        ['an expiry that is a text', { exp: String(now() + 3_600) }],
        ['an expiry that is null', { exp: null }],
        ['a beginning that is to come', { nbf: now() + 3_600 }],
        ['a beginning that is a text', { nbf: 'now' }],
        ['no time of issue', { iat: undefined }],
        ['a time of issue that is a text', { iat: 'now' }],
        ['no id of its own', { jti: undefined }],
        ['an id that is a number', { jti: 7 }],
        ['no subject', { sub: undefined }],
        ['no client', { client_id: undefined }],
        ['no account', { account_id: undefined }],
        ...['x', String(victim.id), [victim.id], 0, -1, 1.5, 2 ** 53, true].map(
          (account_id): [string, Record<string, unknown>] => [
            `the account ${JSON.stringify(account_id)}`,
            { account_id },
          ],
        ),
        ['a user that is a text', { user_id: '1' }],
        ['a user 0', { user_id: 0 }],
        ['an application that is a text', { application_id: '1' }],
        ['no scope', { scope: undefined }],
        ['a list of scopes', { scope: ['api'] }],
      ];
      const headers: [string, Record<string, unknown>][] = [
        ...['JWT', 'ctx+jwt', 'rt+jwt', 'at+jwt ', undefined].map((typ): [string, Record<string, unknown>] => [
          `the type ${typ}`,
          { typ },
        ]),
        ...['unknown', '', '../../etc/passwd', "' or 1=1 --", '__proto__', 7, undefined].map(
          (kid): [string, Record<string, unknown>] => [`the key id ${kid}`, { kid }],
        ),
        ['an extension it calls critical', { crit: ['evil'], evil: true }],
        ['a payload that is not encoded', { b64: false, crit: ['b64'] }],
      ];
      return [
        { name: 'nothing else', bytes: withToken(forge.token()), status: 200 },
        ...refusedTokens(claims.map(([name, changed]) => [name, forge.token(changed)])),
        ...refusedTokens(headers.map(([name, changed]) => [name, forge.token({}, changed)])),
        {
          name: "another account's user",
          bytes: withToken(forge.token({ user_account_id: victim.id })),
          ...refused('Token/user account mismatch'),
        },
      ];
    },
  },
  {
    id: 'BRR-05',
    what: 'a signature that is none, or another token’s',
    free: true,
    cases: ({ api: { token }, machine, victimApi, victim, forge }) => {
      const [header, payload, signature] = token.split('.') as [string, string, string];
      const bytes = Buffer.from(signature, 'base64url');
      const flipped = (at: number) => Buffer.from(bytes.map((byte, place) => (place === at ? byte ^ 1 : byte)));
      const withSignature = (other: Buffer | string) =>
        `${header}.${payload}.${typeof other === 'string' ? other : other.toString('base64url')}`;
      const claims = decode(payload);
      return refusedTokens([
        ['no signature', withSignature('')],
        ['no signature, and no dot', `${header}.${payload}`],
        ['zeros', withSignature(Buffer.alloc(64))],
        ['the number 1, twice', withSignature(Buffer.concat([one, one]))],
        ['all bits', withSignature(Buffer.alloc(64, 255))],
        ...[0, 31, 32, 63].map((at): [string, string] => [`a bit of byte ${at} changed`, withSignature(flipped(at))]),
        ['a byte less', withSignature(bytes.subarray(0, 63))],
        ['a byte more', withSignature(Buffer.concat([bytes, Buffer.alloc(1)]))],
        ['a letter more', withSignature(`${signature}A`)],
        ['other unused bits at its end', withSignature(otherLastBits(signature))],
        ['padded', withSignature(`${signature}==`)],
        ['in the other alphabet of base64', withSignature(`${bytes.toString('base64')}`)],
        ['DER', withSignature(asDer(bytes))],
        ["another token's", withSignature(machine.token.split('.')[2] as string)],
        ['the claims of another account', `${header}.${encode({ ...claims, account_id: victim.id })}.${signature}`],
        ["another account's claims as they are", `${header}.${victimApi.token.split('.')[1]}.${signature}`],
        ['another order of the same claims', `${header}.${encode(reversed(claims))}.${signature}`],
        [
          'a header with the same members in another order',
          `${encode(reversed(forge.header))}.${payload}.${signature}`,
        ],
        ['five parts, as encrypted ones have', `${token}.a.b`],
        ['nothing but dots', '..'],
        ['8,000 letters', 'x'.repeat(8_000)],
      ]);
    },
  },
  {
    id: 'BRR-07',
    what: 'hundreds of unknown keys',
    free: true,
    cases: ({ forge }) =>
      refusedTokens(Array.from({ length: 200 }, (_, n) => [`key ${n}`, forge.token({}, { kid: `${unique()}-${n}` })])),
  },
  {
    id: 'BRR-07',
    what: 'a key that was replaced: until its tokens would be dead',
    writes: true,
    cases: () => [{ name: 'nothing', bytes: request('GET', '/account'), ...noContext }],
    after: async ({ attacker, stores }) => {
      const read = async () => (await signInMachine(attacker.baseUrl, attacker.application, 'api:read')).access_token;
      const statusOf = async (token: string) => (await exchange(withToken(token))).status;
      await admin(['keys', 'rotate']);
      const token = await read();
      const { kid } = decode(token.split('.')[0] as string);
      await admin(['keys', 'rotate']);
      expect(await statusOf(token)).toBe(200);
      // As if the other key had been in use for the life of a token, and a moment.
      await stores.query('identity', `update signing_key set retired_at = now() - interval '3 hours' where kid = $1`, [
        kid,
      ]);
      await admin(['keys', 'rotate']); // gateways get the event, and read all keys again
      await eventually(async () => expect(await statusOf(token)).toBe(401));
      expect(await statusOf(await read())).toBe(200);
    },
  },
  {
    id: 'BRR-08',
    what: 'a deleted user',
    writes: true,
    cases: () => [{ name: 'nothing', bytes: request('GET', '/account'), ...noContext }],
    after: async ({ api, attacker }) => {
      const person = { email: `${unique()}@example.com`, password: 'a password for who goes' };
      const { id } = await api.post<{ id: number }>('/users', { user: person });
      const { access_token } = await signInPerson(attacker.baseUrl, attacker.application, person);
      expect((await exchange(withToken(access_token))).status).toBe(200);
      await api.delete(`/users/${id}`);
      await eventually(async () =>
        expect(await exchange(withToken(access_token))).toMatchObject({
          status: 401,
          body: expect.stringContaining('Invalid resource owner'),
        }),
      );
    },
  },
  {
    id: 'BRR-10',
    what: 'a deleted application',
    writes: true,
    cases: () => [{ name: 'nothing', bytes: request('GET', '/account'), ...noContext }],
    after: async ({ api, attacker }) => {
      const wish = { name: `Going ${unique()}`, redirect_uri: 'https://app.example.com/callback', scopes: 'api' };
      const made = await api.post('/oauth_applications', { oauth_application: wish });
      const { access_token } = await signInMachine(attacker.baseUrl, made);
      expect((await exchange(withToken(access_token))).status).toBe(200);
      await api.delete(`/oauth_applications/${made.id}`);
      await eventually(async () => expect((await exchange(withToken(access_token))).status).toBe(401));
    },
  },
  {
    id: 'BRR-11',
    what: 'two Authorization headers',
    free: true,
    cases: ({ api: { token }, victimApi }) => {
      const [own, other] = [`Authorization: Bearer ${token}`, `Authorization: Bearer ${victimApi.token}`];
      return each(
        [
          [own, own],
          [own, other],
          [other, own],
          [own, 'authorization: Basic eDp5'],
          ['AUTHORIZATION: ', own],
        ],
        (lines) => ({ bytes: request('GET', '/account', { lines }), status: [400, 401] }),
        (lines) => lines.map((line) => line.slice(0, 30)).join(' and '),
      );
    },
  },
  {
    id: 'BRR-17',
    what: 'headers that could give a caller another identity',
    cases: async ({ api, table, victim }) => {
      const path = `/domains/${table.domainId}`;
      const plain = await exchange(request('GET', path, { token: api.token }));
      const context = signed(
        generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
        { alg: 'EdDSA', kid: 'gateway', typ: 'ctx+jwt' },
        { account_id: victim.id, scopes: ['api'], iss: 'gateway', exp: now() + 60 },
      );
      return each(
        [
          `X-Account-Id: ${victim.id}`,
          'X-User-Id: 1',
          'X-Scopes: api:admin',
          `X-Almanac-Context: ${context}`,
          'x-almanac-anything: 1',
          'Forwarded: for=10.0.0.1;host=evil.test;proto=https',
          'X-Forwarded-For: 10.0.0.1',
          'X-Forwarded-Host: evil.test',
          'X-Original-URL: /api/v1/users',
          'X-Rewrite-URL: /api/v1/users',
          `grpc-metadata-account-id: ${victim.id}`,
          'X-HTTP-Method-Override: DELETE',
          'X-Method-Override: DELETE',
          'Connection: close, X-Request-Id, X-Almanac-Context',
        ],
        (line) => ({
          bytes: request('GET', path, { token: api.token, lines: [line] }),
          status: 200,
          wrong: ({ body }) => (body === plain.body ? undefined : 'answers otherwise than without'),
        }),
      );
    },
  },
];

const one = Buffer.concat([Buffer.alloc(31), Buffer.from([1])]);

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
// 64 bytes are 86 letters; four bits of the last letter are unused.
const otherLastBits = (signature: string) =>
  signature.slice(0, -1) + alphabet[alphabet.indexOf(signature.at(-1) as string) ^ 1];

const reversed = (part: Record<string, unknown>) => Object.fromEntries(Object.entries(part).toReversed());

function asDer(bytes: Buffer): Buffer {
  const integer = (part: Buffer) => Buffer.concat([Buffer.from([2, part.length + 1, 0]), part]);
  const both = Buffer.concat([integer(bytes.subarray(0, 32)), integer(bytes.subarray(32))]);
  return Buffer.concat([Buffer.from([0x30, both.length]), both]);
}

/** Tokens that carry their own key, or an address of it. */
function ownKeys(header: World['forge']['header'], claims: World['forge']['claims']): [string, string][] {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: header.kid, alg: 'ES256', use: 'sig' };
  const where = 'http://127.0.0.1:1/keys';
  return [
    ['a key of its own', signed(privateKey, { ...header, jwk }, claims)],
    ['a key of its own under another name', signed(privateKey, { ...header, kid: 'mine', jwk }, claims)],
    ['a place of keys of its own', signed(privateKey, { ...header, jku: where }, claims)],
    ['a certificate of its own', signed(privateKey, { ...header, x5u: where, x5c: ['AAAA'] }, claims)],
    ['a key of no service', signed(privateKey, header, claims)],
  ];
}
