// The discovery document (RFC 8414) is complete and true: each field is compared with the server's
// behaviour.
import { createHash, randomBytes } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import {
  type Account,
  adminOf,
  allow,
  authorizeUrl,
  basic,
  codeOf,
  exchange,
  givenIdentity,
  type Identity,
  postForm,
  redirectUri,
  refresh,
} from '../given.ts';

describe('the metadata of the OAuth server', () => {
  let identity: Identity;
  let account: Account;
  let phone: { client_id: string };
  let metadata: oauth.AuthorizationServer;

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account();
    const attributes = { name: 'Phone', confidential: false, redirect_uri: redirectUri, scopes: 'api' };
    phone = (await account.machine('POST', '/oauth_applications', attributes)).body;
    const issuer = new URL(identity.url);
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', [oauth.allowInsecureRequests]: true });
    metadata = await oauth.processDiscoveryResponse(issuer, found);
  });
  afterAll(() => identity.close());

  const verifier = randomBytes(32).toString('base64url');
  const challenge = {
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  const machine = { grant_type: 'client_credentials' };
  const own = () => ({ client_id: account.client_id, client_secret: account.client_secret });
  const list = (field: keyof oauth.AuthorizationServer) => metadata[field] as string[];
  const endpoint = (field: keyof oauth.AuthorizationServer) => metadata[field] as string;
  /** The redirect of an authorization request. */
  const answerTo = async (request: Record<string, string>) =>
    new URL((await allow(authorizeUrl(identity, account, request), adminOf(account))).location as string).searchParams;
  const refusalOf = async (request: Record<string, string>) => {
    const answer = await fetch(authorizeUrl(identity, account, request), { redirect: 'manual' });
    return new URL(answer.headers.get('location') as string).searchParams.get('error');
  };

  it('has these fields, each checked below', () => {
    expect(Object.keys(metadata).toSorted()).toEqual([
      'authorization_endpoint',
      'authorization_response_iss_parameter_supported',
      'code_challenge_methods_supported',
      'grant_types_supported',
      'introspection_endpoint',
      'introspection_endpoint_auth_methods_supported',
      'issuer',
      'jwks_uri',
      'response_modes_supported',
      'response_types_supported',
      'revocation_endpoint',
      'revocation_endpoint_auth_methods_supported',
      'scopes_supported',
      'service_documentation',
      'token_endpoint',
      'token_endpoint_auth_methods_supported',
    ]);
    expect(metadata.issuer).toBe(identity.url);
    expect(metadata.service_documentation).toBe(`${identity.url}/docs`); // the gateway's, tested there
  });

  it('names endpoints that exist', async () => {
    const page = await fetch(authorizeUrl(identity, account));
    expect([page.status, page.url.startsWith(endpoint('authorization_endpoint'))]).toEqual([200, true]);
    const { body } = await postForm(endpoint('token_endpoint'), { ...machine, ...own() });
    const form = { ...own(), token: body.access_token };
    expect((await postForm(endpoint('introspection_endpoint'), form)).body.active).toBe(true);
    expect((await postForm(endpoint('revocation_endpoint'), form)).status).toBe(200);
    expect((await postForm(endpoint('introspection_endpoint'), form)).body.active).toBe(false);
    const keys = (await (await fetch(endpoint('jwks_uri'))).json()) as { keys: { kid: string }[] };
    const [header = ''] = body.access_token.split('.');
    expect(keys.keys.map(({ kid }) => kid)).toContain(JSON.parse(Buffer.from(header, 'base64url').toString()).kid);
  });

  it('lists the supported grants', async () => {
    const tokens = await exchange(identity, account, await codeOf(identity, account));
    const given = {
      client_credentials: await postForm(endpoint('token_endpoint'), { ...machine, ...own() }),
      authorization_code: tokens,
      refresh_token: await refresh(identity, account, tokens.body.refresh_token),
    };
    expect(list('grant_types_supported').toSorted()).toEqual(Object.keys(given).toSorted());
    for (const { status } of Object.values(given)) expect(status).toBe(200);
    for (const grant_type of ['password', 'implicit', 'urn:ietf:params:oauth:grant-type:device_code']) {
      const answer = await postForm(endpoint('token_endpoint'), { ...own(), grant_type, username: 'x', password: 'x' });
      expect(answer.body.error).toBe('unsupported_grant_type');
    }
  });

  it('lists the supported scopes', async () => {
    for (const scope of list('scopes_supported')) {
      const answer = await postForm(endpoint('token_endpoint'), { ...machine, ...own(), scope });
      expect([answer.status, answer.body.scope]).toEqual([200, scope]);
    }
    const other = await postForm(endpoint('token_endpoint'), { ...machine, ...own(), scope: 'openid' });
    expect(other.body.error).toBe('invalid_scope');
  });

  it('lists the supported response types and modes, and iss', async () => {
    expect([list('response_types_supported'), list('response_modes_supported')]).toEqual([['code'], ['query']]);
    const answer = await answerTo({ response_type: 'code', response_mode: 'query' });
    expect(answer.get('code')).toEqual(expect.any(String));
    expect(metadata.authorization_response_iss_parameter_supported).toBe(true);
    expect(answer.get('iss')).toBe(metadata.issuer);
    for (const response_type of ['token', 'id_token', 'code token', 'none'])
      expect(await refusalOf({ response_type })).toBe('unsupported_response_type');
    for (const response_mode of ['fragment', 'form_post'])
      expect(await refusalOf({ response_mode })).toBe('invalid_request');
  });

  it('lists the supported PKCE methods', async () => {
    expect(list('code_challenge_methods_supported')).toEqual(['S256']);
    const code = await codeOf(identity, account, challenge);
    expect((await exchange(identity, account, code, { code_verifier: verifier })).status).toBe(200);
    expect(await refusalOf({ ...challenge, code_challenge_method: 'plain' })).toBe('invalid_request');
  });

  it('lists the supported client authentication of each endpoint', async () => {
    const token = async () => (await postForm(endpoint('token_endpoint'), { ...machine, ...own() })).body.access_token;
    const ways: Record<string, (url: string, form: Record<string, string>) => ReturnType<typeof postForm>> = {
      client_secret_basic: (url, form) => postForm(url, form, basic(account.client_id, account.client_secret)),
      client_secret_post: (url, form) => postForm(url, { ...form, ...own() }),
      none: (url, form) => postForm(url, { ...form, client_id: phone.client_id }),
    };
    const codeOfPhone = () => codeOf(identity, { ...account, ...phone }, challenge);
    const works: Record<string, (way: string) => Promise<boolean>> = {
      token_endpoint: async (way) => {
        const code = way === 'none' ? await codeOfPhone() : await codeOf(identity, account, challenge);
        const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
        return (await ways[way]?.(endpoint('token_endpoint'), grant))?.status === 200;
      },
      revocation_endpoint: async (way) =>
        (await ways[way]?.(endpoint('revocation_endpoint'), { token: await token() }))?.status === 200,
      introspection_endpoint: async (way) =>
        (await ways[way]?.(endpoint('introspection_endpoint'), { token: await token() }))?.body.active === true,
    };
    for (const [name, work] of Object.entries(works)) {
      const promised = list(`${name}_auth_methods_supported`);
      const found: Record<string, boolean> = {};
      for (const way of Object.keys(ways)) found[way] = await work(way);
      expect([name, found]).toEqual([
        name,
        Object.fromEntries(Object.keys(ways).map((way) => [way, promised.includes(way)])),
      ]);
      expect(Object.keys(ways)).toEqual(expect.arrayContaining(promised));
    }
  });
});
