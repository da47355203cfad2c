// The real data service, as a process, for tests that depend on rows; and one that is killed with
// SIGKILL at one step of its work and restarted: before a statement that changes something gets to
// PostgreSQL, or after a commit whose answer it does not get.
import type { ChildProcess } from 'node:child_process';
import type { RpcHandlers } from '@almanac/service-kit/rpc/contract';
import { type Call, createCaller } from '@almanac/testkit/calls/call';
import type { TestKeys } from '@almanac/testkit/calls/keys';
import { findFreePort } from '@almanac/testkit/network/ports';
import { startTcpProxy, type Watch } from '@almanac/testkit/network/tcp-proxy';
import { createTestDatabase } from '@almanac/testkit/postgres/postgres';
import { endService, spawnService, untilReady } from '@almanac/testkit/processes/service-process';
import { serve } from './neighbours.ts';

export type RealData = {
  /** Its gRPC address. */
  address: string;
  /** Calls it as an application of the account. */
  callerFor(accountId: number): Call;
  /** Creates a row as an application of the account. */
  create(accountId: number, tableId: number, record: Record<string, unknown>): Promise<void>;
  stop(): Promise<void>;
};

export type DyingData = RealData & {
  /** The steps of its work since `dieAt`. */
  steps: string[];
  /** Has it killed at this step, counted from 1 from now on; beyond the last it is not. */
  dieAt(place: number): void;
  /** Waits until it serves again after the restart; answers whether it was killed. */
  comeBack(): Promise<boolean>;
};

/**
 * Starts it on a database of its own, with an identity for which all users administer their
 * account.
 */
export async function startRealData(keys: TestKeys): Promise<RealData> {
  return start(keys, () => () => false);
}

/** Starts one that can be killed. */
export async function startDyingData(keys: TestKeys): Promise<DyingData> {
  const steps: string[] = [];
  let deadly = 0; // no work that counts
  let hasDied = false;
  const reach = (step: string): boolean => {
    if (deadly === 0) return false;
    steps.push(step);
    if (steps.length !== deadly) return false;
    deadly = 0;
    hasDied = true;
    data.restart();
    return true;
  };
  const data = await start(keys, () => watchWork(reach));
  return {
    ...data,
    steps,
    dieAt: (place) => {
      steps.length = 0;
      hasDied = false;
      deadly = place;
    },
    comeBack: async () => {
      deadly = 0;
      await data.isBack();
      return hasDied;
    },
  };
}

const everything: RpcHandlers<'identity'>['GetEffectivePermissions'] = async ({ accountId }, { user_id }) => ({
  user_id,
  license_type: 'developer',
  permissions: [{ action: 'admin', resource_type: 'account', resource_id: accountId }],
});

type Restartable = RealData & { restart(): void; isBack(): Promise<unknown> };

async function start(keys: TestKeys, watch: () => Watch): Promise<Restartable> {
  const identity = serve('identity', { GetEffectivePermissions: everything }, keys, 'data');
  const [database, port, rpcPort, identityPort] = await Promise.all([
    createTestDatabase('data'),
    findFreePort(),
    findFreePort(),
    identity.start(),
  ]);
  const proxy = await startTcpProxy(database.url, watch);
  const spawn = () =>
    spawnService('data', {
      ...keys.env,
      DATA_HTTP_PORT: String(port),
      DATA_RPC_PORT: String(rpcPort),
      DATA_DATABASE_URL: proxy.urlOf(database.url),
      ALMANAC_BUS_URL: database.url,
      IDENTITY_RPC: `127.0.0.1:${identityPort}`,
      ALMANAC_LOG_LEVEL: 'silent',
    });
  let child: ChildProcess = spawn();
  let serves: Promise<void> = untilReady('data', child);
  const restart = async (killed: ChildProcess) => {
    await endService(killed, 'SIGKILL');
    child = spawn();
    await untilReady('data', child);
  };
  const stop = async () => {
    await serves.catch(() => {});
    await endService(child);
    await proxy.stop();
    await identity.stop();
    await database.drop();
  };
  try {
    await serves;
  } catch (error) {
    await stop();
    throw error;
  }
  const callerFor = (accountId: number) =>
    createCaller(`http://127.0.0.1:${port}`, keys, { accountId, applicationId: 1 });
  return {
    address: `127.0.0.1:${rpcPort}`,
    callerFor,
    create: async (accountId, table_definition_id, record) => {
      const call = callerFor(accountId);
      const { status, body } = await call('POST', '/api/v1/table_data', { table_definition_id, record });
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
    },
    restart: () => {
      serves = restart(child);
      serves.catch(() => {}); // `isBack` reports the failure
    },
    isBack: () => serves,
    stop,
  };
}

// The connections of deployments and merges have an application name of their own.
function watchWork(reach: (step: string) => boolean): ReturnType<() => Watch> {
  let isWork: boolean | undefined;
  let isCommitted = false;
  return (chunk, to) => {
    const text = chunk.toString('latin1');
    if (to === 'target') isWork ??= text.includes('application_name\0almanac-data-work\0');
    if (!isWork) return false;
    if (to === 'client') {
      const isAnswer = isCommitted;
      isCommitted = false;
      return isAnswer && reach('after commit');
    }
    const change = /\0(commit|lock table|(?:create|alter|drop|insert into|update|delete from)[ \w".]*)/.exec(text)?.[1];
    if (!change) return false;
    const isDead = reach(`before ${change}`);
    isCommitted = change === 'commit' && !isDead;
    return isDead;
  };
}
