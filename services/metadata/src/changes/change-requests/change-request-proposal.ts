// Creating a change request, and changing its title and description.
import { descriptionSchema } from '@almanac/service-kit/api/input';
import { visibleNameSchema } from '@almanac/service-kit/api/names';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { updatedAct } from '@almanac/service-kit/messaging/audit';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { z } from 'zod';
import { requireBranch } from '../../branches/branches.ts';
import type { MetadataContext } from '../../context.ts';
import { transactOnce } from '../../requests/idempotency.ts';
import { requesterOf } from '../../requests/requester.ts';
import { lockRow, recordAct, type Transaction, transact } from '../../transaction.ts';
import { announceChange } from '../change-events.ts';
import { actorOf } from './change-request-kind.ts';
import { openStates, storedTables, storeTables } from './change-request-operations.ts';
import { requireEditOnBranch } from './change-request-rights.ts';
import type { ChangeRequest } from './change-request-schema.ts';
import { changeRequestMachine, phases } from './change-request-states.ts';
import { lockChangeRequest, requireChangeRequest, showChangeRequest } from './change-requests.ts';

export const newChangeRequestAttributes = { title: visibleNameSchema, description: descriptionSchema.optional() };
export const changeRequestAttributes = { ...newChangeRequestAttributes, title: visibleNameSchema.optional() };
type NewAttributes = z.infer<z.ZodObject<typeof newChangeRequestAttributes>>;
type Attributes = z.infer<z.ZodObject<typeof changeRequestAttributes>>;

/**
 * Creates an empty change request on a branch, for a caller who may edit rows of some table there.
 * Operations are added to it in data.
 */
export async function createChangeRequest(
  ctx: MetadataContext,
  call: CallContext,
  branchId: number,
  read: () => NewAttributes,
): Promise<ChangeRequest> {
  await requireBranch(ctx, call, branchId);
  await requireEditOnBranch(ctx, call, branchId);
  const attributes = read();
  const create = (tx: Transaction) => openOnBranch(ctx, tx, call, { branch_id: branchId, ...attributes });
  const id = await transactOnce(ctx, call, create, (made) => made);
  return showChangeRequest(ctx, call, id);
}

// So long data may take to make operations of a dry run with 100,000 rows, within the transaction.
const proposingDeadlineMs = 18_000;

/**
 * Creates a change request whose operations are the rows of a dry run; data refuses one whose rows
 * are not kept (422). Repeating the load id answers the first request.
 */
export async function proposeLoad(
  ctx: MetadataContext,
  call: CallContext,
  request: NewAttributes & { branch_id: number; load_id: string },
): Promise<number> {
  await requireBranch(ctx, call, request.branch_id);
  await requireEditOnBranch(ctx, call, request.branch_id);
  return transact(ctx, (tx) => openOnBranch(ctx, tx, call, request));
}

async function openOnBranch(
  ctx: MetadataContext,
  tx: Transaction,
  call: CallContext,
  request: NewAttributes & { branch_id: number; load_id?: string },
): Promise<number> {
  const { branch_id, load_id } = request;
  // Under this lock the limit is exact, the branch is not deleted in between, and two calls for one
  // load come one after the other.
  if (!(await lockRow(tx, 'branch', call.accountId, branch_id))) throw notFound('Branch');
  if (load_id !== undefined) {
    const where = { account_id: call.accountId, load_id };
    const earlier = await tx.change_request.findFirst({ where, select: { id: true } });
    if (earlier) return earlier.id;
  }
  await requireRoom(tx, call, branch_id);
  const creator =
    call.userId === undefined ? { application_id: call.applicationId ?? null } : { created_by: call.userId };
  const id = await insertChangeRequest(tx, call, { ...request, ...creator });
  // Data knows the request before anybody does; without a commit its operations are left there.
  const summary = await ctx.data.OpenChangeRequest(
    call,
    {
      change_request_id: id,
      branch_id,
      ...(call.userId === undefined ? {} : { created_by: call.userId }),
      ...(load_id === undefined ? {} : { load_id }),
    },
    load_id === undefined ? {} : { deadlineMs: proposingDeadlineMs },
  );
  await storeTables(tx, id, storedTables(summary));
  return id;
}

async function requireRoom(tx: Transaction, { accountId }: RpcCaller, branchId: number): Promise<void> {
  const where = { account_id: accountId, branch_id: branchId, status: { in: openStates } };
  const maximum = limits.openChangeRequestsPerBranch;
  if ((await tx.change_request.count({ where })) < maximum) return;
  throw new ServiceError('wrong_state', {
    code: 'limit_reached',
    message: `The branch has ${maximum} open change requests, which is the most; end one first.`,
    params: { maximum },
  });
}

type NewChangeRequest = {
  /** An id that was reserved; otherwise the next one. */
  id?: number;
  branch_id: number;
  title: string;
  description?: string | null | undefined;
  created_by?: number | null;
  application_id?: number | null;
  continues_id?: number;
  load_id?: string;
};

/** Stores a new draft, announces it and answers its id. */
export async function insertChangeRequest(
  tx: Transaction,
  caller: RpcCaller,
  { description, ...request }: NewChangeRequest,
): Promise<number> {
  const { id } = await tx.change_request.create({
    data: {
      ...request,
      account_id: caller.accountId,
      description: description ?? null,
      actions: { create: { action: 'create', ...requesterOf(caller) } },
    },
    select: { id: true },
  });
  const event = { machine: changeRequestMachine, branchIds: () => ({ branch_id: request.branch_id }) };
  const { title, continues_id } = request;
  await announceChange(tx, caller, event, { id }, 'create', {
    title,
    ...(continues_id === undefined ? {} : { continues_id }),
  });
  return id;
}

/** Changes title and description of one's own request, while its operations can be changed too. */
export async function updateChangeRequest(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  read: () => Attributes,
): Promise<ChangeRequest> {
  const before = await requireChangeRequest(ctx, call, id);
  const { creator } = await actorOf(ctx, call, before);
  if (!creator)
    throw new ServiceError('forbidden', {
      code: 'missing_right',
      message: 'Only its creator may change this change request.',
    });
  const given = read();
  await transact(ctx, async (tx) => {
    const { status, title, description } = await lockChangeRequest(tx, call, id);
    if (phases[status as keyof typeof phases] !== 'draft')
      throw new ServiceError('wrong_state', {
        code: 'wrong_state',
        message: `Change request is ${status}; one can change it only while it is draft or changes_requested.`,
        params: { state: status },
      });
    const now = { title, description };
    const wanted = {
      title: given.title ?? title,
      description: given.description === undefined ? description : given.description,
    };
    if (JSON.stringify(now) === JSON.stringify(wanted)) return;
    await tx.change_request.update({ where: { id }, data: wanted });
    await recordAct(tx, call, updatedAct('change_request', { id, ...now }, { id, ...wanted }));
  });
  return showChangeRequest(ctx, call, id);
}
