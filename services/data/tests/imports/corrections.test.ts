// Rejected rows are listed by window, and what people correct of them replaces cells of the file.
import { load } from '../files.ts';
import { caller, failureOf } from '../given.ts';
import { file_columns, givenTable, net, overLoads, shown } from './loads.ts';

overLoads();

type Window = { start_row?: number; end_row?: number; rows?: number[] };

async function listed(load_id: string, window: Window = {}, as = caller) {
  const parts: Buffer[] = [];
  for await (const { chunk } of net.jobs.ListRejectedRows(as, { load_id, start_row: 0, end_row: 100, ...window }))
    parts.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(parts).toString());
}

const cell = (name: string, value?: string) => ({
  position: file_columns.indexOf(name),
  target_column: name,
  ...(value === undefined ? {} : { value }),
});
const problemCell = (column: string) =>
  `"${JSON.stringify([{ column, value: 'v', message: `${column || 'row'} is bad` }]).replaceAll('"', '""')}"`;

describe('rejected rows', () => {
  it('are listed with their cells and what is wrong with them, by window and by number', async () => {
    const { table } = await givenTable();
    await load(net, table, 'a,ok,1,A\n,none,x,\nb,,2,Q\nc,,3,\n', { file_columns, load_id: 'windows' });
    const size = 'size must be an integer from -2147483648 to 2147483647';
    expect(await listed('windows', { end_row: 1 })).toEqual({
      columns: file_columns,
      rows: [
        {
          row: 2,
          cells: [null, 'none', 'x', null],
          problems: [
            { column: 'code', value: null, message: "code can't be blank" },
            { column: 'size', value: 'x', message: size },
          ],
        },
      ],
      rowCount: 3,
    });
    const numbers = async (window: Window) => {
      const { rows, rowCount } = await listed('windows', window);
      return [rows.map(({ row }: { row: number }) => row), rowCount];
    };
    expect(await numbers({ start_row: 1, end_row: 3 })).toEqual([[3, 4], 3]);
    expect(await numbers({ start_row: 3 })).toEqual([[], 3]);
    expect(await numbers({ rows: [4, 1, 2] })).toEqual([[2, 4], 2]);
    expect((await failureOf(listed('windows', { end_row: 2000 }))).kind).toBe('bad_request');
    expect((await failureOf(listed('windows', {}, { ...caller, accountId: 2 }))).kind).toBe('not_found');
    await net.query("update finished_load set finished_at = now() - interval '25 hours' where load_id = 'windows'");
    expect((await failureOf(listed('windows'))).kind).toBe('not_found');
  });
});

describe('corrections', () => {
  it('replace cells of the file before it is checked', async () => {
    const { table } = await givenTable();
    const corrections = [
      { row: 2, cells: [cell('code', 'b'), cell('size')] },
      { row: 3, cells: [cell('name', 'It is, "three"')] },
    ];
    const result = await load(net, table, 'a,one,1,A\n,two,x,B\nc,,3,\n', { file_columns, corrections });
    expect(result).toMatchObject({ status: 'completed', rows_read: 3, inserted: 3, rejected: 0 });
    expect(await shown(table)).toEqual(['a|one|1|A', 'b|two||B', 'c|It is, "three"|3|']);
  });

  it('are checked as the file is', async () => {
    const { table } = await givenTable();
    const corrections = [{ row: 2, cells: [cell('code', 'a'), cell('size', 'y')] }];
    const result = await load(net, table, 'a,one,1,\n,two,x,\n', {
      file_columns,
      corrections,
      on_error: 'reject_rows',
    });
    expect(result).toMatchObject({ status: 'completed_with_errors', inserted: 1, rejected: 1 });
    expect(result.rejections).toEqual([
      { row: 2, column: 'size', value: 'y', message: expect.stringContaining('size must be') },
    ]);
  });

  it('remove the problems that came with the corrected cells, and no others', async () => {
    const { table } = await givenTable();
    const text = `5,${problemCell('name')},a,,1,\n6,${problemCell('')},b,,,\n7,${problemCell('size')},c,three,,\n`;
    const corrections = [
      { row: 5, cells: [cell('name', 'one')] },
      { row: 6, cells: [cell('name', 'two')] },
      { row: 7, cells: [cell('name', 'THREE')] },
    ];
    const options = { file_columns, numbered: true, on_error: 'reject_rows', corrections };
    const result = await load(net, table, text, options);
    expect(result.rejections.map(({ row, column, message }) => [row, column, message])).toEqual([
      [7, 'size', 'size is bad'],
    ]);
    expect(await shown(table)).toEqual(['a|one|1|', 'b|two||']);
  });

  it.each([
    ['of a column that the file lacks', [{ row: 1, cells: [{ position: 4, target_column: '', value: 'x' }] }]],
    ['of no cell', [{ row: 1, cells: [] }]],
    ['of 1,001 rows', Array.from({ length: 1001 }, (_, row) => ({ row, cells: [cell('name', 'x')] }))],
  ])('%s are refused', async (_, corrections) => {
    const { table } = await givenTable();
    expect((await failureOf(load(net, table, 'a,one,1,\n', { file_columns, corrections }))).kind).toBe('bad_request');
  });
});
