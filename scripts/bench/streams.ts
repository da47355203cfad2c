// Open streams of events: what is delivered to how many readers, with how much memory, and what
// becomes of a reader that doesn't read.
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { cpuOf, residentOf } from './measuring/processes.ts';
import type { Product } from './measuring/product.ts';

const readers = 199; // and one that doesn't read: what an account may have
const beatsPerSecond = 10;
const caughtUpWithinMs = 300_000;

/** Events a second, each delivered to all readers, and for how long. */
export type StreamRun = { eventsPerSecond: number; seconds: number };

/** Appends events at each pace, and prints how they arrive. */
export async function measureStreams(product: Product, runs: StreamRun[], say: (text: string) => void): Promise<void> {
  const database = new pg.Client({ connectionString: product.databaseUrl('almanac_jobs') });
  await database.connect();
  const streams: Reader[] = [];
  try {
    const { accountId } = product.asMetadata.caller;
    for (let count = 0; count < readers; count += 1) streams.push(await openStream(product, true));
    const idle = await openStream(product, false);
    streams.push(idle);
    say(`\nstreams of events: ${readers} readers, and one that does not read`);
    for (const run of runs) {
      const { names, memory, cpu } = watch(product);
      const start = memory();
      const quarters = Array.from({ length: 4 }, () => start.map(() => 0));
      const before = cpu();
      const begun = performance.now();
      let last = 0;
      const beats = run.seconds * beatsPerSecond;
      for (let beat = 0; beat < beats; beat += 1) {
        const most = quarters[Math.floor((4 * beat) / beats)] as number[];
        last = await append(database, accountId, run.eventsPerSecond / beatsPerSecond);
        memory().forEach((mb, place) => {
          most[place] = Math.max(most[place] as number, mb);
        });
        await sleep(Math.max(0, begun + ((beat + 1) * 1_000) / beatsPerSecond - performance.now()));
      }
      const appended = performance.now();
      const reading = streams.filter((stream) => stream !== idle);
      while (reading.some((stream) => stream.isOpen() && stream.lastId() < last)) {
        if (performance.now() - appended > caughtUpWithinMs) throw new Error('The readers do not catch up.');
        await sleep(10);
      }
      const seconds = (performance.now() - begun) / 1_000;
      const events = run.eventsPerSecond * run.seconds;
      const spent = cpu().map((ms, place) => (ms - (before[place] as number)) / (seconds * 10));
      say(
        `${events.toLocaleString('en')} events at ${run.eventsPerSecond} a second: ` +
          `${Math.round((events * readers) / seconds).toLocaleString('en')} deliveries a second, ` +
          `the last ${Math.round(performance.now() - appended)} ms after it was appended; ` +
          `${reading.filter((stream) => !stream.isOpen()).length} readers disconnected`,
      );
      names.forEach((name, place) => {
        const mb = (list: number[]) => (list[place] as number).toFixed(0);
        const most = quarters.map(mb).join(', ');
        say(
          `  ${name.padEnd(8)} ${mb(start)} MB before, by quarters at most ${most} MB, ${(spent[place] as number).toFixed(0)} % of a core`,
        );
      });
    }
    say(`the one that does not read is ${idle.isOpen() ? 'still open' : 'disconnected'}`);
  } finally {
    for (const stream of streams) stream.close();
    await database.end();
  }
}

function watch({ processes }: Product) {
  const names = ['gateway', 'jobs'] as const;
  const pids = names.map((name) => processes[name] as number);
  return { names, memory: () => pids.map(residentOf), cpu: () => pids.map(cpuOf) };
}

/** Appends events as jobs does, and answers the id of the last. */
async function append(database: pg.Client, accountId: number, count: number): Promise<number> {
  const { rows } = await database.query(
    `with added as (
       insert into account_event (account_id, message_id, type, occurred_at, actor, resource, data, api_version)
       select $1, gen_random_uuid(), 'rows.changed', now(), '{"type":"system","id":null}',
         '{"type":"table","id":1,"domain_id":1,"branch_id":1}',
         '{"table_definition_key":"bench","inserted":1,"updated":0,"deleted":0}', 'v1'
       from generate_series(1, $2::int) returning id
     )
     select max(id) as last, pg_notify('almanac_account_events', $1::text)::text from added`,
    [accountId, count],
  );
  return Number(rows[0].last);
}

type Reader = { lastId(): number; isOpen(): boolean; close(): void };

async function openStream({ gateway }: Product, reads: boolean): Promise<Reader> {
  const headers = await gateway.headers();
  let request: ClientRequest | undefined;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request = get({ host: '127.0.0.1', port: gateway.port, path: '/api/v1/events/stream', headers, agent: false });
    request.once('response', resolve).once('error', reject);
  });
  if (answer.statusCode !== 200) throw new Error(`A stream was answered ${answer.statusCode}.`);
  let isOpen = true;
  let last = 0;
  let rest = '';
  request?.on('error', () => {});
  answer.on('error', () => {});
  answer.socket.once('close', () => {
    isOpen = false;
  });
  if (reads)
    answer.setEncoding('utf8').on('data', (chunk: string) => {
      rest += chunk;
      const end = rest.lastIndexOf('\n\n');
      const from = end < 0 ? -1 : rest.lastIndexOf('id: ', end);
      if (from >= 0) last = Number.parseInt(rest.slice(from + 4, end), 10);
      if (end >= 0) rest = rest.slice(end);
    });
  else answer.pause();
  return { lastId: () => last, isOpen: () => isOpen, close: () => request?.destroy() };
}
