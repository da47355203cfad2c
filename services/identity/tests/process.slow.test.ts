// Identity as a process, as in production: it starts, serves, stops on a signal, and logs no
// secret.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createContextSigner } from '@almanac/service-kit/caller/call-context';
import { createRpcClient } from '@almanac/service-kit/rpc/client';
import { createCaller } from '@almanac/testkit/calls/call';
import { createTestKeys } from '@almanac/testkit/calls/keys';
import { eventually } from '@almanac/testkit/eventually';
import { findFreePort } from '@almanac/testkit/network/ports';
import { createTestDatabase } from '@almanac/testkit/postgres/postgres';
import { codeOf, exchange, type Identity, postForm, redirectUri, refresh } from './given.ts';

describe('the process', () => {
  it('serves, stops on SIGTERM, and logs no password, secret, code, token or cookie', async () => {
    const databases = await Promise.all([createTestDatabase('identity'), createTestDatabase('bus')]);
    const [port, rpcPort] = [await findFreePort(), await findFreePort()];
    const url = `http://127.0.0.1:${port}`;
    const keys = await createTestKeys();
    const process_ = spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts')], {
      env: {
        ...keys.env,
        ALMANAC_PUBLIC_URL: url,
        ALMANAC_BUS_URL: databases[1].url,
        ALMANAC_LOG_LEVEL: 'trace',
        IDENTITY_HTTP_PORT: String(port),
        IDENTITY_RPC_PORT: String(rpcPort),
        IDENTITY_DATABASE_URL: databases[0].url,
        IDENTITY_KEY_ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64url'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exit = once(process_, 'close'); // all output has arrived by then
    let log = '';
    process_.stdout.on('data', (chunk) => (log += chunk));
    process_.stderr.on('data', (chunk) => (log += chunk));
    const operator = createRpcClient(
      'identity',
      `127.0.0.1:${rpcPort}`,
      await createContextSigner('operator', keys.privateKeys.operator),
    );
    try {
      await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200));
      const made = await operator.client.CreateAccount(
        { accountId: 0 },
        { name: 'A', admin_email: 'a@example.com', redirect_uri: redirectUri, plan: 'free' },
      );
      const identity = { url } as Identity;
      const code = await codeOf(identity, made, { state: 'a-state' });
      const issued = await exchange(identity, made, code);
      const renewed = await refresh(identity, made, issued.body.refresh_token);
      const reused = await refresh(identity, made, issued.body.refresh_token);
      expect([issued.status, renewed.status, reused.status]).toEqual([200, 200, 400]);
      const { client_id } = made;
      await postForm(`${url}/oauth/token`, {
        grant_type: 'client_credentials',
        client_id,
        client_secret: 'guessed-secret',
      });
      const call = createCaller(url, keys, { accountId: made.account_id });
      const password = 'correct horse battery';
      expect((await call('POST', '/api/v1/users', { email: 'b@example.com', password })).status).toBe(201);
      const rotated = await call('POST', '/api/v1/oauth_applications/1/regenerate_secret');
      expect(rotated.status).toBe(200);

      process_.kill('SIGTERM');
      expect((await exit)[0]).toBe(0);
      expect(log).toContain('"msg":"ready"');
      expect(log).toContain('"msg":"logged in"');
      expect(log).toContain('"msg":"token family revoked"');
      expect(log).toContain('"msg":"stopped"');
      for (const secret of [
        made.admin_password,
        made.client_secret,
        rotated.body.client_secret,
        'guessed-secret',
        code,
        issued.body.access_token,
        issued.body.refresh_token,
        renewed.body.refresh_token,
        password,
        'almanac_session',
        'argon2id',
      ])
        expect(log).not.toContain(secret);
    } finally {
      operator.close();
      process_.kill('SIGKILL');
      await exit;
      await Promise.all(databases.map(({ drop }) => drop()));
    }
  });
});
