// Slows down whoever guesses passwords or secrets, without locking the owner out: failures count per address and per device,
// and a device that logged in before is counted by itself, so a flood from elsewhere can't shut it out.
import type { Sql } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { digestOf } from './digest.ts';

/**
 * From the `tries`-th try within `seconds` on, one must wait: `firstSeconds` (2 unless told), then twice as long each time, up to
 * `longestSeconds`. A success clears personal counts.
 */
type Rule = { tries: number; seconds: number; firstSeconds?: number; longestSeconds: number; personal: boolean };

/** The documented numbers (README, Throttling). */
export const throttleRules = {
  /** One person from one address, or from one known device. */
  logInFrom: { tries: 5, seconds: 900, longestSeconds: 900, personal: true },
  /** One person from all devices on which nobody has logged in. */
  logInTo: { tries: 50, seconds: 900, longestSeconds: 300, personal: true },
  /** One network (IPv4 /24, IPv6 /48), whomever it tries. */
  logInNetwork: { tries: 100, seconds: 900, longestSeconds: 900, personal: false },
  /** One application from one address. */
  clientFrom: { tries: 30, seconds: 300, longestSeconds: 300, personal: true },
  /** One application from all addresses. */
  clientTo: { tries: 300, seconds: 300, longestSeconds: 300, personal: true },
  /** One network, whatever applications it tries. */
  clientNetwork: { tries: 300, seconds: 300, longestSeconds: 300, personal: false },
  /** Mails with a link for a new password: one person's address, asked for from one address. */
  resetFrom: { tries: 3, seconds: 3_600, firstSeconds: 60, longestSeconds: 3_600, personal: true },
  /** The same, asked for from anywhere: what one mailbox gets at most. */
  resetTo: { tries: 6, seconds: 3_600, firstSeconds: 60, longestSeconds: 3_600, personal: true },
  /** The same, asked for by one network, whomever it names. */
  resetNetwork: { tries: 30, seconds: 3_600, firstSeconds: 10, longestSeconds: 900, personal: false },
  /** Invitations sent to one person again: three, then one an hour. */
  invitation: { tries: 3, seconds: 3_600, firstSeconds: 3_600, longestSeconds: 3_600, personal: true },
  /** Invitations of an account to one mailbox, whoever its user was meanwhile. */
  invitationTo: { tries: 10, seconds: 3_600, firstSeconds: 3_600, longestSeconds: 3_600, personal: true },
} as const satisfies Record<string, Rule>;

export type ThrottleRule = keyof typeof throttleRules;
export type ThrottleKey = { rule: ThrottleRule; key: string };

export type Throttle = {
  /** Seconds to wait before the next try; 0: go on. */
  waitSeconds(keys: ThrottleKey[]): Promise<number>;
  /**
   * Counts a try under each key: before a slow check, or after a failed one. Answers the seconds to wait, not 0 for a try that
   * came together with the one that made others wait: many at once can't slip through between the look and the count.
   */
  count(keys: ThrottleKey[]): Promise<number>;
  /** Clears what a success disproves. */
  succeeded(keys: ThrottleKey[]): Promise<void>;
  /** True for the first of many things with the same key within a minute: what is worth a note, but only once. */
  isFirstInMinute(key: string): Promise<boolean>;
  /**
   * The same counters as part of a transaction: what is counted counts if it commits, and whoever counts under the same key waits
   * for that. One question at a time, as with every transaction.
   */
  within(sql: Sql): Throttle;
};

/** Counters in PostgreSQL, shared by all instances. */
export function createThrottle(pool: pg.Pool): Throttle {
  return throttleOver(pool);
}

type Store = { query(query: { text: string; values?: unknown[] }): Promise<unknown> };

// The limiter calculates with `expire`, which a transaction of Prisma answers as a bigint.
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
  const noted = limiter('noted', { tries: 1, seconds: 60, longestSeconds: 60, personal: false });
  const names = Object.keys(throttleRules) as ThrottleRule[];
  const make = (prefix: string) =>
    Object.fromEntries(names.map((name) => [name, limiter(`${prefix}${name}`, throttleRules[name])])) as Record<
      ThrottleRule,
      RateLimiterPostgres
    >;
  const counts = make('');
  const waits = make('wait.');
  // Keys are hashed: an address of any length fits, and the table holds nobody's e-mail.
  const hashed = (key: string) => Buffer.from(digestOf(key)).toString('base64url');

  const countOne = async ({ rule, key }: ThrottleKey) => {
    const { tries, seconds, firstSeconds = 2, longestSeconds }: Rule = throttleRules[rule];
    const { consumedPoints } = await counts[rule].penalty(hashed(key));
    if (consumedPoints < tries) return 0;
    const wait = Math.min(firstSeconds * 2 ** Math.min(consumedPoints - tries, 20), longestSeconds);
    // One statement begins the wait or finds that it has begun: of tries at the same moment only one goes on.
    const begun = await waits[rule].penalty(hashed(key), 1, { customDuration: wait });
    if (begun.consumedPoints > 1) return Math.max(begun.msBeforeNext / 1000, 1);
    // The count outlives the wait, or the next wait would be short again.
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
    async succeeded(keys) {
      await Promise.all(keys.map(clearOne));
    },
    async isFirstInMinute(key) {
      return (await noted.penalty(hashed(key))).consumedPoints === 1;
    },
    within: (sql) => throttleOver(storeWithin(sql)),
  };
}
