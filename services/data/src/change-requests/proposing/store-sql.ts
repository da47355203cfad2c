// The statements that store operations: cells in the form of `textSql`, and beside them the values
// that they are based on. Pure.
import type { Problem } from '@almanac/service-kit/problems';
import type { Filter } from '../../pages/filter.ts';
import type { Cells } from '../../records/record-input.ts';
import { countedRows, matchingSql } from '../../records/sets/set-sql.ts';
import { differsSql } from '../../records/write-sql.ts';
import { cellSql, dryRunOperations, ofRequestSql, ownCellSql, storedCellsSql } from '../../rows/proposed-sql.ts';
import { cellKey, historyName, tableName } from '../../sql/identifiers.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import { currentSql } from '../../tables/catalogue.ts';
import type { DryRunReading } from '../../tables/open-table.ts';
import { type Column, type DeployedTable, getColumn, keyColumns } from '../../tables/table.ts';
import type { Bind } from '../../values/check.ts';
import type { Kind } from '../change-requests.ts';
import { ofRows } from '../check-sql.ts';
import { cellConflictSql } from '../conflict-sql.ts';

/**
 * An operation to be stored. `version`: of the row that it is based on; null for the present one.
 * `cells`: texts by lineage. `merges`: changes the cells of an operation that is there, and keeps
 * the base of the others.
 */
export type NewOperation = {
  place: number;
  kind: Kind;
  svc_sk: string | null;
  version: number | null;
  cells: Record<string, string | null>;
  /** The operation on this row that the request has already. */
  replaces: number | null;
  merges: boolean;
  problems: Problem[];
};

type Place = { changeRequestId: number; actor: string };

const givenShape =
  'place int, kind text, svc_sk bigint, version int, cells jsonb, replaces bigint, merges boolean, problems jsonb';

/**
 * Stores operations of one table, undecided. Returns `place` and `id` of each, and whether it
 * `is_new`; no row when the table has changed.
 */
export function storeSql(table: DeployedTable, operations: NewOperation[], place: Place): Statement {
  const values = new Values();
  const given = values.bind(JSON.stringify(operations), 'jsonb');
  const lineages = new Set(operations.flatMap(({ cells }) => Object.keys(cells).map(Number)));
  const named = [...lineages].map((lineage) => getColumn(table.structure, lineage));
  const relation = `jsonb_to_recordset(${given}) as g(${givenShape})`;
  const cells = storedCellsSql(
    named,
    (column) => `(${cellSql('g.cells', column)})`,
    (key) => `g.cells ? ${key}`,
  );
  return { text: storeGivenSql(table, { relation, named, cells }, place, values.bind), values: values.list };
}

/** Stores what a dry run would do to rows, in their order; as above. */
export function storeDryRunSql(table: DeployedTable, dryRun: DryRunReading, place: Place): Statement {
  const values = new Values();
  const { relation } = dryRunOperations(table, dryRun, values.bind);
  const given =
    `(select id::int as place, kind, svc_sk, version, cells, null::bigint as replaces, false as merges, '[]'::jsonb as problems` +
    ` from ${relation} kept) g`;
  const named = table.structure.columns;
  // They are kept in the form in which operations are stored.
  const shape = { relation: given, named, cells: 'g.cells' };
  return { text: storeGivenSql(table, shape, place, values.bind), values: values.list };
}

/** What is proposed for all rows of a filter. `cells`: the values that they get. */
export type MatchedOperation = { kind: 'update' | 'delete'; filter: Filter; cells: Cells; expected: number };

/**
 * Stores an operation on each live row of a filter, when as many match as expected: none for a row
 * that has the values already, unless the request changes it. Returns the same.
 */
export function storeMatchesSql(table: DeployedTable, operation: MatchedOperation, place: Place): Statement {
  const values = new Values();
  const { bind } = values;
  const { kind, filter, cells, expected } = operation;
  const named = [...cells.keys()];
  const texts = bind(
    JSON.stringify(Object.fromEntries(named.map((each) => [each.lineage_id, cells.get(each)]))),
    'jsonb',
  );
  const given = (column: Column) => `(${cellSql('g.cells', column)})`;
  const differs = kind === 'delete' ? 'true' : differsSql(named, 't', (column) => `(${cellSql(texts, column)})`);
  const isMerged = `(${bind(kind, 'text')} = 'update' and o.kind = 'update')`;
  const kept =
    `coalesce((select jsonb_agg(p) from jsonb_array_elements(o.problems) p where not (p->>'code' = any(${bind([...ofRows], 'text[]')}))` +
    ` and not coalesce(p->>'column', '') = any(${bind(
      named.map(({ name }) => name),
      'text[]',
    )})), '[]')`;
  const relation =
    `(with matched as materialized (select t.svc_sk, t.svc_version, ${differs} as differs from ${matchingSql(table, filter, bind)} order by t.svc_sk limit ${countedRows})` +
    ` select (row_number() over (order by m.svc_sk))::int as place, ${bind(kind, 'text')} as kind, m.svc_sk, m.svc_version as version, ${texts} as cells, o.id as replaces,` +
    ` coalesce(${isMerged}, false) as merges, case when ${isMerged} then ${kept} else '[]'::jsonb end as problems` +
    ` from matched m left join change_request_operation o on ${ofRequestSql('o', table, place.changeRequestId, bind)} and o.svc_sk = m.svc_sk` +
    ` where (select count(*) from matched) = ${bind(expected, 'bigint')} and (m.differs or o.id is not null)) g`;
  const stored = storedCellsSql(named, given, (key) => `g.cells ? ${key}`);
  return {
    text: storeGivenSql(table, { relation, named, cells: stored }, place, bind),
    values: values.list,
    customPlan: true,
  };
}

/**
 * `relation`: `g` of the shape given; `named`: the columns that its cells may name; `cells`: what
 * is stored of them.
 */
type Given = { relation: string; named: readonly Column[]; cells: string };

function storeGivenSql(
  table: DeployedTable,
  { relation, named, cells }: Given,
  { changeRequestId, actor }: Place,
  bind: Bind,
): string {
  const account = bind(table.account_id, 'int');
  const request = bind(changeRequestId, 'int');
  const definition = bind(table.table_definition_id, 'int');
  const by = bind(actor, 'text');
  const key = keyColumns(table.structure);
  const based = [...new Set<Column>([...key, ...named])];
  const keys = key.map(({ lineage_id }) => String(lineage_id));
  const baseOf = (row: string) =>
    storedCellsSql(
      based,
      (column) => ownCellSql(row, column),
      (name) => `(g.cells ? ${name} or ${name} = any(${bind(keys, 'text[]')}))`,
    );
  const history = `select * from ${historyName(table)} h where h.svc_sk = g.svc_sk and h.svc_version = g.version limit 1`;
  return (
    `with given as (select * from ${relation} where ${currentSql(table, bind)}),` +
    ` based as (select g.place, g.kind, g.svc_sk, g.replaces, g.merges, g.problems, coalesce(g.version, t.svc_version) as base_version, ${cells} as cells,` +
    ` case when h.svc_sk is not null then ${baseOf('h')} when t.svc_version = coalesce(g.version, t.svc_version) then ${baseOf('t')} else '{}' end as base` +
    ` from given g left join ${tableName(table)} t on t.svc_sk = g.svc_sk` +
    ` left join lateral (${history}) h on g.version <> t.svc_version),` +
    ` ready as materialized (select *, coalesce(replaces, nextval(pg_get_serial_sequence('change_request_operation', 'id'))) as id from (select * from based order by place) b),` +
    ` changed as (update change_request_operation o set kind = r.kind, problems = r.problems, decision = 'undecided', decided_by = null, decided_at = null, comment = null,` +
    ` updated_by = ${by}, updated_at = now(), cells = case when r.merges then o.cells || r.cells else r.cells end,` +
    ` base = case when r.merges then r.base || o.base else r.base end, base_version = case when r.merges then o.base_version else r.base_version end` +
    ` from ready r where o.account_id = ${account} and o.change_request_id = ${request} and o.id = r.replaces),` +
    ` created as (insert into change_request_operation (account_id, change_request_id, id, table_definition_id, kind, svc_sk, base_version, cells, base, problems, updated_by)` +
    ` overriding system value select ${account}, ${request}, id, ${definition}, kind, svc_sk, base_version, cells, base, problems, ${by} from ready where replaces is null)` +
    ` select place, id, replaces is null as is_new from ready order by place`
  );
}

/** The operations that a request has on these rows, with their problems. */
export function sameRowsSql(table: DeployedTable, changeRequestId: number, ids: string[]): Statement {
  const { bind, list } = new Values();
  return {
    text:
      `select id, svc_sk::text as svc_sk, kind, problems from change_request_operation where account_id = ${bind(table.account_id, 'int')}` +
      ` and change_request_id = ${bind(changeRequestId, 'int')} and table_definition_id = ${bind(table.table_definition_id, 'int')}` +
      ` and svc_sk = any(${bind(ids, 'bigint[]')})`,
    values: list,
  };
}

/**
 * A settled conflict. `mine` and `theirs`: columns by lineage; `cells`: other values; `whole`: the
 * operation goes on although its row has changed.
 */
export type Settled = {
  id: number;
  whole: boolean;
  mine: string[];
  theirs: string[];
  cells: Record<string, string | null>;
};

/**
 * Bases operations on the present values of the columns that are settled, and on the present
 * version once no other column conflicts. Returns the ids; none when the table has changed.
 */
export function resolveSql(table: DeployedTable, changeRequestId: number, settled: Settled[]): Statement {
  const values = new Values();
  const { bind } = values;
  const given = bind(JSON.stringify(settled), 'jsonb');
  const lineages = new Set(settled.flatMap(({ mine, cells }) => [...mine, ...Object.keys(cells)].map(Number)));
  const named = [...lineages].map((lineage) => getColumn(table.structure, lineage));
  const cells = storedCellsSql(
    named,
    (column) => `(${cellSql('g.cells', column)})`,
    (key) => `g.cells ? ${key}`,
  );
  const base = storedCellsSql(
    named,
    (column) => ownCellSql('t', column),
    (key) => `(g.cells ? ${key} or g.mine ? ${key})`,
  );
  const open = table.structure.columns.map(
    (column) => `(${cellConflictSql('o', 't', column)} and not (g.cells || g.chosen) ? ${cellKey(column)})`,
  );
  return {
    text:
      `update change_request_operation o set cells = (o.cells - g.theirs) || ${cells}, base = (o.base - g.theirs) || ${base},` +
      ` base_version = case when g.whole or not (${['false', ...open].join(' or ')}) then t.svc_version else o.base_version end,` +
      ` decision = 'undecided', decided_by = null, decided_at = null, comment = null, updated_at = now()` +
      ` from (select id, whole, mine, cells, array(select jsonb_array_elements_text(theirs)) as theirs,` +
      ` coalesce((select jsonb_object_agg(c.key, true) from jsonb_array_elements_text(mine || theirs) c(key)), '{}') as chosen` +
      ` from jsonb_to_recordset(${given}) as s(id bigint, whole boolean, mine jsonb, theirs jsonb, cells jsonb)) g,` +
      ` ${tableName(table)} t where o.account_id = ${bind(table.account_id, 'int')} and o.change_request_id = ${bind(changeRequestId, 'int')}` +
      ` and o.table_definition_id = ${bind(table.table_definition_id, 'int')} and o.id = g.id and t.svc_sk = o.svc_sk and ${currentSql(table, bind)} returning o.id`,
    values: values.list,
  };
}
