// The tables of transitions: every state × action × actor × guard, and their drawings in the docs.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Actor, decide, drawStates, type Machine } from './approval-states.ts';
import { changeRequestMachine } from './change-requests/change-request-states.ts';
import { deploymentMachine } from './deployments/deployment-states.ts';
import { promotionMachine } from './promotions/promotion-states.ts';

const facts = ['system', 'creator', 'developer', 'approver', 'administrator'] as const;

// Every combination of roles of an actor.
const actors = Array.from({ length: 2 ** facts.length }, (_, bits) =>
  Object.fromEntries(facts.map((fact, i) => [fact, (bits & (1 << i)) !== 0])),
) as Actor[];

type Case = {
  machine: Machine<string, string>;
  /** The states from which each action leads to which; written by hand from the design. */
  possible: Record<string, Record<string, string>>;
  mayAct(action: string, actor: Actor, isGuarded: boolean): boolean;
};

/** A change of definitions; the names: the step that applies it, the state in it and after it. */
function ofDefinitions(
  machine: Machine<string, string>,
  [apply, applying, applied]: [string, string, string],
  mayRequest: (actor: Actor) => boolean,
): Case {
  return {
    machine,
    possible: {
      send_request: { created: 'requested' },
      [apply]: { created: applying, requested: applying, failed: applying },
      succeed: { [applying]: applied },
      fail: { [applying]: 'failed' },
      reject: { created: 'rejected', requested: 'rejected' },
      cancel: { created: 'cancelled', requested: 'cancelled' },
      abandon: { created: 'abandoned', requested: 'abandoned', failed: 'abandoned' },
    },
    mayAct: (action, actor, isGuarded) => {
      switch (action) {
        case 'send_request':
          return mayRequest(actor);
        case apply:
          if (actor.administrator) return true;
          return isGuarded ? actor.approver && !actor.creator : actor.developer;
        case 'reject':
          return actor.approver || actor.administrator;
        case 'cancel':
          return actor.creator;
        case 'abandon':
          return actor.creator || actor.approver || actor.administrator;
        default:
          return actor.system;
      }
    },
  };
}

const ofRows: Case = {
  machine: changeRequestMachine as Machine<string, string>,
  possible: {
    send_request: { draft: 'requested', changes_requested: 'requested' },
    withdraw: { requested: 'draft', approved: 'draft' },
    request_changes: { requested: 'changes_requested', approved: 'changes_requested' },
    approve: { requested: 'approved' },
    reject: { requested: 'rejected', approved: 'rejected' },
    cancel: {
      draft: 'cancelled',
      requested: 'cancelled',
      changes_requested: 'cancelled',
      approved: 'cancelled',
      failed: 'cancelled',
    },
    approve_and_apply: { requested: 'applying' },
    apply: { approved: 'applying', failed: 'applying' },
    succeed: { applying: 'applied' },
    refuse: { applying: 'approved' },
    fail: { applying: 'failed' },
  },
  mayAct: (action, actor, isGuarded) => {
    const decides = actor.approver || actor.administrator;
    switch (action) {
      case 'send_request':
      case 'withdraw':
        return actor.creator;
      case 'cancel':
        return actor.creator || actor.administrator;
      case 'request_changes':
      case 'reject':
        return decides;
      case 'approve':
      case 'approve_and_apply':
        return isGuarded ? decides && !actor.creator : decides;
      case 'apply':
        return decides || actor.creator;
      default:
        return actor.system;
    }
  },
};

const cases: [string, Case][] = [
  [
    'deployment',
    ofDefinitions(
      deploymentMachine as Machine<string, string>,
      ['deploy', 'deploying', 'deployed'],
      (actor) => actor.developer,
    ),
  ],
  [
    'promotion',
    ofDefinitions(
      promotionMachine as Machine<string, string>,
      ['promote', 'promoting', 'promoted'],
      (actor) => actor.creator || actor.developer,
    ),
  ],
  ['change-request', ofRows],
];

describe.each(cases)('a %s', (page, { machine, possible, mayAct }) => {
  const actions = Object.keys(possible);

  it('has these steps and no others', () => {
    expect(Object.keys(machine.transitions).sort()).toEqual(actions.toSorted());
  });

  it.each(machine.states.flatMap((state) => actions.map((action) => [state, action] as const)))(
    'that is %s, %s: by every actor, guarded or not',
    (state, action) => {
      for (const isGuarded of [true, false])
        for (const actor of actors) {
          const decision = decide(machine, state, action, actor, isGuarded);
          const to = possible[action]?.[state];
          if (!mayAct(action, actor, isGuarded)) expect(decision.verdict).toBe('forbidden');
          else if (to === undefined) {
            expect(decision).toMatchObject({ verdict: 'impossible' });
            expect((decision as { sentence: string }).sentence).toContain(`is ${state};`);
          } else expect(decision).toEqual({ verdict: 'allowed', to });
        }
    },
  );

  it('is drawn in the docs as it is in the code', () => {
    const text = readFileSync(join(resolve(import.meta.dirname, '../../../..'), `docs/states/${page}.md`), 'utf8');
    expect(/```mermaid\n([\s\S]*?)\n```/.exec(text)?.[1]).toBe(drawStates(machine));
  });
});
