import { givenColumn, givenTable } from '../../tests/structures.ts';
import type { Column, DeployedTable } from '../tables/table.ts';
import { planBranch } from './branch-change.ts';
import { changeTable, inOrder } from './schema/ddl.ts';
import { resolveForeignKeys } from './schema/foreign-keys.ts';
import { historyObjects } from './schema/history-ddl.ts';
import { diffTable } from './table-diff.ts';

const column = (lineage_id: number, more: Partial<Column> = {}): Column =>
  givenColumn(lineage_id, { data_type: 'integer', ...more });

const table = (id: number, columns: Column[], more: Partial<DeployedTable> = {}): DeployedTable =>
  givenTable(columns, {
    ...{ table_definition_id: id, account_id: 1, branch_id: 1, lineage_id: id, revision: 1 },
    ...{ key: `key_${id}`, name: `Table ${id}` },
    ...more,
  });

const key = (lineage: number) => column(lineage, { is_primary_key: true });
const refer = (lineage: number, target: number) => column(lineage, { foreign_key_table_id: target });

describe('foreign keys', () => {
  const target = table(1, [key(11), key(12)]);
  const find = (id: number) => (id === 1 ? target : undefined);

  it('take the columns that name a target in the order of its key', () => {
    expect(resolveForeignKeys([refer(21, 1), column(22), refer(23, 1)], find)).toEqual({
      foreignKeys: [{ columns: [21, 23], target_table_id: 1, target_lineage_id: 1, target_columns: [11, 12] }],
      problems: [],
    });
  });

  it('are several when there are more columns than the key has', () => {
    const { foreignKeys } = resolveForeignKeys([refer(21, 1), refer(22, 1), refer(23, 1), refer(24, 1)], find);
    expect(foreignKeys.map((each) => each.columns)).toEqual([
      [21, 22],
      [23, 24],
    ]);
  });

  it('say what is wrong with them', () => {
    expect(resolveForeignKeys([refer(21, 1)], find).problems[0]).toMatch(/as many columns/);
    expect(resolveForeignKeys([refer(21, 9)], find).problems[0]).toMatch(/not deployed/);
    expect(resolveForeignKeys([refer(21, 1)], () => table(1, [column(11)])).problems[0]).toMatch(/no primary key/);
  });
});

describe('statements of a deployment', () => {
  const fillsHistoryOf = (made: DeployedTable) => historyObjects(made).map(({ create }) => create);
  const changeOf = (
    old: DeployedTable | undefined,
    wanted: DeployedTable,
    others: DeployedTable[],
    isLarge: boolean,
  ) => {
    const all = new Map([...others, wanted].map((each) => [each.lineage_id, each]));
    const before = new Map([...others, ...(old ? [old] : [])].map((each) => [each.lineage_id, each]));
    const find = (map: Map<number, DeployedTable>) => (lineage: number) => map.get(lineage) as DeployedTable;
    const surroundings = { revision: 77, oldTable: find(before), newTable: find(all), isLarge };
    return changeTable({ old, wanted }, surroundings).statements;
  };
  const change = (old: DeployedTable | undefined, wanted: DeployedTable, others: DeployedTable[] = []) =>
    inOrder([changeOf(old, wanted, others, false)]);

  it('make a table, then what leans on it', () => {
    const columns = [
      key(11),
      column(12, { data_type: 'string', length: 5, is_required: true, valid_values: ["it's", 'b'] }),
      column(13, { data_type: 'bigint' }),
    ];
    const statements = change(undefined, table(1, columns));
    expect(statements[0]).toBe('create schema if not exists b_1');
    expect(statements[1]).toMatch(
      /^create table b_1\.t_1 \(svc_sk bigint generated always as identity primary key, .*c_13 bigint, c_11 integer, c_12 varchar\(5\) collate "C", svc_updated_by text, svc_request_id text\) with \(autovacuum/,
    );
    const made = table(1, columns);
    expect(statements.slice(2)).toEqual([
      'create table b_1.h_1 (like b_1.t_1)',
      'alter table b_1.h_1 drop column svc_live, add column svc_valid_to timestamptz(3) not null, add primary key (svc_sk, svc_version)',
      'create index on b_1.h_1 using brin (svc_valid_to) with (pages_per_range = 32, autosummarize = on)',
      'create index u_1 on b_1.t_1 (svc_updated_at)',
      'alter table b_1.t_1 add constraint k_1 unique (c_11, svc_live)',
      'alter table b_1.t_1 add constraint n_1 check (svc_is_deleted or (c_11 is not null and c_12 is not null))',
      "alter table b_1.t_1 add constraint v_12 check (svc_is_deleted or c_12 is null or c_12 = any (array['it''s', 'b']::text[]))",
      ...fillsHistoryOf(made),
    ]);
  });

  const newVersionsWhere = (condition: string) =>
    expect.stringContaining(
      `, svc_channel = 'd'::"char" from (select date_trunc('milliseconds', clock_timestamp()) as at) clock where case when t.svc_is_deleted then false else ${condition} end`,
    );

  it('change only what differs', () => {
    const old = table(1, [key(11), column(12), column(13, { data_type: 'text' })]);
    expect(
      change(
        old,
        table(1, [key(11), column(12, { name: 'renamed', description: 'x' }), column(13, { data_type: 'text' })]),
      ),
    ).toEqual([]);
    const wanted = table(1, [key(11), column(12, { is_required: true }), column(14)]);
    expect(change(old, wanted)).toEqual([
      newVersionsWhere('c_13 is not null'),
      'drop trigger h_1 on b_1.t_1',
      'drop function b_1.h_1()',
      'alter table b_1.t_1 drop constraint n_1',
      expect.stringContaining("'^g_[0-9]+_(e(13)[ad]s?[0-9]+|(e[0-9]+)?[adw](13))$' loop execute 'drop index '"),
      'drop statistics if exists b_1.gs_1_13',
      'alter table b_1.t_1 rename column c_13 to x_13_77',
      'alter table b_1.t_1 add column c_14 integer',
      'alter table b_1.h_1 rename column c_13 to x_13_77',
      'alter table b_1.h_1 add column c_14 integer',
      'alter table b_1.t_1 add constraint n_1 check (svc_is_deleted or (c_11 is not null and c_12 is not null))',
      ...fillsHistoryOf(wanted),
    ]);
  });

  it('keep aside what a cast may lose before casting', () => {
    const old = table(1, [key(11), column(12, { data_type: 'string', length: 10 })]);
    expect(change(old, table(1, [key(11), column(12, { data_type: 'string', length: 3 })]))).toEqual([
      newVersionsWhere('c_12 is not null and char_length(c_12) > 3'),
      expect.stringContaining("'^g_[0-9]+_(e(12)[ad]s?[0-9]+|(e[0-9]+)?[adw](12))$' loop execute 'drop index '"),
      'drop statistics if exists b_1.gs_1_12',
      'alter table b_1.t_1 add column x_12_77 varchar(10) collate "C"',
      'update b_1.t_1 set x_12_77 = c_12 where c_12 is not null and (char_length(c_12) > 3)',
      'alter table b_1.t_1 alter column c_12 type varchar(3) collate "C" using left(c_12, 3)',
      'alter table b_1.h_1 add column x_12_77 varchar(10) collate "C"',
      'update b_1.h_1 set x_12_77 = c_12 where c_12 is not null and (char_length(c_12) > 3)',
      'alter table b_1.h_1 alter column c_12 type varchar(3) collate "C" using left(c_12, 3)',
    ]);
  });

  it('look at no row of a large table while others wait', () => {
    const text = (length: number) =>
      column(12, { data_type: 'string', length, is_required: true, valid_values: ['a'] });
    const old = table(1, [key(11), text(3)]);
    const wanted = table(1, [key(11), text(30), column(13), column(14, { valid_values: ['1'] })]);
    wanted.structure.foreign_keys = [{ columns: [13], target_table_id: 2, target_lineage_id: 2, target_columns: [21] }];
    const large = changeOf(old, wanted, [table(2, [key(21)])], true);
    expect([...large.columns, ...large.adds, ...large.foreignKeys].filter((text) => / b_1\.t_1 /.test(text))).toEqual([
      'alter table b_1.t_1 alter column c_12 type varchar(30) collate "C" using c_12, add column c_13 integer, add column c_14 integer',
      'alter table b_1.t_1 add constraint n_1 check (svc_is_deleted or (c_11 is not null and c_12 is not null)) not valid',
      "alter table b_1.t_1 add constraint v_12 check (svc_is_deleted or c_12 is null or c_12 = any (array['a']::text[])) not valid",
      "alter table b_1.t_1 add constraint v_14 check (svc_is_deleted or c_14 is null or c_14 = any (array['1']::integer[])) not valid",
      fillsHistoryOf(wanted)[1],
      'alter table b_1.t_1 add constraint f_1_13 foreign key (c_13, svc_live) references b_1.t_2 (c_21, svc_live) not valid',
    ]);
    expect(large.deferred).toEqual([
      'alter table b_1.t_1 validate constraint n_1',
      'alter table b_1.t_1 validate constraint v_12',
      'alter table b_1.t_1 validate constraint v_14',
      'create index concurrently i_1_13 on b_1.t_1 (c_13 nulls first, svc_sk)',
      'alter table b_1.t_1 validate constraint f_1_13',
    ]);
  });

  it('leave the history alone when columns only change their order or their names', () => {
    const old = table(1, [key(11), column(12), column(13)]);
    expect(change(old, table(1, [column(13), key(11), column(12, { name: 'other' })]))).toEqual([]);
  });

  it('fill the history with every column, and with nothing that a user wrote', () => {
    const [create, trigger] = fillsHistoryOf(table(1, [column(13, { name: 'x"; drop' }), key(11)]));
    expect(create).toContain(
      'insert into b_1.h_1 (svc_sk, svc_created_at, svc_updated_at, svc_is_deleted, svc_version, svc_updated_by, svc_channel, svc_request_id, c_11, c_13, svc_valid_to)',
    );
    expect(`${create}${trigger}`).not.toContain('x"');
    expect(trigger).toBe(
      'create trigger h_1 after update on b_1.t_1 referencing old table as superseded new table as successor for each statement execute function b_1.h_1()',
    );
  });

  it('take references off before the keys they lean on, and put them back last', () => {
    const foreign_keys = [{ columns: [22], target_table_id: 1, target_lineage_id: 1, target_columns: [11] }];
    const child = (type: Column['data_type']) => {
      const made = table(2, [key(21), column(22, { foreign_key_table_id: 1, data_type: type })]);
      return { ...made, structure: { ...made.structure, foreign_keys } };
    };
    const statements = change(child('integer'), child('bigint'), [table(1, [key(11)])]);
    expect(statements[0]).toBe('alter table b_1.t_2 drop constraint f_2_22');
    expect(statements.at(-1)).toBe(
      'alter table b_1.t_2 add constraint f_2_22 foreign key (c_22, svc_live) references b_1.t_1 (c_11, svc_live)',
    );
  });
});

describe('a branch', () => {
  it('is planned as it will be: targets may come with the same deployment', () => {
    const wanted = [table(2, [refer(21, 1)]), table(1, [key(11)])];
    const { wanted: changes } = planBranch(1, wanted, { branch: [], elsewhere: new Set() });
    expect(changes.map((change) => change.problems)).toEqual([[], []]);
  });

  it('makes the references again of tables that refer to a changed one', () => {
    const child = table(2, [refer(21, 1)]);
    child.structure.foreign_keys = [{ columns: [21], target_table_id: 1, target_lineage_id: 1, target_columns: [11] }];
    const branch = [table(1, [key(11)]), child];
    const { touched } = planBranch(1, [table(1, [column(11), key(12)])], { branch, elsewhere: new Set() });
    expect(touched.map((pair) => pair.wanted.structure.foreign_keys[0]?.target_columns)).toEqual([[12]]);
  });

  it('has each key and each lineage once', () => {
    const branch = [table(1, [column(11)])];
    const again = table(5, [column(11)], { key: 'key_1', lineage_id: 1 });
    expect(planBranch(1, [again], { branch, elsewhere: new Set() }).wanted[0]?.problems).toEqual([
      expect.stringMatching(/key_1 is used/),
    ]);
  });
});

describe('a diff', () => {
  it('tells new, modified, deleted and unchanged columns, and a changed order', () => {
    const old = table(1, [key(11), column(12), column(13)]);
    const wanted = table(1, [column(12, { data_type: 'text' }), key(11), column(14)]);
    const diff = diffTable(old, wanted);
    expect(diff.change).toBe('modified');
    expect(diff.columns.map(({ name, change }) => `${name} ${change}`)).toEqual([
      'col_12 modified',
      'col_11 unchanged',
      'col_14 new',
      'col_13 deleted',
    ]);
    expect(diff.columns[0]?.attributes).toEqual([{ name: 'data_type', from: '"integer"', to: '"text"' }]);
    expect(diff.attributes).toEqual([{ name: 'column_order', from: '["col_11","col_12"]', to: '["col_12","col_11"]' }]);
  });
});
