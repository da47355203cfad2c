// The steps of any change that change its state without applying it, such as requesting approval,
// rejecting and cancelling.
import { descriptionSchema, idTextSchema } from '@almanac/service-kit/api/input';
import { type Route, route } from '@almanac/service-kit/api/route';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { z } from 'zod';
import type { MetadataContext } from '../context.ts';
import { idempotencyKeyHeader, idempotent, transactOnce } from '../requests/idempotency.ts';
import type { Transaction } from '../transaction.ts';
import { findRecipients, requestMails } from './approval-mails.ts';
import { decide } from './approval-states.ts';
import { announceChange } from './change-events.ts';
import { recordAction } from './change-history.ts';
import { type ChangeKind, requireStep, type StoredChange } from './change-kind.ts';

/** Takes a step and answers the change after it. */
export async function takeStep<Stored extends StoredChange, Plan, Answer>(
  ctx: MetadataContext,
  call: CallContext,
  kind: ChangeKind<Stored, Plan, Answer>,
  id: number,
  action: string,
  readComment: () => string | null | undefined,
): Promise<Answer> {
  const { machine } = kind;
  const before = await kind.require(ctx, call, id);
  const branch = kind.branchOf(before);
  const actor = await kind.actorOf(ctx, call, before);
  const decision = decide(machine, before.status, action, actor, kind.isGuarded(before));
  if (decision.verdict === 'forbidden')
    throw new ServiceError('forbidden', { code: 'missing_right', message: decision.sentence });
  const comment = readComment() ?? null;
  // Prepared before anything changes: if data is unavailable, the change stays as it was.
  const plan = await kind.prepareStep?.(ctx, call, before, { action, comment, actor });
  const subject = { branchId: branch.id, creatorId: before.created_by };
  const mail = kind.mails[action];
  const recipients = mail && (await findRecipients(ctx, call, mail.occasion, subject));
  const step = async (tx: Transaction) => {
    const now = await kind.lock(tx, call, id);
    const status = requireStep(kind, now, action, actor);
    const contents = await kind.storeStep(tx, call, now, { action, status, comment }, plan);
    await recordAction(tx, machine, id, action, call, comment);
    await announceChange(tx, call, kind, now, action, { user_id: call.userId ?? null, comment });
    if (!recipients) return;
    const names = await kind.branchNames(tx, call, now);
    const outcome = mail.outcome ? { outcome: mail.outcome, reasons: [] } : {};
    await requestMails(tx, call, recipients, { noun: machine.noun, id, ...names, comment, contents, ...outcome });
  };
  await transactOnce(ctx, call, step, () => id);
  return kind.get(ctx, call, id, plan);
}

/** What the document says about a step. */
export type StepWords = { summary: string; description: string; operationId?: string };

/** What the routes of a kind have in common. */
type Edge = { tag: string; response: z.ZodType; user?: true; branching?: true; extension?: true };

/** The comment of a step, which may be left out. */
export const optionalComment = descriptionSchema.optional();

/** The route of a step. `comment`: the schema of its comment. */
export function stepRoute<Stored extends StoredChange, Plan, Answer>(
  ctx: MetadataContext,
  kind: ChangeKind<Stored, Plan, Answer>,
  edge: Edge,
  action: string,
  words: StepWords,
  comment: z.ZodType<string | null | undefined> = optionalComment,
): Route {
  const { noun } = kind.machine;
  return route({
    ...edge,
    resource: noun,
    method: 'POST',
    path: `/${noun}s/{id}/${action}`,
    ...words,
    example: { comment: 'Codes of the summer catalogue' },
    params: { id: idTextSchema },
    body: { comment },
    requestHeaders: idempotencyKeyHeader,
    handle: async ({ call, params, body }) => {
      const step = () => takeStep(ctx, call, kind, params.id, action, () => body().comment);
      return idempotent(ctx, call, step, (id) => kind.show(ctx, call, id));
    },
  });
}
