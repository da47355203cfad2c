// Two accounts on one system: one tries everything, the other must not notice. And what holds of
// the system after each row, whatever was tried (U4 to U8).
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '@almanac/api-client/api';
import { eventually } from '@almanac/testkit/eventually';
import { createFinder, describeLeaks, type Secret } from '@almanac/testkit/secrets/secret-finder';
import { runWatcher } from '@almanac/testkit/secrets/test-run';
import { type Account, type DeployedTable, givenAccount, givenDeployedTable } from '@almanac/testkit/system/builders';
import { openStores, type StoredState, type Stores } from '@almanac/testkit/system/stored-state';
import { givenLocalSystem, readProcesses } from '@almanac/testkit/system/system';
import { parse } from 'yaml';
import { residentMegabytes } from '../../support/process-costs.ts';
import { type Forge, openForge } from './forge.ts';

export type World = {
  stores: Stores;
  forge: Forge;
  attacker: Account;
  /** The attacker's callers: a person, who administers the account, and the application alone. */
  api: Api;
  machine: Api;
  /** A table of the attacker's, with a row in it. */
  table: DeployedTable;
  row: number;
  /** The account that must not notice anything. */
  victim: Account;
  victimApi: Api;
  /** Process ids by name. */
  processes(): Record<string, number>;
  /** The attacker's calls that were booked before this one; reading the count takes a call too. */
  bookedCalls(): Promise<number>;
  /** Records the state before a row. */
  begin(): Promise<void>;
  /** Throws when something differs from `begin`; `mayChange`: the attacker's own account may. */
  expectUnharmed(mayChange: boolean): Promise<void>;
  end(): Promise<void>;
};

const columns = [
  { name: 'code', data_type: 'string', length: 20, is_primary_key: true, is_required: true },
  { name: 'name', data_type: 'string', length: 200 },
  { name: 'count', data_type: 'integer' },
  { name: 'amount', data_type: 'decimal', length: 30, scale: 2 },
];

/** Makes both accounts, with tables, rows and a domain of equal names, and starts the probe. */
export async function givenWorld(): Promise<World> {
  const system = await givenLocalSystem();
  const stores = await openStores(system.home);
  const [attacker, victim] = [await givenAccount(), await givenAccount()];
  const [own, theirs] = [await givenTable(attacker), await givenTable(victim)];
  const machine = await attacker.machine();
  const probe = startProbe(theirs.api);
  const logs = watchLogs(system.home, [own.api.token, machine.token, theirs.api.token]);
  const states = new Map<number, StoredState>();
  const pids = () => readProcesses(system.home);
  let before = pids();

  return {
    stores,
    forge: await openForge(stores, system.home, own.api.token),
    attacker,
    api: own.api,
    machine,
    table: own.table,
    row: own.row,
    victim,
    victimApi: theirs.api,
    processes: pids,
    bookedCalls: async () => {
      const { data } = await machine.get<{ data: { calls: number }[] }>('/usage?per_page=1000');
      return data.reduce((sum, { calls }) => sum + calls, 0);
    },
    begin: async () => {
      before = pids();
      logs.begin();
      for (const { id } of [attacker, victim]) states.set(id, await stores.stateOf(id));
    },
    expectUnharmed: async (mayChange) => {
      // Calls are counted and refusals recorded; the rest of an account changes by its own calls
      // only.
      const isKept = (name: string) => !/^billing\.|^identity\.audit_event/.test(name);
      for (const { id } of mayChange ? [victim] : [attacker, victim]) {
        const [was, is] = [states.get(id) as StoredState, await stores.stateOf(id)];
        const seen = (state: StoredState) => Object.fromEntries(Object.entries(state).filter(([name]) => isKept(name)));
        expect(seen(is)).toEqual(seen(was));
      }
      await probe.expectServed();
      logs.expectNoSecret();
      expect(pids()).toEqual(before); // no process was restarted
      for (const [name, limit] of Object.entries(memoryLimits())) {
        const megabytes = residentMegabytes(before[name] as number);
        expect({ name, limit, isWithin: megabytes < limit }).toEqual({ name, limit, isWithin: true });
      }
    },
    end: async () => {
      await probe.stop();
      await stores.close();
      await system.stop();
    },
  };
}

async function givenTable(account: Account) {
  const api = await account.person();
  const domain = await api.post<{ id: number }>('/domains', { domain: { name: 'Hostile' } });
  const table = await givenDeployedTable(api, { name: 'Hostile', columns, domainId: domain.id });
  const { record } = await api.post('/table_data', { table_definition_id: table.id, record: { code: 'A', count: 1 } });
  return { api, table, row: record.svc_sk as number };
}

// U5: the other account calls all the time, and is always served. Latency is measured by the bench.
function startProbe(api: Api) {
  const failures: unknown[] = [];
  let served = 0;
  let isOver = false;
  const probing = (async () => {
    while (!isOver) {
      const status = await api.send('GET', '/account').then(
        (answer) => answer.status,
        (error: unknown) => String(error),
      );
      if (status === 200) served += 1;
      else failures.push(status);
      await sleep(200);
    }
  })();
  return {
    /** Every probe was served, and one more is. */
    expectServed: async () => {
      const before = served;
      await eventually(() => expect(served + failures.length).toBeGreaterThan(before));
      expect(failures).toEqual([]);
    },
    stop: async () => {
      isOver = true;
      await probing;
    },
  };
}

// U6: no log line has a token. The whole run is searched again at its end, for lines written later.
function watchLogs(home: string, tokens: string[]) {
  const secrets = tokens.map((value): Secret => ({ kind: 'a token', value }));
  for (const secret of secrets) runWatcher.secret(secret);
  const find = createFinder(secrets);
  const folder = join(home, 'logs');
  const files = () => readdirSync(folder).filter((name) => /\.log$/.test(name) && !name.startsWith('postgres'));
  let sizes = new Map<string, number>();
  return {
    begin: () => {
      sizes = new Map(files().map((name) => [name, statSync(join(folder, name)).size]));
    },
    expectNoSecret: () => {
      const leaks = files().flatMap((place) => {
        const text = readFileSync(join(folder, place)).subarray(sizes.get(place) ?? 0);
        return find(text).map((leak) => ({ ...leak, place }));
      });
      expect(describeLeaks(leaks)).toBe('');
    },
  };
}

// U7: the memory limits are those of the deployment.
function memoryLimits(): Record<string, number> {
  const manifests = resolve(import.meta.dirname, '../../../deploy/k8s');
  const units: Record<string, number> = { Mi: 1, Gi: 1_024 };
  const limitIn = (folder: string): string | undefined => {
    const [deployment] = readFileSync(join(manifests, folder, 'deployment.yaml'), 'utf8')
      .split(/^---$/m)
      .map((part) => parse(part))
      .filter((part) => part?.kind === 'Deployment');
    return deployment.spec.template.spec.containers[0].resources?.limits.memory;
  };
  const usual = limitIn('components/service') as string;
  return Object.fromEntries(
    ['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing', 'console'].map((name) => {
      const limit = limitIn(join('services', name)) ?? usual;
      return [name, Number.parseInt(limit, 10) * (units[limit.slice(-2)] as number)];
    }),
  );
}
