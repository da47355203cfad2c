// Says in the words of the table what a constraint refused, or would refuse: asked of the rows when the database has said no.
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { isForeignKeyViolation, isUniqueViolation } from '@almanac/service-kit/postgres/errors';
import type { DataContext } from '../context.ts';
import { run } from '../postgres/pools.ts';
import { catalogueSql } from '../tables/catalogue.ts';
import type { DeployedTable } from '../tables/table.ts';
import { constraintProblemsSql, referrersOf, referrersSql } from './constraint-sql.ts';
import { findRefusedCycle } from './hierarchy-problems.ts';
import type { Cells } from './record-input.ts';

/** The 422 of values that break rules, with what the constraints would say of the others. `id`: the row that is changed. */
export async function withConstraintProblems(
  ctx: DataContext,
  table: DeployedTable,
  problems: string[],
  cells: Cells,
  id: string | undefined,
): Promise<ServiceError> {
  return validationFailed([...problems, ...(await findConstraintProblems(ctx, table, cells, id))]);
}

/** The 422 of what a constraint refused; other failures stay what they are. */
export async function explainRefusal(
  ctx: DataContext,
  table: DeployedTable,
  error: unknown,
  cells: Cells,
  id: string | undefined,
): Promise<unknown> {
  const cycle = findRefusedCycle(table, error);
  if (cycle) return validationFailed(cycle.sentence);
  if (!isUniqueViolation(error) && !isForeignKeyViolation(error)) return error;
  const problems = await findConstraintProblems(ctx, table, cells, id);
  if (problems.length > 0) return validationFailed(problems);
  // Only a changed key can be missed by those who refer to it.
  if (isForeignKeyViolation(error) && id !== undefined) return explainReferrers(ctx, table, [id], error);
  return error;
}

async function findConstraintProblems(
  ctx: DataContext,
  table: DeployedTable,
  cells: Cells,
  id: string | undefined,
): Promise<string[]> {
  const asked = constraintProblemsSql(table, cells, id);
  if (!asked) return [];
  const [row] = await run<{ broken: boolean[] }>(ctx.pools.rows, asked.statement);
  return asked.problems.filter((_, i) => row?.broken[i] === true);
}

/** The 422 of rows that can't go because others refer to them. */
export async function explainReferrers(
  ctx: DataContext,
  table: DeployedTable,
  ids: string[],
  cause: unknown,
): Promise<unknown> {
  const branch = await run<DeployedTable>(ctx.pools.rows, catalogueSql.ofBranch(table.account_id, table.branch_id));
  const referring = referrersOf(table, branch);
  const statement = referrersSql(table, referring, ids);
  const found = statement ? await run<{ place: number; rows: number; ids: number[] }>(ctx.pools.rows, statement) : [];
  if (found.length === 0)
    return new ServiceError('validation_failed', 'Some of the records are still referred to.', { cause });
  const problems = found.map(({ place, rows, ids: referred }) => {
    const { from } = referring[place - 1] as (typeof referring)[number];
    const records = referred.length === 1 ? `Record ${referred[0]} is` : `Records ${referred.join(', ')} are`;
    return `${records} still referred to by ${rows} ${rows === 1 ? 'record' : 'records'} of ${from.name}.`;
  });
  return validationFailed(problems);
}
