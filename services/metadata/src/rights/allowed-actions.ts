// What the caller may do with a resource, for programs that show buttons: `can`, and for the rest
// why not. It is judged by the same checks as the operations and by what was read for the answer,
// so an operation may still be refused for what only it looks at.
import type { Page } from '@almanac/service-kit/api/list-query';
import {
  type CallContext,
  hasScope,
  requireBranching,
  requireScope,
  requireUser,
} from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import { type Action, allows, type HeldRights, missingRight, type Where } from '@almanac/service-kit/rights/rights';
import { z } from 'zod';
import type { MetadataContext } from '../context.ts';

export type Allowed = { can: string[]; can_not: Record<string, string> };

/** The members of an answer that `include=can` asks for. */
export const allowedShape = {
  can: z
    .array(z.string())
    .optional()
    .meta({ description: 'With `include=can`: what the caller may do with it (docs/how-to/who-may-what.md).' }),
  can_not: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: 'With `include=can`: why the caller may not do the rest, as the refusal would say it.' }),
};

/** The parameter of reads that can say what the caller may do. */
export const includeSchema = z
  .enum(['can'])
  .optional()
  .meta({ description: 'Extension: `can` adds what the caller may do with each, and why not the rest.' });
export type Include = z.infer<typeof includeSchema>;

/** What an action takes. `refuse`: the sentence against it, besides scope, user and plan. */
export type Condition = {
  scope: 'api:read' | 'api:write' | 'api:delete' | 'api:admin';
  needsUser?: boolean;
  needsBranching?: boolean;
  refuse?: () => string | undefined;
};

/** Judges actions by their conditions. */
export function judge(call: CallContext, conditions: Record<string, Condition>): Allowed {
  const allowed: Allowed = { can: [], can_not: {} };
  for (const [action, condition] of Object.entries(conditions)) {
    const reason = refusalOf(call, condition);
    if (reason === undefined) allowed.can.push(action);
    else allowed.can_not[action] = reason;
  }
  return allowed;
}

function refusalOf(call: CallContext, { scope, needsUser, needsBranching, refuse }: Condition): string | undefined {
  return (
    sentenceOf(() => requireScope(call, scope)) ??
    (needsUser ? sentenceOf(() => requireUser(call)) : undefined) ??
    (needsBranching ? sentenceOf(() => requireBranching(call)) : undefined) ??
    refuse?.()
  );
}

/** The sentence by which a check refuses; undefined when it lets the caller pass. */
function sentenceOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.errors[0];
  }
}

/** The rights of the caller; undefined for an application, which acts within its scopes. */
export async function findHeld(ctx: MetadataContext, call: CallContext): Promise<HeldRights | undefined> {
  return call.userId === undefined ? undefined : ctx.rights.get(call);
}

/** The sentence against a missing right; undefined when the caller has it. */
export function lacks(held: HeldRights | undefined, action: Action, where: Where): string | undefined {
  return held === undefined || allows(held, action, where) ? undefined : missingRight(action, where).errors[0];
}

/** True when the protection of a branch does not stop the caller (protected-branches.ts). */
export function administers(held: HeldRights | undefined, call: CallContext, branchId: number): boolean {
  if (!call.branching) return true;
  return held === undefined ? hasScope(call, 'api:admin') : allows(held, 'admin', { branchId });
}

type Judge<T> = (items: T[]) => Promise<Allowed[]>;

/** One answer, with what the caller may do when that is asked for. */
export async function withAllowed<T extends object>(include: Include, item: T, judgeAll: Judge<T>) {
  return include === undefined ? item : { ...item, ...(await judgeAll([item]))[0] };
}

/** A page, with what the caller may do with each item when that is asked for. */
export async function withAllowedOnPage<T extends object>(include: Include, page: Page<T>, judgeAll: Judge<T>) {
  if (include === undefined) return page;
  const allowed = await judgeAll(page.data);
  return { ...page, data: page.data.map((item, i) => ({ ...item, ...allowed[i] })) };
}
