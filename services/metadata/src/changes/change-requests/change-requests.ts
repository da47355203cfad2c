// Change requests: rows are proposed, reviewed and applied together. This service has the request,
// its states, approvals and comments; data has its operations and the decisions on them.
// change-request-states.ts says which step may follow which.
import {
  type ListQuery,
  type Page,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound } from '@almanac/service-kit/errors';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import { branchReferenceFields } from '../../branches/branches.ts';
import type { MetadataContext } from '../../context.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { lockRow, type Transaction } from '../../transaction.ts';
import { listHistory } from '../change-history.ts';
import {
  hasEnded,
  type Summary,
  storedTables,
  storeTables,
  summarize,
  summarizeWithRevision,
} from './change-request-operations.ts';
import { policyOf, type RequestPolicy } from './change-request-policy.ts';
import {
  actorBy,
  readHeld,
  requireVisiblePart,
  type VisiblePart,
  visibleChangeRequests,
} from './change-request-rights.ts';
import type { AppliedTable, ChangeRequest, ChangeRequestSummary } from './change-request-schema.ts';
import type { ChangeRequestState } from './change-request-states.ts';
import { possibleSteps } from './possible-steps.ts';

const summaryFields = {
  id: true,
  branch_id: true,
  title: true,
  description: true,
  status: true,
  created_by: true,
  application_id: true,
  continues_id: true,
  approved_by: true,
  applied_by: true,
  error: true,
  created_at: true,
  updated_at: true,
  applied_at: true,
  branch: { select: branchReferenceFields },
} as const satisfies Prisma.change_requestSelect;
type StoredSummary = Prisma.change_requestGetPayload<{ select: typeof summaryFields }>;

const storedFields = {
  ...summaryFields,
  account_id: true,
  approved_revision: true,
  applied: true,
  attempt: true,
  was_resumed: true,
  tables: {
    select: {
      table_definition_id: true,
      domain_id: true,
      key: true,
      name: true,
      created: true,
      updated: true,
      deleted: true,
    },
    orderBy: { table_definition_id: 'asc' },
  },
} as const satisfies Prisma.change_requestSelect;

/** A change request with the policy that it is under. */
export type StoredChangeRequest = Prisma.change_requestGetPayload<{ select: typeof storedFields }> & {
  policy: RequestPolicy;
};

export const changeRequestFilters = {
  id: 'integer',
  branch_id: 'integer',
  status: 'text',
  title: 'text',
  description: 'text?',
  created_by: 'integer?',
  application_id: 'integer?',
  continues_id: 'integer?',
  approved_by: 'integer?',
  applied_by: 'integer?',
  error: 'text?',
  created_at: 'time',
  updated_at: 'time',
  applied_at: 'time?',
} as const;

type Filter = { branch_id?: number; status?: ChangeRequestState; created_by?: number; table_definition_id?: number };

/** Lists the change requests that the caller sees. */
export async function listChangeRequests(
  ctx: MetadataContext,
  call: CallContext,
  list: ListQuery,
  { table_definition_id, ...filter }: Filter,
): Promise<Page<ChangeRequestSummary>> {
  const where: Prisma.change_requestWhereInput = {
    account_id: call.accountId,
    ...filter,
    AND: [
      prismaWhere(list.conditions),
      await visibleChangeRequests(ctx, call),
      table_definition_id === undefined ? {} : { tables: { some: { table_definition_id } } },
    ],
  };
  const [stored, total] = await Promise.all([
    ctx.prisma.change_request.findMany({ where, select: summaryFields, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.change_request.count({ where }),
  ]);
  const ids = stored.map(({ id }) => id);
  const [summaries, held] = await Promise.all([summarize(ctx, call, ids), readHeld(ctx, call, { fresh: false })]);
  const data = stored.flatMap((request) => {
    const summary = summaries.get(request.id);
    const part = findVisiblePart(() => requireVisiblePart(held, call, { ...request, tables: summary?.tables ?? [] }));
    return [answerSummary(request, summary, part)];
  });
  return page(data, list, total);
}

// The tables of a draft may have changed since the list was filtered by them.
function findVisiblePart(require: () => VisiblePart): VisiblePart {
  try {
    return require();
  } catch {
    return { isWhole: false, sees: () => false };
  }
}

/** A change request of the account, or 404. */
export async function requireChangeRequest(
  ctx: Pick<MetadataContext, 'prisma'>,
  call: { accountId: number },
  id: number,
): Promise<StoredChangeRequest> {
  return readChangeRequest(ctx.prisma, call, id);
}

/** A change request of the account, locked until the transaction ends, or 404. */
export async function lockChangeRequest(tx: Transaction, call: RpcCaller, id: number): Promise<StoredChangeRequest> {
  if (!(await lockRow(tx, 'change_request', call.accountId, id))) throw notFound('Change request');
  return readChangeRequest(tx, call, id);
}

async function readChangeRequest(
  db: Transaction,
  call: { accountId: number },
  id: number,
): Promise<StoredChangeRequest> {
  const where = { id, account_id: call.accountId };
  const found = await db.change_request.findFirst({ where, select: storedFields });
  if (!found) throw notFound('Change request');
  const tableIds = found.tables.map(({ table_definition_id }) => table_definition_id);
  return { ...found, policy: await policyOf(db, call, found.branch_id, tableIds) };
}

/** A change request that the caller sees, with what data counts of it now, or 403 or 404. */
export async function requireVisibleChangeRequest(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
): Promise<{ stored: StoredChangeRequest; summary: Summary | undefined; part: VisiblePart }> {
  const stored = await requireChangeRequest(ctx, call, id);
  const held = await readHeld(ctx, call, { fresh: false });
  const summary = hasEnded(stored.status)
    ? (await summarize(ctx, call, [id])).get(id)
    : await summarizeWithRevision(ctx, call, id);
  const part = requireVisiblePart(held, call, { ...stored, tables: summary?.tables ?? stored.tables });
  return { stored, summary, part };
}

/** A change request as the caller sees it, with its history, approvals and possible steps. */
export async function showChangeRequest(ctx: MetadataContext, call: CallContext, id: number): Promise<ChangeRequest> {
  const { stored, summary, part } = await requireVisibleChangeRequest(ctx, call, id);
  if (summary) await followTables(ctx, stored, summary);
  const [approvals, actions, continued, comments, held] = await Promise.all([
    ctx.prisma.change_request_approval.findMany({
      where: { change_request_id: id },
      select: { user_id: true, revision: true, comment: true, at: true },
      orderBy: { at: 'asc' },
    }),
    listHistory(ctx.prisma, 'change_request', id),
    ctx.prisma.change_request.findFirst({
      where: { account_id: call.accountId, continues_id: id },
      select: { id: true },
    }),
    ctx.prisma.change_request_comment.count({ where: { change_request_id: id, ...visibleComments(part) } }),
    readHeld(ctx, call, { fresh: false }),
  ]);
  const { policy, tables: _t, account_id: _a, approved_revision: _r, attempt: _n, was_resumed: _w, ...fields } = stored;
  const revision = hasEnded(stored.status) ? null : (summary?.revision ?? null);
  const given = approvals.map((approval) => ({ ...approval, is_current: approval.revision === revision }));
  return {
    ...answerSummary(fields, summary, part),
    revision,
    policy,
    approvals: given,
    applied: (stored.applied as AppliedTable[] | null)?.filter(sees(part, summary)) ?? null,
    continued_by_id: continued?.id ?? null,
    comments_count: comments,
    actions,
    ...possibleSteps(stored, actorBy(held, call, stored), call, given),
  };
}

/** The comments that a caller sees: those on operations only with all of the tables. */
export const visibleComments = ({ isWhole }: VisiblePart): Prisma.change_request_commentWhereInput =>
  isWhole ? {} : { operation_id: null };

const sees = (part: VisiblePart, summary: Summary | undefined) => {
  const domains = new Map(
    summary?.tables.map(({ table_definition_id, domain_id }) => [table_definition_id, domain_id]),
  );
  return ({ table_definition_id }: AppliedTable) =>
    part.sees({ table_definition_id, domain_id: domains.get(table_definition_id) ?? 0 });
};

function answerSummary(
  { status, branch, ...request }: StoredSummary,
  summary: Summary | undefined,
  part: VisiblePart,
): ChangeRequestSummary {
  return {
    ...request,
    status: status as ChangeRequestState,
    branch: branch as ChangeRequestSummary['branch'],
    counts: {
      operations: summary?.operation_count ?? 0,
      undecided: summary?.undecided ?? 0,
      accepted: summary?.accepted ?? 0,
      rejected: summary?.rejected ?? 0,
      returned: summary?.returned ?? 0,
      with_problems: summary?.with_problems ?? 0,
    },
    table_definitions: (summary?.tables ?? [])
      .filter(part.sees)
      .map(({ table_definition_id: id, key, name, created, updated, deleted, with_problems }) => ({
        ...{ id, key, name, created, updated, deleted, with_problems },
      })),
  };
}

// Lists are filtered by the stored tables, so they follow what the request is seen to concern.
async function followTables(ctx: MetadataContext, stored: StoredChangeRequest, summary: Summary): Promise<void> {
  const tables = storedTables(summary).sort((a, b) => a.table_definition_id - b.table_definition_id);
  if (JSON.stringify(tables) === JSON.stringify(stored.tables)) return;
  try {
    await ctx.prisma.$transaction((tx) => storeTables(tx, stored.id, tables));
  } catch (error) {
    ctx.logger.warn({ err: error, change_request_id: stored.id }, 'the tables of a change request were not stored');
  }
}
