// kill -9 of RabbitMQ with messages inside, and an S3 that fails, during imports and exports,
// beside kills of jobs: each acknowledged piece ends and reports its rows correctly. The S3 comes
// with ALMANAC_TEST_S3_URL; RabbitMQ is one of its own. STORM_SEED repeats a run; STORM=all makes
// it 200 pieces.
import { setTimeout as sleep } from 'node:timers/promises';
import { startTcpProxy, type TcpProxy } from '@almanac/testkit/network/tcp-proxy';
import { type RunningSystem, startSystem, systemHomeName } from '@almanac/testkit/system/system';
import { fetchPatiently, isEverythingUp, kill, killDuring, until } from '../support/killing.ts';
import { type OwnBroker, startOwnBroker } from '../support/own-broker.ts';
import { givenStorm, planPieces } from '../support/storm.ts';

const seed = Number(process.env.STORM_SEED ?? Date.now() % 1_000_000);
const count = process.env.STORM === 'all' ? 200 : 24;
const storeAwayMs = 2_000;

let broker: OwnBroker;
let restarting: Promise<void> | undefined;
let store: TcpProxy;
let system: RunningSystem;
let fetchAsBefore: () => void;

beforeAll(async () => {
  const s3 = process.env.ALMANAC_TEST_S3_URL;
  if (!s3) throw new Error('ALMANAC_TEST_S3_URL is missing: this needs an S3 (scripts/servers/ceph-rgw.sh start …).');
  broker = await startOwnBroker();
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
  await restarting;
  await broker?.stop();
}, 300_000);

it('every acknowledged piece ends, and reports what it did, whichever server fails', async () => {
  console.log(`STORM_SEED=${seed}`);
  await until('everything is up', isEverythingUp);
  const storm = await givenStorm(planPieces(seed, count));
  const victims = {
    jobs: () => kill('jobs'),
    // Other processes are killed while it restarts, which takes its time.
    broker: async () => {
      await restarting;
      broker.kill();
      restarting = broker.restart();
    },
    'object store': async () => {
      await store.cut();
      await sleep(storeAwayMs);
      await store.restore();
    },
  };
  const killed = await killDuring(storm.work, victims, { seed, rounds: Math.ceil(count / 12) });
  expect(new Set(killed)).toEqual(new Set(Object.keys(victims)));
  const ends = await storm.expectTruth();
  console.log(`killed: ${killed.join(', ')}; ${JSON.stringify(ends)}`);
  expect(ends.completed).toBeGreaterThan(count / 3);
}, 3_600_000);
