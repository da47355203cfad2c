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
import { type ChangeRequest, getChangeRequest, unknownRequest } from './change-requests.ts';

const isCreator = ({ userId }: CallContext, { created_by }: ChangeRequest) =>
  userId === undefined ? created_by === null : created_by === userId;

type Access = TableAccess & { pools: Pools };

/**
 * The tables that a request changes, found by jumps in an index from one to the next. `among`: of
 * these operations (`o`) alone.
 */
export async function findChangedTables(
  sql: Sql,
  { account_id, id }: Pick<ChangeRequest, 'account_id' | 'id'>,
  among = 'true',
): Promise<number[]> {
  const next = (condition: string) =>
    `select min(o.table_definition_id) from change_request_operation o
     where o.account_id = $1::int and o.change_request_id = $2::int and ${among} and ${condition}`;
  const { rows } = await sql(
    `with recursive t(id) as (${next('true')} union all select (${next('o.table_definition_id > t.id')}) from t where t.id is not null)
     select id from t where id is not null`,
    [account_id, id],
  );
  return rows.map((row) => row.id as number);
}

/**
 * The deployed tables of the request, by id: all of them, and those whose operations the caller
 * sees. 404 when the request is on a private branch that is hidden from them, else 403 when they
 * see none.
 */
export async function findSeen(
  { pools, catalogue, rights }: Access,
  call: CallContext,
  header: ChangeRequest,
): Promise<{ all: Map<number, DeployedTable>; seen: Map<number, DeployedTable> }> {
  const all = await catalogue.findAll(header.account_id, await findChangedTables(pgSql(pools.rows), header));
  if (call.userId === undefined || isCreator(call, header)) return { all, seen: all };
  const held = await rights.get(call);
  const where = { branchId: header.branch_id };
  if (allows(held, 'approve', where)) return { all, seen: all };
  const seen = await visible(rights, call, all);
  if (seen.size === 0 && !allows(held, 'view', where)) throw refusal(held, 'view', where, unknownRequest);
  return { all, seen };
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
