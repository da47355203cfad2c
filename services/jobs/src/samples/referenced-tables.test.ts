import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { completeEntry } from '../import-mappings/mapping.ts';
import { type MappedColumn, type MappedTable, mappingProblems } from '../import-mappings/mapping-checks.ts';
import { suggestMapping } from './suggest-mapping.ts';

const plain = { data_type: '', is_primary_key: false, valid_values: [] };
const columns: MappedColumn[] = ['a', 'b', 'c'].map((name) => ({ ...plain, name, foreign_key_table_id: 7 }));

function givenTable(): { table: MappedTable; asked: number[] } {
  const asked: number[] = [];
  const findTarget = async (id: number) => {
    asked.push(id);
    return { name: 'Target', columns: [{ ...plain, name: 'code' }] };
  };
  return { table: { columns, findTarget }, asked };
}

// CheckColumnSources is not called while the types of columns are unknown.
const ctx = { data: {} } as Parameters<typeof mappingProblems>[0];

describe('tables that foreign keys refer to', () => {
  it('are requested once for all entries of a mapping', async () => {
    const { table, asked } = givenTable();
    const column_mappings = Array.from({ length: 1_000 }, (_, place) =>
      completeEntry({ source_column: `s${place}`, target_column: ['a', 'b', 'c'][place % 3] as string, lookup: true }),
    );
    const mapping = { date_style: 'ISO', decimal_separator: null, has_header: true, column_mappings } as const;
    const problems = await mappingProblems(ctx, {} as CallContext, table, mapping);
    expect(problems[0]).toMatchObject({ code: 'given_twice', message: 'Target column a is mapped from two columns' });
    expect(asked).toEqual([7]);
  });

  it('are requested once for all columns of a table that a mapping is suggested for', async () => {
    const { table, asked } = givenTable();
    await suggestMapping(table, { tableDefinitionId: 1, dateStyle: 'ISO' }, { sample: 'a,b,c\n1,2,3\n' });
    expect(asked).toEqual([7]);
  });
});
