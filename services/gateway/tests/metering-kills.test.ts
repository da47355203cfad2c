// Calls are counted to the call over two gateways and billing, processes of their own that are killed at random and started
// again. The gateways keep their journals in one folder, as those of one machine may.
//
// ALMANAC_TEST_METERING_RUNS: how many runs (default 3, each with another victim); ALMANAC_TEST_METERING_SEED: repeats those of a failure.
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContextSigner } from '@almanac/service-kit/call-context';
import { type ClosableRpcClient, createRpcClient } from '@almanac/service-kit/rpc-client';
import { eventually } from '@almanac/testkit/eventually';
import { createTestKeys, type TestKeys } from '@almanac/testkit/keys';
import { findFreePort } from '@almanac/testkit/ports';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres';
import { endService, spawnService, untilReady } from '@almanac/testkit/service-process';
import { type FakeIdentity, type FakeServices, givenIdentity, givenServices, publicUrl } from './given.ts';

const runs = Number(process.env.ALMANAC_TEST_METERING_RUNS ?? 3);
const seed = Number(process.env.ALMANAC_TEST_METERING_SEED ?? Date.now() % 1_000_000);
const callsARun = 200;
const withinMs = 240_000;
// Longer than a busy machine takes to find a dead gateway's journal: within the lease the allowance holds to the call. A grant
// whose answer died with somebody comes back after it.
const leaseSeconds = 60;
const shortLeaseSeconds = 4;

type Name = 'billing' | 'a' | 'b';

let keys: TestKeys;
let databases: TestDatabase[];
let services: FakeServices;
let identity: FakeIdentity;
let billing: ClosableRpcClient<'billing'>;
let journals: string;
let ports: Record<Name | 'billingRpc', number>;
const processes: Partial<Record<Name, ChildProcess>> = {};

beforeAll(async () => {
  [keys, databases, services, journals] = await Promise.all([
    createTestKeys(),
    Promise.all([createTestDatabase('gateway_bus'), createTestDatabase('gateway_billing')]),
    givenServices(),
    mkdtemp(join(tmpdir(), 'journals-')),
  ]);
  identity = await givenIdentity(keys, services);
  const [own, billingRpc, a, b] = await Promise.all([findFreePort(), findFreePort(), findFreePort(), findFreePort()]);
  ports = { billing: own, billingRpc, a, b } as typeof ports;
  const sign = await createContextSigner('operator', keys.privateKeys.operator);
  billing = createRpcClient('billing', `127.0.0.1:${billingRpc}`, sign);
  await start('billing');
  await Promise.all([start('a'), start('b')]);
});
afterAll(async () => {
  billing?.close();
  await Promise.all(Object.values(processes).map((child) => endService(child, 'SIGKILL')));
  await Promise.all([identity?.close(), services?.close()]);
  await Promise.all(databases.map((database) => database.drop()));
  await rm(journals, { recursive: true });
});

/** Starts it, and again when it ends before it serves, as a supervisor does: a busy machine may keep its database waiting. */
function start(name: Name, settings: Record<string, string> = {}): Promise<void> {
  return eventually(() => startOnce(name, settings), { withinMs });
}

async function startOnce(name: Name, settings: Record<string, string>): Promise<void> {
  const common = {
    ...keys.env,
    ALMANAC_BUS_URL: databases[0]?.url,
    ALMANAC_LOG_LEVEL: 'silent',
    ALMANAC_PUBLIC_URL: publicUrl,
  };
  const service = name === 'billing' ? 'billing' : 'gateway';
  const own =
    name === 'billing'
      ? {
          BILLING_DATABASE_URL: databases[1]?.url,
          BILLING_HTTP_PORT: String(ports.billing),
          BILLING_RPC_PORT: String(ports.billingRpc),
          BILLING_LEASE_SECONDS: String(leaseSeconds),
        }
      : {
          GATEWAY_HTTP_PORT: String(ports[name]),
          GATEWAY_JOURNAL_DIRECTORY: journals,
          GATEWAY_GRACE_CALLS: '0', // what is let in while billing is away is not what the allowance promises
          BILLING_RPC: `127.0.0.1:${ports.billingRpc}`,
          IDENTITY_RPC: identity.rpc,
          IDENTITY_URL: identity.url,
          ...Object.fromEntries(['METADATA', 'DATA', 'JOBS', 'BILLING'].map((each) => [`${each}_URL`, services.url])),
        };
  const child = spawnService(service, { ...common, ...own, ...settings });
  processes[name] = child;
  await untilReady(service, child);
}

const kill = (name: Name) => endService(processes[name] as ChildProcess, 'SIGKILL');

/** Random numbers that a seed repeats (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The status of a call, and 0 for one that got no answer. */
async function call(gateway: 'a' | 'b', token: string): Promise<number> {
  try {
    const answer = await fetch(`http://127.0.0.1:${ports[gateway]}/api/v1/domains`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

const count = (statuses: number[], status: number) => statuses.filter((each) => each === status).length;

async function booked(accountId: number): Promise<number> {
  const { calls } = await billing.client.GetAccountBilling({ accountId }, {});
  return Number(calls);
}

/**
 * Calls at both gateways until so many are booked, then until both refuse; answers how many were served. A refusal on the way is
 * no end: what a process held when it was killed comes back later.
 */
async function useUp(accountId: number, token: string, allowance: number): Promise<number> {
  let served = 0;
  const ask = async () => {
    const statuses = await Promise.all([call('a', token), call('b', token)]);
    served += count(statuses, 200);
    return statuses;
  };
  await eventually(
    async () => {
      await ask();
      expect(await booked(accountId)).toBe(allowance);
    },
    { withinMs, everyMs: 100 },
  );
  // A gateway that has just found billing away says 503 for a second. Whatever is served now would be too much.
  await eventually(async () => expect(await ask()).toEqual([429, 429]), { withinMs, everyMs: 100 });
  return served;
}

/** Opens the books of an account, and answers a token of it. */
async function givenAccount(accountId: number, allowance: number): Promise<string> {
  // Billing may have just been started again, on a busy machine.
  await eventually(
    async () => {
      await billing.client.OpenAccount({ accountId }, { plan: 'free' });
      await billing.client.UpdateAccountBilling({ accountId }, { allowance });
    },
    { withinMs },
  );
  return identity.token({ account_id: accountId });
}

/**
 * Many calls at once at both gateways, some of which the service fails; a process is killed as soon as clients have got so many
 * answers, and started again by `restart`. Answers how many calls were served, and how many got no answer.
 */
async function burstWithKill(
  token: string,
  { below, victim, killAfter, restart }: { below: Below; victim: Name; killAfter: number; restart(): Promise<void> },
): Promise<{ served: number; unanswered: number }> {
  const delays = Array.from({ length: callsARun }, () => ({ answerMs: below(20), status: below(10) ? 200 : 503 }));
  const toA = delays.map(() => below(10) < 7);
  const before = services.reached.length;
  services.answer((_req, res) => {
    const { answerMs = 0, status = 200 } = delays[services.reached.length - before - 1] ?? {};
    setTimeout(() => res.writeHead(status).end(), answerMs);
  });
  let answered = 0;
  let killed: Promise<void> | undefined;
  const callOnce = async (isA: boolean) => {
    const status = await call(isA ? 'a' : 'b', token);
    if (status !== 0) answered += 1;
    if (answered > killAfter) killed ??= kill(victim).then(restart);
    return status;
  };
  const statuses = await Promise.all(toA.map(callOnce));
  await killed;
  return { served: count(statuses, 200), unanswered: count(statuses, 0) };
}

type Below = (end: number) => number;

describe('the allowance, with kills', () => {
  it(
    `is served to the call and booked to the call (seed ${seed})`,
    async () => {
      const random = randomOf(seed);
      const below = (end: number) => Math.floor(random() * end);
      for (let run = 0; run < runs; run += 1) {
        const allowance = run === 0 ? 1 : 20 + below(100);
        const token = await givenAccount(run + 1, allowance);
        const victim = (['billing', 'a', 'b'] as const)[run % 3] as Name;
        const killAfter = below(allowance);
        const burst = await burstWithKill(token, { below, victim, killAfter, restart: () => start(victim) });
        // What the plan gives can be called and is booked, and not one call more.
        const served = burst.served + (await useUp(run + 1, token, allowance));
        const told = { run, victim, allowance, killAfter, served, unanswered: burst.unanswered };
        // A gateway may die between counting a call and answering it; no client has seen the answer of such a call.
        const uncertain = victim === 'billing' ? 0 : burst.unanswered;
        const missing = allowance - served;
        expect({ ...told, isExact: missing >= 0 && missing <= uncertain }).toEqual({ ...told, isExact: true });
      }
      // Nothing of the killed gateways is left to be told.
      await eventually(async () => expect(await listJournals()).toHaveLength(2), { withinMs });
    },
    Math.max(300_000, runs * withinMs),
  );

  it('costs the customer nothing when the journal is lost with its gateway', async () => {
    await Promise.all([kill('billing'), kill('a')]);
    await start('billing', { BILLING_LEASE_SECONDS: String(shortLeaseSeconds) });
    const withoutJournal = () => start('a', { GATEWAY_JOURNAL_DIRECTORY: '' });
    await withoutJournal();
    const random = randomOf(seed);
    const accountId = runs + 1;
    const allowance = 60;
    const token = await givenAccount(accountId, allowance);
    const burst = await burstWithKill(token, {
      below: (end) => Math.floor(random() * end),
      victim: 'a',
      killAfter: 20,
      restart: withoutJournal,
    });
    const served = burst.served + (await useUp(accountId, token, allowance));
    // All of the allowance is booked; of what was served only what that gateway had not reported is not.
    expect(served).toBeGreaterThanOrEqual(allowance - burst.unanswered);
    expect(served - allowance).toBeLessThanOrEqual(burst.served);
  }, 300_000);
});

const listJournals = async () => (await readdir(journals)).filter((name) => name.endsWith('.calls'));
