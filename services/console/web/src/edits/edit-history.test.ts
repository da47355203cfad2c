import type { Row } from '../api/queries.ts';
import { actOnEdits, type EditState, initialEdits } from './edit-history.ts';
import { noEdits, setCells } from './edits.ts';

const row = (id: number) => ({ svc_sk: id, svc_version: 1, name: 'Alpha' }) as unknown as Row;
const name = (state: EditState, id: number, value: string) =>
  actOnEdits(state, { type: 'change', make: (edits) => setCells(edits, [{ row: row(id), column: 'name', value }]) });
const namesOf = ({ edits }: EditState) => [...edits.values()].map(({ values }) => values.name);

describe('the history of edits', () => {
  it('undoes and redoes one act at a time', () => {
    const both = name(name(initialEdits(), 1, 'x'), 2, 'y');
    const undone = actOnEdits(both, { type: 'undo' });
    expect(namesOf(undone)).toEqual(['x']);
    expect(namesOf(actOnEdits(undone, { type: 'undo' }))).toEqual([]);
    expect(namesOf(actOnEdits(undone, { type: 'redo' }))).toEqual(['x', 'y']);
    expect(namesOf(actOnEdits(name(undone, 3, 'z'), { type: 'redo' }))).toEqual(['x', 'z']);
    expect(actOnEdits(initialEdits(), { type: 'undo' })).toEqual(initialEdits());
  });

  it('drops a problem when its row changes, and no other', () => {
    const problem = { column: 'name', message: 'name is too long', isConflict: false };
    const both = name(name(initialEdits(), 1, 'x'), 2, 'y');
    const refused = actOnEdits(both, {
      type: 'answer',
      sent: both.edits,
      done: noEdits,
      records: new Map(),
      problems: new Map([
        [1, [problem]],
        [2, [problem]],
      ]),
    });
    expect([...name(refused, 1, 'shorter').problems.keys()]).toEqual([2]);
  });

  it('begins again when edits are saved', () => {
    const both = name(name(initialEdits(), 1, 'x'), 2, 'y');
    const done = new Map([...both.edits].slice(0, 1));
    const records = new Map([[1, row(1)]]);
    const saved = actOnEdits(both, { type: 'answer', sent: done, done, records, problems: new Map() });
    expect([namesOf(saved), saved.past, saved.future]).toEqual([['y'], [], []]);
  });
});
