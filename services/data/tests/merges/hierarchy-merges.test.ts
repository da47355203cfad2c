// Merges of rows between branches into hierarchies: rows that would lead back to themselves are a
// violation like others.
import { type ColumnInput, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { codeColumn, copyOf, type Edits, edit, merge, nextId, rowsOf, withLineages } from './row-merges.ts';

let net: DataNet;
beforeAll(async () => {
  net = await givenData();
});
afterAll(() => net.stop());

const under = (parent: string | null) => ({ parent });

async function givenCopy(rows: Edits) {
  const id = nextId();
  const parent: ColumnInput = { name: 'parent', length: 10, foreign_key_table_id: id, is_hierarchy: true };
  const main: TableInput = { id, columns: [codeColumn, parent] };
  await deploy(net, [main]);
  await edit(net, id, rows);
  const columns = withLineages(main).map((column) =>
    column.foreign_key_table_id ? { ...column, foreign_key_table_id: id + 1 } : column,
  );
  const copy = copyOf(main, { columns });
  await deploy(net, [copy]);
  return { main: main.id, copy: copy.id };
}

it('references of both sides that form a cycle are a violation, and nothing changes', async () => {
  const { main, copy } = await givenCopy({ A: under(null), B: under(null), C: under('B'), D: under('C') });
  await edit(net, main, { A: under('C') });
  await edit(net, copy, { B: under('A') });
  const result = await merge(net, [[copy, main]]);
  expect(result).toMatchObject({
    status: 'refused',
    violations: [{ table: `Table ${main}`, message: "parent can't lead back to the record itself" }],
  });
  expect(result.violations.map(({ rows }) => Number(rows))).toEqual([3]);
  expect(await rowsOf(net, main)).toEqual({ A: under('C'), B: under(null), C: under('B'), D: under('C') });
  await edit(net, main, { C: under(null) });
  expect(await merge(net, [[copy, main]])).toMatchObject({ status: 'merged', violations: [] });
  expect(await rowsOf(net, main)).toEqual({ A: under('C'), B: under('A'), C: under(null), D: under('C') });
});

it('a reversed hierarchy is merged, with new and deleted rows', async () => {
  const { main, copy } = await givenCopy({ A: under(null), B: under('A'), C: under('B') });
  await edit(net, copy, { A: under(null), B: under(null), C: under(null) });
  await edit(net, copy, { A: under('B'), B: under('N'), C: null, N: under(null) });
  expect(await merge(net, [[copy, main]])).toMatchObject({ status: 'merged', violations: [] });
  expect(await rowsOf(net, main)).toEqual({ A: under('B'), B: under('N'), N: under(null) });
});

it('new rows that close a cycle with what the target has are a violation', async () => {
  const { main, copy } = await givenCopy({ A: under(null), B: under(null) });
  await edit(net, main, { A: under('B') });
  await edit(net, copy, { N: under('A'), B: under('N') });
  const result = await merge(net, [[copy, main]]);
  expect([result.status, result.violations.map(({ rows }) => Number(rows))]).toEqual(['refused', [3]]);
  expect(await rowsOf(net, main)).toEqual({ A: under('B'), B: under(null) });
});
