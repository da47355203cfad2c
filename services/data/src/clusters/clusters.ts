// Which cluster an account lives on. The home cluster holds the list; a cluster that an account has
// left names the new one. A cached placement may be out of date: a caller who then finds no account
// follows the departure, so moves need no announcement to instances.

import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql } from '@almanac/service-kit/postgres/database';
import { LRUCache } from 'lru-cache';
import type { Cluster } from '../cluster.ts';
import { isNotDeployed } from '../tables/catalogue.ts';
import { AccountMoved, completeMove, findDeparture } from './account-placement.ts';

// More hops would be a circle, which moves can't make.
const maxHops = 5;

export class Clusters {
  readonly home: Cluster;
  readonly all: Cluster[];
  private readonly newAccountsOn: Cluster;
  private readonly cache = new LRUCache<number, Cluster>({ max: 100_000 });

  /**
   * The first of the list is home. `newAccountsOn`: the cluster of accounts that never had a table.
   */
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
    throw new ServiceError('bad_request', {
      code: 'not_in_list',
      message: `There is no cluster ${name}; there are: ${names}.`,
    });
  }

  /**
   * Runs `work` on the account's cluster; again on the next one when the account had moved and
   * nothing was done.
   */
  async run<T>(accountId: number, work: (cluster: Cluster) => Promise<T>): Promise<T> {
    if (this.all.length === 1) return work(this.home);
    let cluster = await this.findPlacement(accountId);
    for (let hops = 1; ; hops += 1) {
      try {
        return await work(cluster);
      } catch (error) {
        const next =
          (error instanceof AccountMoved || isNotDeployed(error)) && hops < maxHops
            ? await this.followDeparture(accountId, cluster)
            : undefined;
        if (!next) throw error;
        cluster = next;
      }
    }
  }

  /**
   * The account's cluster, checked in the databases: for work that can't be repeated once it has
   * begun.
   */
  async locate(accountId: number): Promise<Cluster> {
    if (this.all.length === 1) return this.home;
    let cluster = await this.findPlacement(accountId);
    for (let hops = 1; hops < maxHops; hops += 1) {
      const next = await this.followDeparture(accountId, cluster);
      if (!next) return cluster;
      cluster = next;
    }
    throw new AccountMoved();
  }

  /** Places an account before its first table is made, unless it has a place. */
  async placeNew(accountId: number): Promise<void> {
    await pgSql(this.home.context.pools.rows)(
      'insert into placement (account_id, cluster) values ($1::int, $2) on conflict do nothing',
      [accountId, this.newAccountsOn.name],
    );
  }

  /** Caches and records the cluster of the account. */
  async savePlacement(accountId: number, cluster: Cluster): Promise<void> {
    this.cache.set(accountId, cluster);
    await pgSql(this.home.context.pools.rows)(
      `insert into placement (account_id, cluster) values ($1::int, $2)
       on conflict (account_id) do update set cluster = excluded.cluster, placed_at = now() where placement.cluster <> excluded.cluster`,
      [accountId, cluster.name],
    );
  }

  private async findPlacement(accountId: number): Promise<Cluster> {
    const known = this.cache.get(accountId);
    if (known) return known;
    const { rows } = await pgSql(this.home.context.pools.rows)(
      'select cluster from placement where account_id = $1::int',
      [accountId],
    );
    if (!rows[0]) return this.newAccountsOn;
    const cluster = this.get(rows[0].cluster);
    this.cache.set(accountId, cluster);
    return cluster;
  }

  private async followDeparture(accountId: number, left: Cluster): Promise<Cluster | undefined> {
    const name = await findDeparture(left.context.pools, accountId);
    if (name === undefined) return undefined;
    const cluster = this.get(name);
    await completeMove(cluster.context, accountId);
    await this.savePlacement(accountId, cluster);
    return cluster;
  }
}
