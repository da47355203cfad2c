// The table of a deployment's transitions: from which states, to which, and who may (design 3.5).
// docs/states/deployment.md is drawn from it; a test compares the two.
import type { Machine, Transition } from '../approval-states.ts';

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

export const deploymentTransitions = {
  send_request: { from: ['created'], to: 'requested', by: 'developer', verb: 'request approval of' },
  deploy: { from: ['created', 'requested', 'failed'], to: 'deploying', by: 'deployer', verb: 'deploy' },
  succeed: { from: ['deploying'], to: 'deployed', by: 'system', verb: 'finish' },
  fail: { from: ['deploying'], to: 'failed', by: 'system', verb: 'fail' },
  reject: { from: ['created', 'requested'], to: 'rejected', by: 'approver', verb: 'reject' },
  cancel: { from: ['created', 'requested'], to: 'cancelled', by: 'creator', verb: 'cancel' },
  abandon: { from: ['created', 'requested', 'failed'], to: 'abandoned', by: 'responsible', verb: 'abandon' },
} as const satisfies Record<string, Transition<DeploymentState>>;

export const deploymentMachine: Machine<DeploymentState, keyof typeof deploymentTransitions> = {
  noun: 'deployment',
  states: deploymentStates,
  apply: 'deploy',
  transitions: deploymentTransitions,
};
