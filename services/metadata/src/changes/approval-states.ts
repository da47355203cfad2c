// What deployments and promotions have in common: steps that only some may take, in some states only. Each has its own table of
// transitions (deployments/deployment-states.ts, promotions/promotion-states.ts); this reads and draws them.
import { ServiceError } from '@almanac/service-kit/errors';

/** What is true of whoever acts. `system` is the service itself, when it learns how applying ended. */
export type Actor = {
  system: boolean;
  creator: boolean;
  /** Has `develop` on every table concerned, on the branch that changes. */
  developer: boolean;
  /** Has `approve` on the branch that changes. */
  approver: boolean;
  /** Has `admin` on the account. */
  administrator: boolean;
};

type Kind = {
  /** Completes "Only … may …". */
  who: (isProtected: boolean) => string;
  test: (actor: Actor, isProtected: boolean) => boolean;
};

const developers = 'those with the right "develop" on its tables';

// Whoever puts the change into effect.
const applier: Kind = {
  who: (isProtected) =>
    isProtected ? 'an approver of the protected branch other than its creator, or an administrator,' : developers,
  test: (actor, isProtected) =>
    actor.administrator || (isProtected ? actor.approver && !actor.creator : actor.developer),
};

const kinds = {
  developer: { who: () => developers, test: (actor) => actor.developer },
  proposer: { who: () => `its creator or ${developers}`, test: (actor) => actor.creator || actor.developer },
  deployer: applier,
  promoter: applier,
  approver: { who: () => 'an approver of the branch', test: (actor) => actor.approver || actor.administrator },
  creator: { who: () => 'its creator', test: (actor) => actor.creator },
  responsible: {
    who: () => 'its creator, an approver of the branch or an administrator',
    test: (actor) => actor.creator || actor.approver || actor.administrator,
  },
  system: { who: () => 'the service itself', test: (actor) => actor.system },
} as const satisfies Record<string, Kind>;

export type Transition<State extends string> = {
  from: readonly State[];
  to: State;
  by: keyof typeof kinds;
  verb: string;
};

/** A table of transitions; the first of `states` is where everything begins. */
export type Machine<State extends string, Action extends string> = {
  noun: 'deployment' | 'promotion';
  states: readonly State[];
  transitions: Record<Action, Transition<State>>;
};

export type Decision<State> =
  | { verdict: 'allowed'; to: State }
  | { verdict: 'forbidden'; sentence: string }
  | { verdict: 'impossible'; sentence: string };

/** Whether the actor may do this in that state. A missing right is told before an impossible state. */
export function decide<State extends string, Action extends string>(
  { noun, transitions }: Machine<State, Action>,
  state: State,
  action: Action,
  actor: Actor,
  isProtected: boolean,
): Decision<State> {
  const { from, to, by, verb } = transitions[action];
  const kind: Kind = kinds[by];
  if (!kind.test(actor, isProtected))
    return { verdict: 'forbidden', sentence: `Only ${kind.who(isProtected)} may ${verb} this ${noun}.` };
  if (!from.includes(state)) {
    const subject = noun.charAt(0).toUpperCase() + noun.slice(1);
    const sentence = `${subject} is ${state}; one can ${verb} it only while it is ${listed(from)}.`;
    return { verdict: 'impossible', sentence };
  }
  return { verdict: 'allowed', to };
}

/** Throws 403 or 422 unless the actor may do this now; answers the state that it leads to. */
export function requireTransition<State extends string, Action extends string>(
  machine: Machine<State, Action>,
  state: State,
  action: Action,
  actor: Actor,
  isProtected: boolean,
): State {
  const decision = decide(machine, state, action, actor, isProtected);
  if (decision.verdict === 'forbidden') throw new ServiceError('forbidden', decision.sentence);
  if (decision.verdict === 'impossible') throw new ServiceError('wrong_state', decision.sentence);
  return decision.to;
}

const listed = (states: readonly string[]) => states.join(', ').replace(/, ([^,]*)$/, ' or $1');

/** The transitions as a Mermaid state diagram. */
export function drawStates<State extends string, Action extends string>(machine: Machine<State, Action>): string {
  const transitions = Object.entries<Transition<State>>(machine.transitions);
  const lines = ['stateDiagram-v2', `    [*] --> ${machine.states[0]}: POST /${machine.noun}s`];
  for (const [action, { from, to, by }] of transitions)
    for (const state of from) lines.push(`    ${state} --> ${to}: ${action} (${by})`);
  const isFinal = (state: State) => !transitions.some(([, { from }]) => from.includes(state));
  for (const state of machine.states.filter(isFinal)) lines.push(`    ${state} --> [*]`);
  return lines.join('\n');
}
