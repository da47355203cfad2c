// The one table of a deployment's transitions: from which states, to which, and who may (design 3.5).
// docs/states/deployment.md is drawn from it; a test compares the two.

export const deploymentStates = [
  'created',
  'requested',
  'deploying',
  'deployed',
  'failed',
  'rejected',
  'cancelled',
  'abandoned',
] as const;
export type DeploymentState = (typeof deploymentStates)[number];

/** What is true of whoever acts. `system` is the service itself, when it learns how applying ended. */
export type Actor = {
  system: boolean;
  creator: boolean;
  /** Has `develop` on every table of the deployment. */
  developer: boolean;
  /** Has `approve` on the branch. */
  approver: boolean;
  /** Has `admin` on the account. */
  administrator: boolean;
};

type Kind = {
  /** Completes "Only … may …". */
  who: (isProtected: boolean) => string;
  test: (actor: Actor, isProtected: boolean) => boolean;
};

const kinds = {
  developer: { who: () => 'those with the right "develop" on its tables', test: (actor) => actor.developer },
  deployer: {
    who: (isProtected) =>
      isProtected
        ? 'an approver of the protected branch other than its creator, or an administrator,'
        : 'those with the right "develop" on its tables',
    test: (actor, isProtected) =>
      actor.administrator || (isProtected ? actor.approver && !actor.creator : actor.developer),
  },
  approver: { who: () => 'an approver of the branch', test: (actor) => actor.approver || actor.administrator },
  creator: { who: () => 'its creator', test: (actor) => actor.creator },
  responsible: {
    who: () => 'its creator, an approver of the branch or an administrator',
    test: (actor) => actor.creator || actor.approver || actor.administrator,
  },
  system: { who: () => 'the service itself', test: (actor) => actor.system },
} as const satisfies Record<string, Kind>;

type Transition = { from: readonly DeploymentState[]; to: DeploymentState; by: keyof typeof kinds; verb: string };

export const deploymentTransitions = {
  send_request: { from: ['created'], to: 'requested', by: 'developer', verb: 'request approval of' },
  deploy: { from: ['created', 'requested', 'failed'], to: 'deploying', by: 'deployer', verb: 'deploy' },
  succeed: { from: ['deploying'], to: 'deployed', by: 'system', verb: 'finish' },
  fail: { from: ['deploying'], to: 'failed', by: 'system', verb: 'fail' },
  reject: { from: ['created', 'requested'], to: 'rejected', by: 'approver', verb: 'reject' },
  cancel: { from: ['created', 'requested'], to: 'cancelled', by: 'creator', verb: 'cancel' },
  abandon: { from: ['created', 'requested', 'failed'], to: 'abandoned', by: 'responsible', verb: 'abandon' },
} as const satisfies Record<string, Transition>;
export type DeploymentAction = keyof typeof deploymentTransitions;

export type Decision =
  | { verdict: 'allowed'; to: DeploymentState }
  | { verdict: 'forbidden'; sentence: string }
  | { verdict: 'impossible'; sentence: string };

/** Whether the actor may do this to a deployment in that state. A missing right is told before an impossible state. */
export function decide(state: DeploymentState, action: DeploymentAction, actor: Actor, isProtected: boolean): Decision {
  const transition: Transition = deploymentTransitions[action];
  const kind: Kind = kinds[transition.by];
  if (!kind.test(actor, isProtected))
    return { verdict: 'forbidden', sentence: `Only ${kind.who(isProtected)} may ${transition.verb} this deployment.` };
  if (!transition.from.includes(state))
    return {
      verdict: 'impossible',
      sentence: `Deployment is ${state}; one can ${transition.verb} it only while it is ${join(transition.from)}.`,
    };
  return { verdict: 'allowed', to: transition.to };
}

const join = (states: readonly string[]) => states.join(', ').replace(/, ([^,]*)$/, ' or $1');

/** States that nothing leads out of. */
export function isFinal(state: DeploymentState): boolean {
  return !Object.values(deploymentTransitions).some(({ from }) => (from as readonly string[]).includes(state));
}

/** The transitions as a Mermaid state diagram. */
export function drawDeploymentStates(): string {
  const lines = ['stateDiagram-v2', '    [*] --> created: POST /deployments'];
  for (const [action, { from, to, by }] of Object.entries(deploymentTransitions))
    for (const state of from) lines.push(`    ${state} --> ${to}: ${action} (${by})`);
  for (const state of deploymentStates) if (isFinal(state)) lines.push(`    ${state} --> [*]`);
  return lines.join('\n');
}
