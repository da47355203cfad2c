// Both tables of transitions: every state × action × actor × protection, and their drawings in the
// docs.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Actor, decide, drawStates, type Machine } from './approval-states.ts';
import { deploymentMachine } from './deployments/deployment-states.ts';
import { promotionMachine } from './promotions/promotion-states.ts';

const facts = ['system', 'creator', 'developer', 'approver', 'administrator'] as const;

// Every combination of roles of an actor.
const actors = Array.from({ length: 2 ** facts.length }, (_, bits) =>
  Object.fromEntries(facts.map((fact, i) => [fact, (bits & (1 << i)) !== 0])),
) as Actor[];

type Case = {
  machine: Machine<string, string>;
  /**
   * The step that puts the change into effect, the state while it does, and the one when it is
   * done.
   */
  apply: string;
  applying: string;
  applied: string;
  mayRequest(actor: Actor): boolean;
};

const cases: [string, Case][] = [
  [
    'deployment',
    {
      machine: deploymentMachine as Machine<string, string>,
      apply: 'deploy',
      applying: 'deploying',
      applied: 'deployed',
      mayRequest: (actor) => actor.developer,
    },
  ],
  [
    'promotion',
    {
      machine: promotionMachine as Machine<string, string>,
      apply: 'promote',
      applying: 'promoting',
      applied: 'promoted',
      mayRequest: (actor) => actor.creator || actor.developer,
    },
  ],
];

// Written out by hand from the design, not from the tables under test.
const possible = ({ apply, applying, applied }: Case): Record<string, Record<string, string>> => ({
  send_request: { created: 'requested' },
  [apply]: { created: applying, requested: applying, failed: applying },
  succeed: { [applying]: applied },
  fail: { [applying]: 'failed' },
  reject: { created: 'rejected', requested: 'rejected' },
  cancel: { created: 'cancelled', requested: 'cancelled' },
  abandon: { created: 'abandoned', requested: 'abandoned', failed: 'abandoned' },
});

function mayAct({ apply, mayRequest }: Case, action: string, actor: Actor, isProtected: boolean): boolean {
  switch (action) {
    case 'send_request':
      return mayRequest(actor);
    case apply:
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

describe.each(cases)('a %s', (noun, given) => {
  const { machine } = given;
  const actions = Object.keys(possible(given));

  it('has these steps and no others', () => {
    expect(Object.keys(machine.transitions).sort()).toEqual(actions.toSorted());
  });

  it.each(machine.states.flatMap((state) => actions.map((action) => [state, action] as const)))(
    'that is %s, %s: by every actor, with and without protection',
    (state, action) => {
      for (const isProtected of [true, false])
        for (const actor of actors) {
          const decision = decide(machine, state, action, actor, isProtected);
          const to = possible(given)[action]?.[state];
          if (!mayAct(given, action, actor, isProtected)) expect(decision.verdict).toBe('forbidden');
          else if (to === undefined) {
            expect(decision).toMatchObject({ verdict: 'impossible' });
            expect((decision as { sentence: string }).sentence).toContain(`is ${state};`);
          } else expect(decision).toEqual({ verdict: 'allowed', to });
        }
    },
  );

  it('is drawn in the docs as it is in the code', () => {
    const page = readFileSync(join(resolve(import.meta.dirname, '../../../..'), `docs/states/${noun}.md`), 'utf8');
    expect(/```mermaid\n([\s\S]*?)\n```/.exec(page)?.[1]).toBe(drawStates(machine));
  });
});
