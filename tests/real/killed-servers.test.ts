// kill -9 of RabbitMQ with messages inside, and an S3 that goes away, during imports and exports, beside kills of jobs: each that was
// acknowledged ends and says the truth about its rows. The S3 comes with ALMANAC_TEST_S3_URL; RabbitMQ is one of its own.
// STORM_SEED repeats a run; STORM=all makes it 200 pieces.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findFreePort } from '@almanac/testkit/ports';
import { type RunningSystem, startSystem, systemHomeName } from '@almanac/testkit/system';
import { startTcpProxy, type TcpProxy } from '@almanac/testkit/tcp-proxy';
import { fetchPatiently, isEverythingUp, kill, killDuring, until } from '../acceptance/killing.ts';
import { givenStorm, planPieces } from '../acceptance/storm.ts';

const seed = Number(process.env.STORM_SEED ?? Date.now() % 1_000_000);
const count = process.env.STORM === 'all' ? 200 : 24;
const storeAwayMs = 2_000;

let broker: Broker;
let store: TcpProxy;
let system: RunningSystem;
let fetchAsBefore: () => void;

beforeAll(async () => {
  const s3 = process.env.ALMANAC_TEST_S3_URL;
  if (!s3) throw new Error('ALMANAC_TEST_S3_URL is missing: this needs an S3 (scripts/servers/ceph-rgw.sh start …).');
  broker = await startBroker();
  store = await startTcpProxy(s3.replace(/^s3:/, 'http:'));
  const through = s3.replace(/@[^/]+/, `@127.0.0.1:${store.port}`);
  const env = { ALMANAC_BUS_URL: broker.url, JOBS_OBJECT_STORE_URL: through };
  system = await startSystem({ onRealServers: true, env });
  process.env.ALMANAC_BASE_URL = system.baseUrl;
  process.env[systemHomeName] = system.home;
  fetchAsBefore = fetchPatiently();
}, 300_000);
afterAll(async () => {
  fetchAsBefore?.();
  await system?.stop();
  await store?.stop();
  await broker?.stop();
}, 300_000);

type Broker = {
  url: string;
  /** Kills it and has it start again, which takes its time. */
  kill(): Promise<void>;
  stop(): Promise<void>;
};

const script = resolve(import.meta.dirname, '../../scripts/servers/rabbitmq.sh');
const run = (...words: string[]) => promisify(execFile)('bash', [script, ...words]);

// It takes two ports besides its own, which may be taken.
async function startBroker(tries = 3): Promise<Broker> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-rabbitmq-'));
  const port = await findFreePort();
  const start = () => run('start', folder, String(port));
  let starting: Promise<unknown> = Promise.resolve();
  const stop = async () => {
    await starting;
    await run('stop', folder);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    starting = start();
    await starting;
  } catch (error) {
    starting = Promise.resolve();
    await stop();
    if (tries > 1) return startBroker(tries - 1);
    throw error;
  }
  return {
    url: `amqp://guest:guest@127.0.0.1:${port}`,
    kill: async () => {
      await starting;
      process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGKILL');
      starting = run('stop', folder).then(start); // its port mapper, too
    },
    stop,
  };
}

it('what was acknowledged ends, and says what it did, whichever server goes away', async () => {
  console.log(`STORM_SEED=${seed}`);
  await until('everything is up', isEverythingUp);
  const storm = await givenStorm(planPieces(seed, count));
  const victims = {
    jobs: () => kill('jobs'),
    broker: () => broker.kill(),
    'object store': async () => {
      await store.cut();
      await sleep(storeAwayMs);
      await store.restore();
    },
  };
  const killed = await killDuring(storm.work(), victims, { seed, rounds: Math.ceil(count / 12) });
  expect([...new Set(killed)].toSorted()).toEqual(Object.keys(victims).toSorted());
  const ends = await storm.expectTruth();
  console.log(`${count} pieces, killed: ${killed.join(', ')}; ${JSON.stringify(ends)}`);
  expect(ends.completed).toBeGreaterThan(count / 3);
}, 3_600_000);
