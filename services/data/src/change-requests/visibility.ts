// Who sees a change request: its creator, those who approve on its branch, and those who may view
// rows of a table that it changes; these see the operations on that table.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import type { Problem } from '@almanac/service-kit/problems';
import { allows, refusal } from '@almanac/service-kit/rights/rights';
import type { Pools } from '../postgres/pools.ts';
import { type ChangeRequestReading, type TableAccess, visible } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import { type ChangeRequest, getChangeRequest, type Kind, unknownRequest } from './change-requests.ts';

export type Decision = 'undecided' | 'accepted' | 'rejected' | 'returned';

/** How many operations of a table are alike in this. */
export type Group = {
  table_definition_id: number;
  kind: Kind;
  decision: Decision;
  has_problem: boolean;
  count: number;
};

/** The operations of a request in groups. */
export async function countGroups(sql: Sql, { account_id, id }: ChangeRequest): Promise<Group[]> {
  const { rows } = await sql(
    `select table_definition_id, kind, decision, has_problem, count(*) as count from change_request_operation
     where account_id = $1::int and change_request_id = $2::int group by 1, 2, 3, 4`,
    [account_id, id],
  );
  return rows as Group[];
}

const isCreator = ({ userId }: CallContext, { created_by }: ChangeRequest) =>
  userId === undefined ? created_by === null : created_by === userId;

type Access = TableAccess & { pools: Pools };

/**
 * The deployed tables of the request whose operations the caller sees, by id, and all groups. 404
 * when the request is on a private branch that is hidden from them, else 403 when they see none.
 */
export async function findSeen(
  { pools, catalogue, rights }: Access,
  call: CallContext,
  header: ChangeRequest,
): Promise<{ tables: Map<number, DeployedTable>; groups: Group[] }> {
  const groups = await countGroups(pgSql(pools.rows), header);
  const ids = groups.map(({ table_definition_id }) => table_definition_id);
  const tables = await catalogue.findAll(header.account_id, ids);
  if (call.userId === undefined || isCreator(call, header)) return { tables, groups };
  const held = await rights.get(call);
  const where = { branchId: header.branch_id };
  if (allows(held, 'approve', where)) return { tables, groups };
  const seen = await visible(rights, call, tables);
  if (seen.size === 0 && !allows(held, 'view', where)) throw refusal(held, 'view', where, unknownRequest);
  return { tables: seen, groups };
}

/** 403 for others than the creator (404 as above); any application, when one has made it. */
export async function requireCreator(access: Access, call: CallContext, header: ChangeRequest): Promise<void> {
  if (isCreator(call, header)) return;
  await findSeen(access, call, header);
  throw new ServiceError('forbidden', {
    code: 'missing_right',
    message: 'Only the creator of a change request may change its operations.',
  });
}

/** 404 that names the operations that were not found, the first hundred of them. */
export function refuseUnknownOperations(wanted: number[], found: number[]): void {
  const known = new Set(found);
  const unknown = wanted.filter((id) => !known.has(id));
  if (unknown.length === 0) return;
  throw new ServiceError(
    'not_found',
    unknown.map((id): Problem => ({ code: 'not_found', message: `Operation ${id} not found`, params: { id } })),
  );
}

/**
 * The request through which rows are read, for those who see it (404, 403 as above). 422 when it
 * was applied.
 */
export async function openReading(access: Access, call: CallContext, id: number): Promise<ChangeRequestReading> {
  const header = await getChangeRequest(access.pools, call.accountId, id);
  await findSeen(access, call, header);
  await refuseApplied(pgSql(access.pools.rows), header.account_id, id);
  return { changeRequestId: id, branchId: header.branch_id };
}

/** 422 when the request was applied: its rows are those of the table then. */
export async function refuseApplied(sql: Sql, accountId: number, id: number): Promise<void> {
  const { rows } = await sql(
    'select true from applied_change_request where account_id = $1::int and change_request_id = $2::int limit 1',
    [accountId, id],
  );
  if (rows.length > 0)
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: 'The change request was applied; read the table itself.',
      field: 'change_request_id',
    });
}
