// The open streams of this process: their limits, their heartbeat and their end.
import type { ServerResponse } from 'node:http';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import type { JobsConfig } from '../config.ts';
import type { JobsContext } from '../context.ts';
import type { TypeFilter } from './account-event.ts';
import type { Appends } from './appends.ts';
import { readAudience } from './audience.ts';
import { EventHub } from './event-hub.ts';
import { EventStream } from './event-stream.ts';
import { readOwnEvents, requireKept } from './events.ts';
import { readLogRange, readPositionBefore } from './read-events.ts';

const pageSize = 100;

type Beginning = { after: number | undefined; replaySeconds: number | undefined; types: TypeFilter };

export class EventStreams {
  private readonly ctx: JobsContext;
  private readonly options: JobsConfig['eventStreams'];
  private readonly hub: EventHub;
  private readonly streams = new Set<EventStream>();
  private readonly openOf = new Map<number, number>();
  private timer: NodeJS.Timeout | undefined;
  private stopping = false;

  constructor(ctx: JobsContext, options: JobsConfig['eventStreams'], appends: Appends) {
    this.ctx = ctx;
    this.options = options;
    this.hub = new EventHub(ctx.pool, ctx.logger, appends);
  }

  /** The number of open streams. */
  get size(): number {
    return this.streams.size;
  }

  async start(): Promise<void> {
    this.timer = setInterval(() => this.beat(), this.options.heartbeatMs);
  }

  /** Ends all streams, so that the server's drain needn't wait for them. */
  async stop(): Promise<void> {
    this.stopping = true;
    clearInterval(this.timer);
    for (const stream of this.streams) stream.end();
    await this.hub.stop();
  }

  /**
   * Opens a stream of what comes after `after`; without it, of what was recorded in the last
   * `replaySeconds` and of what comes from now on. Throws 410 when events after `after` are no
   * longer kept, and 429 when too many streams are open.
   */
  async open(call: CallContext, { types, ...from }: Beginning, response: ServerResponse): Promise<void> {
    const { ctx, hub } = this;
    const { accountId } = call;
    const { answerBy: _due, ...caller } = call; // the answer has no end that would be due
    const release = this.takePlace(accountId);
    response.once('close', release);
    try {
      await readAudience(ctx, caller);
      const begin = await findBeginning(pgSql(ctx.pool), accountId, from);
      if (response.destroyed) return;
      if (this.stopping) throw stopped();
      const stream = new EventStream({
        accountId,
        types,
        after: begin,
        response,
        hub,
        logger: ctx.logger,
        readPage: (from) => readOwnEvents(ctx, caller, { after: from, types, limit: pageSize }),
        readAudience: () => readAudience(ctx, caller),
      });
      this.streams.add(stream);
      response.once('close', () => this.streams.delete(stream));
      stream.start();
    } catch (error) {
      release();
      throw error;
    }
  }

  private takePlace(accountId: number): () => void {
    const { total, perAccount } = this.options;
    if (this.stopping) throw stopped();
    const [all, own] = [
      [...this.openOf.values()].reduce((sum, open) => sum + open, 0),
      this.openOf.get(accountId) ?? 0,
    ];
    if (own >= perAccount) throw tooMany(`This account has ${perAccount} streams of events open, which is the most.`);
    if (all >= total) throw tooMany(`${total} streams of events are open, which is the most; poll GET /events.`);
    this.openOf.set(accountId, own + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.openOf.get(accountId) ?? 1) - 1;
      if (left === 0) this.openOf.delete(accountId);
      else this.openOf.set(accountId, left);
    };
  }

  // A lost notification shows at the next beat at the latest.
  private beat(): void {
    for (const stream of this.streams) stream.beat();
    this.hub.wakeAll();
  }
}

async function findBeginning(db: Sql, accountId: number, from: Omit<Beginning, 'types'>): Promise<number> {
  const { after, replaySeconds } = from;
  if (after !== undefined) return requireKept(db, accountId, after);
  if (replaySeconds !== undefined) return readPositionBefore(db, accountId, replaySeconds);
  return (await readLogRange(db, accountId)).last;
}

const retryAfterSeconds = 10;

function tooMany(message: string): ServiceError {
  return new ServiceError(
    'too_many_requests',
    { code: 'too_many_requests', message, params: { retry_after: retryAfterSeconds } },
    { headers: { 'Retry-After': String(retryAfterSeconds) } },
  );
}

const stopped = () => new ServiceError('unavailable', 'This server is about to stop; connect again.');
