// Comments on a change request, or on one of its operations. They stay when the request has ended.
import { type ListQuery, type Page, page, window } from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { MetadataContext } from '../../context.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { transactOnce } from '../../requests/idempotency.ts';
import { announce, lockRow, type Transaction } from '../../transaction.ts';
import type { Comment } from './change-request-schema.ts';
import { requireVisibleChangeRequest, visibleComments } from './change-requests.ts';

const fields = {
  id: true,
  operation_id: true,
  user_id: true,
  application_id: true,
  body: true,
  at: true,
} as const satisfies Prisma.change_request_commentSelect;
type Stored = Prisma.change_request_commentGetPayload<{ select: typeof fields }>;

const answer = ({ operation_id, ...comment }: Stored): Comment => ({
  ...comment,
  operation_id: operation_id === null ? null : Number(operation_id),
});

/**
 * Lists the comments on a change request, oldest first; those on operations only for callers who
 * see all of its tables.
 */
export async function listComments(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  list: Pick<ListQuery, 'page' | 'perPage'>,
  operationId: number | undefined,
): Promise<Page<Comment>> {
  const { part } = await requireVisibleChangeRequest(ctx, call, id);
  const about = operationId === undefined ? {} : { operation_id: operationId };
  const where = { change_request_id: id, AND: [about, visibleComments(part)] };
  const query = { ...list, conditions: [] };
  const [stored, total] = await Promise.all([
    ctx.prisma.change_request_comment.findMany({ where, select: fields, orderBy: { id: 'asc' }, ...window(query) }),
    ctx.prisma.change_request_comment.count({ where }),
  ]);
  return page(stored.map(answer), query, total);
}

type NewComment = { body: string; operation_id?: number | null | undefined };

/** Adds a comment of a caller who sees the change request; on an operation, who sees all tables. */
export async function createComment(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  readBody: () => NewComment,
): Promise<Comment> {
  const { part, stored } = await requireVisibleChangeRequest(ctx, call, id);
  const { body, operation_id = null } = readBody();
  if (operation_id !== null && !part.isWhole)
    throw new ServiceError('forbidden', {
      code: 'missing_right',
      message: 'You need the right "view" on every table of the change request to comment on its operations.',
    });
  const create = async (tx: Transaction) => {
    if (!(await lockRow(tx, 'change_request', call.accountId, id))) throw notFound('Change request');
    const maximum = limits.commentsPerChangeRequest;
    if ((await tx.change_request_comment.count({ where: { change_request_id: id } })) >= maximum)
      throw new ServiceError('wrong_state', {
        code: 'limit_reached',
        message: `The change request has ${maximum} comments, which is the most.`,
        params: { maximum },
      });
    const made = await tx.change_request_comment.create({
      data: {
        change_request_id: id,
        operation_id,
        user_id: call.userId ?? null,
        application_id: call.userId === undefined ? (call.applicationId ?? null) : null,
        body,
      },
      select: fields,
    });
    const facts = { change_request_id: id, branch_id: stored.branch_id, comment_id: made.id, operation_id };
    await announce(tx, call, 'change_request.commented', { ...facts, user_id: call.userId ?? null });
    return made;
  };
  return answer(await transactOnce(ctx, call, create, (made) => made.id));
}

/** The comment that an earlier request with the same key has made. */
export async function showComment(
  ctx: MetadataContext,
  call: CallContext,
  id: number,
  commentId: number,
): Promise<Comment> {
  await requireVisibleChangeRequest(ctx, call, id);
  const where = { id: commentId, change_request_id: id };
  const found = await ctx.prisma.change_request_comment.findFirst({ where, select: fields });
  if (!found) throw notFound('Comment');
  return answer(found);
}
