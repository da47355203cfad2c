// Loads and reads whose stream breaks at a random byte, by every cause: a load is merged whole or
// not at all, and CancelLoad says which; a read ends with all rows or with an error.
// BROKEN_STREAMS: how many (200); BROKEN_STREAMS_SEED repeats a run.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createContextSigner } from '@almanac/service-kit/caller/call-context';
import { createRpcClient } from '@almanac/service-kit/rpc/client';
import type { RpcClient, RpcOptions } from '@almanac/service-kit/rpc/contract';
import { eventually } from '@almanac/testkit/eventually';
import { startTcpProxy, type TcpProxy } from '@almanac/testkit/network/tcp-proxy';
import { endProcess } from '@almanac/testkit/processes/end-process';
import { randomOf } from '@almanac/testkit/random';
import { load, read } from '../files.ts';
import { caller } from '../given.ts';
import { file_columns, givenTable, net, overLoads } from './loads.ts';

const rounds = Number(process.env.BROKEN_STREAMS ?? 200);
const kills = Math.ceil(rounds / 25);
const seed = Number(process.env.BROKEN_STREAMS_SEED ?? Date.now() % 1_000_000);
const random = randomOf(seed);

overLoads({ callersGo: true });

let proxy: TcpProxy;
let cutAfterBytes = Number.POSITIVE_INFINITY;
const clients: { close(): void }[] = [];

beforeAll(async () => {
  console.log(`BROKEN_STREAMS_SEED=${seed} BROKEN_STREAMS=${rounds}`);
  proxy = await startTcpProxy(`tcp://127.0.0.1:${net.rpcPort}`, () => {
    let passed = 0;
    return (chunk, to) => {
      if (to === (cutsAnswers ? 'client' : 'target')) passed += chunk.length;
      return passed > cutAfterBytes;
    };
  });
});

afterAll(async () => {
  for (const client of clients) client.close();
  await proxy.stop();
});

let cutsAnswers = false;

/** A client of its own connection through the proxy, which cuts it after so many bytes. */
async function givenCutClient(bytes: number, answers: boolean): Promise<RpcClient<'data'>> {
  cutAfterBytes = bytes;
  cutsAnswers = answers;
  const sign = await createContextSigner('jobs', net.keys.privateKeys.jobs);
  const client = createRpcClient('data', `127.0.0.1:${proxy.port}`, sign);
  clients.push(client);
  return client.client;
}

type Content = { rows: number; name: string };

const contentOf = async (table: number): Promise<Content> => {
  const name = `c_${table * 1000 + 2}`;
  const [row] = await net.query(
    `select count(*)::int as rows, coalesce(string_agg(distinct ${name}, '+'), '') as name from b_1.t_${table} where svc_live`,
  );
  return row as Content;
};

const causes = ['the source fails', 'abort', 'deadline', 'cut'] as const;

it(
  `merges a load whole or not at all in ${rounds} breaks (seed ${seed})`,
  async () => {
    const { table } = await givenTable();
    await load(net, table, lines(400, 'before'), { file_columns });
    let present = await contentOf(table);
    let broken = 0;
    for (let round = 0; round < rounds; round += 1) {
      const wanted = { rows: 1 + random(1_500), name: `round ${round}` };
      const bytes = Buffer.from(lines(wanted.rows, wanted.name));
      const at = random(bytes.length);
      const pauseMs = random(4) === 0 ? random(200) : 0;
      const cause = causes[random(causes.length)] as (typeof causes)[number];
      const stop = new AbortController();
      async function* source() {
        const pieceBytes = 1 + random(8_192);
        for (let from = 0; from < at; from += pieceBytes) yield bytes.subarray(from, Math.min(at, from + pieceBytes));
        if (pauseMs > 0) await sleep(pauseMs);
        if (cause === 'the source fails') throw new Error('the source fails');
        if (cause === 'abort') stop.abort();
        yield bytes.subarray(at);
      }
      const options: RpcOptions = {
        signal: stop.signal,
        ...(cause === 'deadline' ? { deadlineMs: 1 + random(60) } : {}),
      };
      const from = cause === 'cut' ? await givenCutClient(2_000 + random(bytes.length), false) : net.jobs;
      const load_id = `broken-${seed}-${round}`;
      const loading = load({ ...net, jobs: from }, table, source(), { ...replacing, load_id }, caller, options);
      const answered = await loading.then(
        ({ status }) => status,
        () => undefined,
      );
      if (answered === undefined) broken += 1;
      const status = answered ?? (await outcomeOf(load_id, table));
      const content = await contentOf(table);
      const context = { round, cause, at, bytes: bytes.length, answered, status };
      expect({ ...context, ...content }).toEqual({ ...context, ...(status === 'completed' ? wanted : present) });
      if (status !== 'completed') expect(context).toMatchObject({ status: 'cancelled' });
      if (cause === 'the source fails' || cause === 'abort') expect(context).toMatchObject({ status: 'cancelled' });
      present = content;
    }
    expect(broken).toBeGreaterThan(rounds / 4);
  },
  600_000 + rounds * 2_000,
);

it(
  `merges a load whole or not at all when its sender is ended (seed ${seed})`,
  async () => {
    const { table } = await givenTable();
    await load(net, table, lines(400, 'before'), { file_columns });
    let present = await contentOf(table);
    for (let round = 0; round < kills; round += 1) {
      const signal = round % 2 === 0 ? 'SIGKILL' : 'SIGTERM';
      const wanted = { rows: 5_000, name: `kill ${round}` };
      const load_id = `ended-${seed}-${round}`;
      const child = fork(resolve(import.meta.dirname, 'sending-process.ts'), [
        JSON.stringify({
          address: `127.0.0.1:${net.rpcPort}`,
          key: net.keys.privateKeys.jobs,
          caller,
          options: { ...defaults(table), ...replacing, load_id },
          ...wanted,
        }),
      ]);
      await once(child, 'message', { signal: AbortSignal.timeout(240_000) });
      await sleep(random(120));
      await endProcess(child, signal);
      const status = await outcomeOf(load_id, table);
      const content = await contentOf(table);
      const context = { round, signal, status };
      expect({ ...context, ...content }).toEqual({ ...context, ...(status === 'completed' ? wanted : present) });
      present = content;
    }
  },
  600_000 + kills * 10_000,
);

it(
  `reads a table to its end or fails in ${rounds} breaks (seed ${seed})`,
  async () => {
    const { table } = await givenTable();
    await load(net, table, lines(4_000, 'before'), { file_columns });
    const whole = await read(net, table);
    expect(whole.rows).toBe(4_000);
    let broken = 0;
    for (let round = 0; round < rounds; round += 1) {
      const cause = causes[1 + random(causes.length - 1)] as (typeof causes)[number];
      const stop = new AbortController();
      const options: RpcOptions = {
        signal: stop.signal,
        ...(cause === 'deadline' ? { deadlineMs: 1 + random(40) } : {}),
      };
      const from = cause === 'cut' ? await givenCutClient(random(whole.text.length + 2_000), true) : net.jobs;
      if (cause === 'abort') setTimeout(() => stop.abort(), random(20));
      const answer = await read({ ...net, jobs: from }, table, '', caller, '', options).catch(() => undefined);
      if (answer) expect({ round, cause, text: answer.text }).toEqual({ round, cause, text: whole.text });
      else broken += 1;
    }
    expect(broken).toBeGreaterThan(0);
  },
  600_000 + rounds * 2_000,
);

const lines = (rows: number, name: string) => Array.from({ length: rows }, (_, i) => `k${i},${name},,\n`).join('');

const replacing = { file_columns, pattern: 'full', allow_mass_delete: true };

const defaults = (table: number) => ({
  table_definition_id: table,
  on_error: 'reject_file',
  date_style: 'ISO',
  delimiter: ',',
  quote: '"',
  columns: file_columns.map((target_column, position) => ({ position, target_column, date_format: '' })),
});

/** The outcome of a load whose answer was lost; asking for it settles it. */
const outcomeOf = async (load_id: string, table_definition_id: number): Promise<string> =>
  eventually(async () => (await net.jobs.CancelLoad(caller, { load_id, table_definition_id })).status);
