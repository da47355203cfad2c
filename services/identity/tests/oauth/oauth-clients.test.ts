// Three OAuth client libraries complete every grant, configured with the issuer and their client
// alone.
import { generateKeyPair, SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import * as simple from 'simple-oauth2';
import { type Account, adminOf, allow, givenIdentity, type Identity, postForm, redirectUri } from '../given.ts';

describe('OAuth client libraries', () => {
  let identity: Identity;
  let account: Account;

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account();
  });
  afterAll(() => identity.close());

  const isActive = async (token: unknown) => {
    const { client_id, client_secret } = account;
    const form = { client_id, client_secret, token: String(token) };
    return (await postForm(`${identity.url}/oauth/introspect`, form)).body.active;
  };
  const callback = async (url: URL) => new URL((await allow(url.href, adminOf(account))).location as string);

  it('openid-client completes client_credentials, authorization_code with PKCE, refresh, introspect and revoke', async () => {
    const config = await openid.discovery(
      new URL(identity.url),
      account.client_id,
      account.client_secret,
      openid.ClientSecretBasic(account.client_secret),
      { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] },
    );
    const machine = await openid.clientCredentialsGrant(config, { scope: 'api:read' });
    expect(machine).toMatchObject({ expires_in: 7200, scope: 'api:read' });

    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'api',
      state,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const checks = { pkceCodeVerifier: verifier, expectedState: state };
    const tokens = await openid.authorizationCodeGrant(config, await callback(url), checks);
    const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token as string);
    expect(await openid.tokenIntrospection(config, renewed.access_token)).toMatchObject({
      active: true,
      client_id: account.client_id,
      scope: 'api',
    });
    await openid.tokenRevocation(config, renewed.access_token);
    expect(await openid.tokenIntrospection(config, renewed.access_token)).toEqual({ active: false });
    await openid.tokenRevocation(config, renewed.refresh_token as string);
    expect(await openid.tokenIntrospection(config, tokens.access_token)).toEqual({ active: false });
    await expect(openid.refreshTokenGrant(config, renewed.refresh_token as string)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('oauth4webapi completes them too, checks iss and state, and accepts the access token', async () => {
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(identity.url);
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    const server = await oauth.processDiscoveryResponse(issuer, found);
    const client = { client_id: account.client_id };
    const authentication = oauth.ClientSecretPost(account.client_secret);

    const machine = await oauth.processClientCredentialsResponse(
      server,
      client,
      await oauth.clientCredentialsGrantRequest(server, client, authentication, { scope: 'api' }, insecure),
    );
    const request = new Request('http://api.example/', {
      headers: { authorization: `Bearer ${machine.access_token}` },
    });
    const claims = await oauth.validateJwtAccessToken(server, request, `${identity.url}/api/v1`, insecure);
    expect(claims.client_id).toBe(account.client_id);

    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = new URL(server.authorization_endpoint as string);
    url.search = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString();
    const parameters = oauth.validateAuthResponse(server, client, await callback(url), state);
    const tokens = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        parameters,
        redirectUri,
        verifier,
        insecure,
      ),
    );
    const renewed = await oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, authentication, tokens.refresh_token as string, insecure),
    );
    const introspected = await oauth.processIntrospectionResponse(
      server,
      client,
      await oauth.introspectionRequest(server, client, authentication, renewed.access_token, insecure),
    );
    expect(introspected).toMatchObject({ active: true, sub: String(account.admin_user_id) });
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, authentication, renewed.refresh_token as string, insecure),
    );
  });

  describe.each([
    ['the header, form-encoded', { authorizationMethod: 'header', credentialsEncodingMode: 'strict' }],
    ['the header, as they are', { authorizationMethod: 'header', credentialsEncodingMode: 'loose' }],
    ['the body', { authorizationMethod: 'body' }],
  ] as const)('simple-oauth2 with credentials in %s', (_where, options) => {
    const settings = () => ({
      client: { id: account.client_id, secret: account.client_secret },
      auth: { tokenHost: identity.url },
      options,
    });

    it('completes client_credentials and revokes its token', async () => {
      const client = new simple.ClientCredentials(settings());
      const machine = await client.getToken({ scope: ['api:read', 'api:write'] });
      expect(machine.token).toMatchObject({ token_type: 'Bearer', scope: 'api:read api:write' });
      expect(machine.expired()).toBe(false);
      expect(machine.expired(7_201)).toBe(true);
      await machine.revoke('access_token');
      expect(await isActive(machine.token.access_token)).toBe(false);
    });

    it.each([false, true])('completes authorization_code (PKCE: %s), refresh and revoke', async (withPkce) => {
      const client = new simple.AuthorizationCode(settings());
      const verifier = oauth.generateRandomCodeVerifier();
      const challenge = {
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      };
      const request = { redirect_uri: redirectUri, scope: 'api', state: 'a state' };
      const address = client.authorizeURL({ ...request, ...(withPkce ? challenge : {}) });
      const answer = (await callback(new URL(address))).searchParams;
      expect(answer.get('state')).toBe('a state');
      const code = answer.get('code') as string;
      const proof = withPkce ? { code_verifier: verifier } : {};
      const tokens = await client.getToken({ code, redirect_uri: redirectUri, ...proof });
      const renewed = await tokens.refresh();
      expect(renewed.token).toMatchObject({ scope: 'api', refresh_token: expect.any(String) });
      expect(renewed.token.refresh_token).not.toBe(tokens.token.refresh_token);
      const narrow = await renewed.refresh({ scope: 'api:read' });
      expect(narrow.token.scope).toBe('api:read');
      await narrow.revokeAll();
      for (const { token } of [tokens, renewed, narrow]) expect(await isActive(token.access_token)).toBe(false);
      await expect(narrow.refresh()).rejects.toMatchObject({
        output: { statusCode: 400 },
        data: { payload: { error: 'invalid_grant' } },
      });
    });
  });

  it('publishes metadata and public keys only, cacheable, whatever the Host', async () => {
    const answer = await fetch(`${identity.url}/.well-known/oauth-authorization-server`, {
      headers: { 'x-forwarded-host': 'evil.test', forwarded: 'host=evil.test' },
    });
    expect(answer.headers.get('cache-control')).toContain('max-age');
    const metadata = (await answer.json()) as Record<string, string[]>;
    expect(metadata.issuer).toBe(identity.url);
    expect(JSON.stringify(metadata)).not.toContain('evil.test');
    expect(metadata.grant_types_supported).toEqual(['client_credentials', 'authorization_code', 'refresh_token']);
    const keys = await fetch(`${identity.url}/.well-known/jwks.json`);
    expect(keys.headers.get('cache-control')).toContain('max-age');
    const { keys: published } = (await keys.json()) as { keys: Record<string, string>[] };
    expect(published).toHaveLength(2);
    for (const key of published)
      expect(Object.keys(key).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  });

  it('rotates keys: the next one was already published, tokens of the old one stay valid', async () => {
    const { client_id, client_secret } = account;
    const config = await openid.discovery(new URL(identity.url), client_id, client_secret, undefined, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });
    const kids = async () =>
      ((await (await fetch(`${identity.url}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] }).keys.map(
        ({ kid }) => kid,
      );
    const kidOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0] as string, 'base64url').toString()).kid;
    const before = await kids();
    const old = await openid.clientCredentialsGrant(config, {});
    const { kid } = await identity.rpc('operator').RotateSigningKey({ accountId: 0 }, {});
    expect(before).toContain(kid);
    const fresh = await openid.clientCredentialsGrant(config, {});
    expect(kidOf(fresh.access_token)).toBe(kid);
    expect(kidOf(old.access_token)).not.toBe(kid);
    expect(await kids()).toEqual(expect.arrayContaining([...before]));
    expect(await kids()).toHaveLength(3);
    for (const { access_token } of [old, fresh])
      expect(await openid.tokenIntrospection(config, access_token)).toMatchObject({ active: true });
  });

  it('keeps private keys encrypted, and accepts no token signed with another key', async () => {
    for (const { private_key } of await identity.context.prisma.signing_key.findMany())
      expect(Buffer.from(private_key).toString('latin1')).not.toContain('"d"');
    const [{ kid }] = (await identity.context.keys.publicKeys()).keys as [{ kid: string }];
    const { privateKey } = await generateKeyPair('ES256');
    const forged = await new SignJWT({ client_id: account.client_id, jti: 'x', scope: 'api' })
      .setProtectedHeader({ alg: 'ES256', kid, typ: 'at+jwt' })
      .setIssuer(identity.url)
      .setAudience(`${identity.url}/api/v1`)
      .setSubject('1')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
    const { client_id, client_secret } = account;
    const config = await openid.discovery(new URL(identity.url), client_id, client_secret, undefined, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });
    expect(await openid.tokenIntrospection(config, forged)).toEqual({ active: false });
  });
});
