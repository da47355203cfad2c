// Loads into hierarchies: rows that would lead back to themselves are rejected, and no others.
import { load, rejected } from '../files.ts';
import { givenStaff, net, overLoads, staff } from './loads.ts';

overLoads();

const file_columns = ['id', 'boss'];
const rejecting = { file_columns, on_error: 'reject_rows' };
const full = { ...rejecting, pattern: 'full', allow_mass_delete: true };
const message = "boss can't lead back to the record itself";

const givenHierarchy = (rows = '') => givenStaff(rows, true);
const reasons = (result: { rejections: { row: number; column: string; message: string }[] }) =>
  result.rejections.map(({ row, column, message }) => `${row} ${column}: ${message}`);

it('a file with a cycle is refused as a whole, with its rows', async () => {
  const table = await givenHierarchy('a,\n');
  const result = await load(net, table, 'b,a\nc,d\nd,c\ne,e\nf,c\n', { file_columns });
  expect(result).toMatchObject({
    status: 'failed',
    errors: ['3 of 5 rows break rules, and 1 refers to them; nothing was loaded.'],
    inserted: 0,
  });
  expect(reasons(result)).toEqual([
    `2 boss: ${message} (and 1 row that refers to it)`,
    `3 boss: ${message}`,
    `4 boss: ${message}`,
    '5 boss: boss must refer to a record of the referenced table; that of the file is rejected because of row 2',
  ]);
  expect(await staff(table)).toEqual(['a>']);
});

it('rows on a cycle are rejected; rows below an existing row are loaded', async () => {
  const table = await givenHierarchy('a,\nb,a\nc,b\n');
  const result = await load(net, table, 'a,c\nd,c\ne,a\nf,f\n', { ...rejecting, load_id: 'cycle' });
  expect(reasons(result)).toEqual([`1 boss: ${message}`, `4 boss: ${message}`]);
  expect(result).toMatchObject({ status: 'completed_with_errors', inserted: 2, rejected: 2, errors: [] });
  expect(await staff(table)).toEqual(['a>', 'b>a', 'c>b', 'd>c', 'e>a']);
  expect(await rejected(net, 'cycle')).toContain(message);
});

it('a row that keeps its old place, as its new one is rejected, may close another cycle', async () => {
  const table = await givenHierarchy('a,b\nb,\nc,\n');
  const result = await load(net, table, 'a,a\nb,a\nc,b\n', rejecting);
  expect(reasons(result)).toEqual([`1 boss: ${message}`, `2 boss: ${message}`]);
  expect(await staff(table)).toEqual(['a>b', 'b>', 'c>b']);
});

it('a whole hierarchy may be turned round by one file, also one that deletes and one with codes', async () => {
  const table = await givenHierarchy('a,\nb,a\nc,b\nd,c\n');
  expect(await load(net, table, 'a,b\nb,c\nc,\n', { ...full, dry_run: true })).toMatchObject({
    rejected: 0,
    deleted: 1,
  });
  expect(await load(net, table, 'a,b\nb,c\nc,\n', full)).toMatchObject({ status: 'completed', updated: 3, deleted: 1 });
  expect(await staff(table)).toEqual(['a>b', 'b>c', 'c>']);
  const coded = { file_columns: ['svc_transaction_code', ...file_columns], pattern: 'incremental_with_delete' };
  expect(await load(net, table, 'd,a,\nu,c,n\ni,n,\n', coded)).toMatchObject({ status: 'completed', errors: [] });
  expect(await staff(table)).toEqual(['b>c', 'c>n', 'n>']);
  const closed = await load(net, table, 'u,n,b\n', coded);
  expect([closed.status, reasons(closed)]).toEqual(['failed', [`1 boss: ${message}`]]);
});

it('a file without the column changes no edge', async () => {
  const table = await givenHierarchy('a,\nb,a\n');
  const result = await load(net, table, 'a,x\nn,y\n', { file_columns: ['id', 'deputy'] });
  expect(result).toMatchObject({ status: 'completed', inserted: 1, updated: 1 });
});

it('rows that are rejected round after round are counted, and nothing is loaded', async () => {
  // Each row of the file is on a cycle only when the one before it has been rejected.
  const many = 40;
  const rows = Array.from({ length: many }, (_, n) => n);
  const table = await givenHierarchy(rows.map((n) => `r${n},${n + 1 < many ? `r${n + 1}` : ''}\n`).join(''));
  const before = await staff(table);
  const result = await load(net, table, rows.map((n) => `r${n},r${Math.max(0, n - 1)}\n`).join(''), rejecting);
  expect(result).toMatchObject({ status: 'failed', rejected: 20, updated: 0 });
  expect(result.errors).toEqual([expect.stringMatching(/^Each time .* nothing was loaded/)]);
  expect(await staff(table)).toEqual(before);
});

it('a chain of 100,000 rows is loaded in any order, and closed by none', async () => {
  const table = await givenHierarchy();
  const rows = Array.from({ length: 100_000 }, (_, n) => `${n},${n === 0 ? '' : n - 1}\n`);
  expect(await load(net, table, rows.toReversed().join(''), { file_columns })).toMatchObject({ inserted: 100_000 });
  const result = await load(net, table, '0,99999\nx,99999\n', rejecting);
  expect(result).toMatchObject({ status: 'completed_with_errors', inserted: 1, rejected: 1 });
});
