// Reads new events once per process and gives them to all streams of their account. PostgreSQL
// notifies of every append, so an idle process reads nothing.
import { InterruptibleSleep } from '@almanac/service-kit/interruptible-sleep';
import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import type { AccountEvent } from './account-event.ts';
import type { Appends } from './appends.ts';
import { readEvents } from './read-events.ts';

const pageSize = 200;
const retryMs = 1_000;

/** A stream that has read everything so far and waits for more. */
export type Follower = {
  readonly accountId: number;
  /** Events in order, and where reading has ended. Must not wait: the next read is for others. */
  offer(events: AccountEvent[], cursor: number): void;
};

/** The followers of one account, and the last event that was read for them. */
type Channel = { cursor: number; followers: Set<Follower> };

export class EventHub {
  private readonly pool: pg.Pool;
  private readonly logger: Logger;
  private readonly channels = new Map<number, Channel>();
  private readonly woken = new Set<number>();
  private readonly pause = new InterruptibleSleep();
  private reading: Promise<void> | undefined;
  private stopping = false;

  constructor(pool: pg.Pool, logger: Logger, appends: Appends) {
    this.pool = pool;
    this.logger = logger;
    appends.subscribe({ onAppend: (accountId) => this.wake(accountId), onConnected: () => this.wakeAll() });
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.pause.end();
    await this.reading;
  }

  /**
   * Takes a follower that has read to `cursor`. False when newer events were given to the others
   * already: then it has to read these first.
   */
  join(follower: Follower, cursor: number): boolean {
    const { accountId } = follower;
    const channel = this.channels.get(accountId);
    if (channel && cursor < channel.cursor) return false;
    if (channel) channel.followers.add(follower);
    else {
      this.channels.set(accountId, { cursor, followers: new Set([follower]) });
      this.wake(accountId); // a notification may have come before there was a channel
    }
    return true;
  }

  leave(follower: Follower): void {
    const channel = this.channels.get(follower.accountId);
    channel?.followers.delete(follower);
    if (channel?.followers.size === 0) this.channels.delete(follower.accountId);
  }

  /** Reads for every account that has followers; also finds events whose notification was lost. */
  wakeAll(): void {
    for (const accountId of this.channels.keys()) this.wake(accountId);
  }

  private wake(accountId: number): void {
    if (!this.channels.has(accountId) || this.stopping) return;
    this.woken.add(accountId);
    this.reading ??= this.run().finally(() => {
      this.reading = undefined;
    });
  }

  private async run(): Promise<void> {
    let failures = 0;
    for (let [accountId] = this.woken; accountId !== undefined && !this.stopping; [accountId] = this.woken) {
      this.woken.delete(accountId);
      try {
        await this.readFor(accountId);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === 1) this.logger.warn({ err: error }, 'new events could not be read; trying again');
        this.woken.add(accountId);
        await this.pause.wait(retryMs);
      }
    }
  }

  private async readFor(accountId: number): Promise<void> {
    const channel = this.channels.get(accountId);
    if (!channel) return;
    const { events, cursor, hasMore } = await readEvents(pgSql(this.pool), accountId, {
      after: channel.cursor,
      limit: pageSize,
    });
    channel.cursor = cursor;
    for (const follower of [...channel.followers]) follower.offer(events, cursor);
    if (hasMore) this.woken.add(accountId);
  }
}
