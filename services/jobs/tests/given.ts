// The fixture of jobs' tests: the whole service with a fresh database, bus and folder store, called
// as the gateway calls it; its neighbours are faked at the RPC edge.

import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CallClaims, createContextSigner } from '@almanac/service-kit/caller/call-context';
import type { AuditEntry } from '@almanac/service-kit/messaging/audit';
import type { BusMessage } from '@almanac/service-kit/messaging/bus/bus';
import { samePayload } from '@almanac/service-kit/messaging/bus/received-message';
import { createRpcClient } from '@almanac/service-kit/rpc/client';
import type { RpcClient } from '@almanac/service-kit/rpc/contract';
import { type Answer, type Call, callHeaders, createCaller } from '@almanac/testkit/calls/call';
import { createTestKeys, type TestKeys } from '@almanac/testkit/calls/keys';
import { eventually } from '@almanac/testkit/eventually';
import { anyPayload, collectMessages, startBus } from '@almanac/testkit/messaging/bus';
import { findFreePort } from '@almanac/testkit/network/ports';
import { createTestDatabase } from '@almanac/testkit/postgres/postgres';
import { createServiceDatabase } from '@almanac/testkit/postgres/service-database';
import { spawnService, untilReady } from '@almanac/testkit/processes/service-process';
import { watchLog } from '@almanac/testkit/secrets/watched-logs';
import { waitLonger } from '@almanac/testkit/time-limits';
import { type JobsConfig, readConfig } from '../src/config.ts';
import type { JobsContext } from '../src/context.ts';
import type { ObjectStore } from '../src/files/object-store/object-store.ts';
import { createJobs } from '../src/service.ts';
import type { Resolve } from '../src/webhooks/sending/hosts.ts';
import { Neighbours, serveNeighbours } from './neighbours.ts';

/** Shorter times than in production, but leases that a busy machine still renews. */
export const quickWork = { leaseMs: 6_000, pollMs: 100, retryMs: 20, attempts: 3, sweepMs: 3_600_000 };

type Options = {
  work?: Partial<JobsConfig['work']>;
  eventStreams?: Partial<JobsConfig['eventStreams']>;
  store?: (real: ObjectStore) => ObjectStore;
  /** JOBS_SMTP_URL; unset: mails stay queued. */
  smtpUrl?: string;
  /** Replaces the URL of the bus or of the database, for example by a proxy's. */
  busUrl?: (url: string) => string;
  databaseUrl?: (url: string) => string;
  webhooks?: Partial<JobsConfig['webhooks']>;
  /** Replaces the addresses of webhooks' hosts. */
  resolve?: Resolve;
  /** ALMANAC_PUBLIC_URL, if it is not the service's own address. */
  publicUrl?: string;
};

export type Jobs = {
  url: string;
  context: JobsContext;
  keys: TestKeys;
  neighbours: Neighbours;
  events: BusMessage[];
  /** Entries sent to the audit log so far, in order. */
  acts: AuditEntry[];
  /** Publishes an event of a neighbour; answers the message, which can be sent again. */
  announce(type: string, payload: Record<string, unknown>, again?: BusMessage): Promise<BusMessage>;
  /** The number of dead letters of a queue. */
  deadLetters(queue: string): Promise<number>;
  /** A machine of account 1. */
  call: Call;
  as(claims: Partial<CallClaims>): Call;
  /** Sends bytes as they are. */
  send(method: string, path: string, body: string | Uint8Array, headers?: Record<string, string>): Promise<Answer>;
  retry(id: string, accountId?: number): Promise<string>;
  /** The RPC client of operators. */
  operator: RpcClient<'jobs'>;
  /** The folder of the folder store. */
  folder: string;
  busUrl: string;
  /** Another instance on the same database, bus and store. */
  another(options?: Options): Promise<{ context: JobsContext; url: string; stop(): Promise<void> }>;
  /** Another instance in a child process, to be killed; with the shortest allowed leases. */
  anotherProcess(): Promise<ChildProcess>;
  /** Stops everything; throws when a secret appears in a log, a refusal or an event. */
  close(): Promise<void>;
};

export async function givenJobs(options: Options = {}): Promise<Jobs> {
  const log = watchLog();
  waitLonger();
  const [database, busDatabase] = await Promise.all([createServiceDatabase('jobs'), createTestDatabase('bus')]);
  const folder = await mkdtemp(join(tmpdir(), 'almanac-jobs-'));
  const keys = await createTestKeys();
  const neighbours = new Neighbours();
  const served = await serveNeighbours(neighbours, keys);
  const publicPort = await findFreePort();
  neighbours.publicUrl = `http://127.0.0.1:${publicPort}`;
  const environment = (port: number, { smtpUrl, busUrl, databaseUrl, publicUrl = neighbours.publicUrl }: Options) => ({
    ...keys.env,
    ...served.env,
    ALMANAC_BUS_URL: busUrl?.(busDatabase.url) ?? busDatabase.url,
    ALMANAC_PUBLIC_URL: publicUrl,
    ALMANAC_LOG_LEVEL: 'trace',
    JOBS_DATABASE_URL: databaseUrl?.(database.url) ?? database.url,
    JOBS_OBJECT_STORE_URL: pathToFileURL(folder).href,
    JOBS_SIGNING_KEY: Buffer.alloc(32, 5).toString('base64url'),
    JOBS_KEY_ENCRYPTION_KEY: Buffer.alloc(32, 6).toString('base64url'),
    JOBS_WEBHOOK_NETWORKS: '127.0.0.1/32',
    JOBS_HTTP_PORT: String(port),
    JOBS_RPC_PORT: '0',
    JOBS_SMTP_URL: smtpUrl,
    JOBS_MAIL_FROM: 'Almanac <almanac@example.test>',
  });
  const startInstance = async (port: number, options: Options) => {
    const { work, store, eventStreams, webhooks, resolve } = options;
    const config = readConfig(environment(port, options));
    config.work = { ...config.work, ...quickWork, ...work };
    config.eventStreams = { ...config.eventStreams, ...eventStreams };
    config.webhooks = { ...config.webhooks, ...webhooks };
    const plain = await createJobs(config, { log: log.destination, ...(resolve && { resolve }) });
    const service = store
      ? await createJobs(config, { log: log.destination, store: store(plain.context.store) })
      : plain;
    const ports = await service.start();
    return { service, ports };
  };
  const { service, ports } = await startInstance(publicPort, options);
  const events: BusMessage[] = [];
  const listener = await startBus(busDatabase.url, 'test');
  await listener.subscribe(
    samePayload(['jobs.import.finished', 'jobs.export.finished'], anyPayload),
    (message) => void events.push(message),
  );
  const acts = await collectMessages(
    listener,
    'test.acts',
    ['jobs.audit.requested'],
    ({ payload }) => payload as AuditEntry,
  );
  const url = `http://127.0.0.1:${ports.httpPort}`;
  const operator = createRpcClient(
    'jobs',
    `127.0.0.1:${ports.rpcPort}`,
    await createContextSigner('operator', keys.privateKeys.operator),
  );
  return {
    url,
    context: service.context,
    keys,
    neighbours,
    events,
    acts,
    announce: async (type, payload, again) => {
      const occurred_at = new Date().toISOString();
      const message: BusMessage = again ?? { v: 1, id: randomUUID(), type, occurred_at, payload };
      // Refused until the queues of the service are there.
      await eventually(() => listener.publish([message]));
      return message;
    },
    deadLetters: (queue) => listener.deadLetters(queue),
    call: createCaller(url, keys, { accountId: 1, applicationId: 9 }),
    as: (claims) => createCaller(url, keys, claims),
    send: async (method, path, body, headers = {}) => {
      const init = {
        method,
        body: body as never,
        headers: { ...(await callHeaders(keys)), ...headers },
        duplex: 'half',
      };
      const answer = await fetch(new URL(path, url), init as RequestInit);
      const text = await answer.text();
      return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
    },
    operator: operator.client,
    folder,
    busUrl: busDatabase.url,
    retry: async (id, accountId = 0) => (await operator.client.RetryJob({ accountId }, { id })).status,
    another: async (others = {}) => {
      const second = await startInstance(0, others);
      return {
        context: second.service.context,
        url: `http://127.0.0.1:${second.ports.httpPort}`,
        stop: () => second.service.stop(),
      };
    },
    anotherProcess: async () => {
      const [port, rpcPort] = await Promise.all([findFreePort(), findFreePort()]);
      const ports = { JOBS_RPC_PORT: String(rpcPort), JOBS_LEASE_SECONDS: '3', ALMANAC_LOG_LEVEL: 'silent' };
      const child = spawnService('jobs', { ...environment(port, options), ...ports });
      await untilReady('jobs', child);
      return child;
    },
    close: async () => {
      neighbours.release();
      operator.close();
      await service.stop();
      await listener.stop();
      await served.stop();
      await Promise.all([database.drop(), busDatabase.drop()]);
      await rm(folder, { recursive: true, force: true });
      for (let link = 1; link <= neighbours.links.length; link++) log.note({ secret: `token=secret-${link}` });
      log.expectNoSecret({ 'an announcement': [events, acts] });
    },
  };
}

/**
 * Opens an import on branch 1 with one table for each key, and uploads the files by pre-signed URL
 * (undefined: none).
 */
export async function givenImport(
  jobs: Jobs,
  files: Record<string, string | Uint8Array | undefined>,
  options = {},
  call = jobs.call,
) {
  const opened = await call('POST', '/api/v1/imports', { branch_id: 1 });
  if (opened.status !== 201) throw new Error(JSON.stringify(opened.body));
  for (const [table_definition_key, file] of Object.entries(files)) {
    const table = { table_definition_key, pattern: 'incremental', ...options };
    const added = await call('POST', `/api/v1/imports/${opened.body.id}/tables`, table);
    if (added.status !== 201) throw new Error(JSON.stringify(added.body));
    if (file !== undefined) {
      const put = await fetch(added.body.upload_url, { method: 'PUT', body: file as never });
      if (put.status !== 200) throw new Error(await put.text());
    }
  }
  return (await call('GET', `/api/v1/imports/${opened.body.id}`)).body;
}

/** Waits until the import or export has ended; a large file takes long on a busy machine. */
export function ended(jobs: Jobs, path: string, call = jobs.call, withinMs = 240_000) {
  const check = async () => {
    const { body } = await call('GET', `/api/v1${path}`);
    if (!/^(completed|completed_with_errors|failed|cancelled)$/.test(body.status))
      throw new Error(JSON.stringify(body));
    return body;
  };
  return eventually(check, { withinMs });
}

/** Opens an import, uploads, completes the uploads and waits for its end. */
export async function runImport(jobs: Jobs, files: Record<string, string | Uint8Array | undefined>, options = {}) {
  const { id } = await givenImport(jobs, files, options);
  const { status, body } = await jobs.call('POST', `/api/v1/imports/${id}/upload_complete`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return ended(jobs, `/imports/${id}`);
}

/** A person with one right, on a table. */
export function personOf(jobs: Jobs, userId: number, action: 'edit' | 'view', resource_id: number): Call {
  const permissions = [{ action, resource_type: 'table_definition' as const, resource_id }];
  jobs.neighbours.permissions.set(userId, { license_type: 'end_user', permissions });
  return jobs.as({ userId });
}

let mappings = 0;

/** Makes an import mapping of a table. */
export async function makeMapping(jobs: Jobs, table: number, attributes: Record<string, unknown> = {}) {
  mappings += 1;
  const body = { table_definition_id: table, name: `m${mappings}`, ...attributes };
  const answer = await jobs.call('POST', '/api/v1/import_mappings', body);
  expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
  return answer.body;
}
