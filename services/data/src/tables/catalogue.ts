// Finds deployed tables, and caches their entries by revision. Every statement over rows states the
// revision it was made for, so one made for an outdated entry returns nothing, and the entry is
// read again. That holds with any number of instances and costs no round trip.

import { ServiceError } from '@almanac/service-kit/errors';
import type { Sql } from '@almanac/service-kit/postgres/database';
import type { TableReference } from '@almanac/service-kit/rights/table-reference';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { run } from '../postgres/pools.ts';
import type { Statement } from '../sql/statement.ts';
import type { Bind } from '../values/check.ts';
import type { DeployedTable } from './table.ts';

const columns = `table_definition_id, account_id, branch_id, domain_id, lineage_id, uuid, key, name, load_type, version,
  row_changes, machine_imports, revision, (extract(epoch from history_since) * 1000)::bigint as history_since, structure`;

class NotDeployed extends ServiceError {
  constructor() {
    super('not_found', { code: 'not_found', message: 'Deployed table definition not found' });
  }
}

/** The 404 for a definition that isn't deployed, unknown, or another account's: all the same. */
export function notDeployed(): ServiceError {
  return new NotDeployed();
}

/**
 * True for that 404: nothing was done, and the table may be on the cluster that the account has
 * moved to.
 */
export const isNotDeployed = (error: unknown): boolean => error instanceof NotDeployed;

/** Statements that read entries: of one table, or of a branch. */
export const catalogueSql = {
  byId: (accountId: number, id: number): Statement => ({
    text: `select ${columns} from deployed_table where account_id = $1::int and table_definition_id = $2::int`,
    values: [accountId, id],
  }),
  byKey: (accountId: number, branchId: number, key: string): Statement => ({
    text: `select ${columns} from deployed_table where account_id = $1::int and branch_id = $2::int and key = $3::text`,
    values: [accountId, branchId, key],
  }),
  byLineage: (accountId: number, branchId: number, lineageId: number): Statement => ({
    text: `select ${columns} from deployed_table where account_id = $1::int and branch_id = $2::int and lineage_id = $3::int`,
    values: [accountId, branchId, lineageId],
  }),
  ofBranch: (accountId: number, branchId: number): Statement => ({
    text: `select ${columns} from deployed_table where account_id = $1::int and branch_id = $2::int order by table_definition_id`,
    values: [accountId, branchId],
  }),
};

/**
 * True in SQL while the table is deployed as `table` describes it. Part of every statement over
 * rows.
 */
export function currentSql(table: DeployedTable, bind: Bind): string {
  const id = bind(table.table_definition_id, 'int');
  const account = bind(table.account_id, 'int');
  return `exists (select from deployed_table d where d.table_definition_id = ${id} and d.account_id = ${account} and d.revision = ${bind(table.revision, 'bigint')})`;
}

/** The entry of a deployed table as a transaction sees it. */
export async function readEntry(sql: Sql, accountId: number, id: number): Promise<DeployedTable | undefined> {
  const { text, values } = catalogueSql.byId(accountId, id);
  return (await sql(text, values)).rows[0] as DeployedTable | undefined;
}

export class Catalogue {
  private readonly pool: pg.Pool;
  private readonly byId = new LRUCache<string, DeployedTable>({ max: 10_000 });
  private readonly idByKey = new LRUCache<string, number>({ max: 10_000 });

  constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  /** The entry, cached or read; 404 when the account has no such table deployed. */
  async get(accountId: number, reference: TableReference): Promise<DeployedTable> {
    const id = 'id' in reference ? reference.id : this.idByKey.get(keyOf(accountId, reference));
    const known = id === undefined ? undefined : this.byId.get(`${accountId}:${id}`);
    const matches =
      known && ('id' in reference || (known.key === reference.key && known.branch_id === reference.branchId));
    const table = matches ? known : await this.read(accountId, reference);
    if (!table) throw notDeployed();
    return table;
  }

  /** The entry as it is in the database now. */
  async read(accountId: number, reference: TableReference): Promise<DeployedTable | undefined> {
    const statement =
      'id' in reference
        ? catalogueSql.byId(accountId, reference.id)
        : catalogueSql.byKey(accountId, reference.branchId, reference.key);
    const [table] = await run<DeployedTable>(this.pool, statement);
    if (!table) {
      if ('id' in reference) this.byId.delete(`${accountId}:${reference.id}`);
      else this.idByKey.delete(keyOf(accountId, reference));
      return undefined;
    }
    const known = this.byId.get(`${accountId}:${table.table_definition_id}`);
    if (known?.revision === table.revision && known.history_since === table.history_since) return known;
    this.byId.set(`${accountId}:${table.table_definition_id}`, table);
    this.idByKey.set(`${accountId}:${table.branch_id}:${table.key}`, table.table_definition_id);
    return table;
  }

  /** The tables of these ids that are deployed, by id: cached, or read. */
  async findAll(accountId: number, ids: number[]): Promise<Map<number, DeployedTable>> {
    const found = new Map<number, DeployedTable>();
    for (const id of new Set(ids)) {
      const table = this.byId.get(`${accountId}:${id}`) ?? (await this.read(accountId, { id }));
      if (table) found.set(id, table);
    }
    return found;
  }

  /** The same as the database has them now. */
  async readAll(accountId: number, ids: number[]): Promise<Map<number, DeployedTable>> {
    const found = new Map<number, DeployedTable>();
    for (const id of new Set(ids)) {
      const table = await this.read(accountId, { id });
      if (table) found.set(id, table);
    }
    return found;
  }

  /** Whether the database still has the table as this entry says. */
  async isCurrent(table: DeployedTable): Promise<boolean> {
    const now = await this.read(table.account_id, { id: table.table_definition_id });
    return now?.revision === table.revision;
  }
}

const keyOf = (accountId: number, { key, branchId }: { key: string; branchId: number }) =>
  `${accountId}:${branchId}:${key}`;
