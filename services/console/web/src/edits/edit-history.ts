// The edits of a table with what can be undone: one step is one act of the person. Pure.
import type { Row } from '../api/queries.ts';
import { type Edits, noEdits, withoutSaved } from './edits.ts';

/** Why the server, or a cell, refuses an edit of a row; without a column it is about the row. */
export type EditProblem = { column: string | undefined; message: string; isConflict: boolean };

export type EditState = {
  edits: Edits;
  problems: ReadonlyMap<number, readonly EditProblem[]>;
  past: readonly Edits[];
  future: readonly Edits[];
};

/** Makes edits of those that there are by then: acts come faster than pages are drawn. */
export type MakeEdits = (edits: Edits) => Edits;

export type EditAct =
  | { type: 'change'; make: MakeEdits }
  | { type: 'undo' }
  | { type: 'redo' }
  | ({ type: 'answer' } & EditAnswer);

/** What came of edits that were sent: those that are done, with their records, and problems. */
export type EditAnswer = {
  sent: Edits;
  done: Edits;
  records: ReadonlyMap<number, Row>;
  problems: ReadonlyMap<number, readonly EditProblem[]>;
};

const deepest = 100;

export const initialEdits = (edits: Edits = noEdits): EditState => ({
  edits,
  problems: new Map(),
  past: [],
  future: [],
});

export function actOnEdits(state: EditState, act: EditAct): EditState {
  const { edits, past, future } = state;
  if (act.type === 'change') {
    const next = act.make(edits);
    if (next === edits) return state;
    return follow(state, next, [...past, edits].slice(-deepest), []);
  }
  if (act.type === 'undo') {
    const before = past.at(-1);
    return before ? follow(state, before, past.slice(0, -1), [edits, ...future]) : state;
  }
  if (act.type === 'redo') {
    const [next, ...rest] = future;
    return next ? follow(state, next, [...past, edits], rest) : state;
  }
  return take(state, act);
}

function take(state: EditState, { sent, done, records, problems }: EditAnswer): EditState {
  const others = [...state.problems].filter(([id]) => !sent.has(id));
  const answered = { ...state, problems: new Map([...others, ...problems]) };
  if (done.size === 0) return answered;
  // What was saved can't be undone by going back to edits that the server has.
  return follow(answered, withoutSaved(state.edits, done, records), [], []);
}

// A problem is about a row as it was sent: it goes when the row changes.
function follow(state: EditState, edits: Edits, past: readonly Edits[], future: readonly Edits[]): EditState {
  const problems = [...state.problems].filter(([id]) => edits.get(id) === state.edits.get(id) && edits.has(id));
  return { edits, problems: new Map(problems), past, future };
}
