// The result of an application, and where it is kept: a request that has one is not applied again.
import type { Sql } from '@almanac/service-kit/postgres/database';
import type { Problem } from '@almanac/service-kit/problems';

/** A problem of one operation; 0: of the request as a whole. `table`: its key. */
export type RequestProblem = Problem & { operation_id: number; table_definition_id: number; table: string };

export type AppliedTable = {
  table_definition_id: number;
  key: string;
  created: number;
  updated: number;
  deleted: number;
  restored: number;
};

export type Applied = {
  status: 'applied' | 'refused' | 'unknown';
  revision: string;
  /** The first of them. */
  problems: RequestProblem[];
  problem_count: number;
  tables: AppliedTable[];
  /** Operations that became a new draft. */
  left: number;
};

/** The result under an application's id; undefined when nothing was applied under it. */
export async function findApplied(sql: Sql, accountId: number, applyId: string): Promise<Applied | undefined> {
  const { rows } = await sql('select result from applied_change_request where account_id = $1::int and apply_id = $2', [
    accountId,
    applyId,
  ]);
  return rows[0]?.result as Applied | undefined;
}

/** The result of the application of a request, under whatever id; undefined before. */
export async function findAppliedTo(
  sql: Sql,
  { account_id, id }: { account_id: number; id: number },
): Promise<Applied | undefined> {
  const { rows } = await sql(
    `select result from applied_change_request where account_id = $1::int and change_request_id = $2::int and result <> '{}'`,
    [account_id, id],
  );
  return rows[0]?.result as Applied | undefined;
}

/** The result as the RPC has it. */
export const appliedMessage = (applied: Applied) => ({
  ...applied,
  problems: applied.problems.map(({ operation_id, table, code, message, column = '' }) => ({
    operation_id,
    table,
    code,
    message,
    column,
  })),
});
