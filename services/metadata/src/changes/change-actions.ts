// Which steps the caller may take with changes, by the table of transitions.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type Allowed, type Condition, judge } from '../rights/allowed-actions.ts';
import { type Actor, decide, type Machine } from './approval-states.ts';

// Taken by the service itself.
const outcomes = new Set(['succeed', 'fail']);

/** Judges the steps of a change in its present state. */
export function judgeSteps(
  machine: Machine,
  call: CallContext,
  change: { status: string; isProtected: boolean },
  actor: Actor,
): Allowed {
  const conditionOf = (action: string): Condition => ({
    scope: 'api:write',
    refuse: () => {
      const decision = decide(machine, change.status, action, actor, change.isProtected);
      return decision.verdict === 'allowed' ? undefined : decision.sentence;
    },
  });
  const all = Object.keys(machine.transitions).filter((action) => !outcomes.has(action));
  return judge(call, Object.fromEntries(all.map((action) => [action, conditionOf(action)])));
}
