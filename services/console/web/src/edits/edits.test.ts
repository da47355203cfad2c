import type { Row } from '../api/queries.ts';
import {
  addRows,
  bringBack,
  deleteRows,
  dropCell,
  isSame,
  newRows,
  noEdits,
  rebase,
  setCells,
  shownRow,
  withoutSaved,
} from './edits.ts';

const row = (given: object) => ({ svc_sk: 1, svc_version: 1, code: 'A', name: 'Alpha', size: '1.50', ...given }) as Row;
const a = row({});
const b = row({ svc_sk: 2, code: 'B', name: 'Beta' });

describe('edits', () => {
  it('are none when a cell gets the value that it has', () => {
    expect(setCells(noEdits, [{ row: a, column: 'name', value: 'Alpha' }]).size).toBe(0);
    const changed = setCells(noEdits, [{ row: a, column: 'name', value: 'Aleph' }]);
    expect(changed.get(1)).toMatchObject({ kind: 'update', values: { name: 'Aleph' } });
    expect(setCells(changed, [{ row: a, column: 'name', value: 'Alpha' }]).size).toBe(0);
  });

  it('keep each other apart by row, and never change what they came from', () => {
    const first = setCells(noEdits, [{ row: a, column: 'name', value: 'Aleph' }]);
    const second = setCells(first, [
      { row: a, column: 'size', value: '2.00' },
      { row: b, column: 'name', value: null },
    ]);
    expect(first.get(1)?.values).toEqual({ name: 'Aleph' });
    expect([...second.values()].map(({ id, values }) => [id, values])).toEqual([
      [1, { name: 'Aleph', size: '2.00' }],
      [2, { name: null }],
    ]);
    expect(dropCell(second, 2, 'name').has(2)).toBe(false);
  });

  it('bring back what rows were: changed cells, and deleted rows as new ones', () => {
    const past = [row({ name: 'Aleph', size: '1.5' }), row({ svc_sk: 2, code: 'B', name: 'Beta' })];
    const current = new Map([[1, row({ svc_version: 4, name: 'Alpha', size: '1.50' })]]);
    const edits = bringBack(noEdits, past, { current, columns: ['code', 'name'] });
    expect([...edits.values()]).toMatchObject([
      { kind: 'update', id: 1, before: { svc_version: 4 }, values: { name: 'Aleph' } },
      { kind: 'create', id: -1, values: { code: 'B', name: 'Beta' } },
    ]);
    expect(bringBack(noEdits, [a], { current: new Map([[1, a]]), columns: ['code', 'name'] }).size).toBe(0);
  });

  it('delete rows whatever was changed in them, and new rows at once', () => {
    const added = addRows(setCells(noEdits, [{ row: a, column: 'name', value: 'Aleph' }]), [{ code: 'C' }, {}]);
    expect(newRows(added).map(({ svc_sk, code }) => [svc_sk, code])).toEqual([
      [-2, undefined],
      [-1, 'C'],
    ]);
    const deleted = deleteRows(added, [a, ...newRows(added)]);
    expect([...deleted.values()]).toEqual([{ kind: 'delete', id: 1, before: a, values: {}, labels: {} }]);
    expect(setCells(deleted, [{ row: a, column: 'name', value: 'x' }]).get(1)?.kind).toBe('delete');
  });

  it('stay on a row that others have changed, but for what is there now anyway', () => {
    const edits = setCells(noEdits, [
      { row: a, column: 'name', value: 'Aleph' },
      { row: a, column: 'size', value: '2.00' },
    ]);
    const current = row({ svc_version: 2, name: 'Aleph' });
    expect(rebase(edits, current).get(1)).toMatchObject({ before: current, values: { size: '2.00' } });
  });

  it('keep the labels of references that others have not changed', () => {
    const referring = row({ country: 'DE', region: 'EU', svc_lookups: { country: 'Germany', region: 'Europe' } });
    const edits = setCells(noEdits, [{ row: referring, column: 'name', value: 'Aleph' }]);
    const current = row({ svc_version: 2, country: 'DE', region: 'AS' });
    expect(rebase(edits, current).get(1)?.before?.svc_lookups).toEqual({ country: 'Germany' });
  });

  it('made while others were saved are kept on the rows that were saved', () => {
    const sent = setCells(noEdits, [
      { row: a, column: 'name', value: 'Aleph' },
      { row: b, column: 'name', value: 'Bet' },
    ]);
    const later = setCells(sent, [{ row: a, column: 'name', value: 'Alef' }]);
    const savedA = row({ svc_version: 2, name: 'Aleph' });
    const left = withoutSaved(later, sent, new Map([[1, savedA]]));
    expect([...left.values()]).toMatchObject([{ id: 1, before: { svc_version: 2 }, values: { name: 'Alef' } }]);
  });

  it('show the row with its new values, and labels of what was chosen', () => {
    const referring = row({ country: 'DE', svc_lookups: { country: 'Germany', other: 'kept' } });
    const edits = setCells(noEdits, [{ row: referring, column: 'country', value: 'FR', label: 'France' }]);
    expect(shownRow(referring, edits.get(1))).toMatchObject({
      country: 'FR',
      svc_lookups: { country: 'France', other: 'kept' },
    });
    const typed = setCells(edits, [{ row: referring, column: 'country', value: 'IT' }]);
    expect(shownRow(referring, typed.get(1)).svc_lookups).toEqual({ other: 'kept' });
  });
});

it('values are the same when the API takes them for the same', () => {
  expect([isSame('1', 1), isSame(null, undefined), isSame({ a: 1 }, { a: 1 }), isSame('', null)]).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect([isSame(true, 'true'), isSame('1.50', '1.5'), isSame(false, null)]).toEqual([false, false, false]);
});
