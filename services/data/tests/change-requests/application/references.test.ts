// Applying change requests whose rows refer to each other.
import { type ColumnInput, create, deploy, type TableInput } from '../../given.ts';
import { nextId } from '../../merges/row-merges.ts';
import { net, useData } from '../../running-data.ts';
import { apply, givenRequest, nextRequest, rehearse } from './applied-requests.ts';
import { expectProblems, given, rowsOf } from './given-tables.ts';

useData();

describe('an application with references', () => {
  const parents: ColumnInput[] = [{ name: 'code', length: 10, is_primary_key: true }];

  async function givenFamily() {
    const parent = await given(parents, [{ code: 'P' }, { code: 'Q' }]);
    const child = await given(
      [...parents, { name: 'parent', length: 10, foreign_key_table_id: parent.table.id }],
      [
        { code: 'A', parent: 'P' },
        { code: 'B', parent: 'P' },
      ],
    );
    return { parent, child };
  }

  it('needs no order of tables or operations', async () => {
    const { parent, child } = await givenFamily();
    const id = nextRequest();
    await givenRequest(net, id, [
      { table: child.table, kind: 'create', cells: { code: 'C', parent: 'R' } },
      { table: parent.table, kind: 'delete', id: parent.ids.P as number },
      { table: parent.table, kind: 'create', cells: { code: 'R' } },
      { table: child.table, kind: 'delete', id: child.ids.A as number },
      { table: child.table, kind: 'update', id: child.ids.B as number, cells: { parent: 'R' } },
    ]);
    expect(await rehearse(net, id)).toMatchObject({ problem_count: 0 });
    expect(await apply(net, id)).toMatchObject({ status: 'applied' });
    expect(await rowsOf(child)).toEqual({ B: ['R'], C: ['R'] });
    expect(Object.keys(await rowsOf(parent))).toEqual(['Q', 'R']);
  });

  it('is refused for references to rows that are absent or go, and for rows still referred to', async () => {
    const { parent, child } = await givenFamily();
    const table = child.table.id;
    const missing = 'parent must refer to a record of the referenced table';
    await expectProblems(
      [
        { table: child.table, kind: 'create', cells: { code: 'C', parent: 'X' } },
        { table: child.table, kind: 'create', cells: { code: 'D', parent: 'Q' } },
        { table: parent.table, kind: 'delete', id: parent.ids.Q as number },
        { table: parent.table, kind: 'delete', id: parent.ids.P as number },
        { table: child.table, kind: 'update', id: child.ids.A as number, cells: { parent: null } },
      ],
      [
        [0, 'invalid_reference', missing],
        [1, 'invalid_reference', missing],
        [3, 'still_referenced', `record ${parent.ids.P} is still referred to by 1 record of Table ${table}`],
      ],
    );
  });

  it('writes rows of tables that refer to each other in a circle', async () => {
    const one = await given([...parents, { name: 'other', length: 10 }], []);
    const two = await given([...parents, { name: 'other', length: 10, foreign_key_table_id: one.table.id }], []);
    const circular = {
      ...one.table,
      version: 2,
      columns: [...parents, { name: 'other', length: 10, foreign_key_table_id: two.table.id }],
    };
    await deploy(net, [circular]);
    const id = nextRequest();
    await givenRequest(net, id, [
      { table: one.table, kind: 'create', cells: { code: 'A', other: 'B' } },
      { table: two.table, kind: 'create', cells: { code: 'B', other: 'A' } },
    ]);
    expect(await apply(net, id)).toMatchObject({ status: 'applied', problem_count: 0 });
  });

  it('is refused for cycles of a hierarchy, also through rows that it doesn’t change', async () => {
    const id = nextId();
    const table: TableInput = {
      id,
      columns: [...parents, { name: 'parent', length: 10, foreign_key_table_id: id, is_hierarchy: true }],
    };
    await deploy(net, [table]);
    const ids: Record<string, number> = {};
    for (const [code, parent] of [['A'], ['B', 'A'], ['C', 'B']])
      ids[code as string] = (await create(net, table.id, { code, parent })).svc_sk;
    const cycle = "parent can't lead back to the record itself";
    await expectProblems(
      [
        { table, kind: 'update', id: ids.A as number, cells: { parent: 'D' } },
        { table, kind: 'create', cells: { code: 'D', parent: 'C' } },
        { table, kind: 'create', cells: { code: 'E', parent: 'E' } },
        { table, kind: 'create', cells: { code: 'F', parent: 'C' } },
      ],
      [
        [0, 'cycle', cycle],
        [1, 'cycle', cycle],
        [2, 'cycle', cycle],
      ],
    );
  });
});
