// Which cluster an account lives on. The home cluster holds the list; a cluster that an account has left points to where it went.
// What is remembered may be old: whoever then finds nothing follows the pointer, so no instance needs to be told of a move.

import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql } from '@almanac/service-kit/postgres/database';
import { LRUCache } from 'lru-cache';
import type { Cluster } from '../cluster.ts';
import { isNotDeployed } from '../tables/catalogue.ts';
import { AccountMoved, findDeparture, settleArrival } from './account-placement.ts';

// More would be a circle, which moves can't make.
const hopsMaximum = 5;

export class Clusters {
  readonly home: Cluster;
  readonly all: Cluster[];
  private readonly newAccountsOn: Cluster;
  private readonly remembered = new LRUCache<number, Cluster>({ max: 100_000 });

  /** The first of the list is home. `newAccountsOn`: where accounts go that never had a table. */
  constructor(all: Cluster[], newAccountsOn: string) {
    this.all = all;
    this.home = all[0] as Cluster;
    this.newAccountsOn = this.get(newAccountsOn);
  }

  /** The cluster of this name; 400 when there is none. */
  get(name: string): Cluster {
    const cluster = this.all.find((each) => each.name === name);
    if (cluster) return cluster;
    const names = this.all.map((each) => each.name).join(', ');
    throw new ServiceError('bad_request', `There is no cluster ${name}; there are: ${names}.`);
  }

  /** Runs `work` where the account lives; again where it went, when it had moved and nothing was done. */
  async run<T>(accountId: number, work: (cluster: Cluster) => Promise<T>): Promise<T> {
    if (this.all.length === 1) return work(this.home);
    let cluster = await this.find(accountId);
    for (let hops = 1; ; hops += 1) {
      try {
        return await work(cluster);
      } catch (error) {
        const next =
          (error instanceof AccountMoved || isNotDeployed(error)) && hops < hopsMaximum
            ? await this.follow(accountId, cluster)
            : undefined;
        if (!next) throw error;
        cluster = next;
      }
    }
  }

  /** Where the account lives now, asked of the databases: for work that can't be repeated once it has begun. */
  async locate(accountId: number): Promise<Cluster> {
    if (this.all.length === 1) return this.home;
    let cluster = await this.find(accountId);
    for (let hops = 1; hops < hopsMaximum; hops += 1) {
      const next = await this.follow(accountId, cluster);
      if (!next) return cluster;
      cluster = next;
    }
    throw new AccountMoved();
  }

  /** Where an account is that is about to get its first table; from then on that is where it lives. */
  async settle(accountId: number): Promise<void> {
    await pgSql(this.home.context.pools.rows)(
      'insert into placement (account_id, cluster) values ($1::int, $2) on conflict do nothing',
      [accountId, this.newAccountsOn.name],
    );
  }

  /** Remembers, here and in the list, that the account lives there. */
  async place(accountId: number, cluster: Cluster): Promise<void> {
    this.remembered.set(accountId, cluster);
    await pgSql(this.home.context.pools.rows)(
      `insert into placement (account_id, cluster) values ($1::int, $2)
       on conflict (account_id) do update set cluster = excluded.cluster, placed_at = now() where placement.cluster <> excluded.cluster`,
      [accountId, cluster.name],
    );
  }

  private async find(accountId: number): Promise<Cluster> {
    const known = this.remembered.get(accountId);
    if (known) return known;
    const { rows } = await pgSql(this.home.context.pools.rows)(
      'select cluster from placement where account_id = $1::int',
      [accountId],
    );
    if (!rows[0]) return this.newAccountsOn;
    const cluster = this.get(rows[0].cluster);
    this.remembered.set(accountId, cluster);
    return cluster;
  }

  private async follow(accountId: number, left: Cluster): Promise<Cluster | undefined> {
    const name = await findDeparture(left.context.pools, accountId);
    if (name === undefined) return undefined;
    const cluster = this.get(name);
    await settleArrival(cluster.context, accountId);
    await this.place(accountId, cluster);
    return cluster;
  }
}
