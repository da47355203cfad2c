// The steps of a change request that its reader may take now, and why not the others.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type Actor, decide } from '../approval-states.ts';
import type { RequestPolicy } from './change-request-policy.ts';
import { type ChangeRequestAction, type ChangeRequestState, changeRequestMachine } from './change-request-states.ts';

/** The steps that only a person may take: an application proposes, people decide. */
const deciding = ['request_changes', 'approve', 'reject', 'apply'] as const;
const proposing = ['send_request', 'withdraw', 'cancel'] as const;

const needsPerson = 'It takes the token of a person.';

type Request = { status: string; policy: RequestPolicy };
type Approval = { user_id: number; is_current: boolean };

/** `can`: the steps that the actor may take in the present state; `can_not`: why not the others. */
export function possibleSteps(
  { status, policy }: Request,
  actor: Actor,
  { userId }: Pick<CallContext, 'userId'>,
  approvals: Approval[],
): { can: string[]; can_not: Record<string, string> } {
  const state = status as ChangeRequestState;
  const verdict = (action: ChangeRequestAction) =>
    decide(changeRequestMachine, state, action, actor, !policy.self_approval);
  const refusals = [...proposing, ...deciding].map((step): [string, string | undefined] => {
    if (userId === undefined && deciding.some((each) => each === step)) return [step, needsPerson];
    const isDirect = step === 'apply' && state === 'requested';
    const decision = verdict(isDirect ? 'approve_and_apply' : step);
    if (decision.verdict !== 'allowed') return [step, decision.sentence];
    const others = approvals.filter(({ user_id, is_current }) => is_current && user_id !== userId).length;
    return [step, isDirect ? missingApprovals(policy, others + 1) : undefined];
  });
  return {
    can: refusals.filter(([, why]) => why === undefined).map(([step]) => step),
    can_not: Object.fromEntries(refusals.flatMap(([step, why]) => (why === undefined ? [] : [[step, why]]))),
  };
}

/** The sentence about approvals that are missing; undefined when there are enough. */
export const missingApprovals = ({ required_approvals: required }: RequestPolicy, given: number): string | undefined =>
  given >= required
    ? undefined
    : `It takes ${required} approvals of the present revision; with yours there are ${given}.`;
