import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  type Actor,
  type DeploymentAction,
  type DeploymentState,
  decide,
  deploymentStates,
  deploymentTransitions,
  drawDeploymentStates,
} from './deployment-states.ts';

const facts = ['system', 'creator', 'developer', 'approver', 'administrator'] as const;

// Every combination of what can be true of an actor.
const actors = Array.from({ length: 2 ** facts.length }, (_, bits) =>
  Object.fromEntries(facts.map((fact, i) => [fact, (bits & (1 << i)) !== 0])),
) as Actor[];

// Written out by hand from the design, not from the table under test.
const possible: Record<DeploymentAction, Partial<Record<DeploymentState, DeploymentState>>> = {
  send_request: { created: 'requested' },
  deploy: { created: 'deploying', requested: 'deploying', failed: 'deploying' },
  succeed: { deploying: 'deployed' },
  fail: { deploying: 'failed' },
  reject: { created: 'rejected', requested: 'rejected' },
  cancel: { created: 'cancelled', requested: 'cancelled' },
  abandon: { created: 'abandoned', requested: 'abandoned', failed: 'abandoned' },
};

function mayAct(action: DeploymentAction, actor: Actor, isProtected: boolean): boolean {
  switch (action) {
    case 'send_request':
      return actor.developer;
    case 'deploy':
      if (actor.administrator) return true;
      return isProtected ? actor.approver && !actor.creator : actor.developer;
    case 'reject':
      return actor.approver || actor.administrator;
    case 'cancel':
      return actor.creator;
    case 'abandon':
      return actor.creator || actor.approver || actor.administrator;
    default:
      return actor.system;
  }
}

describe('every state × action × actor × protection', () => {
  const actions = Object.keys(deploymentTransitions) as DeploymentAction[];

  it.each(deploymentStates.flatMap((state) => actions.map((action) => [state, action] as const)))(
    '%s, %s',
    (state, action) => {
      for (const isProtected of [true, false])
        for (const actor of actors) {
          const decision = decide(state, action, actor, isProtected);
          const to = possible[action][state];
          if (!mayAct(action, actor, isProtected)) expect(decision.verdict).toBe('forbidden');
          else if (to === undefined) {
            expect(decision).toMatchObject({ verdict: 'impossible' });
            expect((decision as { sentence: string }).sentence).toContain(`is ${state};`);
          } else expect(decision).toEqual({ verdict: 'allowed', to });
        }
    },
  );
});

it('docs/states/deployment.md shows the transitions of the code', () => {
  const root = resolve(import.meta.dirname, '../../../..');
  const page = readFileSync(join(root, 'docs/states/deployment.md'), 'utf8');
  const drawn = /```mermaid\n([\s\S]*?)\n```/.exec(page)?.[1];
  expect(drawn).toBe(drawDeploymentStates());
});
