import { limits } from '@almanac/service-kit/limits';
import { givenColumn, givenTable } from '../../tests/structures.ts';
import { readKeyed } from '../records/key-input.ts';
import { type Cells, readRecord } from '../records/record-input.ts';
import { deleteSql, insertSql, restoreSql, showKeyedSql, showSql, updateSql } from '../records/write-sql.ts';
import type { Origin } from '../rows/origin.ts';
import { columnName, tableName } from '../sql/identifiers.ts';
import { quoteLiteral } from '../sql/literals.ts';
import { concatSql, Values } from '../sql/statement.ts';
import type { Column, DeployedTable } from '../tables/table.ts';
import { planGrid } from './grid-plan.ts';
import { planList } from './list-plan.ts';
import { gridSql, listSql } from './page-sql.ts';

const column = (lineage_id: number, name: string, more: Partial<Column> = {}): Column =>
  givenColumn(lineage_id, { name, ...more });

const table = givenTable([column(11, 'id', { data_type: 'integer', is_primary_key: true }), column(12, 'name')]);

const hostile = `x"'; drop table t; --`;
const origin: Origin = { actor: 'user:1', channel: 'api', requestId: hostile };
const current =
  'exists (select from deployed_table d where d.table_definition_id = $T::int and d.account_id = $A::int and d.revision = $R::bigint)';

/** The revision check of a text, with the placeholders of `current`. */
function guard(text: string): string {
  const found = /exists \(select from deployed_table d[^)]*\)/.exec(text)?.[0] ?? '';
  return found
    .replace(/\$\d+::int/, '$T::int')
    .replace(/account_id = \$\d+::int/, 'account_id = $A::int')
    .replace(/\$\d+::bigint/, '$R::bigint');
}

describe('identifiers', () => {
  it('are made of numbers and of nothing else', () => {
    expect([tableName(table), columnName({ lineage_id: 11 })]).toEqual(['b_2.t_5', 'c_11']);
    for (const id of [0, -1, 1.5, Number.NaN, 2 ** 60, '5; drop' as unknown as number])
      expect(() => columnName({ lineage_id: id })).toThrow('no id');
  });
});

describe('literals', () => {
  it.each([
    ['plain', "'plain'"],
    ["it's", "'it''s'"],
    ['a\\b', " E'a\\\\b'"],
    ["\\'", " E'\\\\'''"],
  ])('quote %j', (text, quoted) => expect(quoteLiteral(text)).toBe(quoted));

  it('refuse what no text can hold', () => {
    expect(() => quoteLiteral('\u0000')).toThrow();
    expect(() => quoteLiteral('\ud800')).toThrow();
  });
});

describe('values', () => {
  it('share a placeholder only when value and type are equal', () => {
    const values = new Values();
    expect([
      values.bind(1, 'int'),
      values.bind(1, 'bigint'),
      values.bind(1, 'int'),
      values.bind('1', 'int'),
      values.bind(null, 'int'),
      values.bind(null, 'int'),
    ]).toEqual(['$1::int', '$2::bigint', '$1::int', '$3::int', '$4::int', '$5::int']);
    expect(values.list).toEqual([1, 1, '1', null, null]);
  });

  it('are joined by as few calls as PostgreSQL allows', () => {
    expect(concatSql(['a', 'b', 'c'])).toBe('concat(a, b, c)');
    const calls = concatSql(Array.from({ length: 101 }, (_, i) => `v${i}`));
    expect(calls).toMatch(/^concat\(concat\(v0, .*, v99\), concat\(v100\)\)$/);
  });
});

describe('statements', () => {
  it('of the grid hold no text of a request, and state the revision they are made for', () => {
    const request = {
      startRow: 20,
      endRow: 70,
      filterModel: {
        name: { filterType: 'text', type: 'contains', filter: hostile },
        id: { filterType: 'number', type: 'inRange', filter: 1, filterTo: '9' },
      },
      sortModel: [{ colId: 'name', sort: 'desc' as const }],
    };
    const { text, values } = gridSql(table, planGrid(table, request));
    expect(text).not.toContain('drop');
    expect(text).not.toContain('"name"');
    expect(text).toContain(`'{"svc_sk":'`); // the name of a system column needs no parameter
    expect(guard(text)).toBe(current);
    expect(text).toMatch(
      /matches as materialized \(select svc_sk, c_12 from b_2\.t_5 where not svc_is_deleted and \(lower\(c_12 collate "default"\) like lower\(\$\d+::text\) and \(c_11 > \$\d+::bigint and c_11 < \$\d+::bigint\)\)\)/,
    );
    expect(text).toMatch(/order by c_12 desc nulls last, svc_sk asc limit \$\d+::int offset \$\d+::bigint/);
    expect(text).toContain('(select count(*) from matches)');
    expect(values).toEqual(
      expect.arrayContaining([`%x"'; drop table t; --%`, '1', '9', 50, 20, 7, 3, 40, ',"id":', ',"name":']),
    );
  });

  it('of the grid are the same text for the same kind of model', () => {
    const sql = (filter: string, startRow: number) =>
      gridSql(
        table,
        planGrid(table, {
          startRow,
          endRow: startRow + 100,
          filterModel: { name: { filterType: 'text', type: 'startsWith', filter } },
        }),
      ).text;
    expect(sql('a', 0)).toBe(sql('b', 500));
  });

  it('escape wildcards in filters', () => {
    const { values } = gridSql(
      table,
      planGrid(table, {
        startRow: 0,
        endRow: 1,
        filterModel: { name: { filterType: 'text', type: 'startsWith', filter: '50%_\\' } },
      }),
    );
    expect(values).toContain('50\\%\\_\\\\%');
  });

  it('look for all spellings of a short text in the index of a key', () => {
    const columns = [column(12, 'name', { is_primary_key: true })];
    const keyed = { ...table, structure: { ...table.structure, columns } };
    const sql = (filter: string, of: DeployedTable = keyed) =>
      gridSql(
        of,
        planGrid(of, {
          startRow: 0,
          endRow: 1,
          filterModel: { name: { filterType: 'text', type: 'equals', filter } },
        }),
      );
    expect(sql('Ck1').values).toContainEqual(['ck1', 'cK1', 'c\u212a1', 'Ck1', 'CK1', 'C\u212a1']);
    expect(sql('Ck1').text).toMatch(/where not svc_is_deleted and \(c_12 = any\(\$\d+::text\[\]\)\) order by/);
    expect(sql('a text of many letters').text).not.toContain('= any');
    expect(sql('é').text).not.toContain('= any');
    expect(sql('Ck1', table).text).toContain('lower(c_12');
  });

  it('takes ten sorts and no more', () => {
    const sortModel = (length: number) => Array.from({ length }, () => ({ colId: 'id', sort: 'asc' }));
    const plan = (length: number) => planGrid(table, { startRow: 0, endRow: 1, sortModel: sortModel(length) });
    expect(plan(limits.sorts).sorts).toHaveLength(limits.sorts);
    expect(() => plan(limits.sorts + 1)).toThrow('At most 10 sorts may be given.');
  });

  it.each([
    ['the order of creation', undefined, 6_000, 7_000],
    ['another order', [{ colId: 'id', sort: 'desc' }], 9_000, 11_000],
  ])(
    'of a text search in %s fetch all matches only while they are fewer than the rows of a scan',
    (_, sortModel, few, many) => {
      const filterModel = { name: { filterType: 'text', type: 'contains', filter: 'abc' } };
      const isMaterialized = (count: number, startRow = 0) => {
        const plan = planGrid(table, { startRow, endRow: startRow + 100, filterModel, sortModel });
        const known = { mark: '2026-01-31T10:00:00.123Z', count };
        return gridSql(table, plan, {}, { known, rows: 1_000_000 }).text.startsWith('with matches as');
      };
      expect([0, few, many].map((count) => isMaterialized(count))).toEqual([true, true, false]);
      expect(isMaterialized(many, 900)).toBe(true);
    },
  );

  it('of a list count and page in one', () => {
    const plan = planList(table, {
      page: 3,
      per_page: 20,
      q: ['id:gte:5', 'name:null'],
      sort: '-id',
      include_deleted: true,
    });
    const { text, values } = listSql(table, plan);
    expect(text).toMatch(
      /from b_2\.t_5 where \(c_11 >= \$\d+::integer and c_12 is null\) order by c_11 desc nulls last, svc_sk asc/,
    );
    expect(values).toEqual(expect.arrayContaining(['5', 20, 40, 3]));
  });

  it('that write have their values first, and one text for all rows of a table', () => {
    const { cells, problems } = readRecord(table, { name: hostile, id: 4 }, true);
    expect(problems).toEqual([]);
    const insert = insertSql(table, [{ cells, origin }], 'api');
    expect(insert.text).toMatch(
      /^insert into b_2\.t_5 \(svc_created_at, svc_updated_at, svc_channel, svc_updated_by, svc_request_id, c_11, c_12\) select at, at, 'a'::"char", svc_updated_by, svc_request_id, c_11, c_12 from .*, unnest\(\(select \$1::text\[\]\), \(select \$2::text\[\]\), \(select \$3::integer\[\]\), \(select \$4::text\[\]\)\)/,
    );
    expect(insert.values.slice(0, 4)).toEqual([['user:1'], [hostile], ['4'], [hostile]]);
    expect(guard(insert.text)).toBe(current);
    const other = { cells: readRecord(table, { id: 5 }, true).cells, origin: { ...origin, actor: 'user:2' } };
    expect(insertSql(table, [{ cells, origin }, other], 'api').text).toBe(insert.text);
  });

  it('that change or read a row name it by value', () => {
    const { cells } = readRecord(table, { name: 'x' }, false);
    const update = updateSql(table, [{ id: '99', cells, origin, versions: [2, 3] }], 'api');
    expect(update.values.slice(0, 5)).toEqual([['99'], ['{2,3}'], ['user:1'], [hostile], ['x']]);
    expect(guard(update.text)).toBe(current);
    expect(showSql(table, ['99']).values[0]).toEqual(['99']);
    expect(guard(showSql(table, ['99']).text)).toBe(current);
    expect(guard(deleteSql(table, ['1'], origin).text)).toBe(current);
    expect(guard(restoreSql(table, ['1'], origin).text)).toBe(current);
  });

  it('that change or read a row by its primary key have the key first', () => {
    const { key, cells } = readKeyed(table, { id: 4, name: 'x' });
    const update = updateSql(table, [{ key: key as Cells, cells, origin, versions: undefined }], 'api');
    expect(update.values.slice(0, 5)).toEqual([['4'], [null], ['user:1'], [hostile], ['x']]);
    expect(update.text).toContain('join b_2.t_5 r on r.svc_live and r.c_11 = given.key_c_11');
    expect(update.text).not.toContain('c_11 = case');
    expect(guard(update.text)).toBe(current);
    const show = showKeyedSql(table, [key as Cells]);
    expect(show.values[0]).toEqual(['4']);
    expect(show.text).toContain('on p.svc_live and p.c_11 = given.key_c_11');
    expect(guard(show.text)).toBe(current);
    expect(deleteSql(table, ['1'], origin, 3).text).toMatch(
      /svc_sk = any\(\S+\) and svc_version = \$\d+::int order by/,
    );
  });

  it('revert a row whether it is deleted or not, and leave it live', () => {
    const { cells } = readRecord(table, { name: 'x' }, false);
    const one = { id: '99', cells, origin, versions: undefined };
    expect(updateSql(table, [one], 'api').text).toContain('not r.svc_is_deleted');
    const { text } = updateSql(table, [one], 'revert');
    expect(text).toContain('svc_is_deleted = case when u.differs then false else t.svc_is_deleted end from');
    expect(text).toContain('r.svc_is_deleted or (r.c_12) is distinct from (given.new_c_12) as differs');
    expect(text).not.toContain('not r.svc_is_deleted');
  });
});

describe('statements as of an instant', () => {
  const at = '2026-01-31T10:00:00.123Z';
  const request = { startRow: 0, endRow: 10, filterModel: { id: { filterType: 'number', type: 'equals', filter: 1 } } };

  it('read the rows that held then, from the table and from its history, in one statement', () => {
    const { text, values } = gridSql(table, planGrid(table, request), { asOf: at });
    expect(text).toMatch(
      /from \(select svc_sk, .*, c_11, c_12, svc_live from b_2\.t_5 where svc_updated_at <= (\$\d+::timestamptz) union all select svc_sk, .*, c_11, c_12, case when svc_is_deleted then null else true end from b_2\.h_5 where svc_updated_at <= \1 and svc_valid_to > \1\) as_of where not svc_is_deleted and \(c_11 = /,
    );
    expect(values.filter((value) => value === at)).toHaveLength(1);
    expect(guard(text)).toBe(current);
  });

  it('answer only instants that have come and that the history goes back to', () => {
    const { text } = showSql(table, ['9'], { asOf: at });
    expect(text).toMatch(
      /and \$2::timestamptz <= clock_timestamp\(\) and exists \(.* d\.history_since <= \$2::timestamptz\)$/,
    );
  });

  it('do not read the history when no instant is given', () => {
    for (const { text } of [
      gridSql(table, planGrid(table, request)),
      listSql(table, planList(table, {})),
      showSql(table, ['9']),
    ])
      expect(text).not.toMatch(/h_5|history_since|clock_timestamp|union/);
  });
});
