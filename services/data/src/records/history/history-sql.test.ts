import { messagesOf } from '@almanac/service-kit/problems';
import { givenColumn, givenTable } from '../../../tests/structures.ts';
import { historySql, versionSql } from './history-sql.ts';
import { restoreProblemsSql } from './restore-sql.ts';

const hostile = `x"'; drop table t; --`;

const table = givenTable([], {
  structure: {
    description: '',
    lookup_display_column_id: null,
    foreign_keys: [{ columns: [13], target_table_id: 8, target_lineage_id: 6, target_columns: [61] }],
    columns: [
      givenColumn(11, { is_primary_key: true }),
      givenColumn(12, { name: hostile, is_required: true, valid_values: [hostile] }),
      givenColumn(13, { foreign_key_table_id: 8 }),
    ],
  },
});

describe('the SQL of histories', () => {
  it('reads both halves of a row in one statement that states its revision, without any name', () => {
    const { text, values } = historySql(table, '99', { page: 3, perPage: 20 });
    expect(text).toMatch(
      /from b_2\.t_5 where svc_sk = (\$\d+::bigint) union all select .* from b_2\.h_5 where svc_sk = \1\)/,
    );
    expect(text).toMatch(/order by svc_version desc limit \$\d+::int offset \$\d+::bigint/);
    expect(text).toContain('p.c_12 is distinct from v.c_12');
    expect(text).toMatch(/where exists \(select from deployed_table d where .* d\.revision = \$\d+::bigint\)$/);
    expect(text).not.toMatch(/drop table|col_11/);
    expect(values).toEqual(expect.arrayContaining(['99', 20, 40, JSON.stringify(hostile)]));
  });

  it('reads the values of a version as texts in the order of the columns', () => {
    const { text, values } = versionSql(table, '99', 2);
    expect(text).toMatch(/^select array\[c_11::text, c_12::text, c_13::text\]::text\[\] as cells, svc_is_deleted from/);
    expect(values.slice(0, 2)).toEqual(['99', 2]);
  });
});

describe('the SQL of the rules that restored rows would break', () => {
  it('checks keys, references, required values and lists, and has a problem for each', () => {
    const { statement, problems } = restoreProblemsSql(table, ['4', '5']);
    expect(messagesOf(problems)).toEqual([
      'col_11 must be unique: a record with this value exists',
      'col_13 must refer to a record of the referenced table',
      "col_11 can't be blank",
      `${hostile} can't be blank`,
      `${hostile} must be one of ${hostile}`,
    ]);
    expect(problems.map(({ code, column }) => [code, column])).toEqual([
      ['taken', 'col_11'],
      ['invalid_reference', 'col_13'],
      ['blank', 'col_11'],
      ['blank', hostile],
      ['not_in_list', hostile],
    ]);
    expect(statement.text).toContain(
      'exists (select from b_2.t_5 o where o.c_11 = t.c_11 and o.svc_sk <> t.svc_sk and (o.svc_live or o.svc_sk = any($1::bigint[])))',
    );
    expect(statement.text).toContain(
      't.c_13 is not null and not exists (select from b_2.t_6 r where r.c_61 = t.c_13 and (r.svc_live))',
    );
    expect(statement.text).not.toContain('drop');
    expect(statement.values).toEqual([['4', '5'], [hostile]]);
  });
});
