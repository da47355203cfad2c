// Finds the problems of stored operations again, and keeps them with the operations.
import type { Sql } from '@almanac/service-kit/postgres/database';
import type { Problem } from '@almanac/service-kit/problems';
import { referrersOf } from '../records/constraint-sql.ts';
import { rowOf } from '../records/preconditions.ts';
import { catalogueSql } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';
import { checkSql, ofRows } from './check-sql.ts';

// So many operations that had problems are looked at again when others change.
const maxRechecked = 1_000;

/** A deployment has changed a table while its operations were stored or checked. */
export class TableChanged extends Error {
  constructor() {
    super('a table was deployed at the same moment');
  }
}

type Request = { id: number; account_id: number; branch_id: number };

/**
 * Checks these operations (all of them on `table`), and those with problems: what was just added or
 * removed may have solved them. Throws `TableChanged`.
 */
export async function checkOperations(
  sql: Sql,
  request: Request,
  table: DeployedTable | undefined,
  ids: number[],
): Promise<void> {
  const { rows: broken } = await sql(
    `select table_definition_id, array_agg(id) as ids from (
       select table_definition_id, id from change_request_operation
       where account_id = $1::int and change_request_id = $2::int and has_problem order by id limit ${maxRechecked}) b group by 1`,
    [request.account_id, request.id],
  );
  const byTable = new Map(broken.map((row) => [row.table_definition_id as number, (row.ids as unknown[]).map(Number)]));
  if (table)
    byTable.set(table.table_definition_id, [...new Set([...ids, ...(byTable.get(table.table_definition_id) ?? [])])]);
  if (byTable.size === 0) return;
  const statement = catalogueSql.ofBranch(request.account_id, request.branch_id);
  const branch = (await sql(statement.text, statement.values)).rows as DeployedTable[];
  for (const [definition, some] of byTable) {
    const present = branch.find((each) => each.table_definition_id === definition);
    if (present && some.length > 0) await checkTable(sql, request, present, branch, some);
  }
}

async function checkTable(
  sql: Sql,
  request: Request,
  table: DeployedTable,
  branch: DeployedTable[],
  ids: number[],
): Promise<void> {
  const referring = referrersOf(table, branch);
  const targets = new Set(table.structure.foreign_keys.map(({ target_table_id }) => target_table_id));
  const near = branch.filter(
    (other) =>
      other !== table && (targets.has(other.table_definition_id) || referring.some(({ from }) => from === other)),
  );
  const { rows: concerned } = await sql(
    `select d.id from unnest($3::int[]) d(id) where exists (select from change_request_operation o
       where o.account_id = $1::int and o.change_request_id = $2::int and o.table_definition_id = d.id)`,
    [request.account_id, request.id, near.map((other) => other.table_definition_id)],
  );
  const here = new Set(concerned.map(({ id }) => id as number));
  const around = near.filter((other) => here.has(other.table_definition_id));
  const { statement, questions } = checkSql({ table, referring, around }, request.id, ids);
  const { rows } = await sql(statement.text, statement.values);
  if (!rows.some(({ place }) => place === 0)) throw new TableChanged();
  const found = new Map(ids.map((id): [number, Problem[]] => [id, []]));
  for (const { place, question, other, row } of rows) {
    if (place === 0) continue;
    const problem = questions[question as number]?.problem({ id: row as string | null }, Number(other));
    if (problem) found.get(Number(place))?.push({ ...problem, ...(row !== null && rowOf(row as string)) });
  }
  const codes = [...ofRows];
  await sql(
    `update change_request_operation o set problems = coalesce((
         select jsonb_agg(kept.problem order by kept.place) from jsonb_array_elements(o.problems) with ordinality kept(problem, place)
         where not (kept.problem->>'code' = any($5::text[]))), '[]') || f.problems
     from jsonb_to_recordset($4::jsonb) f(id bigint, problems jsonb)
     where o.account_id = $1::int and o.change_request_id = $2::int and o.table_definition_id = $3::int and o.id = f.id
       and (o.has_problem or f.problems <> '[]')`,
    [
      request.account_id,
      request.id,
      table.table_definition_id,
      JSON.stringify([...found].map(([id, problems]) => ({ id, problems }))),
      codes,
    ],
  );
}
