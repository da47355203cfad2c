// The replicas of one service, and to which of them a call goes (docs/adr/0012-replicas-and-breakers.md). A replica that can't be reached, or
// that is silent while calls wait for it, gets none until it answers a question of our own: that is the circuit breaker.
import { lookup } from 'node:dns/promises';
import { get } from 'node:http';
import { isIP } from 'node:net';
import type { Logger } from '@almanac/service-kit/logger';
import type { Connections } from './connections.ts';

/**
 * `up`: answers. `leaving`: answers and says that it stops. `refusing`: nobody listens there just now, which costs nothing to find out again.
 * `silent`: it took a connection and said nothing, or didn't take one; whoever asks it waits in vain.
 */
type State = 'up' | 'leaving' | 'refusing' | 'silent';

export type Replica = {
  address: string;
  /** Where it is asked how it is, and the connections that calls go over. */
  hostname: string;
  port: string;
  connections: Connections;
  state: State;
  /** Calls that wait for its answer, and when it was heard last, or began to have some. */
  waiting: number;
  heardAt: number;
  isAsked: boolean;
};

export type Address = { hostname: string; port: string };
/** Where the replicas of the service with this URL are just now. */
export type FindReplicas = (url: URL) => Promise<Address[]>;

export type ReplicaTimes = {
  /** How long a replica may say nothing while calls wait for it. */
  silentMs: number;
  /** How often silent ones, and those that are away, are asked whether they are back. */
  askEveryMs: number;
  /** How often replicas are looked for. */
  findEveryMs: number;
};

type Options = {
  name: string;
  url: string;
  times: ReplicaTimes;
  find: FindReplicas;
  /** Makes the connections to a replica, when they are needed. */
  open: (origin: string) => Connections;
  logger: Logger;
};

const ranks = { up: 0, leaving: 1, refusing: 2, silent: Number.POSITIVE_INFINITY } satisfies Record<State, number>;
const lastChoice = 3;
const refusals = new Set(['ECONNREFUSED', 'ECONNRESET']);
const unreachable = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN']);

/** Every address the host of the URL has: each pod of a headless Service, each container of a scaled one. */
export const findByName: FindReplicas = async ({ hostname, port }) => {
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = isIP(host) ? [{ address: host }] : await lookup(host, { all: true });
  return found.map(({ address }) => ({ hostname: address, port }));
};

export class Replicas {
  private readonly options: Options;
  private readonly url: URL;
  private replicas: Replica[] = [];
  private turn = 0;
  private foundAt = Number.NEGATIVE_INFINITY;
  private finding: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: Options) {
    this.options = options;
    this.url = new URL(options.url);
  }

  /** Looks for replicas (none is no failure: some may come) and watches them. */
  async start(): Promise<void> {
    await this.find();
    this.timer = setInterval(() => this.look(), this.options.times.askEveryMs);
    this.timer.unref();
  }

  /** Ends the watching and all connections. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.replicas.map(({ connections }) => connections.destroy()));
  }

  /** How many take calls. */
  get usable(): number {
    return this.replicas.filter(({ state }) => state === 'up' || state === 'leaving').length;
  }

  /** The replica for the next call: in the best state, then with the fewest calls waiting, then in turn. `after` failed just now. Undefined: 503. */
  choose(after?: Replica): Replica | undefined {
    const { replicas } = this;
    const { length } = replicas;
    this.turn = (this.turn + 1) % Math.max(1, length);
    let best: Replica | undefined;
    let bestRank: number = ranks.silent;
    for (let i = 0; i < length; i += 1) {
      const replica = replicas[(this.turn + i) % length] as Replica;
      const rank = replica === after ? Math.max(lastChoice, ranks[replica.state]) : ranks[replica.state];
      if (rank > bestRank || rank === ranks.silent) continue;
      if (best && rank === bestRank && replica.waiting >= best.waiting) continue;
      best = replica;
      bestRank = rank;
    }
    return best;
  }

  /** A call is on its way to it. */
  sent(replica: Replica): void {
    if (replica.waiting === 0) replica.heardAt = performance.now();
    replica.waiting += 1;
  }

  /** It waits no longer, whyever. */
  over(replica: Replica): void {
    replica.waiting -= 1;
  }

  /** It said something. */
  heard(replica: Replica, isLeaving: boolean): void {
    replica.heardAt = performance.now();
    if (isLeaving) replica.connections.leave();
    const state = isLeaving ? 'leaving' : 'up';
    if (replica.state !== state) this.become(replica, state);
  }

  /**
   * Something went wrong with a call of its. Only what shows that it can't be reached tells of the replica; an answer that takes its time or breaks
   * off may be the caller's own doing, who must not be able to close it for others.
   */
  failed(replica: Replica, code: string | undefined): void {
    if (code === 'ECONNREFUSED') this.become(replica, 'refusing');
    else if (code !== undefined && unreachable.has(code)) this.become(replica, 'silent');
  }

  private become(replica: Replica, state: State): void {
    if (replica.state === state) return;
    const { logger, name } = this.options;
    const level = state === 'refusing' || state === 'silent' ? 'warn' : 'info';
    logger[level]({ upstream: name, address: replica.address, state, was: replica.state }, 'a replica changed');
    replica.state = state;
  }

  private look(): void {
    const now = performance.now();
    const { silentMs, findEveryMs } = this.options.times;
    if (this.replicas.length === 0 || now - this.foundAt >= findEveryMs) void this.find();
    for (const replica of this.replicas) {
      const isQuiet = replica.waiting > 0 && now - replica.heardAt > silentMs;
      if (replica.state !== 'up' || isQuiet) void this.ask(replica);
      // After all that has come by now was heard: our own loop may have been what was late.
      setImmediate(() => replica.connections.look(silentMs));
    }
  }

  private find(): Promise<void> {
    this.finding ??= this.findNow().finally(() => {
      this.finding = undefined;
    });
    return this.finding;
  }

  private async findNow(): Promise<void> {
    this.foundAt = performance.now();
    let found: Address[];
    try {
      found = await this.options.find(this.url);
    } catch (error) {
      // A name server that is away takes no service with it.
      const { logger, name } = this.options;
      if (this.replicas.length === 0) logger.warn({ err: error, upstream: name }, 'no replica was found');
      return;
    }
    const known = new Map(this.replicas.map((replica) => [replica.address, replica]));
    const isOnly = found.length === 1;
    const replicas = found.map((address) => known.get(keyOf(address)) ?? this.made(address, isOnly));
    const fresh = replicas.filter((replica) => !known.has(replica.address));
    // The connections of those that have left end when their last answers have.
    for (const replica of this.replicas) if (!replicas.includes(replica)) void replica.connections.close();
    this.replicas = replicas;
    // One of several is shown to be there before others are passed over for it: a name may have addresses that nobody listens at.
    if (!isOnly) await Promise.all(fresh.map((replica) => this.ask(replica)));
  }

  private made({ hostname, port }: Address, isOnly: boolean): Replica {
    const address = keyOf({ hostname, port });
    return {
      address,
      hostname,
      port: port || '80',
      connections: this.options.open(`http://${address}`),
      state: isOnly ? 'up' : 'refusing',
      waiting: 0,
      heardAt: performance.now(),
      isAsked: false,
    };
  }

  // On a connection of its own: a kept one may lead to where nobody is any more.
  private ask(replica: Replica): Promise<void> {
    if (replica.isAsked) return Promise.resolve();
    replica.isAsked = true;
    const { hostname, port } = replica;
    const { host } = this.url;
    return new Promise((resolve) => {
      const asking = get({
        hostname,
        port,
        path: '/healthz',
        agent: false,
        headers: { host, connection: 'keep-alive' }, // so that `close` in the answer is its own wish
      });
      const late = onceLate(this.options.times.silentMs, () => asking.destroy(new Error('It did not answer in time.')));
      asking.on('response', (answer) => {
        this.heard(replica, answer.headers.connection === 'close');
        asking.destroy();
      });
      asking.on('error', (error: { code?: string }) =>
        this.become(replica, refusals.has(error.code ?? '') ? 'refusing' : 'silent'),
      );
      asking.on('close', () => {
        clearTimeout(late);
        replica.isAsked = false;
        resolve();
      });
    });
  }
}

/** Calls `then` after that time, and after all that had happened by then was heard: our own loop may have been what was late. */
function onceLate(ms: number, then: () => void): NodeJS.Timeout {
  return setTimeout(() => setImmediate(then), ms);
}

const keyOf = ({ hostname, port }: Address) => (isIP(hostname) === 6 ? `[${hostname}]:${port}` : `${hostname}:${port}`);
