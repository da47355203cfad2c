// Calls are counted to the call over two gateways and billing, processes of their own that are killed at random.
//
// ALMANAC_TEST_METERING_RUNS: how many runs (default 3, each with another victim); ALMANAC_TEST_METERING_SEED: repeats those of a failure.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
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
const leaseSeconds = 4;
const callsARun = 200;
const withinMs = 120_000;

type Name = 'billing' | 'a' | 'b';

let keys: TestKeys;
let databases: TestDatabase[];
let services: FakeServices;
let identity: FakeIdentity;
let billing: ClosableRpcClient<'billing'>;
let ports: Record<Name | 'billingRpc', number>;
const processes: Partial<Record<Name, ChildProcess>> = {};

beforeAll(async () => {
  [keys, databases, services] = await Promise.all([
    createTestKeys(),
    Promise.all([createTestDatabase('gateway_bus'), createTestDatabase('gateway_billing')]),
    givenServices(),
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
});

/** Starts it, and again when it ends before it serves, as a supervisor does: a busy machine may keep its database waiting. */
function start(name: Name): Promise<void> {
  return eventually(() => startOnce(name), { withinMs });
}

async function startOnce(name: Name): Promise<void> {
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
          GATEWAY_GRACE_CALLS: '0', // what is let in while billing is away is not what the allowance promises
          BILLING_RPC: `127.0.0.1:${ports.billingRpc}`,
          IDENTITY_RPC: identity.rpc,
          IDENTITY_URL: identity.url,
          ...Object.fromEntries(['METADATA', 'DATA', 'JOBS', 'BILLING'].map((each) => [`${each}_URL`, services.url])),
        };
  const child = spawnService(service, { ...common, ...own });
  processes[name] = child;
  await untilReady(service, child);
}

async function killAndStart(name: Name): Promise<void> {
  await endService(processes[name] as ChildProcess, 'SIGKILL');
  await start(name);
}

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

describe('the allowance, with kills', () => {
  it(
    `is served to the call and booked to the call (seed ${seed})`,
    async () => {
      const random = randomOf(seed);
      const below = (end: number) => Math.floor(random() * end);
      for (let run = 0; run < runs; run += 1) {
        const accountId = run + 1;
        const allowance = run === 0 ? 1 : 20 + below(100);
        const victim = (['billing', 'a', 'b'] as const)[run % 3] as Name;
        const killAfterMs = below(150);
        await billing.client.OpenAccount({ accountId }, { plan: 'free' });
        await billing.client.UpdateAccountBilling({ accountId }, { allowance });
        const token = await identity.token({ account_id: accountId });
        const delays = Array.from({ length: callsARun }, () => ({
          answerMs: below(20),
          status: below(10) ? 200 : 503,
        }));
        const toA = delays.map(() => random() < 0.7);
        const before = services.reached.length;
        let done = 0;
        services.answer((_req, res) => {
          const { answerMs = 0, status = 200 } = delays[services.reached.length - before - 1] ?? {};
          if (status === 200) done += 1;
          setTimeout(() => res.writeHead(status).end(), answerMs);
        });
        const burst = Promise.all(toA.map((isA) => call(isA ? 'a' : 'b', token)));
        await sleep(killAfterMs);
        await killAndStart(victim);
        const statuses = await burst;
        // Nothing is lost to the customer: what the plan gives can be called and is booked, and not one call more.
        const served = count(statuses, 200) + (await useUp(accountId, token, allowance));
        const told = { run, victim, allowance, killAfterMs, served, done };
        // Of what was served only what a killed gateway had not reported yet may be missing from the books.
        if (victim === 'billing') expect({ ...told, done: allowance, served: allowance }).toEqual(told);
        else {
          const atVictim = statuses.filter((_, i) => toA[i] === (victim === 'a')).length;
          expect(done).toBeGreaterThanOrEqual(allowance);
          expect(done - allowance).toBeLessThanOrEqual(atVictim);
        }
      }
    },
    Math.max(300_000, runs * withinMs),
  );
});
