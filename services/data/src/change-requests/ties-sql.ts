// Which operations of a request need others to be applied: a row needs the new row that it refers
// to, and a row that goes, or gives its key up, needs those that referred to it to go or to refer
// to something else. Pure.
import {
  cellAfter,
  cellBefore,
  cellState,
  checkedLineages,
  operationsSql,
} from '../records/batch/batch-problems-sql.ts';
import { operationsName } from '../sql/identifiers.ts';
import type { DeployedTable, ForeignKey } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import type { Decision } from './change-requests.ts';
import { concernsOthersSql, storedSql } from './check-sql.ts';

type Request = { account_id: number; id: number };

/** A foreign key between two tables of the request. */
type Link = { from: DeployedTable; to: DeployedTable; foreignKey: ForeignKey };

const linksOf = (tables: readonly DeployedTable[]): Link[] =>
  tables.flatMap((from) =>
    from.structure.foreign_keys.flatMap((foreignKey) => {
      const to = tables.find((each) => each.table_definition_id === foreignKey.target_table_id);
      return to ? [{ from, to, foreignKey }] : [];
    }),
  );

/**
 * Common table expressions for `with recursive` that end with `also`: the operations that go along
 * with those of the relation `wanted`, as `operation_id` and `because_of` another. Acceptance takes
 * along what is needed and not accepted yet, rejection and return what needs the operation; with
 * `undecided` what is needed and was rejected or returned becomes undecided, too.
 */
export function tiesSql(request: Request, tables: readonly DeployedTable[], decision: Decision, bind: Bind): string[] {
  const links = linksOf(tables);
  if (links.length === 0) return ['also as (select 0::bigint as operation_id, 0::bigint as because_of where false)'];
  const linked = [...new Set(links.flatMap(({ from, to }) => [from, to]))];
  const relations = linked.map((table) =>
    operationsSql(
      operationsName(table),
      table,
      checkedLineages(table),
      storedSql(table, request.id, bind, concernsOthersSql(table)),
    ),
  );
  const isUpwards = decision === 'accepted' || decision === 'undecided';
  const [begin, end] = isUpwards ? ['dependent', 'needed'] : ['needed', 'dependent'];
  const goes = {
    accepted: `o.decision <> 'accepted'`,
    undecided: `o.decision in ('rejected', 'returned')`,
    rejected: `o.decision in ('undecided', 'accepted')`,
    returned: `o.decision in ('undecided', 'accepted')`,
  }[decision];
  return [
    ...relations,
    `tie as materialized (select distinct dependent, needed from (${links.flatMap(linkSql).join(' union all ')}) t where dependent <> needed)`,
    `went(id, because_of) as (select id, null::bigint from wanted union select t.${end}, t.${begin} from went w join tie t on t.${begin} = w.id)`,
    `also as materialized (select o.id as operation_id, min(w.because_of) as because_of from went w join change_request_operation o` +
      ` on o.account_id = ${bind(request.account_id, 'int')} and o.change_request_id = ${bind(request.id, 'int')} and o.id = w.id` +
      ` where w.because_of is not null and not exists (select from wanted d where d.id = o.id) and ${goes} group by o.id)`,
  ];
}

function linkSql({ from, to, foreignKey }: Link): string[] {
  const [x, p] = [operationsName(from), operationsName(to)];
  const { columns, target_columns: key } = foreignKey;
  const pairs = (one: (lineage: number) => string, other: (lineage: number) => string) =>
    key.map((lineage, i) => `x.${one(columns[i] as number)} = p.${other(lineage)}`).join(' and ');
  const given = (alias: string, lineages: readonly number[]) =>
    `(${lineages.map((lineage) => `${alias}.${cellState(lineage)} <> 0`).join(' or ')})`;
  const moves = (alias: string, lineages: readonly number[]) =>
    lineages.map((each) => `${alias}.${cellAfter(each)} is distinct from ${alias}.${cellBefore(each)}`).join(' or ');
  return [
    // The row that it refers to comes by another operation.
    `select x.place as dependent, p.place as needed from ${x} x join ${p} p on ${pairs(cellAfter, cellAfter)}` +
      ` where not x.is_deleted and ${given('x', columns)} and not p.is_deleted and ${given('p', key)} and (p.was_deleted or ${moves('p', key)})`,
    // The row that it gives up was referred to by a row of another operation.
    `select p.place as dependent, x.place as needed from ${x} x join ${p} p on ${pairs(cellBefore, cellBefore)}` +
      ` where not x.was_deleted and not p.was_deleted and (p.is_deleted or (${given('p', key)} and (${moves('p', key)})))` +
      ` and (x.is_deleted or (${given('x', columns)} and (${moves('x', columns)})))`,
  ];
}
