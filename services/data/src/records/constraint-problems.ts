// Explains in the words of the table what a constraint refused, or would refuse: a query over the
// rows, after the database refused a write.
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { isForeignKeyViolation, isUniqueViolation } from '@almanac/service-kit/postgres/errors';
import type { Problem } from '@almanac/service-kit/problems';
import { type Pools, run } from '../postgres/pools.ts';
import { catalogueSql } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';
import { constraintProblemsSql, referrersOf, referrersSql } from './constraint-sql.ts';
import { findRefusedCycle } from './hierarchy-problems.ts';
import type { Cells } from './record-input.ts';

/**
 * The 422 of values that break rules, and of those that constraints would refuse. `id`: the row
 * that is changed.
 */
export async function withConstraintProblems(
  pools: Pools,
  table: DeployedTable,
  problems: Problem[],
  cells: Cells,
  id: string | undefined,
): Promise<ServiceError> {
  return validationFailed([...problems, ...(await findConstraintProblems(pools, table, cells, id))]);
}

/** The 422 for the refusal of a constraint; other errors are returned as they are. */
export async function explainRefusal(
  pools: Pools,
  table: DeployedTable,
  error: unknown,
  cells: Cells,
  id: string | undefined,
): Promise<unknown> {
  const cycle = findRefusedCycle(table, error);
  if (cycle) return validationFailed(cycle.problem);
  if (!isUniqueViolation(error) && !isForeignKeyViolation(error)) return error;
  const problems = await findConstraintProblems(pools, table, cells, id);
  if (problems.length > 0) return validationFailed(problems);
  // Rows refer to the old key of this row.
  if (isForeignKeyViolation(error) && id !== undefined) return explainReferrers(pools, table, [id], error);
  return error;
}

async function findConstraintProblems(
  pools: Pools,
  table: DeployedTable,
  cells: Cells,
  id: string | undefined,
): Promise<Problem[]> {
  const query = constraintProblemsSql(table, cells, id);
  if (!query) return [];
  const [row] = await run<{ broken: boolean[] }>(pools.rows, query.statement);
  return query.problems.filter((_, i) => row?.broken[i] === true);
}

/** The 422 of rows that can't be deleted because others refer to them. */
export async function explainReferrers(
  pools: Pools,
  table: DeployedTable,
  ids: string[],
  cause: unknown,
): Promise<unknown> {
  const branch = await run<DeployedTable>(pools.rows, catalogueSql.ofBranch(table.account_id, table.branch_id));
  const referring = referrersOf(table, branch);
  const statement = referrersSql(table, referring, ids);
  const found = statement ? await run<{ place: number; rows: number; ids: number[] }>(pools.rows, statement) : [];
  if (found.length === 0)
    return new ServiceError(
      'validation_failed',
      { code: 'still_referenced', message: 'Some of the records are still referred to.' },
      { cause },
    );
  const problems = found.map(({ place, rows, ids: referred }): Problem => {
    const { from } = referring[place - 1] as (typeof referring)[number];
    const records = referred.length === 1 ? `Record ${referred[0]} is` : `Records ${referred.join(', ')} are`;
    return {
      code: 'still_referenced',
      message: `${records} still referred to by ${rows} ${rows === 1 ? 'record' : 'records'} of ${from.name}.`,
      ...(referred.length === 1 && { row: referred[0] as number }),
      params: { rows: referred, table: from.name, table_definition_id: from.table_definition_id, count: rows },
    };
  });
  return validationFailed(problems);
}
