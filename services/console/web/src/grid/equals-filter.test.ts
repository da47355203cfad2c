import type { Column } from '../api/queries.ts';
import { equalsFilter } from './equals-filter.ts';

const column = (data_type: Column['data_type']) => ({ data_type }) as Column;

describe('the filter for one value', () => {
  it('has the kind that the column takes, and all digits', () => {
    expect(equalsFilter(column('string'), 'DE')).toEqual({ filterType: 'text', type: 'equals', filter: 'DE' });
    expect(equalsFilter(column('integer'), 7)).toEqual({ filterType: 'number', type: 'equals', filter: '7' });
    expect(equalsFilter(column('bigint'), '9007199254740993')).toEqual({
      filterType: 'bigint',
      type: 'equals',
      filter: '9007199254740993',
    });
    expect(equalsFilter(column('date'), '2026-03-31')).toMatchObject({ filterType: 'date', dateFrom: '2026-03-31' });
  });
});
