// The views for SQL clients: made in the transaction that changes their tables, so that they are
// never out of date, and readable for one role (docs/adr/0021-sql-views.md). PostgreSQL refuses to
// change a table that a view depends on, so every change of a table first drops its view, whether
// or not views are configured.

import type { Logger } from '@almanac/service-kit/observability/logger';
import { pgSql, type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { isTransient } from '@almanac/service-kit/postgres/errors';
import type pg from 'pg';
import { lockBranch, lockViews } from '../postgres/advisory-locks.ts';
import { quoteName, tableName, viewName, viewSchema, viewSchemaPattern } from '../sql/identifiers.ts';
import { catalogueSql } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';
import { createViewSql, dropViewSql, type Viewed } from './view-sql.ts';

type Place = Pick<DeployedTable, 'account_id' | 'table_definition_id' | 'branch_id' | 'lineage_id'>;

export class SqlViews {
  private readonly reader: string | undefined;

  /** `reader`: the role that may read them; without one there are none. */
  constructor(reader: string | undefined) {
    this.reader = reader;
  }

  /**
   * Drops the views of these tables, runs `change`, and makes the views of the tables that it
   * answers. Waits for readers of the views, as the change of a table waits for its readers.
   */
  async replace<T extends Viewed>(sql: Sql, before: readonly Viewed[], change: () => Promise<T[]>): Promise<T[]> {
    for (const table of before) await sql(dropViewSql(table));
    const after = await change();
    await this.make(sql, after);
    return after;
  }

  // In the place of whatever an earlier release has left under their names.
  private async make(sql: Sql, tables: readonly Viewed[]): Promise<void> {
    const { reader } = this;
    if (reader === undefined || tables.length === 0) return;
    const role = (await isRole(sql, reader)) ? quoteName(reader) : undefined; // a role made later gets its rights from `complete`
    for (const branchId of new Set(tables.map((table) => table.branch_id))) await this.open(sql, branchId, role);
    for (const table of tables) {
      for (const statement of [dropViewSql(table), ...createViewSql(table)]) await sql(statement);
      if (role) await sql(`grant select on ${viewName(table)} to ${role}`);
    }
  }

  // A load makes views beside a deployment of the same branch: only one of them makes the schema.
  private async open(sql: Sql, branchId: number, role: string | undefined): Promise<void> {
    const schema = viewSchema(branchId);
    const { rows } = await sql(
      `select true from pg_namespace n where n.nspname = $1
         and not exists (select from pg_roles r where r.rolname = $2 and not has_schema_privilege(r.oid, n.oid, 'usage'))`,
      [schema, this.reader],
    );
    if (rows.length > 0) return;
    await lockViews(sql, branchId);
    await sql(`create schema if not exists ${schema}`);
    if (role) await sql(`grant usage on schema ${schema} to ${role}`);
  }

  /**
   * Makes the views that are missing, or that the role can't read: of tables deployed before there
   * were views, or moved from another cluster. Without the setting, drops all views. A table in
   * use, or a failure, is left to the next round; nothing is thrown.
   */
  async complete(pool: pg.Pool, logger: Logger): Promise<void> {
    await this.completeAll(pool, logger).catch((error: unknown) =>
      logger.warn({ err: error }, 'missing views could not be listed; it will be tried again'),
    );
  }

  private async completeAll(pool: pg.Pool, logger: Logger): Promise<void> {
    const sql = pgSql(pool);
    if (this.reader === undefined) {
      const { rows } = await sql(
        'select substr(nspname, 3)::int as branch from pg_namespace where nspname ~ $1 and pg_has_role(nspowner, $2)',
        [viewSchemaPattern, 'usage'],
      );
      for (const { branch } of rows) await unlessInUse(logger, { branch_id: branch }, () => this.remove(pool, branch));
      return;
    }
    if (!(await isRole(sql, this.reader)))
      logger.warn(
        { role: this.reader },
        'the views can not be read: PostgreSQL has no role of the name in DATA_SQL_READER; create it',
      );
    for (const table of await this.findMissing(sql))
      await unlessInUse(logger, { table_definition_id: table.table_definition_id }, () => this.renew(pool, table));
  }

  private async findMissing(sql: Sql, tableDefinitionId?: number): Promise<Place[]> {
    return (await sql(missingSql, [this.reader, tableDefinitionId ?? null])).rows as Place[];
  }

  // Not while a deployment makes views there, as an instance with another setting may for a while.
  private remove(pool: pg.Pool, branchId: number): Promise<void> {
    return withShortLockTimeout(pool, async (sql) => {
      await lockBranch(sql, branchId);
      await sql(`drop schema if exists ${viewSchema(branchId)} cascade`);
    });
  }

  // Under the locks of a deployment, and of a load that replaces the table by a new one.
  private renew(pool: pg.Pool, place: Place): Promise<void> {
    return withShortLockTimeout(pool, async (sql) => {
      await lockBranch(sql, place.branch_id);
      await sql(`lock table ${tableName(place)} in share row exclusive mode`);
      if ((await this.findMissing(sql, place.table_definition_id)).length === 0) return; // another instance was first
      const { text, values } = catalogueSql.byId(place.account_id, place.table_definition_id);
      await this.make(sql, (await sql(text, values)).rows as DeployedTable[]);
    });
  }
}

// `to_regrole` sees the role as it is now, whatever the snapshot of the transaction.
async function isRole(sql: Sql, name: string): Promise<boolean> {
  const { rows } = await sql('select to_regrole(quote_ident($1)) is not null as there', [name]);
  return rows[0]?.there as boolean;
}

const withShortLockTimeout = (pool: pg.Pool, work: (sql: Sql) => Promise<unknown>) =>
  withTransaction(pool, async (sql) => {
    await sql("select set_config('lock_timeout', '3s', true)");
    await work(sql);
  });

async function unlessInUse(logger: Logger, what: object, work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    if (isTransient(error)) logger.info(what, 'a table or its view is in use; the next round completes the view');
    else logger.warn({ ...what, err: error }, 'a view could not be made or dropped; it will be tried again');
  });
}

// The view of a table is the one that depends on it in the schema of its branch's views.
const missingSql = `
  select d.account_id, d.table_definition_id, d.branch_id, d.lineage_id
  from deployed_table d left join pg_roles r on r.rolname = $1
  where ($2::int is null or d.table_definition_id = $2::int) and not exists (
    select from pg_depend p join pg_rewrite w on w.oid = p.objid join pg_class v on v.oid = w.ev_class
    where p.classid = 'pg_rewrite'::regclass and p.refclassid = 'pg_class'::regclass
      and p.refobjid = to_regclass('b_' || d.branch_id || '.t_' || d.lineage_id)
      and v.relnamespace = to_regnamespace('v_' || d.branch_id)
      and (r.oid is null or has_table_privilege(r.oid, v.oid, 'select')))
  order by d.table_definition_id`;
