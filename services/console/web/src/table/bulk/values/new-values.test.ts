import type { Column } from '../../../api/queries.ts';
import { habitsOf } from '../../../cells/typed-values.ts';
import { emptyName, readNewValues } from './new-values.ts';

const column = (name: string, data_type: Column['data_type']) => ({ name, data_type }) as Column;
const habits = habitsOf('de');

it('values are read by the types of their columns, in the habits of the language', () => {
  const typed = { name: 'Köln', area: '1.234,50', [emptyName('note')]: 'on', note: 'ignored' };
  const columns = [column('name', 'string'), column('area', 'decimal'), column('note', 'text')];
  expect(readNewValues(typed, columns, habits)).toEqual({
    set: { name: 'Köln', area: '1234.50', note: null },
    missing: [],
    malformed: [],
  });
});

it('a blank field is no value only where one says so, and JSON has to be JSON', () => {
  const columns = [column('name', 'string'), column('shape', 'json')];
  expect(readNewValues({ name: '', shape: '{a}' }, columns, habits)).toEqual({
    set: {},
    missing: ['name'],
    malformed: ['shape'],
  });
});
