// Loads into tables that refer to themselves: rows of one file refer to each other, to existing
// rows, and to rows that the load deletes.
import { historyName } from '../../src/sql/identifiers.ts';
import { load, rejected } from '../files.ts';
import { deploy } from '../given.ts';
import { givenStaff, net, nextId, overLoads, staff } from './loads.ts';

overLoads();

const file_columns = ['id', 'boss'];
const withCode = { file_columns: ['svc_transaction_code', ...file_columns], pattern: 'incremental_with_delete' };
const rejecting = { file_columns, on_error: 'reject_rows' };
const full = { file_columns, pattern: 'full', allow_mass_delete: true };
const nothing = { inserted: 0, updated: 0, deleted: 0, unchanged: 0, rejected: 0 };

const superseded = (table: number) =>
  net.query(`select count(*)::int as count from ${historyName({ branch_id: 1, lineage_id: table })}`);
const orphans = (result: { rejections: { row: number; message: string }[] }) =>
  result.rejections.map(({ row, message }) => {
    expect(message).toMatch(/^boss must refer to a record of the referenced table/);
    return row;
  });

describe('an existing row', () => {
  it('may newly refer to a new row of the same file', async () => {
    const table = await givenStaff('a,\nb,a\n');
    const result = await load(net, table, 'a,n\nn,\nb,a\n', { file_columns });
    expect(result).toMatchObject({ ...nothing, status: 'completed', inserted: 1, updated: 1, unchanged: 1 });
    expect(await staff(table)).toEqual(['a>n', 'b>a', 'n>']);
    const again = await load(net, table, 'a,m\nm,n\nn,\n', full);
    expect(again).toMatchObject({ ...nothing, status: 'completed', inserted: 1, updated: 1, deleted: 1, unchanged: 1 });
    expect(await staff(table)).toEqual(['a>m', 'm>n', 'n>']);
    const coded = await load(net, table, 'u,n,k\ni,k,\nd,a,\nd,m,\n', withCode);
    expect(coded).toMatchObject({ ...nothing, status: 'completed', inserted: 1, updated: 1, deleted: 2 });
    expect(await staff(table)).toEqual(['k>', 'n>k']);
  });

  it('is superseded once for each load that changes it, and a new row is not', async () => {
    const table = await givenStaff('a,\n');
    await load(net, table, 'a,n\nn,m\nm,\n', { file_columns });
    expect(await superseded(table)).toEqual([{ count: 1 }]);
    await load(net, table, 'p,a\nq,p\n', { file_columns });
    expect(await superseded(table)).toEqual([{ count: 1 }]);
  });

  it('is updated also when it was written in the very millisecond of the load', async () => {
    const table = await givenStaff('a,\nb,\n');
    // As after the clock was set back: the load gets no later time.
    await net.query(
      `update b_1.t_${table} set svc_created_at = now() + interval '1 hour', svc_updated_at = now() + interval '1 hour'`,
    );
    await net.query('delete from bulk_write where table_definition_id = $1', [table]);
    const result = await load(net, table, 'a,n\nn,\nb,\n', { file_columns });
    expect(result).toMatchObject({ ...nothing, inserted: 1, updated: 1, unchanged: 1 });
  });
});

describe('a key that is deleted and used again in one file', () => {
  it.each([
    ['', { inserted: 2, deleted: 0 }],
    ['a,\nb,\nc,a\n', { updated: 1, deleted: 1 }],
  ])('is deleted first, and its references with it; there is: %j', async (rows, done) => {
    const table = await givenStaff(rows);
    const result = await load(net, table, 'd,a,\ni,a,b\ni,b,\nd,b,\nd,c,\n', { ...withCode, on_error: 'reject_rows' });
    expect(result).toMatchObject({ status: 'completed', rejected: 0, ...done });
    expect(await staff(table)).toEqual(['a>b', 'b>']);
  });
});

describe('rows that are rejected', () => {
  it('reject those that refer to them, and no others', async () => {
    const table = await givenStaff();
    const result = await load(net, table, 'a,\nb,zz\nc,b\nd,a\ne,c\nf,f\ng,h\nh,g\n', {
      ...rejecting,
      load_id: 'chain',
    });
    expect(result).toMatchObject({ ...nothing, status: 'completed_with_errors', inserted: 5, rejected: 3, errors: [] });
    expect(orphans(result)).toEqual([2, 3, 5]);
    expect(await staff(table)).toEqual(['a>', 'd>a', 'f>f', 'g>h', 'h>g']);
    expect((await rejected(net, 'chain')).split('\n').length).toBe(5);
  });

  it('are listed before their consequences, which name the row to correct', async () => {
    const table = await givenStaff();
    const many = Array.from({ length: 150 }, (_, i) => `${i},${i === 0 ? 'long' : i - 1}\n`).join('');
    const text = `${many}long,${'x'.repeat(9)}\nb,zz\nc,b\ndup,\ndup,\nd,dup\n`;
    const result = await load(net, table, text, { ...rejecting, load_id: 'causes' });
    expect(result).toMatchObject({ status: 'completed_with_errors', rows_read: 156, inserted: 2, rejected: 154 });
    const must = 'boss must refer to a record of the referenced table';
    expect(result.rejections).toHaveLength(100);
    expect(result.rejections.slice(0, 5)).toMatchObject([
      {
        row: 151,
        message: 'boss is too long (maximum is 8 characters) (and 150 rows that refer to it)',
        consequences: 150,
      },
      { row: 152, value: 'zz', message: `${must} (and 1 row that refers to it)`, consequences: 1 },
      { row: 155, message: 'id must be unique: an earlier row of the file has this value' },
      { row: 1, message: `${must}; that of the file is rejected because of row 151`, cause_row: 151 },
      { row: 2, message: `${must}; that of the file is rejected because of row 151`, cause_row: 151 },
    ]);
    expect(result.rejections[2]).not.toHaveProperty('consequences');
    const lines = (await rejected(net, 'causes')).trimEnd().split('\n');
    expect(lines).toHaveLength(155);
    expect(lines[150]).toBe(`149,148,150,${must}; that of the file is rejected because of row 151`);
    const whole = await load(net, table, text, { file_columns });
    expect(whole.errors).toEqual(['3 of 156 rows break rules, and 151 refer to them; nothing was loaded.']);
    expect(whole.rejections[0]).toMatchObject({ row: 151, consequences: 150 });
    const full_ = await load(net, table, text, { ...full, ...rejecting });
    expect(full_).toMatchObject({ unchanged: 2, deleted: 0, rejected: 154 });
  });

  it('are causes when they have a reason of their own, whatever else they refer to', async () => {
    const table = nextId();
    const groups = nextId();
    await deploy(net, [
      { id: groups, columns: [{ name: 'id', length: 5, is_primary_key: true }] },
      {
        id: table,
        columns: [
          { name: 'id', length: 8, is_primary_key: true },
          { name: 'boss', length: 8, foreign_key_table_id: table },
          { name: 'grp', length: 5, foreign_key_table_id: groups },
        ],
      },
    ]);
    const text = 'a,zz,\nb,a,\nc,b,no\nd,c,\ne,d,\nf,g,no\ng,f,\n';
    const { rejections } = await load(net, table, text, {
      file_columns: ['id', 'boss', 'grp'],
      on_error: 'reject_rows',
    });
    expect(rejections.map((each) => [each.row, each.column, each.consequences, each.cause_row])).toEqual([
      [1, 'boss', 1, undefined],
      [3, 'boss', 2, undefined],
      [3, 'grp', undefined, undefined],
      [6, 'boss', 1, undefined],
      [6, 'grp', undefined, undefined],
      [2, 'boss', undefined, 1],
      [4, 'boss', undefined, 3],
      [5, 'boss', undefined, 3],
      [7, 'boss', undefined, 6],
    ]);
  });

  it('reject no row that refers to a row that stays', async () => {
    const table = await givenStaff('a,\nb,a\n');
    for (const options of [rejecting, { ...rejecting, ...full }]) {
      const result = await load(net, table, 'a,\nb,zz\nc,b\nd,c\n', { ...options, dry_run: true });
      expect(result).toMatchObject({ ...nothing, inserted: 2, unchanged: 1, rejected: 1, errors: [] });
      expect(orphans(result)).toEqual([2]);
    }
  });

  it('are listed once, with every reference to a missing record', async () => {
    const table = nextId();
    const columns = [
      { name: 'id', data_type: 'integer', is_primary_key: true },
      { name: 'up', data_type: 'integer', foreign_key_table_id: table },
      { name: 'next', data_type: 'integer', foreign_key_table_id: table },
    ];
    await deploy(net, [{ id: table, columns }]);
    const options = { file_columns: ['id', 'up', 'next'], on_error: 'reject_rows' };
    const result = await load(net, table, '1,,\n2,9,\n3,2,02\n4,1,3\n5,8,4\n6,1,1\n7,7,6\n', options);
    expect(result.rejections.map(({ row, cause_row }) => [row, cause_row])).toEqual([
      [2, undefined],
      [5, undefined],
      [5, undefined],
      [3, 2],
      [3, 2],
      [4, 3],
    ]);
    const inOrder = result.rejections.toSorted((a, b) => a.row - b.row);
    expect(inOrder.map(({ row, column, value }) => [row, column, value])).toEqual([
      [2, 'up', '9'],
      [3, 'up', '2'],
      [3, 'next', '02'],
      [4, 'next', '3'],
      [5, 'up', '8'],
      [5, 'next', '4'],
    ]);
    expect(result).toMatchObject({ inserted: 3, rejected: 4, errors: [] });
  });

  it('may be a long chain', async () => {
    const table = await givenStaff('top,\n');
    const rows = Array.from({ length: 20_000 }, (_, i) => `${i},${i === 0 ? 'zz' : i === 10_000 ? 'top' : i - 1}\n`);
    const result = await load(net, table, rows.toReversed().join(''), rejecting);
    expect(result).toMatchObject({ inserted: 10_000, rejected: 10_000, errors: [] });
  });
});

describe('a row that the load deletes', () => {
  it('of a whole table is no record to refer to', async () => {
    const table = await givenStaff('a,\nb,a\nc,\n');
    const plain = await load(net, table, 'a,b\nc,\n', full);
    expect([plain.status, orphans(plain)]).toEqual(['failed', [1]]);
    const text = 'a,b\nc,\nd,a\ne,b\nf,e\n';
    const result = await load(net, table, text, { ...full, ...rejecting });
    expect(orphans(result)).toEqual([1, 4, 5]);
    expect(result).toMatchObject({ ...nothing, inserted: 1, deleted: 1, unchanged: 1, rejected: 3, errors: [] });
    expect(await staff(table)).toEqual(['a>', 'c>', 'd>a']);
  });

  it('is one when it stays after all, as a rejected row may have its key', async () => {
    const table = await givenStaff('a,\nb,a\nc,\n');
    const rows = 'a,b\nc,\n';
    const broken = `b,${'x'.repeat(9)}\n`;
    const kept = await load(net, table, rows + broken, { ...full, ...rejecting, dry_run: true });
    expect(kept).toMatchObject({ ...nothing, updated: 1, unchanged: 1, rejected: 1, errors: [] });
    const unknown = await load(net, table, `${rows},c\n`, { ...full, ...rejecting });
    expect(unknown).toMatchObject({ ...nothing, updated: 1, unchanged: 1, rejected: 1 });
    expect(unknown.errors).toEqual([expect.stringMatching(/^No row was deleted/)]);
    expect(await staff(table)).toEqual(['a>b', 'b>a', 'c>']);
  });

  it.each([
    ['x,n\nb,a\na,n\nn,\nm,n\n', 'a,b\nc,\n', ['a>n', 'c>', 'n>'], 1, 3],
    // Through others; and a row that is first good and then a duplicate keeps nothing.
    ['a,\nb,a\nc,b\nd,c\ne,\nf,e\n', 'd,zz\nf,\nf,e\n', ['a>', 'b>a', 'c>b', 'd>c', 'f>'], 3, 1],
    ['a,b\nb,a\nc,\n', 'a,zz\n', ['a>b', 'b>a'], 1, 1],
  ])('stays while the record of a rejected row refers to it: %j, %j', async (before, text, after, held, deleted) => {
    const table = await givenStaff(before);
    const result = await load(net, table, text, { ...full, ...rejecting });
    expect(result).toMatchObject({ status: 'completed_with_errors', deleted });
    expect(result.errors).toEqual([
      held === 1
        ? '1 row that the file lacks was not deleted: records of rejected rows refer to it.'
        : `${held} rows that the file lacks were not deleted: records of rejected rows refer to them.`,
    ]);
    expect(await staff(table)).toEqual(after);
  });

  it('because the file says so is none either', async () => {
    const table = await givenStaff('a,\nb,\nc,\n');
    const text = 'd,b,\nu,a,b\ni,x,a\ni,y,b\ni,z,y\n';
    const result = await load(net, table, text, { ...withCode, on_error: 'reject_rows' });
    expect(orphans(result)).toEqual([2, 4, 5]);
    expect(result).toMatchObject({ ...nothing, inserted: 1, deleted: 1, rejected: 3, errors: [] });
    expect(await staff(table)).toEqual(['a>', 'c>', 'x>a']);
  });

  it('stays with all others while a row that the file does not name refers to it', async () => {
    const table = await givenStaff('a,\nb,a\n');
    const result = await load(net, table, 'd,a,\n', withCode);
    expect([result.status, result.errors]).toEqual([
      'failed',
      ['Rows that would be deleted are still referred to, by rows of this table or of others.'],
    ]);
  });
});
