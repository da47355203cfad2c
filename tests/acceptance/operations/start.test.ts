// `npm start`: the first and the second start, its error messages, and what remains after it stops
// or is killed.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApi } from '@almanac/api-client/api';
import { signInMachine, signInPerson } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { type RunningSystem, readProcesses, startSystem } from '@almanac/testkit/system/system';
import { processCount } from '../../support/killing.ts';

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function allEnded(pids: number[]): Promise<boolean> {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; ) {
    if (!pids.some(isAlive)) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}

describe('npm start', () => {
  let home: string;
  let system: RunningSystem;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'almanac-start-'));
    system = await startSystem({ home, demo: true });
  });

  afterAll(async () => {
    await system.stop();
    rmSync(home, { recursive: true, force: true });
  });

  const readCredentials = () => JSON.parse(readFileSync(join(home, 'credentials.json'), 'utf8'));
  const rowCount = async (name: string) => {
    const { application } = readCredentials();
    const api = createApi(system.baseUrl, (await signInMachine(system.baseUrl, application)).access_token);
    const { data } = await api.get(`/deployed_table_definitions?q=name:eq:${name}`);
    const grid = await api.post('/table_data/grid', { table_definition_id: data[0].id, startRow: 0, endRow: 1 });
    return grid.rowCount;
  };

  it('writes credentials that work, for their owner only, and shows where they are', async () => {
    const credentials = readCredentials();
    const person = { email: expect.any(String), password: expect.any(String) };
    expect(credentials).toEqual({
      base_url: system.baseUrl,
      account_id: expect.any(Number),
      admin: person,
      people: { steward: person, approver: person },
      application: {
        client_id: expect.any(String),
        client_secret: expect.any(String),
        redirect_uri: expect.any(String),
      },
    });
    for (const file of ['credentials.json', 'secrets.json'])
      expect(statSync(join(home, file)).mode & 0o777).toBe(0o600);
    const tokens = await signInPerson(system.baseUrl, credentials.application, credentials.admin);
    const account = await createApi(system.baseUrl, tokens.access_token).get('/account');
    expect(account).toMatchObject({ id: credentials.account_id, plan: 'business', billing_status: 'current' });
    expect(system.output()).toContain('credentials.json');
    expect(system.output()).toContain(`${system.baseUrl}/api/v1/`);
    expect(system.output()).not.toContain(credentials.application.client_secret);
  });

  it('has loaded ISO data', async () => {
    expect(await rowCount('Countries')).toBeGreaterThan(240);
    expect(await rowCount('Subdivisions')).toBeGreaterThan(5_000);
    expect(await rowCount('Currencies')).toBeGreaterThan(170);
    expect(await rowCount('Languages')).toBeGreaterThan(7_000);
  });

  it('has a change request with a conflict and an imported one, which wait for the approver', async () => {
    const { application, people } = readCredentials();
    const { access_token } = await signInPerson(system.baseUrl, application, people.approver);
    const api = createApi(system.baseUrl, access_token);
    const { data } = await api.get('/inbox');
    expect(data.map(({ title }: { title: string }) => title).toSorted()).toEqual([
      'Currencies by the latest amendments to ISO 4217',
      'Regions of Kazakhstan from the statistics office',
    ]);
    const rehearsals = await Promise.all(
      data.map(({ id }: { id: number }) => api.post(`/change_requests/${id}/rehearse`)),
    );
    const codes = rehearsals.flatMap(({ problems }) => problems.map(({ code }: { code: string }) => code));
    expect(codes).toEqual(['version_conflict']);
  });

  it('says so when it is already running', async () => {
    await expect(startSystem({ home })).rejects.toThrow(`already running at ${system.baseUrl}`);
  });

  it('says so when its port is taken', async () => {
    const other: Server = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    await expect(startSystem({ env: { PORT: String(port) } })).rejects.toThrow(
      `Port ${port} is in use by another program`,
    );
    await new Promise((resolve) => other.close(resolve));
  });

  it('ends at once with all sentences when the configuration is wrong', async () => {
    const env = { ALMANAC_LOG_LEVEL: 'loud', GATEWAY_GRACE_CALLS: 'many', JOBS_SMTP_URL: 'smtp://mail/path' };
    const error = await startSystem({ env }).then(String, (thrown: Error) => thrown.message);
    expect(error).toContain('(code 78)');
    const sentences = error.split('\n').filter((line) => line.startsWith('  - '));
    expect(sentences.map((line) => line.slice(4).split(/[ :]/)[0])).toEqual([
      'ALMANAC_LOG_LEVEL',
      'GATEWAY_GRACE_CALLS',
      'JOBS_SMTP_URL',
      'JOBS_MAIL_FROM',
    ]);
    expect(error).not.toMatch(/ at .*\.ts:\d/);
  });

  it('says that RabbitMQ can not be reached, and starts', async () => {
    const broken = await startSystem({ env: { ALMANAC_BUS_URL: 'amqp://user:hidden-word@127.0.0.1:1' } });
    try {
      await eventually(() => expect(broken.output()).toContain("! bus: RabbitMQ at 127.0.0.1:1 can't be reached."), {
        withinMs: 60_000,
      });
      expect(broken.output()).not.toContain('hidden-word');
    } finally {
      expect(await broken.stop()).toBe(0);
    }
  });

  it('that is interrupted twice ends at once, and starts again', async () => {
    const pids = Object.values(readProcesses(home));
    process.kill(system.pid, 'SIGINT');
    await eventually(() => expect(system.output()).toContain('Stopping (Ctrl-C)'));
    // A press is a second one after half a second: npm passes on the first one too.
    await eventually(() => {
      if (isAlive(system.pid)) process.kill(system.pid, 'SIGINT');
      expect(isAlive(system.pid)).toBe(false);
    });
    expect(system.output()).toMatch(/Ended at once|Stopped\./);
    expect(await allEnded(pids)).toBe(true);
    await system.stop({ keep: true });
    system = await startSystem({ home, demo: true });
    expect(await rowCount('Countries')).toBeGreaterThan(240);
  });

  it('stops everything when asked, and has the same state when started again', async () => {
    const pids = Object.values(readProcesses(home));
    expect(pids).toHaveLength(processCount);
    const before = readCredentials();
    expect(await system.stop({ keep: true })).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(existsSync(join(home, 'running.pid'))).toBe(false);
    system = await startSystem({ home, demo: true });
    expect(readCredentials()).toEqual({ ...before, base_url: system.baseUrl });
    expect(await rowCount('Subdivisions')).toBeGreaterThan(5_000);
  });

  it('leaves nothing behind when it is killed, and starts again after that', async () => {
    const pids = Object.values(readProcesses(home));
    await system.kill();
    expect(await allEnded(pids)).toBe(true);
    system = await startSystem({ home, demo: true });
    expect(await rowCount('Subdivisions')).toBeGreaterThan(5_000);
  });

  it('starts again at once after it was killed, beside processes that are still running', async () => {
    await system.kill();
    system = await startSystem({ home, demo: true });
    expect(await rowCount('Countries')).toBeGreaterThan(240);
  });
});

describe('a first start', () => {
  it('that is killed while it loads its data continues where it was', async () => {
    const home = mkdtempSync(join(tmpdir(), 'almanac-first-'));
    const read = (name: string) => {
      try {
        return JSON.parse(readFileSync(join(home, name), 'utf8'));
      } catch {
        return undefined;
      }
    };
    // The first try makes the account; the next one is killed in the middle of the load.
    for (const afterMs of [0, 600]) {
      rmSync(join(home, 'runtime.json'), { force: true }); // of the one before
      const cutOff = startSystem({ home, demo: true }).then(
        (system) => system.kill(),
        () => {},
      );
      const isUnderWay = () => read('secrets.json')?.demo && read('runtime.json')?.ready.length === processCount;
      await eventually(() => expect(isUnderWay()).toBe(true), { withinMs: 180_000 });
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      process.kill(read('runtime.json').pid, 'SIGKILL');
      await cutOff;
    }
    const system = await startSystem({ home, demo: true });
    try {
      const { application, account_id } = read('credentials.json');
      expect(account_id).toBe(1);
      const api = createApi(system.baseUrl, (await signInMachine(system.baseUrl, application)).access_token);
      const { data } = await api.get('/deployed_table_definitions');
      expect(data.map(({ name }: { name: string }) => name).toSorted()).toEqual([
        'Countries',
        'Currencies',
        'Languages',
        'Subdivisions',
      ]);
      const counts = [];
      for (const { id } of data)
        counts.push((await api.post('/table_data/grid', { table_definition_id: id, startRow: 0, endRow: 1 })).rowCount);
      expect(Math.min(...counts)).toBeGreaterThan(100);
    } finally {
      await system.stop();
    }
  }, 900_000);
});
