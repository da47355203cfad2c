import type { Column, Row } from '../api/queries.ts';
import { cellFormats, cellText, plainText, validValues, valueText } from './cell-text.ts';

const formats = cellFormats('en');
const column = (given: Partial<Column>): Column => ({
  id: 1,
  name: 'amount',
  data_type: 'decimal',
  length: null,
  scale: null,
  is_primary_key: false,
  is_required: false,
  foreign_key_table_id: null,
  is_hierarchy: false,
  valid_values: null,
  description: null,
  position: 1,
  ...given,
});

describe('a cell shows', () => {
  it('quantities with the signs of the language, keys as they are', () => {
    expect(valueText('1234567.50', column({}), formats)).toBe('1,234,567.50');
    expect(valueText(1234567, column({ data_type: 'integer', is_primary_key: true }), formats)).toBe('1234567');
    expect(valueText(1234567, column({ data_type: 'integer', foreign_key_table_id: 3 }), formats)).toBe('1234567');
  });

  it('nothing for no value, JSON on one line', () => {
    expect(valueText(null, column({}), formats)).toBe('');
    expect(valueText({ a: [1] }, column({ data_type: 'json' }), formats)).toBe('{"a":[1]}');
  });

  it('what a key refers to beside the key', () => {
    const country = column({ name: 'country', data_type: 'string', foreign_key_table_id: 3 });
    const row = (given: object) => given as Row;
    expect(cellText(row({ country: 'DE', svc_lookups: { country: 'Germany' } }), country, formats)).toBe(
      'DE · Germany',
    );
    expect(cellText(row({ country: 'DE', svc_lookups: { country: null } }), country, formats)).toBe('DE');
    expect(cellText(row({ country: 'DE', svc_lookups: { country: 'DE' } }), country, formats)).toBe('DE');
  });
});

it('a value is copied as the API sends it', () => {
  expect(['1234.50', true, null, { a: 1 }].map(plainText)).toEqual(['1234.50', 'true', '', '{"a":1}']);
});

it('the values that a column is limited to are read from its definition', () => {
  expect(validValues(column({ valid_values: 'open| closed |' }))).toEqual(['open', 'closed']);
  expect(validValues(column({}))).toEqual([]);
});
