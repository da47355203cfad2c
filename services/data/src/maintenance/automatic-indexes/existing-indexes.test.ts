import { givenColumn, givenTable } from '../../../tests/structures.ts';
import { planGrid } from '../../pages/grid-plan.ts';
import { gridSql } from '../../pages/page-sql.ts';
import type { Column } from '../../tables/table.ts';
import { serve } from './existing-indexes.ts';

const column = (lineage_id: number, name: string, more: Partial<Column> = {}): Column =>
  givenColumn(lineage_id, { name, length: 50, ...more });
const columns = [column(11, 'id', { data_type: 'integer', is_primary_key: true }), column(12, 'name')];
const table = givenTable(columns);

describe('pages of tables with indexes for them', () => {
  it('compare a text as its index does, and are planned once where one holds the rows in order', () => {
    const name = { filterType: 'text', type: 'equals', filter: 'Ck1' };
    const sortModel = [{ colId: 'id', sort: 'desc' }];
    const plan = planGrid(table, { startRow: 0, endRow: 1, filterModel: { name }, sortModel });
    const counting = { known: { mark: '2026-01-01T00:00:00Z', count: 5 } };
    const sql = (...made: string[]) => gridSql(table, serve(table, plan, new Set(made)), {}, counting);
    expect(sql()).toMatchObject({ customPlan: true, text: expect.stringContaining('case when lower(c_12') });
    expect(sql('g_5_e12as1', 'g_5_d11')).toMatchObject({
      customPlan: true,
      text: expect.stringMatching(/ and \(lower\(c_12 collate "default"\) = lower\(\$\d+::text\)\) order by/),
    });
    expect(sql('g_5_e12a11')).toMatchObject({ customPlan: false, text: expect.not.stringContaining('= any') });
  });

  it('are planned for their values when more is asked, or deleted rows too', () => {
    const made = new Set(['g_5_e12a11']);
    const name = { filterType: 'text', type: 'equals', filter: 'x' };
    const id = { filterType: 'number', type: 'greaterThan', filter: 1 };
    const request = { startRow: 0, endRow: 1, sortModel: [{ colId: 'id', sort: 'asc' }] };
    const served = (filterModel: unknown, more = {}) =>
      serve(table, planGrid(table, { ...request, filterModel, ...more }), made).isInOrder ?? false;
    const either = { filterType: 'text', operator: 'OR', conditions: [name, name] };
    expect([{ name }, { name, id }, { name: either }, { id }, {}].map((model) => served(model))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(served({ name }, { include_deleted: true })).toBe(false);
  });
});
