// /oauth_applications: what may be registered, who may see it, and what becomes of secrets and
// tokens.
import { eventually } from '@almanac/testkit/eventually';
import { decodeJwt } from 'jose';
import {
  type Account,
  actsOf,
  codeOf,
  exchange,
  givenIdentity,
  type Identity,
  postForm,
  redirectUri,
} from '../given.ts';

describe('OAuth applications', () => {
  let identity: Identity;
  let account: Account;

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account();
  });
  afterAll(() => identity.close());

  const token = (client_id: string, client_secret: string) =>
    postForm(`${identity.url}/oauth/token`, { grant_type: 'client_credentials', client_id, client_secret });

  it('are created with a secret that is shown once', async () => {
    const made = await account.admin('POST', '/oauth_applications', {
      oauth_application: {
        name: 'Nightly load',
        redirect_uri: 'https://a.example/cb\n http://localhost:3000/cb \n',
        scopes: 'api:write api:read',
      },
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      name: 'Nightly load',
      redirect_uri: 'https://a.example/cb\nhttp://localhost:3000/cb',
      scopes: 'api:read api:write',
      confidential: true,
      client_secret: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    });
    expect((await token(made.body.client_id, made.body.client_secret)).status).toBe(200);
    const shown = await account.admin('GET', `/oauth_applications/${made.body.id}`);
    const listed = await account.admin('GET', '/oauth_applications?q=name:starts_with:night');
    const changed = await account.admin('PATCH', `/oauth_applications/${made.body.id}`, { name: 'Load' });
    expect(listed.body.meta.total_count).toBe(1);
    expect(changed.body.name).toBe('Load');
    for (const { body } of [shown, listed, changed]) {
      expect(JSON.stringify(body)).not.toContain(made.body.client_secret);
      expect(JSON.stringify(body)).not.toMatch(/secret|digest/);
    }
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'https://*.example/cb',
    'http://app.example/cb',
    'https://app.example/cb#f',
    'https://user@app.example/cb',
    'https://app.example/a/../b',
    'not a uri',
    'ftp://app.example/',
  ])('can not be given the address %s', async (redirect_uri) => {
    const answer = await account.admin('POST', '/oauth_applications', { name: 'X', redirect_uri });
    expect(answer.status).toBe(422);
    expect(answer.body.errors[0]).toMatch(/^Redirect uri /);
  });

  it('report every problem, and refuse attributes that clients can’t set', async () => {
    const bad = await account.admin('POST', '/oauth_applications', {
      name: ' ',
      scopes: 'api root',
      redirect_uri: 'x',
    });
    expect(bad.status).toBe(422);
    expect(bad.body.errors).toHaveLength(3);
    for (const more of [{ client_id: 'mine' }, { client_secret: 'mine' }, { account_id: 1 }])
      expect((await account.admin('POST', '/oauth_applications', { name: 'X', ...more })).status).toBe(400);
    expect((await account.admin('GET', '/oauth_applications?q=secret:contains:a')).status).toBe(400);
  });

  it('get a new secret; the old one stops working at once', async () => {
    const made = await account.admin('POST', '/oauth_applications', { name: 'Rotating', scopes: 'api' });
    const renewed = await account.admin('POST', `/oauth_applications/${made.body.id}/regenerate_secret`);
    expect(renewed.status).toBe(200);
    expect((await token(made.body.client_id, made.body.client_secret)).status).toBe(401);
    expect((await token(made.body.client_id, renewed.body.client_secret)).status).toBe(200);
  });

  it('that are public have no secret, also when they become so', async () => {
    const made = await account.admin('POST', '/oauth_applications', { name: 'Turning', scopes: 'api' });
    await account.admin('PATCH', `/oauth_applications/${made.body.id}`, { confidential: false });
    expect((await token(made.body.client_id, made.body.client_secret)).status).toBe(401);
    expect((await account.admin('POST', `/oauth_applications/${made.body.id}/regenerate_secret`)).status).toBe(422);
  });

  it('that are deleted lose their tokens', async () => {
    const made = await account.admin('POST', '/oauth_applications', { name: 'Leaving', scopes: 'api' });
    const { id, client_id, client_secret } = made.body;
    const issued = await token(client_id, client_secret);
    expect(issued.status).toBe(200);
    expect((await account.admin('DELETE', `/oauth_applications/${id}`)).status).toBe(204);
    expect((await token(client_id, client_secret)).status).toBe(401);
    const { revocations } = await identity.rpc('gateway').ListRevocations({ accountId: 0 }, {});
    const revocation = revocations.find(({ subject }) => subject === client_id);
    expect(revocation).toMatchObject({ kind: 'application', reason: 'application_deleted' });
    expect(Date.parse(revocation?.issued_before as string)).toBeGreaterThan(Date.now());
    await eventually(() => {
      const announced = identity.events.filter(
        ({ payload }) => payload.client_id === client_id || payload.subject === client_id,
      );
      expect(announced.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['identity.token.revoked', 'identity.application.changed']),
      );
    });
  });

  describe('whose scopes change', () => {
    const introspect = async (made: { client_id: string; client_secret: string }, token: string) => {
      const { client_id, client_secret } = made;
      return (await postForm(`${identity.url}/oauth/introspect`, { client_id, client_secret, token })).body;
    };
    const given = async (scopes: string) =>
      (await account.admin('POST', '/oauth_applications', { name: 'Changing', scopes, redirect_uri: redirectUri }))
        .body;
    const become = (made: { id: number }, scopes: string) =>
      account.admin('PATCH', `/oauth_applications/${made.id}`, { scopes });
    const limitOf = async (clientId: string) =>
      (await identity.rpc('gateway').ListRevocations({ accountId: 0 }, {})).revocations.filter(
        ({ subject }) => subject === clientId,
      );

    it('limit existing tokens at once, and inform gateways until the last of these has expired', async () => {
      const made = await given('api');
      const { access_token } = (await token(made.client_id, made.client_secret)).body;
      expect(await introspect(made, access_token)).toMatchObject({ active: true, scope: 'api' });
      await become(made, 'api:read api:write');
      expect(await introspect(made, access_token)).toMatchObject({ active: true, scope: 'api:read api:write' });
      const [limit] = await limitOf(made.client_id);
      expect(limit).toMatchObject({ kind: 'application_scope', scope: 'api:read api:write', reason: 'scopes_changed' });
      const { exp } = decodeJwt(access_token) as { exp: number };
      expect(Date.parse(limit?.expires_at as string)).toBeGreaterThan(exp * 1000);
      await eventually(() =>
        expect(identity.events.map(({ payload }) => payload)).toContainEqual({
          ...limit,
          account_id: account.account_id,
        }),
      );
    });

    it('make a token without remaining scopes inactive, and active again when they are widened', async () => {
      const made = await given('api:read');
      const { access_token } = (await token(made.client_id, made.client_secret)).body;
      const { body } = await exchange(identity, made, await codeOf(identity, { ...account, ...made }, { scope: '' }));
      await become(made, 'api:delete');
      for (const text of [access_token, body.access_token, body.refresh_token])
        expect(await introspect(made, text)).toEqual({ active: false });
      await become(made, 'api');
      for (const text of [access_token, body.access_token, body.refresh_token])
        expect(await introspect(made, text)).toMatchObject({ active: true, scope: 'api:read' });
    });

    it('are announced in order, however fast the changes follow each other', async () => {
      const made = await given('api');
      const words = ['api:read', 'api:write', 'api:delete', 'api:admin', 'api'];
      const said: string[] = [];
      for (const word of [...words, ...words]) {
        await become(made, word);
        const [limit, ...others] = await limitOf(made.client_id);
        expect([limit?.scope, others]).toEqual([word, []]);
        said.push(limit?.issued_before as string);
      }
      expect(said).toEqual([...new Set(said)].toSorted());
      await Promise.all(words.slice(0, 4).map((word) => become(made, word)));
      const shown = await account.admin('GET', `/oauth_applications/${made.id}`);
      expect((await limitOf(made.client_id))[0]?.scope).toBe(shown.body.scopes);
    });

    it('announce nothing when they stay the same', async () => {
      const made = await given('api:read api:write');
      await account.admin('PATCH', `/oauth_applications/${made.id}`, { name: 'Renamed', scopes: 'api:write api:read' });
      expect(await limitOf(made.client_id)).toEqual([]);
    });
  });

  it('leave their changes in the audit log', async () => {
    const made = await account.admin('POST', '/oauth_applications', { name: 'Noted', scopes: 'api:read' });
    const { id, client_id } = made.body;
    await account.admin('PATCH', `/oauth_applications/${id}`, { name: 'Noted well', scopes: 'api' });
    await account.admin('PATCH', `/oauth_applications/${id}`, { name: 'Noted well' });
    await account.machine('DELETE', `/oauth_applications/${id}`);
    const of = async (action: string) =>
      (await actsOf(identity, account, `oauth_application.${action}`)).filter(({ resource_id }) => resource_id === id);
    const attributes = { name: 'Noted', client_id, redirect_uri: '', confidential: true, scopes: 'api:read' };
    const by = { user_id: account.admin_user_id, result: 'succeeded', request_id: expect.any(String) };
    expect(await of('created')).toMatchObject([{ ...by, before: null, after: attributes }]);
    const was = { name: 'Noted', scopes: 'api:read' };
    const is = { name: 'Noted well', scopes: 'api' };
    expect(await of('updated')).toMatchObject([{ ...by, before: was, after: is }]);
    expect(await of('deleted')).toMatchObject([{ user_id: null, before: { ...attributes, ...is }, after: null }]);
    expect(JSON.stringify(await of('created'), (_key, value) => (typeof value === 'bigint' ? 0 : value))).not.toContain(
      made.body.client_secret,
    );
  });

  it('of another account are not found, byte for byte as if they never existed', async () => {
    const otherAccount = await identity.account();
    const { body } = await account.admin('POST', '/oauth_applications', { name: 'Ours', scopes: 'api' });
    for (const [method, path, content] of [
      ['GET', ''],
      ['PATCH', '', { name: 'Theirs' }],
      ['DELETE', ''],
      ['POST', '/regenerate_secret'],
    ] as [string, string, unknown?][]) {
      const foreign = await otherAccount.admin(method, `/oauth_applications/${body.id}${path}`, content);
      const unknown = await otherAccount.admin(method, `/oauth_applications/2147483647${path}`, content);
      expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
    }
    expect((await token(body.client_id, body.client_secret)).status).toBe(200);
    const listed = await otherAccount.admin('GET', '/oauth_applications');
    expect(listed.body.data.map(({ name }: { name: string }) => name)).toEqual(['First application']);
  });

  it('are for administrators only', async () => {
    const made = await account.admin('POST', '/users', { email: 'ordinary@example.com' });
    const ordinary = identity.as({ accountId: account.account_id, userId: made.body.id });
    expect((await ordinary('GET', '/oauth_applications')).status).toBe(403);
    expect((await ordinary('POST', '/oauth_applications', { name: 'X' })).status).toBe(403);
  });
});
