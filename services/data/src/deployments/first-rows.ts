// First rows: a copy of a table on another branch begins with the rows that its original has when
// the copy is first deployed. To a deployment the original is what the table was before: the same
// casts, losses and blockers (docs/adr/0010-merging-rows.md). The rows were requested earlier, so
// the right to view them is checked again: the person who deploys or the person who requested the
// rows must have it.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Sql } from '@almanac/service-kit/postgres/database';
import type { Problem } from '@almanac/service-kit/problems';
import type { Rights } from '@almanac/service-kit/rights/rights';
import type { Pools } from '../postgres/pools.ts';
import { rowsSql } from '../rows/as-of-sql.ts';
import { channelSql, type Origin, originOf } from '../rows/origin.ts';
import { columnName, tableName } from '../sql/identifiers.ts';
import { quoteLiteral } from '../sql/literals.ts';
import type { Statement } from '../sql/statement.ts';
import { type Catalogue, catalogueSql } from '../tables/catalogue.ts';
import { quiescentTimestamp } from '../tables/quiescent-timestamp.ts';
import type { DeployedTable, WantedTable } from '../tables/table.ts';
import { requireRightToWork } from '../tables/table-rights.ts';
import type { BranchChange } from './branch-change.ts';
import { moveBase } from './row-base.ts';
import { finalSql, type Pair } from './schema/checks.ts';

/** What finds the originals of copies, and who may view them. */
export type OriginalsAccess = { pools: Pools; catalogue: Catalogue; rights: Rights };

type Read = (statement: Statement) => Promise<Record<string, unknown>[]>;

/**
 * When and for whom rows are copied. `at`: the instant as of which all originals of a deployment
 * are read. `visible`: the new tables whose original may be viewed.
 */
export type Copying = { at: string; origin: Origin; originals: DeployedTable[]; visible: ReadonlySet<number> };

/**
 * Waits for an instant as of which the originals of new tables can be read; undefined when no table
 * begins with rows.
 */
export async function prepareCopying(
  access: OriginalsAccess,
  call: CallContext,
  tables: WantedTable[],
): Promise<Copying | undefined> {
  const copies = await findCopies(access, call, tables);
  if (copies.length === 0) return undefined;
  const originals = copies.map(({ original }) => original);
  const at = await quiescentTimestamp(access.pools.work, originals);
  // Checked after that instant: what is written after the right was taken away is not among the
  // rows, however long the deployment waits then.
  return { at, origin: originOf(call, 'promotion'), originals, visible: await findVisibleOf(access, call, copies) };
}

type Copy = { wanted: WantedTable; original: DeployedTable };

async function findCopies(access: OriginalsAccess, call: CallContext, tables: WantedTable[]): Promise<Copy[]> {
  const copies: Copy[] = [];
  for (const wanted of tables) {
    const { table_definition_id, rows_from_table_id: id } = wanted;
    if (!id || (await access.catalogue.read(call.accountId, { id: table_definition_id }))) continue;
    const original = await access.catalogue.read(call.accountId, { id });
    if (original) copies.push({ wanted, original });
  }
  return copies;
}

/** The ids of the new tables whose original may be viewed at this moment. */
export async function findVisible(
  access: OriginalsAccess,
  call: CallContext,
  tables: WantedTable[],
): Promise<ReadonlySet<number>> {
  return findVisibleOf(access, call, await findCopies(access, call, tables));
}

async function findVisibleOf(access: OriginalsAccess, call: CallContext, copies: Copy[]): Promise<ReadonlySet<number>> {
  const visible = new Set<number>();
  for (const { wanted, original } of copies) {
    const requester = wanted.rows_asked_by;
    const isVisible =
      (await mayView(access, call, original)) ||
      (requester !== undefined &&
        requester !== call.userId &&
        (await mayView(access, { ...call, userId: requester }, original)));
    if (isVisible) visible.add(wanted.table_definition_id);
  }
  return visible;
}

async function mayView(access: OriginalsAccess, call: CallContext, original: DeployedTable): Promise<boolean> {
  try {
    await requireRightToWork(access, call, 'view', original.table_definition_id);
    return true;
  } catch (error) {
    // The table went out of service after it was found: the plan reports that.
    if (error instanceof ServiceError && (error.kind === 'forbidden' || error.kind === 'not_found')) return false;
    throw error;
  }
}

/** Keeps the originals from being altered until the transaction ends. */
export async function lockOriginals(sql: Sql, copying: Copying | undefined): Promise<void> {
  if (copying) await sql(`lock table ${copying.originals.map(tableName).join(', ')} in access share mode`);
}

type FirstRowsOfTable = { original: DeployedTable; wanted: WantedTable; statement: string };

export type FirstRows = {
  tables: ReadonlyMap<number, FirstRowsOfTable>;
  /** Lineages of new tables whose original is not in service any more. */
  withoutOriginal: ReadonlySet<number>;
  /** Lineages of new tables whose original may not be viewed, and why they get no rows. */
  refused: ReadonlyMap<number, string>;
  /** Before and after of any table of the branch; the original of a copy counts as its before. */
  pairOf: (lineageId: number) => Pair;
  stamp: string;
};

/**
 * Plans the copies of a deployment; without an instant, as of now. Originals that may not be viewed
 * are not read.
 */
export async function planFirstRows(
  read: Read,
  accountId: number,
  change: BranchChange,
  copying: Pick<Copying, 'visible'> & Partial<Copying>,
): Promise<FirstRows> {
  const [clock] = await read({
    text: `select to_char(clock_timestamp(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now`,
    values: [],
  });
  const stamp = clock?.now as string;
  const tables = new Map<number, FirstRowsOfTable>();
  const withoutOriginal = new Set<number>();
  const refused = new Map<number, string>();
  for (const { pair } of change.wanted) {
    const { lineage_id, rows_from_table_id: id } = pair.wanted;
    if (pair.old || !id) continue;
    const [original] = (await read(catalogueSql.byId(accountId, id))) as DeployedTable[];
    if (original?.lineage_id !== lineage_id) withoutOriginal.add(lineage_id);
    else if (!copying.visible.has(pair.wanted.table_definition_id)) refused.set(lineage_id, refusal(id));
    else {
      const stamps = { at: copying.at ?? stamp, stamp, actor: copying.origin?.actor ?? '' };
      tables.set(lineage_id, { original, wanted: pair.wanted, statement: copySql(original, pair.wanted, stamps) });
    }
  }
  const pairOf = (lineageId: number): Pair => {
    const pair = change.pairOf(lineageId);
    return { ...pair, old: pair.old ?? tables.get(lineageId)?.original };
  };
  return { tables, withoutOriginal, refused, pairOf, stamp };
}

const refusal = (originalId: number) =>
  `It begins with the rows of table ${originalId}: the person who deploys it, or the person who requested them, needs the right "view" there.`;

/** Throws 403 when rows would be copied that may not be viewed. */
export function requireVisible({ refused, pairOf }: FirstRows): void {
  const problems = [...refused].map(([lineageId, sentence]): Problem => {
    const message = `${pairOf(lineageId).wanted.name}: ${sentence}`;
    return { code: 'missing_right', message, params: { right: 'view' } };
  });
  if (problems.length > 0) throw new ServiceError('forbidden', problems);
}

type CopyStamp = { at: string; stamp: string; actor: string };

// Copies the rows in the form that the columns have in the copy. The statement stands among DDL and
// is shown like it, so its values are literals.
function copySql(original: DeployedTable, wanted: WantedTable, { at, stamp, actor }: CopyStamp): string {
  const before = new Map(original.structure.columns.map((column) => [column.lineage_id, column]));
  const columns = wanted.structure.columns.filter(({ lineage_id }) => before.has(lineage_id));
  const time = `${quoteLiteral(stamp)}::timestamptz`;
  const names = ['svc_created_at', 'svc_updated_at', 'svc_updated_by', 'svc_channel', ...columns.map(columnName)];
  const cells = [
    time,
    time,
    quoteLiteral(actor),
    channelSql('promotion'),
    ...columns.map((column) => finalSql(before.get(column.lineage_id), column, `as_of.${columnName(column)}`)),
  ];
  return (
    `insert into ${tableName(wanted)} (${names.join(', ')}) select ${cells.join(', ')}` +
    ` from ${rowsSql(original, `${quoteLiteral(at)}::timestamptz`)} where as_of.svc_live order by as_of.svc_sk`
  );
}

/**
 * Keeps the merge base of copies and originals and the request of the rows, and has the rows
 * announced.
 */
export async function keepFirstRows(
  sql: Sql,
  accountId: number,
  { tables, stamp }: FirstRows,
  copying: Copying | undefined,
): Promise<void> {
  if (!copying) return;
  for (const { original, wanted } of tables.values()) {
    const copy = { ...wanted, account_id: accountId } as DeployedTable;
    const before = new Set(original.structure.columns.map(({ lineage_id }) => lineage_id));
    const columns = wanted.structure.columns.map(({ lineage_id }) => lineage_id).filter((each) => before.has(each));
    await moveBase(sql, { source: original, target: copy }, [
      { table: original, at: copying.at, columns },
      { table: copy, at: stamp, columns },
    ]);
    await sql(
      `insert into bulk_write (table_definition_id, account_id, at, request_id) values ($1::int, $2::int, $3::timestamptz, $4)`,
      [wanted.table_definition_id, accountId, stamp, copying.origin.requestId],
    );
    await sql(
      `update announced_rows set until = $2::timestamptz - interval '1 millisecond' where table_definition_id = $1::int`,
      [wanted.table_definition_id, stamp],
    );
  }
  // The next write to a copy gets a later time.
  if (tables.size > 0) await sql('select pg_sleep(0.002)');
}
