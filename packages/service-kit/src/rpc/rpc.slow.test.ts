import { eventually } from '@almanac/testkit/eventually';
import { findFreePort } from '@almanac/testkit/network/ports';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import {
  type CallContext,
  type ContextSigner,
  createContextSigner,
  createContextVerifier,
} from '../caller/call-context.ts';
import { ServiceError } from '../errors.ts';
import { createLogger } from '../observability/logger.ts';
import { createMetrics } from '../observability/metrics.ts';
import type { Problem } from '../problems.ts';
import { type ClosableRpcClient, createRpcClient } from './client.ts';
import type { RpcClient, RpcHandlers } from './contract.ts';
import { createRpcServer, type RpcServer } from './server.ts';

type DataHandlers = RpcHandlers<'data'>;
async function* noRequests() {}
const refuse = () => Promise.reject(new Error('not expected'));
const caller = { accountId: 7, userId: 9, requestId: 'request-0001', address: '192.0.2.1' };

describe('gRPC between services', () => {
  let givenServer: (port: number) => RpcServer;
  let server: RpcServer;
  let data: ClosableRpcClient<'data'>;
  let otherService: ClosableRpcClient<'data'>;
  let address = '';
  let received = 0;
  let produced = 0;
  /** What the handler made of the stream of each load. */
  const ends = new Map<string, string>();
  let hasEnded = false;
  const signers: Record<string, ContextSigner> = {};
  /** What time a handler, and a handler it asks in turn, had left. */
  let left: (number | undefined)[] = [];
  const timeLeftOf = ({ answerBy }: CallContext) => answerBy && answerBy - performance.now();

  const problems: Problem[] = [
    { code: 'too_long', message: 'first problem', column: 'name', params: { maximum: 3 } },
    { code: 'cycle', message: 'second problem', operation: 0, row: 7 },
  ];
  const handlers: DataHandlers = {
    PlanDeployment: async (call) => {
      left.push(timeLeftOf(call));
      await data.client.CancelLoad(call, {}, { deadlineMs: 3_600_000 });
      return {};
    },
    ApplyDeployment: async () => {
      throw new ServiceError('validation_failed', problems, { label: 'Own label' });
    },
    GetAppliedDeployment: async () => {
      throw new Error('column "secret" does not exist');
    },
    RestoreTable: refuse,
    DropTable: (_call, _request, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    DropBranch: refuse,
    ListTableStatistics: refuse,
    CheckColumnSources: refuse,
    CheckBulkRead: refuse,
    ListChanges: refuse,
    MergeRows: refuse,
    SummarizeMerge: refuse,
    ReadMergedRows: async function* () {
      yield await refuse();
    },
    DecideMergedRows: refuse,
    ListRowDecisions: async function* () {
      yield await refuse();
    },
    OpenChangeRequest: refuse,
    SetChangeRequestPhase: refuse,
    SummarizeChangeRequests: refuse,
    ApplyChangeRequest: refuse,
    GetAppliedChangeRequest: refuse,
    DropChangeRequest: refuse,
    SetRowPolicies: refuse,
    CancelLoad: async (call) => {
      left.push(timeLeftOf(call));
      return {};
    },
    PlaceAccount: async function* () {
      yield await refuse();
    },
    GetDeployedTable: async (call, request) => ({
      table_definition_id: call.accountId,
      key: call.requestId,
      version: call.userId,
      name: `${request.table_definition_id} from ${call.address}`,
    }),
    CountRows: async () => ({ counts: [{ table_definition_id: 1, rows: 5_000_000_000 }] }),
    BulkLoad: async (_call, requests) => {
      let load = '';
      try {
        for await (const request of requests) {
          received += request.chunk?.length ?? 0;
          load ||= request.options?.load_id ?? '';
          ends.set(load, 'reading');
          if (load === 'refuse')
            throw new ServiceError('wrong_state', { code: 'wrong_state', message: 'no loads now' });
        }
      } catch (error) {
        ends.set(load, 'broken off');
        throw error;
      }
      ends.set(load, 'whole');
      return { rows_read: received };
    },
    ReadRejectedRows: async function* () {
      yield { chunk: Buffer.from('a') };
      throw new ServiceError('not_found', { code: 'not_found', message: 'no such table' });
    },
    ListRejectedRows: async function* () {},
    ReadLoadChanges: async function* () {},
    BulkRead: async function* (_call, _request, signal) {
      try {
        for (let i = 0; i < 100_000 && !signal.aborted; i++) {
          produced = i;
          yield { chunk: Buffer.alloc(64 * 1024) };
        }
      } finally {
        hasEnded = true;
      }
    },
  };

  beforeAll(async () => {
    const keys: JWK[] = [];
    for (const issuer of ['jobs', 'billing'] as const) {
      const pair = await generateKeyPair('EdDSA', { extractable: true });
      keys.push({ ...(await exportJWK(pair.publicKey)), kid: issuer, alg: 'EdDSA' });
      signers[issuer] = await createContextSigner(issuer, await exportJWK(pair.privateKey));
    }
    const callers = Object.fromEntries(Object.keys(handlers).map((name) => [name, ['jobs']])) as unknown as Record<
      keyof DataHandlers,
      readonly ['jobs']
    >;
    givenServer = (port) =>
      createRpcServer({
        service: 'data',
        host: '127.0.0.1',
        port,
        handlers,
        callers,
        logger: createLogger('data', 'silent'),
        metrics: createMetrics(),
        verifyContext: createContextVerifier({ keys: keys as Record<string, unknown>[] }),
        tls: undefined,
      });
    server = givenServer(0);
    address = `127.0.0.1:${await server.start()}`;
    data = createRpcClient('data', address, signers.jobs as ContextSigner);
    otherService = createRpcClient('data', address, signers.billing as ContextSigner);
  });
  afterAll(async () => {
    data.close();
    otherService.close();
    await server.stop();
  });

  it('brings the signed context and the request id to the handler', async () => {
    expect(await data.client.GetDeployedTable(caller, { table_definition_id: 3 })).toMatchObject({
      table_definition_id: 7,
      version: 9,
      key: 'request-0001',
      name: '3 from 192.0.2.1',
    });
  });

  it('carries numbers beyond 32 bits', async () => {
    expect((await data.client.CountRows(caller, {})).counts[0]?.rows).toBe(5_000_000_000);
  });

  it('brings an error back with its kind, label and every problem', async () => {
    await expect(data.client.ApplyDeployment(caller, {})).rejects.toMatchObject({
      kind: 'validation_failed',
      label: 'Own label',
      errors: ['first problem', 'second problem'],
      problems,
    });
  });

  it('keeps the inside of a fault inside', async () => {
    const error = await data.client.GetAppliedDeployment(caller, {}).catch((thrown: ServiceError) => thrown);
    expect(error).toMatchObject({ kind: 'internal' });
    expect((error as ServiceError).errors.join()).not.toContain('secret');
  });

  it('refuses a call without a context, and one with an unknown key', async () => {
    for (const token of [undefined, 'a.b.c']) {
      const sign = (async () => token ?? '') as ContextSigner;
      const unknownSigner = createRpcClient('data', address, sign);
      await expect(unknownSigner.client.CountRows(caller, {})).rejects.toMatchObject({ kind: 'unauthenticated' });
      unknownSigner.close();
    }
  });

  it('refuses an issuer that may not call', async () => {
    await expect(otherService.client.CountRows(caller, {})).rejects.toMatchObject({ kind: 'forbidden' });
  });

  it('ends a call at its deadline, and the handler with it', async () => {
    await expect(data.client.DropTable(caller, {}, { deadlineMs: 100 })).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('cancels a call with its signal, also before there is a connection', async () => {
    const fresh = createRpcClient('data', address, signers.jobs as ContextSigner);
    for (const { client } of [data, fresh]) {
      const leaving = new AbortController();
      const call = client.DropTable(caller, {}, { signal: leaving.signal, deadlineMs: 600_000 });
      leaving.abort();
      await expect(call).rejects.toMatchObject({ kind: 'unavailable' });
    }
    fresh.close();
  });

  it('gives what is asked on behalf of a call no more time than the call has', async () => {
    left = [];
    await data.client.PlanDeployment(caller, {}, { deadlineMs: 600_000 });
    const [first = 0, second = 0] = left;
    expect(first).toBeLessThanOrEqual(600_000);
    expect(second).toBeLessThanOrEqual(first + 1); // deadlines are whole milliseconds
    expect(second).toBeGreaterThan(0);
    const answerBy = performance.now() + 300_000;
    await data.client.CancelLoad({ ...caller, answerBy }, {}, { deadlineMs: 600_000 });
    expect(left[2]).toBeLessThanOrEqual(300_001);
  });

  it('makes no call on behalf of a call whose time is over', async () => {
    left = [];
    const late = { ...caller, answerBy: performance.now() - 1 };
    await expect(data.client.CancelLoad(late, {})).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(data.client.BulkLoad(late, noRequests())).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(data.client.BulkRead(late, {})[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      kind: 'unavailable',
    });
    expect(left).toEqual([]);
  });

  it('says that a neighbour is away', async () => {
    const away = createRpcClient('data', '127.0.0.1:1', signers.jobs as ContextSigner);
    await expect(away.client.CountRows(caller, {}, { deadlineMs: 500 })).rejects.toMatchObject({ kind: 'unavailable' });
    away.close();
  });

  it('asks a neighbour that has come back at once, for reads and writes and streams alike', async () => {
    const port = await findFreePort();
    const asks: ((client: RpcClient<'data'>) => Promise<unknown>)[] = [
      (client) => client.CountRows(caller, {}),
      (client) => client.CancelLoad(caller, {}),
      (client) => client.BulkLoad(caller, noRequests()),
      async (client) => {
        for await (const _chunk of client.BulkRead(caller, {})) break;
      },
    ];
    const waiting = asks.map((ask) => {
      const { client, close } = createRpcClient('data', `127.0.0.1:${port}`, signers.jobs as ContextSigner);
      return { ask: () => ask(client), close };
    });
    // Away until attempts to connect have become rare.
    for (let again = 0; again < 2; again += 1)
      for (const answer of await Promise.allSettled(waiting.map(({ ask }) => ask())))
        expect(answer).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } });
    const back = givenServer(port);
    await back.start();
    try {
      await Promise.all(waiting.map(({ ask }) => ask()));
    } finally {
      for (const { close } of waiting) close();
      await back.stop();
    }
  });

  it('lets a call wait for a connection only if it may', async () => {
    const away = createRpcClient('data', '127.0.0.1:1', signers.jobs as ContextSigner);
    const failed: string[] = [];
    const asks = [{}, { waitForReady: false }].map((options, place) =>
      away.client.CancelLoad(caller, {}, options).catch(() => failed.push(place === 0 ? 'waits' : 'does not')),
    );
    await Promise.all(asks);
    expect(failed).toEqual(['does not', 'waits']);
    away.close();
  });

  it('says that a neighbour does not have a call yet', async () => {
    const newer = createRpcClient('billing', address, signers.jobs as ContextSigner);
    const error = await newer.client.GetUsage(caller, {}).catch((reason: unknown) => reason);
    newer.close();
    expect(error).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('is being upgraded') });
    const away = createRpcClient('data', '127.0.0.1:1', signers.jobs as ContextSigner);
    const absent = await away.client.CountRows(caller, {}, { deadlineMs: 500 }).catch((reason: unknown) => reason);
    expect(absent).toMatchObject({ kind: 'unavailable', message: expect.stringContaining('is unavailable') });
    away.close();
  });

  it('streams to the server and lets it refuse in the middle', async () => {
    received = 0;
    const stream = async function* (load_id: string) {
      yield { options: { load_id } };
      for (let i = 0; i < 200; i++) yield { chunk: Buffer.alloc(64 * 1024) };
    };
    expect((await data.client.BulkLoad(caller, stream('take'))).rows_read).toBe(200 * 64 * 1024);
    await expect(data.client.BulkLoad(caller, stream('refuse'))).rejects.toMatchObject({ kind: 'wrong_state' });
  });

  it('gives up a load whose source fails', async () => {
    const source = async function* () {
      yield { chunk: Buffer.alloc(10) };
      throw new Error('the file is missing');
    };
    await expect(data.client.BulkLoad(caller, source())).rejects.toThrow('the file is missing');
  });

  it('never lets a handler take a stream that broke off for one that has ended', async () => {
    for (const load_id of Array.from({ length: 20 }, (_, time) => `broken ${time}`)) {
      const source = async function* () {
        yield { options: { load_id } };
        await eventually(() => expect(ends.get(load_id)).toBe('reading'));
        throw new Error('the file is missing');
      };
      await expect(data.client.BulkLoad(caller, source())).rejects.toThrow('the file is missing');
      await eventually(() => expect(ends.get(load_id)).not.toBe('reading'));
      expect(ends.get(load_id)).toBe('broken off');
    }
  });

  it('streams from the server no faster than it is read, and stops it when the reader leaves', async () => {
    let read = 0;
    for await (const chunk of data.client.BulkRead(caller, {})) {
      read += chunk.chunk?.length ?? 0;
      if (read >= 10 * 64 * 1024) break;
    }
    await eventually(() => expect(hasEnded).toBe(true));
    expect(produced).toBeLessThan(99_999);
  });

  it('brings an error in the middle of a stream', async () => {
    const chunks: number[] = [];
    const reading = (async () => {
      for await (const { chunk } of data.client.ReadRejectedRows(caller, {})) chunks.push(chunk.length);
    })();
    await expect(reading).rejects.toMatchObject({ kind: 'not_found', errors: ['no such table'] });
    expect(chunks).toEqual([1]);
  });
});
