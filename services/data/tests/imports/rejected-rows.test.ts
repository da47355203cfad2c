// Rows that a load rejects: their reasons, what is kept of them, and the live rows that they
// protect.
import { load, rejected } from '../files.ts';
import { caller, failureOf } from '../given.ts';

import { file_columns, givenTable, net, overLoads, shown } from './loads.ts';

overLoads();

const zero = { inserted: 0, updated: 0, deleted: 0, unchanged: 0, rejected: 0 };

describe('a load with bad rows', () => {
  it('answers every reason of every bad row, in the words of the row API, and loads nothing', async () => {
    const { table } = await givenTable();
    const long = 'x'.repeat(21);
    const csv = `a,ok,1,A\n,${long},1e3,\nb,,x,Q\nc,ok,,Q\na,again,,\n`;
    const result = await load(net, table, csv, { file_columns, load_id: 'reasons' });
    expect(result).toMatchObject({ ...zero, status: 'failed', rows_read: 5, rejected: 4 });
    expect(result.rejections).toEqual([
      { row: 2, column: 'code', value: '', message: "code can't be blank" },
      { row: 2, column: 'name', value: long, message: 'name is too long (maximum is 20 characters)' },
      { row: 2, column: 'size', value: '1e3', message: 'size must be an integer from -2147483648 to 2147483647' },
      { row: 3, column: 'name', value: '', message: "name can't be blank" },
      { row: 3, column: 'size', value: 'x', message: 'size must be an integer from -2147483648 to 2147483647' },
      { row: 4, column: 'grp', value: 'Q', message: 'grp must refer to a record of the referenced table' },
      { row: 5, column: 'code', value: 'a', message: 'code must be unique: an earlier row of the file has this value' },
    ]);
    expect(await shown(table)).toEqual([]);
    expect((await rejected(net, 'reasons')).split('\n')).toEqual([
      'code,name,size,grp,svc_row,svc_errors',
      `,${long},1e3,,2,code can't be blank; name is too long (maximum is 20 characters); size must be an integer from -2147483648 to 2147483647`,
      "b,,x,Q,3,name can't be blank; size must be an integer from -2147483648 to 2147483647",
      'c,ok,,Q,4,grp must refer to a record of the referenced table',
      'a,again,,,5,code must be unique: an earlier row of the file has this value',
      '',
    ]);
    expect((await failureOf(rejected(net, 'reasons', { ...caller, accountId: 2 }))).kind).toBe('not_found');
  });

  it('leaves the bad rows out when on_error is reject_rows', async () => {
    const { table } = await givenTable();
    const result = await load(net, table, 'a,ok,1,A\nb,,x,Q\nc,ok,,Q\na,again,,\nd,ok,,\n', {
      file_columns,
      on_error: 'reject_rows',
    });
    expect(result).toMatchObject({
      ...zero,
      status: 'completed_with_errors',
      rows_read: 5,
      inserted: 2,
      rejected: 3,
      errors: [],
    });
    expect(await shown(table)).toEqual(['a|ok|1|A', 'd|ok||']);
  });

  it('of a whole table keeps rows that the file has among its bad ones', async () => {
    const { table } = await givenTable();
    await load(net, table, 'a,1,,\nb,2,,\nc,3,,\nd,4,,\ne,5,,\n', { file_columns });
    const options = { file_columns, pattern: 'full', on_error: 'reject_rows' };
    const bad = `a,ONE,,\nb,,x,\nc,3,,\nc,twice,,\nd,4,,Q\nnew,,,\n`;
    const counts = { updated: 1, deleted: 1, unchanged: 1, rejected: 4 };
    for (const more of [{ dry_run: true }, {}])
      expect(await load(net, table, bad, { ...options, ...more })).toMatchObject({
        ...zero,
        ...counts,
        status: 'completed_with_errors',
        errors: [],
      });
    expect(await shown(table)).toEqual(['a|ONE||', 'b|2||', 'c|3||', 'd|4||']);
    // Two of four, if the rejected ones counted as missing.
    const few = await load(net, table, 'a,ONE,,\nb,,,\nc,,,\nd,,,\n', { ...options, mass_delete_percent: 1 });
    expect(few).toMatchObject({ deleted: 0, unchanged: 1, rejected: 3, errors: [] });
  });

  it('of a whole table deletes nothing when the key of a bad row is not known', async () => {
    const { table } = await givenTable();
    await load(net, table, 'a,1,,\nb,2,,\nc,3,,\n', { file_columns });
    const options = { file_columns, pattern: 'full', on_error: 'reject_rows' };
    const problem = (column: string) => `[{""column"":""${column}"",""value"":""v"",""message"":""bad""}]`;
    const kept = { deleted: 0, unchanged: 2, status: 'completed_with_errors' };
    const ofOne = {
      ...kept,
      rejected: 1,
      errors: [expect.stringMatching(/^No row was deleted: a rejected row has no key/)],
    };
    expect(await load(net, table, 'a,1,,\nb,2,,\n,3,,\n', options)).toMatchObject(ofOne);
    const numbered = (column: string) =>
      load(net, table, `1,,a,1,,\n2,,b,2,,\n3,"${problem(column)}",z,3,,\n`, { ...options, numbered: true });
    expect(await numbered('')).toMatchObject(ofOne);
    expect(await numbered('code')).toMatchObject(ofOne);
    const two = await load(net, table, `a,1,,\nb,2,,\n,3,,\n${'x'.repeat(100)},,,\n`, options);
    expect(two.errors).toEqual([expect.stringMatching(/2 rejected rows have no key/)]);
    expect(await numbered('name')).toMatchObject({ deleted: 1, unchanged: 2, rejected: 1, errors: [] });
    expect(await shown(table)).toEqual(['a|1||', 'b|2||']);
  });

  it('takes numbers and problems that come with the rows, and answers them first', async () => {
    const { table } = await givenTable();
    const problem = (column: string) =>
      JSON.stringify([{ column, value: 'v', message: `${column || 'row'} is bad` }]).replaceAll('"', '""');
    const text = `7,,a,one,1,\n12,"${problem('name')}",b,two,x,\n40,"${problem('')}",,,,\n`;
    const result = await load(net, table, text, { file_columns, numbered: true, on_error: 'reject_rows' });
    expect(result).toMatchObject({ status: 'completed_with_errors', rows_read: 3, inserted: 1, rejected: 2 });
    expect(result.rejections.map(({ row, column, message }) => [row, column, message])).toEqual([
      [12, 'name', 'name is bad'],
      [12, 'size', expect.stringContaining('size must be')],
      [40, '', 'row is bad'],
    ]);
    expect(await shown(table)).toEqual(['a|one|1|']);
  });

  it('keeps the cells of a row that could not be read, and checks none of them', async () => {
    const { table } = await givenTable();
    const problem = JSON.stringify([{ column: '', value: 'b;2', message: 'The row has 2 cells, the header has 4.' }]);
    const content = `2;;a;one;1;\n3;'${problem}';b;2;;\n4;;c;three;3;\n`;
    const options = { file_columns, numbered: true, delimiter: ';', quote: "'", on_error: 'reject_rows' };
    const result = await load(net, table, content, { ...options, load_id: 'unreadable' });
    expect(result).toMatchObject({ status: 'completed_with_errors', rows_read: 3, inserted: 2, rejected: 1 });
    expect(result.rejections).toEqual([
      { row: 3, column: '', value: 'b;2', message: 'The row has 2 cells, the header has 4.' },
    ]);
    expect((await rejected(net, 'unreadable')).split('\n')[1]).toBe('b,2,,,3,"The row has 2 cells, the header has 4."');
    const whole = await load(net, table, `3;'${problem}';b;2;;\n4;;c;three;3;\n`, {
      ...options,
      pattern: 'full',
    });
    expect(whole).toMatchObject({ deleted: 0, unchanged: 1, errors: [expect.stringContaining('key')] });
  });

  it('counts rows from the given number', async () => {
    const { table } = await givenTable();
    const options = { file_columns, first_row: 2, on_error: 'reject_rows' };
    const result = await load(net, table, 'a,one,1,\nb,two,x,\n', options);
    expect(result.rejections.map(({ row }) => row)).toEqual([3]);
    const short = await load(net, table, 'a,one,1,\nb\n', { file_columns, first_row: 2 });
    expect(short.errors[0]).toMatch(/^Line 3 of the file/);
  });

  it('shows a hundred rejections and keeps them all', async () => {
    const { table } = await givenTable();
    const csv = Array.from({ length: 250 }, (_, i) => `k${i},ok,bad,\n`).join('');
    const result = await load(net, table, csv, { file_columns, load_id: 'many' });
    expect([result.rejected, result.rejections.length, result.rejections[99]?.row]).toEqual([250, 100, 100]);
    expect((await rejected(net, 'many')).split('\n').length).toBe(252);
  });
});
