// Metadata as a process of its own, with the database and the neighbours of another one, that is
// killed with SIGKILL at one step of a request: before a write of a transaction gets to PostgreSQL,
// after a commit whose answer it does not get, or during a call of data.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type Answer, callHeaders } from '@almanac/testkit/calls/call';
import { findFreePort } from '@almanac/testkit/network/ports';
import { startTcpProxy, type Watch } from '@almanac/testkit/network/tcp-proxy';
import { endService, spawnService, untilReady } from '@almanac/testkit/processes/service-process';
import type { Metadata } from './given.ts';

export type DyingProcess = {
  /** Makes a request. It is killed at step `place`, counted from 1; beyond the last it is not. */
  ask(request: KeyedRequest, place: number): Promise<Answer | 'killed'>;
  /** The steps that this request has reached. */
  steps: string[];
  end(): Promise<void>;
};

export type KeyedRequest = { who: { accountId: number; userId: number }; path: string; key: string; body?: unknown };

/** POSTs with an Idempotency-Key. */
export async function postKeyed(metadata: Metadata, baseUrl: string, request: KeyedRequest): Promise<Answer> {
  const claims = { ...request.who, branching: true, scopes: ['api'] };
  const headers = { ...(await callHeaders(metadata.keys, claims)), 'idempotency-key': request.key };
  const init: RequestInit = { method: 'POST', headers };
  if (request.body !== undefined) {
    init.body = JSON.stringify(request.body);
    init.headers = { ...headers, 'content-type': 'application/json' };
  }
  const response = await fetch(`${baseUrl}/api/v1${request.path}`, init);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const calls = [
  'PlanDeployment',
  'ApplyDeployment',
  'MergeRows',
  'SetChangeRequestPhase',
  'ApplyChangeRequest',
] as const;

/** Starts the process; `beforeApply` runs in data before it applies anything. */
export async function startDyingProcess(metadata: Metadata, beforeApply?: () => void): Promise<DyingProcess> {
  const steps: string[] = [];
  let deadly = 0; // no request yet
  let child: ChildProcess | undefined;
  const reach = (step: string): boolean => {
    if (deadly === 0) return false;
    steps.push(step);
    if (steps.length !== deadly) return false;
    deadly = 0;
    child?.kill('SIGKILL');
    return true;
  };
  const proxy = await startTcpProxy(metadata.config.secrets.databaseUrl, () => watchWrites(reach));
  const { data } = metadata.neighbours;
  for (const name of calls) {
    data.before[name] = async () => {
      if (reach(`before ${name}`)) await exitOf(child);
      if (name === 'ApplyDeployment') beforeApply?.();
    };
    data.after[name] = async () => {
      if (reach(`after ${name}`)) await exitOf(child);
    };
  }
  const [http, rpc] = [await findFreePort(), await findFreePort()];
  child = spawnService('metadata', {
    ...metadata.keys.env,
    METADATA_HTTP_PORT: String(http),
    METADATA_RPC_PORT: String(rpc),
    METADATA_DATABASE_URL: proxy.urlOf(metadata.config.secrets.databaseUrl),
    METADATA_LEASE_SECONDS: '600', // no other process resumes its work
    ALMANAC_BUS_URL: metadata.config.common.secrets.busUrl,
    ALMANAC_LOG_LEVEL: 'silent',
    IDENTITY_RPC: metadata.config.neighbours.identity,
    DATA_RPC: metadata.config.neighbours.data,
  });
  await untilReady('metadata', child);
  const started = child;
  return {
    steps,
    async ask(request, place) {
      steps.length = 0;
      deadly = place;
      const answer = await postKeyed(metadata, `http://127.0.0.1:${http}`, request).catch((error: unknown) => {
        if (deadly !== 0) throw error; // it was not killed, so its exit would never come
        return 'killed' as const;
      });
      deadly = 0;
      if (answer === 'killed') await exitOf(started);
      return answer;
    },
    async end() {
      for (const name of calls) {
        delete data.before[name];
        delete data.after[name];
      }
      await endService(started, 'SIGKILL');
      await proxy.stop();
    },
  };
}

async function exitOf(child: ChildProcess | undefined): Promise<void> {
  if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

// The transactions of requests begin with BEGIN; those of the outbox, in the same pool, with
// `begin`.
function watchWrites(reach: (step: string) => boolean): ReturnType<() => Watch> {
  let isWithin = false;
  let isCommitted = false;
  return (chunk, to) => {
    if (to === 'client') {
      const isAnswer = isCommitted;
      isCommitted = false;
      return isAnswer && reach('after COMMIT');
    }
    const text = chunk.toString('latin1');
    if (/BEGIN|ROLLBACK/.test(text)) isWithin = text.includes('BEGIN');
    const write = isWithin ? /COMMIT|(insert into|update|delete from) [\w". ]*/i.exec(text)?.[0] : undefined;
    if (!write) return false;
    if (write === 'COMMIT') isWithin = false;
    const isDead = reach(`before ${write}`);
    isCommitted = write === 'COMMIT' && !isDead;
    return isDead;
  };
}
