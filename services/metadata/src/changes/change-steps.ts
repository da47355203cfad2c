// The steps of any change that only change its state: requesting approval, rejecting, cancelling,
// abandoning.
import { descriptionSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { type Route, route } from '@almanac/service-kit/api/route';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { z } from 'zod';
import type { MetadataContext } from '../context.ts';
import { idempotencyKeyHeader, idempotent, transactOnce } from '../requests/idempotency.ts';
import type { Transaction } from '../transaction.ts';
import { findRecipients, mailOccasions, requestMails } from './approval-mails.ts';
import { decide, type Step } from './approval-states.ts';
import { announceChange } from './change-events.ts';
import { recordAction } from './change-history.ts';
import { type ChangeKind, requireStep, type StoredChange } from './change-kind.ts';

/** Takes a step and answers the change after it. */
export async function takeStep<Stored extends StoredChange, Plan, Answer>(
  ctx: MetadataContext,
  call: CallContext,
  kind: ChangeKind<Stored, Plan, Answer>,
  id: number,
  action: Step,
  readComment: () => string | null | undefined,
): Promise<Answer> {
  const { machine } = kind;
  const before = await kind.require(ctx, call, id);
  const branch = kind.branchOf(before);
  const actor = await kind.actorOf(ctx, call, before);
  const decision = decide(machine, before.status, action, actor, branch.is_protected);
  if (decision.verdict === 'forbidden')
    throw new ServiceError('forbidden', { code: 'missing_right', message: decision.sentence });
  const comment = readComment() ?? null;
  // Planned before anything changes: if data is unavailable, the change stays as it was.
  const plan = action === 'send_request' ? await kind.planRequest?.(ctx, call, before) : undefined;
  const subject = { branchId: branch.id, creatorId: before.created_by };
  const recipients = action === 'cancel' ? undefined : await findRecipients(ctx, call, mailOccasions[action], subject);
  const step = async (tx: Transaction) => {
    const now = await kind.lock(tx, call, id);
    const status = requireStep(kind, now, action, actor);
    const diffs = await kind.storeStep(tx, call, now, { action, status, comment }, plan);
    await recordAction(tx, machine, id, action, call, comment);
    await announceChange(tx, call, kind, now, action, { user_id: call.userId ?? null, comment });
    if (!recipients) return;
    const names = await kind.branchNames(tx, call, now);
    const outcome = action === 'reject' ? { outcome: 'rejected' as const, reasons: [] } : {};
    await requestMails(tx, call, recipients, { noun: machine.noun, id, ...names, comment, diffs, ...outcome });
  };
  await transactOnce(ctx, call, step, () => id);
  return kind.get(ctx, call, id, plan);
}

/** What the document says about a step. */
export type StepWords = { summary: string; description: string };

/** The route of a step. */
export function stepRoute<Stored extends StoredChange, Plan, Answer>(
  ctx: MetadataContext,
  kind: ChangeKind<Stored, Plan, Answer>,
  { tag, response }: { tag: string; response: z.ZodType },
  action: Step,
  words: StepWords,
): Route {
  const { noun } = kind.machine;
  return route({
    tag,
    resource: noun,
    user: true,
    branching: true,
    method: 'POST',
    path: `/${noun}s/{id}/${action}`,
    ...words,
    example: { comment: 'Codes of the summer catalogue' },
    params: { id: idTextSchema },
    body: { comment: descriptionSchema.optional() },
    requestHeaders: idempotencyKeyHeader,
    response,
    handle: async ({ call, params, body }) => {
      const step = () => takeStep(ctx, call, kind, params.id, action, () => body().comment);
      return idempotent(ctx, call, step, (id) => kind.show(ctx, call, id));
    },
  });
}
