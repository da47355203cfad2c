// Finds deployed tables. Entries are remembered by revision; every statement over rows states the revision it was made for, so
// a memory that is out of date answers nothing and is read again. That holds with any number of instances and costs no round trip.
import { ServiceError } from '@almanac/service-kit/errors';
import { findSqlState } from '@almanac/service-kit/postgres/errors';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { run } from '../postgres/pools.ts';
import type { Statement } from '../sql/statement.ts';
import type { Bind } from '../values/check.ts';
import type { DeployedTable } from './table.ts';

/** How a caller names a table: by id, or by key on a branch. */
export type TableReference = { id: number } | { key: string; branchId: number };

const columns = `table_definition_id, account_id, branch_id, domain_id, lineage_id, uuid, key, name, load_type, version,
  revision, (extract(epoch from history_since) * 1000)::bigint as history_since, structure`;

class NotDeployed extends ServiceError {
  constructor() {
    super('not_found', 'Deployed table definition not found');
  }
}

/** The 404 for a definition that isn't deployed, unknown, or another account's: all the same. */
export function notDeployed(): ServiceError {
  return new NotDeployed();
}

/** True for that 404: nothing has been done, and the table may be where the account went. */
export const isNotDeployed = (error: unknown): boolean => error instanceof NotDeployed;

/** Reads entries of the catalogue: of one table, of a branch, or of those that refer to a table. */
export const catalogueSql = {
  byId: (accountId: number, id: number): Statement => ({
    text: `select ${columns} from deployed_table where account_id = $1::int and table_definition_id = $2::int`,
    values: [accountId, id],
  }),
  byKey: (accountId: number, branchId: number, key: string): Statement => ({
    text: `select ${columns} from deployed_table where account_id = $1::int and branch_id = $2::int and key = $3::text`,
    values: [accountId, branchId, key],
  }),
  ofBranch: (accountId: number, branchId: number): Statement => ({
    text: `select ${columns} from deployed_table where account_id = $1::int and branch_id = $2::int order by table_definition_id`,
    values: [accountId, branchId],
  }),
};

/** True in SQL while the table is deployed as `table` describes it. Part of every statement over rows. */
export function currentSql(table: DeployedTable, bind: Bind): string {
  const id = bind(table.table_definition_id, 'int');
  const account = bind(table.account_id, 'int');
  return `exists (select from deployed_table d where d.table_definition_id = ${id} and d.account_id = ${account} and d.revision = ${bind(table.revision, 'bigint')})`;
}

// Each attempt waits for the deployment in its way; only a table deployed over and over gets this far.
const attemptsMaximum = 20;

export class Catalogue {
  private readonly pool: pg.Pool;
  private readonly byId = new LRUCache<string, DeployedTable>({ max: 10_000 });
  private readonly idByKey = new LRUCache<string, number>({ max: 10_000 });

  constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  /** The entry as remembered, or read; 404 when nothing like it is deployed in the account. */
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

  /**
   * Runs `work` with the table as remembered, and with the `others` it asks for by id, as far as they are deployed. When it answers
   * `stale`, or fails as it may because of yesterday's columns, the entries are read again and `work` runs again with what is
   * deployed now.
   */
  async use<T>(
    accountId: number,
    reference: TableReference,
    work: (table: DeployedTable, others: ReadonlyMap<number, DeployedTable>) => Promise<T | typeof stale>,
    othersOf: (table: DeployedTable) => number[] = () => [],
  ): Promise<T> {
    let table = await this.get(accountId, reference);
    let others = await this.findAll(accountId, othersOf(table), false);
    for (let attempt = 1; ; attempt += 1) {
      let failure: unknown;
      try {
        const result = await work(table, others);
        if (result !== stale) return result;
      } catch (error) {
        if (!mayComeFromChange(error)) throw error;
        failure = error;
      }
      const fresh = await this.read(accountId, reference);
      if (!fresh) throw notDeployed();
      const freshOthers = await this.findAll(accountId, othersOf(fresh), true);
      if (failure !== undefined && fresh.revision === table.revision && haveSameRevisions(others, freshOthers))
        throw failure;
      if (attempt >= attemptsMaximum) throw new ServiceError('unavailable', 'The table is being deployed; try again.');
      table = fresh;
      others = freshOthers;
    }
  }

  // `afresh`: as they are in the database now, not as remembered.
  private async findAll(accountId: number, ids: number[], afresh: boolean): Promise<Map<number, DeployedTable>> {
    const found = new Map<number, DeployedTable>();
    for (const id of new Set(ids)) {
      const known = afresh ? undefined : this.byId.get(`${accountId}:${id}`);
      const table = known ?? (await this.read(accountId, { id }));
      if (table) found.set(id, table);
    }
    return found;
  }
}

const haveSameRevisions = (some: ReadonlyMap<number, DeployedTable>, others: ReadonlyMap<number, DeployedTable>) =>
  some.size === others.size && [...some].every(([id, table]) => others.get(id)?.revision === table.revision);

/** What `work` answers when its statement found another revision. */
export const stale = Symbol('stale');

const keyOf = (accountId: number, { key, branchId }: { key: string; branchId: number }) =>
  `${accountId}:${branchId}:${key}`;

// A column or table that is gone, a type that changed, a plan that no longer fits (0A000); or a refusal that was made up from what is
// remembered: a column that is not known yet, a right that is missing in yesterday's domain.
function mayComeFromChange(error: unknown): boolean {
  if (error instanceof ServiceError) return error.status < 500;
  const state = findSqlState(error);
  return state !== undefined && /^(42|22|23|0A|3F)/.test(state);
}
