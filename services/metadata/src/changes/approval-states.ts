// The approval of changes. A kind of change has a table of transitions (deployment-states.ts,
// promotion-states.ts, change-request-states.ts): steps that some people may take in some states.
// This file reads and draws it.
import { ServiceError } from '@almanac/service-kit/errors';

/** The role of a caller in a change. `system` is the service itself, when applying has ended. */
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

/**
 * `isGuarded`: no user puts a change of their own into effect alone. Of deployments and promotions
 * the protection of the branch decides that, of change requests the policy.
 */
type Role = {
  /** Completes "Only … may …". */
  who: (isGuarded: boolean) => string;
  test: (actor: Actor, isGuarded: boolean) => boolean;
};

const developers = 'those with the right "develop" on its tables';

const applier: Role = {
  who: (isGuarded) =>
    isGuarded ? 'an approver of the protected branch other than its creator, or an administrator,' : developers,
  test: (actor, isGuarded) => actor.administrator || (isGuarded ? actor.approver && !actor.creator : actor.developer),
};

const roles = {
  developer: { who: () => developers, test: (actor) => actor.developer },
  proposer: { who: () => `its creator or ${developers}`, test: (actor) => actor.creator || actor.developer },
  deployer: applier,
  promoter: applier,
  approver: { who: () => 'an approver of the branch', test: (actor) => actor.approver || actor.administrator },
  reviewer: {
    who: (isGuarded) => `an approver of the branch${isGuarded ? ' other than its creator' : ''}`,
    test: (actor, isGuarded) => (actor.approver || actor.administrator) && !(isGuarded && actor.creator),
  },
  creator: { who: () => 'its creator', test: (actor) => actor.creator },
  owner: {
    who: () => 'its creator or an administrator',
    test: (actor) => actor.creator || actor.administrator,
  },
  responsible: {
    who: () => 'its creator, an approver of the branch or an administrator',
    test: (actor) => actor.creator || actor.approver || actor.administrator,
  },
  system: { who: () => 'the service itself', test: (actor) => actor.system },
} as const satisfies Record<string, Role>;

export type Transition<State extends string> = {
  from: readonly State[];
  to: State;
  by: keyof typeof roles;
  verb: string;
};

/** The name of a kind: of its table, its events and, in the plural, its path. */
export type Noun = 'deployment' | 'promotion' | 'change_request';

/** The outcomes of applying, which every kind of change has. */
export type Outcome = 'succeed' | 'fail';

/**
 * A table of transitions. A change starts in the first of `states`; `apply` puts it into effect.
 */
export type Machine<State extends string = string, Action extends string = string> = {
  noun: Noun;
  states: readonly State[];
  apply: Action;
  transitions: Record<Action | Outcome, Transition<State>>;
};

/** `change request` for `change_request`: the noun within sentences. */
export const wordOf = (noun: Noun): string => noun.replace('_', ' ');

/** `Change request` for `change_request`: the noun as sentences begin with it. */
export const titleOf = (noun: Noun): string => noun.charAt(0).toUpperCase() + wordOf(noun).slice(1);

export type Decision<State> =
  | { verdict: 'allowed'; to: State }
  | { verdict: 'forbidden'; sentence: string }
  | { verdict: 'impossible'; sentence: string };

/**
 * Whether the actor may take a step in that state. A missing right is reported before a wrong
 * state.
 */
export function decide<State extends string, Action extends string>(
  { noun, transitions }: Machine<State, Action>,
  state: State,
  action: Action | Outcome,
  actor: Actor,
  isGuarded: boolean,
): Decision<State> {
  const { from, to, by, verb } = transitions[action];
  const role: Role = roles[by];
  if (!role.test(actor, isGuarded))
    return { verdict: 'forbidden', sentence: `Only ${role.who(isGuarded)} may ${verb} this ${wordOf(noun)}.` };
  if (!from.includes(state)) {
    const sentence = `${titleOf(noun)} is ${state}; one can ${verb} it only while it is ${listed(from)}.`;
    return { verdict: 'impossible', sentence };
  }
  return { verdict: 'allowed', to };
}

/** Throws 403 or 422 unless the actor may take the step now; answers the state that it leads to. */
export function requireTransition<State extends string, Action extends string>(
  machine: Machine<State, Action>,
  state: State,
  action: Action | Outcome,
  actor: Actor,
  isGuarded: boolean,
): State {
  const decision = decide(machine, state, action, actor, isGuarded);
  if (decision.verdict === 'forbidden')
    throw new ServiceError('forbidden', { code: 'missing_right', message: decision.sentence });
  if (decision.verdict === 'impossible')
    throw new ServiceError('wrong_state', { code: 'wrong_state', message: decision.sentence, params: { state } });
  return decision.to;
}

/** True while the change can still be applied. */
export const isOpen = ({ transitions, apply }: Machine, state: string): boolean =>
  transitions[apply]?.from.includes(state) ?? false;

const listed = (states: readonly string[]) => states.join(', ').replace(/, ([^,]*)$/, ' or $1');

/** The transitions as a Mermaid state diagram. */
export function drawStates({ noun, states, transitions }: Machine): string {
  const lines = ['stateDiagram-v2', `    [*] --> ${states[0]}: POST /${noun}s`];
  for (const [action, { from, to, by }] of Object.entries(transitions))
    for (const state of from) lines.push(`    ${state} --> ${to}: ${action} (${by})`);
  const isFinal = (state: string) => !Object.values(transitions).some(({ from }) => from.includes(state));
  for (const state of states.filter(isFinal)) lines.push(`    ${state} --> [*]`);
  return lines.join('\n');
}
