// What a kind of change (deployments, promotions, change requests) supplies; the rest of this
// folder works on any.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { allows, type HeldRights } from '@almanac/service-kit/rights/rights';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../context.ts';
import type { Transaction } from '../transaction.ts';
import type { MailContents, MailedStep } from './approval-mails.ts';
import { type Actor, type Machine, requireTransition } from './approval-states.ts';

/** The columns of a stored change that this folder reads. */
export type StoredChange = { id: number; status: string; created_by: number | null; was_resumed: boolean };

/** The branch that a change changes. */
export type ChangedBranch = { id: number; name: string; is_protected: boolean };

/** A step as it is stored. */
export type StoredStep = { action: string; status: string; comment: string | null };

/** `Plan`: what applying would do; `Answer`: the change as the API shows it. */
export type ChangeKind<Stored extends StoredChange, Plan, Answer> = {
  machine: Machine;
  /** The steps that send mails. */
  mails: Record<string, MailedStep>;
  branchOf(change: Stored): ChangedBranch;
  /** True where no user puts a change of their own into effect alone. */
  isGuarded(change: Stored): boolean;
  /** The ids of its branches, for events. */
  branchIds(change: Stored): Record<string, number>;
  /** The names of its branches, for mails. */
  branchNames(tx: Transaction, call: RpcCaller, change: Stored): Promise<{ branch: string; from_branch?: string }>;
  /** A change of the account, or 404. */
  require(ctx: MetadataContext, call: { accountId: number }, id: number): Promise<Stored>;
  /** The same, locked until the transaction ends. */
  lock(tx: Transaction, call: RpcCaller, id: number): Promise<Stored>;
  actorOf(ctx: MetadataContext, call: CallContext, change: Stored): Promise<Actor>;
  /**
   * Does what a step needs before its transaction: a request for approval may plan what it is for.
   * `comment` is null when none was given.
   */
  prepareStep?(
    ctx: MetadataContext,
    call: CallContext,
    change: Stored,
    step: { action: string; comment: string | null; actor: Actor },
  ): Promise<Plan | undefined>;
  /**
   * Stores a step; a request for approval also stores what it is for. Answers the contents of the
   * mails.
   */
  storeStep(tx: Transaction, call: CallContext, change: Stored, step: StoredStep, plan?: Plan): Promise<MailContents>;
  /** The change for a caller who was found to see it; `plan`: made a moment ago. */
  get(ctx: MetadataContext, call: CallContext, id: number, plan?: Plan): Promise<Answer>;
  /** The change, or 403 or 404 when the caller may not see it. */
  show(ctx: MetadataContext, call: CallContext, id: number): Promise<Answer>;
};

type AnyKind<Stored extends StoredChange> = Pick<ChangeKind<Stored, never, unknown>, 'machine' | 'isGuarded'>;

/** Throws 403 or 422 unless the actor may take the step; answers the state that it leads to. */
export function requireStep<Stored extends StoredChange>(
  kind: AnyKind<Stored>,
  change: Stored,
  action: string,
  actor: Actor,
): string {
  return requireTransition(kind.machine, change.status, action, actor, kind.isGuarded(change));
}

/** What a request to apply a change has to do. */
export type ApplyMode = 'begin' | 'wait for the running attempt' | 'answer the outcome';

/** Throws 403 or 422 unless the actor may apply the change. */
export function requireApplicable<Stored extends StoredChange>(
  kind: AnyKind<Stored>,
  change: Stored,
  actor: Actor,
): ApplyMode {
  const { apply, transitions } = kind.machine;
  const isRunning = change.status === transitions[apply]?.to;
  // The outcome was found after a crash, so the request that began it got no answer: it may be
  // repeated, and gets the answer that it would have got.
  const isUnanswered = change.status === transitions.succeed?.to && change.was_resumed;
  requireStep(kind, isRunning || isUnanswered ? { ...change, status: 'failed' } : change, apply, actor);
  if (isUnanswered) return 'answer the outcome';
  return isRunning ? 'wait for the running attempt' : 'begin';
}

/** The actor that a user is, by their rights; `developer` depends on the tables of the kind. */
export function actorWith(
  held: HeldRights,
  { userId }: CallContext,
  { created_by, branchId }: { created_by: number | null; branchId: number },
  developer: boolean,
): Actor {
  return {
    system: false,
    creator: created_by === userId,
    developer,
    approver: allows(held, 'approve', { branchId }),
    administrator: allows(held, 'admin', {}),
  };
}

/** The user who approves a change of a protected branch by applying it; null for no one. */
export function approverOf({ userId }: CallContext, { is_protected }: { is_protected: boolean }, actor: Actor) {
  return is_protected && (actor.approver || actor.administrator) ? (userId ?? null) : null;
}
