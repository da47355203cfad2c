import { readColumn } from './read-column.ts';

it('fields that are empty or not shown leave a column without what they ask for', () => {
  expect(readColumn({ name: ' code ', data_type: 'date', valid_values: ' \n', description: ' ' })).toEqual({
    name: 'code',
    data_type: 'date',
    length: null,
    scale: null,
    is_primary_key: false,
    is_required: false,
    foreign_key_table_id: null,
    is_hierarchy: false,
    valid_values: null,
    description: null,
  });
});

it('valid values are typed one a line, and a box that is ticked is on', () => {
  const values = { name: 'state', data_type: 'string', length: '10', is_required: 'on', foreign_key_table_id: '7' };
  expect(readColumn({ ...values, valid_values: 'open\n  closed \n\n' })).toMatchObject({
    length: 10,
    is_required: true,
    foreign_key_table_id: 7,
    valid_values: ['open', 'closed'],
  });
});
