// The headers of change requests. Metadata owns a request; data has its operations on rows, and a
// phase that says who may change what.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { pgSql, type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import { AccountMoved, findDeparture, requireResident } from '../clusters/account-placement.ts';
import type { Pools } from '../postgres/pools.ts';
import { type ChangeRequestSummary, summarize } from './summaries.ts';

const phases = ['draft', 'review', 'closed'] as const;
/** `draft`: operations change; `review`: they are decided; `closed`: neither. */
export type Phase = (typeof phases)[number];

/** `created_by`: a user; null for an application. */
export type ChangeRequest = {
  id: number;
  account_id: number;
  branch_id: number;
  created_by: number | null;
  phase: Phase;
  operation_count: number;
  /** Rises with every change of operations and decisions. */
  changes: number;
};

/** Reads the header `$2` of the account `$1`. */
export const headerSql = (lock: '' | 'for update' = ''): string =>
  `select id, account_id, branch_id, created_by, phase, operation_count, changes from change_request
   where account_id = $1::int and id = $2::int ${lock}`;

/** The header; 404 for an unknown id, and for another account's. */
export async function getChangeRequest(pools: Pools, accountId: number, id: number): Promise<ChangeRequest> {
  const { rows } = await pgSql(pools.rows)(headerSql(), [accountId, id]);
  if (rows[0]) return rows[0] as ChangeRequest;
  if ((await findDeparture(pools, accountId)) !== undefined) throw new AccountMoved();
  throw unknownRequest();
}

/** The 404 of an unknown request, and of one on a private branch that is hidden. */
export const unknownRequest = (): ServiceError => notFound('Change request');

/** Locks the header until the transaction ends: changes of a request happen one after the other. */
export async function lockChangeRequest(
  sql: Sql,
  call: Pick<CallContext, 'accountId'>,
  id: number,
): Promise<ChangeRequest> {
  await requireResident(sql, call);
  const { rows } = await sql(headerSql('for update'), [call.accountId, id]);
  if (!rows[0]) throw unknownRequest();
  return rows[0] as ChangeRequest;
}

const reasons: Record<Phase, string> = {
  draft: 'its operations change while it is a draft',
  review: 'its operations are decided while it is under review',
  closed: 'nothing about it changes any more',
};

/** 422 unless the request is in the phase. */
export function requirePhase({ phase }: ChangeRequest, wanted: Phase): void {
  if (phase === wanted) return;
  throw new ServiceError('wrong_state', {
    code: 'wrong_state',
    message: `The change request is in the phase ${phase}; ${reasons[wanted]}.`,
    params: { phase, allowed: [wanted] },
  });
}

/** Notes in the header that operations were changed, and how many were added or taken out. */
export async function touchRequest(sql: Sql, { account_id, id }: ChangeRequest, added = 0): Promise<void> {
  await sql(
    `update change_request set operation_count = operation_count + $3::int, changes = changes + 1
     where account_id = $1::int and id = $2::int`,
    [account_id, id, added],
  );
}

/** What an operation does with its row. */
export type Kind = 'create' | 'update' | 'delete' | 'restore';
export type Decision = 'undecided' | 'accepted' | 'rejected' | 'returned';

type Parts = { pools: Pools };

export type NewChangeRequest = { change_request_id: number; branch_id: number; created_by?: number | undefined };

/** Begins a request in the phase draft. One that is there already stays as it is. */
export async function openChangeRequest(
  { pools }: Parts,
  call: CallContext,
  request: NewChangeRequest,
): Promise<ChangeRequestSummary> {
  return withTransaction(pools.rows, async (sql) => {
    await insertChangeRequest(sql, call, request);
    return summarizeOne(sql, call, request.change_request_id);
  });
}

/** Stores the header, unless it is there already. */
export async function insertChangeRequest(sql: Sql, call: CallContext, request: NewChangeRequest): Promise<void> {
  await requireResident(sql, call);
  await sql(
    `insert into change_request (account_id, id, branch_id, created_by) values ($1::int, $2::int, $3::int, $4::int)
     on conflict do nothing`,
    [call.accountId, request.change_request_id, request.branch_id, request.created_by ?? null],
  );
}

/**
 * Sets the phase. From draft to review, 422 for a request without operations or with operations
 * that have problems. `accept_undecided_by`: operations without a decision become accepted by this
 * user; it goes with the phase closed.
 */
export async function setPhase(
  { pools }: Parts,
  call: CallContext,
  request: { change_request_id: number; phase: string; accept_undecided_by?: number | undefined },
): Promise<ChangeRequestSummary> {
  const { change_request_id: id, accept_undecided_by: acceptedBy } = request;
  const phase = readPhase(request.phase);
  return withTransaction(pools.rows, async (sql) => {
    const found = await lockChangeRequest(sql, call, id);
    if (found.phase !== phase) {
      if (found.phase === 'draft' && phase === 'review') await requireReady(sql, found);
      if (phase === 'closed' && acceptedBy !== undefined) await acceptUndecided(sql, found, acceptedBy);
      await sql(
        'update change_request set phase = $3, changes = changes + 1 where account_id = $1::int and id = $2::int',
        [call.accountId, id, phase],
      );
    }
    return summarizeOne(sql, call, id);
  });
}

function readPhase(text: string): Phase {
  const phase = phases.find((each) => each === text);
  if (phase) return phase;
  throw new ServiceError('bad_request', {
    code: 'not_in_list',
    message: `phase must be one of ${phases.join(', ')}.`,
    field: 'phase',
    params: { allowed: [...phases] },
  });
}

async function requireReady(sql: Sql, { account_id, id, operation_count }: ChangeRequest): Promise<void> {
  if (operation_count === 0)
    throw new ServiceError('wrong_state', {
      code: 'wrong_state',
      message: 'The change request has no operations yet.',
      params: { operation_count: 0 },
    });
  const { rows } = await sql(
    `select p.problem->>'code' as code, count(distinct o.id) as operations, (select count(*) from change_request_operation a
       where a.account_id = $1::int and a.change_request_id = $2::int and a.has_problem) as total
     from change_request_operation o, jsonb_array_elements(o.problems) p(problem)
     where o.account_id = $1::int and o.change_request_id = $2::int and o.has_problem group by 1 order by 2 desc, 1`,
    [account_id, id],
  );
  if (rows.length === 0) return;
  const total = rows[0]?.total as number;
  const codes = Object.fromEntries(rows.map(({ code, operations }) => [code as string, operations as number]));
  const named = Object.entries(codes).map(([code, count]) => `${code} (${count})`);
  throw new ServiceError('wrong_state', {
    code: 'blocked',
    message: `${total} ${total === 1 ? 'operation has' : 'operations have'} problems: ${named.join(', ')}.`,
    params: { count: total, codes },
  });
}

async function acceptUndecided(sql: Sql, { account_id, id }: ChangeRequest, userId: number): Promise<void> {
  await sql(
    `update change_request_operation set decision = 'accepted', decided_by = $3::int, decided_at = now()
     where account_id = $1::int and change_request_id = $2::int and decision = 'undecided'`,
    [account_id, id, userId],
  );
}

/** The summary of a request; 404 for an unknown id. */
export async function summarizeOne(sql: Sql, call: CallContext, id: number): Promise<ChangeRequestSummary> {
  const [summary] = await summarize(sql, call.accountId, [id], false);
  if (!summary) throw unknownRequest();
  return summary;
}

/** Counts the operations of requests; unknown ids are left out. */
export function summarizeChangeRequests(
  { pools }: Parts,
  call: CallContext,
  request: { change_request_ids: number[]; with_revision: boolean },
): Promise<ChangeRequestSummary[]> {
  const ids = request.change_request_ids;
  if (ids.length > limits.perPageMaximum)
    throw new ServiceError('bad_request', {
      code: 'too_many',
      message: `change_request_ids has at most ${limits.perPageMaximum} items.`,
      field: 'change_request_ids',
      params: { maximum: limits.perPageMaximum },
    });
  return withTransaction(pools.rows, (sql) => summarize(sql, call.accountId, ids, request.with_revision), {
    isolation: 'repeatable read',
  });
}

/** Deletes a request with its operations; false when there is none. */
export async function dropChangeRequest(
  { pools }: Parts,
  call: CallContext,
  request: { change_request_id: number },
): Promise<boolean> {
  return withTransaction(pools.rows, async (sql) => {
    await requireResident(sql, call);
    const { rowCount } = await sql('delete from change_request where account_id = $1::int and id = $2::int', [
      call.accountId,
      request.change_request_id,
    ]);
    return (rowCount ?? 0) > 0;
  });
}

/**
 * Deletes results of applications that finished more than 30 days ago: metadata has asked for them
 * by then.
 */
export async function sweepAppliedRequests(sql: Sql): Promise<void> {
  await sql(`delete from applied_change_request where finished_at < now() - interval '30 days'`);
}
