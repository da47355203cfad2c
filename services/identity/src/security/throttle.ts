// Slows down guessing of passwords and secrets without locking the owner out. Tries are counted per
// address and per device; a device that has logged in before has a counter of its own, so many
// tries from elsewhere don't delay it.
import type { Sql } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { digestOf } from './digest.ts';

/**
 * From the `tries`-th try within `seconds` on, each try starts a wait: `firstSeconds` (default 2),
 * doubled each time up to `longestSeconds`. A success clears personal counters.
 */
type Rule = { tries: number; seconds: number; firstSeconds?: number; longestSeconds: number; personal: boolean };

/**
 * The limits; the README documents them. Names are parts of stored keys, so renaming resets
 * counters.
 */
export const throttleRules = {
  /** Log-ins of one user from one address, or from one known device. */
  logInFrom: { tries: 5, seconds: 900, longestSeconds: 900, personal: true },
  /** Log-ins of one user from all unknown devices. */
  logInTo: { tries: 50, seconds: 900, longestSeconds: 300, personal: true },
  /** Log-ins from one network (IPv4 /24, IPv6 /48), for all users. */
  logInNetwork: { tries: 100, seconds: 900, longestSeconds: 900, personal: false },
  /** Wrong credentials of one application from one address. */
  clientFrom: { tries: 30, seconds: 300, longestSeconds: 300, personal: true },
  /** Wrong credentials of one application from all addresses. */
  clientTo: { tries: 300, seconds: 300, longestSeconds: 300, personal: true },
  /** Wrong credentials from one network, for all applications. */
  clientNetwork: { tries: 300, seconds: 300, longestSeconds: 300, personal: false },
  /** Password reset mails to one e-mail address, requested from one network address. */
  resetFrom: { tries: 3, seconds: 3_600, firstSeconds: 60, longestSeconds: 3_600, personal: true },
  /** Password reset mails to one e-mail address, requested from anywhere. */
  resetTo: { tries: 6, seconds: 3_600, firstSeconds: 60, longestSeconds: 3_600, personal: true },
  /** Password reset mails to all e-mail addresses, requested from one network. */
  resetNetwork: { tries: 30, seconds: 3_600, firstSeconds: 10, longestSeconds: 900, personal: false },
  /** Repeated invitations of one user: three, then one an hour. */
  invitation: { tries: 3, seconds: 3_600, firstSeconds: 3_600, longestSeconds: 3_600, personal: true },
  /** Invitations of an account to one e-mail address, also of users deleted and created again. */
  invitationTo: { tries: 10, seconds: 3_600, firstSeconds: 3_600, longestSeconds: 3_600, personal: true },
} as const satisfies Record<string, Rule>;

export type ThrottleRule = keyof typeof throttleRules;
/** What a try is counted under. */
export type ThrottleKey = { rule: ThrottleRule; key: string };

export type Throttle = {
  /** Seconds to wait before the next try; 0 when it may go on. */
  waitSeconds(keys: ThrottleKey[]): Promise<number>;
  /**
   * Counts a try under each key, before a slow check or after a failed one. Returns the seconds to
   * wait: of concurrent tries that reach a limit only one gets 0, so they can't all pass after
   * `waitSeconds`.
   */
  count(keys: ThrottleKey[]): Promise<number>;
  /** Clears counters after a success: personal ones entirely, others by one. */
  clear(keys: ThrottleKey[]): Promise<void>;
  /** True for the first call with this key within a minute: limits log entries. */
  isFirstInMinute(key: string): Promise<boolean>;
  /**
   * The same counters within a transaction: a count is kept if it commits, and counting under the
   * same key waits for that. Calls must not overlap.
   */
  within(sql: Sql): Throttle;
};

/** Counters in PostgreSQL, shared by all instances. */
export function createThrottle(pool: pg.Pool): Throttle {
  return throttleOver(pool);
}

type Store = { query(query: { text: string; values?: unknown[] }): Promise<unknown> };

// The limiter calculates with `expire`, which Prisma returns as a bigint.
const storeWithin = (sql: Sql): Store => ({
  query: async ({ text, values }) => {
    const { rows, rowCount } = await sql(text, values);
    return { rows: rows.map((row) => ({ ...row, expire: row.expire === null ? null : Number(row.expire) })), rowCount };
  },
});

function throttleOver(store: Store): Throttle {
  const limiter = (prefix: string, rule: Rule) =>
    new RateLimiterPostgres({
      storeClient: store,
      storeType: 'pool',
      tableName: 'rate_limit',
      tableCreated: true,
      clearExpiredByTimeout: false,
      keyPrefix: prefix,
      points: rule.tries,
      duration: rule.seconds,
    });
  const minute = limiter('noted', { tries: 1, seconds: 60, longestSeconds: 60, personal: false });
  const names = Object.keys(throttleRules) as ThrottleRule[];
  const make = (prefix: string) =>
    Object.fromEntries(names.map((name) => [name, limiter(`${prefix}${name}`, throttleRules[name])])) as Record<
      ThrottleRule,
      RateLimiterPostgres
    >;
  const counts = make('');
  const waits = make('wait.');
  // Keys are hashed: any length fits, and the table holds no e-mail addresses.
  const hashed = (key: string) => Buffer.from(digestOf(key)).toString('base64url');

  const countOne = async ({ rule, key }: ThrottleKey) => {
    const { tries, seconds, firstSeconds = 2, longestSeconds }: Rule = throttleRules[rule];
    const { consumedPoints } = await counts[rule].penalty(hashed(key));
    if (consumedPoints < tries) return 0;
    const wait = Math.min(firstSeconds * 2 ** Math.min(consumedPoints - tries, 20), longestSeconds);
    // One statement starts the wait or finds it started: of concurrent tries only one goes on.
    const started = await waits[rule].penalty(hashed(key), 1, { customDuration: wait });
    if (started.consumedPoints > 1) return Math.max(started.msBeforeNext / 1000, 1);
    // The counter outlives the wait; otherwise the next wait would be short again.
    await counts[rule].set(hashed(key), consumedPoints, wait + seconds);
    return 0;
  };
  const clearOne = async ({ rule, key }: ThrottleKey) => {
    if (!throttleRules[rule].personal) return void (await counts[rule].reward(hashed(key)));
    await Promise.all([counts[rule].delete(hashed(key)), waits[rule].delete(hashed(key))]);
  };

  return {
    async waitSeconds(keys) {
      const found = await Promise.all(keys.map(({ rule, key }) => waits[rule].get(hashed(key))));
      return Math.ceil(Math.max(0, ...found.map((wait) => wait?.msBeforeNext ?? 0)) / 1000);
    },
    async count(keys) {
      return Math.ceil(Math.max(0, ...(await Promise.all(keys.map(countOne)))));
    },
    async clear(keys) {
      await Promise.all(keys.map(clearOne));
    },
    async isFirstInMinute(key) {
      return (await minute.penalty(hashed(key))).consumedPoints === 1;
    },
    within: (sql) => throttleOver(storeWithin(sql)),
  };
}
