// Three OAuth client libraries complete every grant, configured with the issuer's address and their
// client alone.
import { Browser } from '@almanac/api-client/browser';
import { walkThrough } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, baseUrl, givenAccount } from '@almanac/testkit/system/builders';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import * as simple from 'simple-oauth2';

const account = async (token: string) => {
  const answer = await fetch(`${baseUrl()}/api/v1/account`, { headers: { Authorization: `Bearer ${token}` } });
  return { status: answer.status, body: (await answer.json()) as { id: number } };
};

describe('OAuth clients', () => {
  let given: Account;

  beforeAll(async () => {
    given = await givenAccount();
  });

  describe('openid-client', () => {
    let config: openid.Configuration;

    beforeAll(async () => {
      const { client_id, client_secret } = given.application;
      config = await openid.discovery(
        new URL(baseUrl()),
        client_id,
        client_secret,
        openid.ClientSecretBasic(client_secret),
        {
          algorithm: 'oauth2',
          execute: [openid.allowInsecureRequests],
        },
      );
    });

    it('completes client_credentials', async () => {
      const tokens = await openid.clientCredentialsGrant(config, { scope: 'api:read api:write' });
      expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 7200, scope: 'api:read api:write' });
      expect(tokens.refresh_token).toBeUndefined();
      expect(await account(tokens.access_token)).toMatchObject({ status: 200, body: { id: given.id } });
    });

    it('completes authorization_code with PKCE, then refresh_token', async () => {
      const verifier = openid.randomPKCECodeVerifier();
      const state = openid.randomState();
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri: given.application.redirect_uri,
        scope: 'api',
        state,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      const callback = await walkThrough(new Browser(), url.href, given.application.redirect_uri, given.admin);
      const tokens = await openid.authorizationCodeGrant(config, callback, {
        pkceCodeVerifier: verifier,
        expectedState: state,
      });
      expect(await account(tokens.access_token)).toMatchObject({ status: 200, body: { id: given.id } });
      const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token as string);
      expect(renewed.access_token).not.toBe(tokens.access_token);
      expect(await account(renewed.access_token)).toMatchObject({ status: 200, body: { id: given.id } });
      await expect(openid.refreshTokenGrant(config, tokens.refresh_token as string)).rejects.toMatchObject({
        error: 'invalid_grant',
      });
    });

    it('revokes a token, which is refused soon after', async () => {
      const { access_token } = await openid.clientCredentialsGrant(config, { scope: 'api:read' });
      expect((await account(access_token)).status).toBe(200);
      await openid.tokenRevocation(config, access_token);
      const refused = { status: 401, body: { error: 'Invalid token' } };
      await eventually(async () => expect(await account(access_token)).toMatchObject(refused));
    });
  });

  describe('oauth4webapi', () => {
    const insecure = { [oauth.allowInsecureRequests]: true };
    let server: oauth.AuthorizationServer;
    let client: oauth.Client;
    let authentication: oauth.ClientAuth;

    beforeAll(async () => {
      const issuer = new URL(baseUrl());
      const answer = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
      server = await oauth.processDiscoveryResponse(issuer, answer);
      client = { client_id: given.application.client_id };
      authentication = oauth.ClientSecretPost(given.application.client_secret);
    });

    it('completes client_credentials and accepts the token as a JWT access token (RFC 9068)', async () => {
      const response = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        authentication,
        { scope: 'api' },
        insecure,
      );
      const tokens = await oauth.processClientCredentialsResponse(server, client, response);
      expect(tokens).toMatchObject({ expires_in: 7200, scope: 'api', created_at: expect.any(Number) });
      const [header = '', claims = ''] = tokens.access_token
        .split('.')
        .map((part) => Buffer.from(part, 'base64url').toString());
      expect(JSON.parse(header)).toMatchObject({ typ: 'at+jwt', alg: 'ES256', kid: expect.any(String) });
      expect(JSON.parse(claims)).toMatchObject({ iss: server.issuer, client_id: client.client_id });
      expect(await account(tokens.access_token)).toMatchObject({ status: 200, body: { id: given.id } });
    });

    it('completes authorization_code with PKCE, state and issuer check, then refresh_token', async () => {
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const redirectUri = given.application.redirect_uri;
      const url = new URL(server.authorization_endpoint as string);
      url.search = new URLSearchParams({
        client_id: client.client_id,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'api:read',
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).toString();
      const callback = await walkThrough(new Browser(), url.href, redirectUri, given.admin);
      const parameters = oauth.validateAuthResponse(server, client, callback, state);
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        parameters,
        redirectUri,
        verifier,
        insecure,
      );
      const tokens = await oauth.processAuthorizationCodeResponse(server, client, response);
      expect(tokens.scope).toBe('api:read');
      const again = await oauth.refreshTokenGrantRequest(
        server,
        client,
        authentication,
        tokens.refresh_token as string,
        insecure,
      );
      const renewed = await oauth.processRefreshTokenResponse(server, client, again);
      expect(await account(renewed.access_token)).toMatchObject({ status: 200, body: { id: given.id } });
    });

    it('gets an error in RFC 6749 form when a client is wrong', async () => {
      const wrong = oauth.ClientSecretPost('not-the-secret');
      const response = await oauth.clientCredentialsGrantRequest(server, client, wrong, {}, insecure);
      expect(response.status).toBe(401);
      expect(response.headers.get('cache-control')).toContain('no-store');
      expect(await response.json()).toMatchObject({ error: 'invalid_client' });
    });
  });

  describe('simple-oauth2', () => {
    it.each(['header', 'body'] as const)(
      'completes every grant, refresh and revoke with its secret in the %s',
      async (authorizationMethod) => {
        const { client_id, client_secret, redirect_uri } = given.application;
        const settings = {
          client: { id: client_id, secret: client_secret },
          auth: { tokenHost: baseUrl() },
          options: { authorizationMethod },
        };
        const machine = await new simple.ClientCredentials(settings).getToken({ scope: 'api:read' });
        expect(await account(String(machine.token.access_token))).toMatchObject({
          status: 200,
          body: { id: given.id },
        });

        const client = new simple.AuthorizationCode(settings);
        const url = client.authorizeURL({ redirect_uri, scope: 'api', state: 'here & there' });
        const answer = (await walkThrough(new Browser(), url, redirect_uri, given.admin)).searchParams;
        expect(answer.get('state')).toBe('here & there');
        const tokens = await client.getToken({ code: String(answer.get('code')), redirect_uri });
        const renewed = await tokens.refresh();
        expect(await account(String(renewed.token.access_token))).toMatchObject({
          status: 200,
          body: { id: given.id },
        });
        await renewed.revokeAll();
        await eventually(async () => {
          for (const { token } of [tokens, renewed])
            expect(await account(String(token.access_token))).toMatchObject({
              status: 401,
              body: { error: 'Invalid token' },
            });
        });
      },
    );
  });

  it('finds every address of the metadata at the public address', async () => {
    const answer = await fetch(`${baseUrl()}/.well-known/oauth-authorization-server`);
    const metadata = (await answer.json()) as Record<string, unknown>;
    const addresses = Object.entries(metadata).filter(([name]) => /_(endpoint|uri|documentation)$/.test(name));
    expect(addresses.map(([name]) => name).toSorted()).toEqual([
      'authorization_endpoint',
      'introspection_endpoint',
      'jwks_uri',
      'revocation_endpoint',
      'service_documentation',
      'token_endpoint',
    ]);
    expect(metadata.issuer).toBe(baseUrl());
    for (const [name, address] of addresses) {
      expect(address).toMatch(new RegExp(`^${baseUrl()}/`));
      const method = /^(token|revocation|introspection)_/.test(name) ? 'POST' : 'GET';
      const { status } = await fetch(String(address), { method });
      // Without parameters: a page, a document, or an error about missing parameters.
      expect([name, [200, 400, 401].includes(status)]).toEqual([name, true]);
    }
  });
});
