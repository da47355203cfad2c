// Merges of rows under the target's rules, references and columns.

import { type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import {
  base,
  codeColumn,
  copyOf,
  edit,
  givenCopy,
  merge,
  nextId,
  type Resolution,
  recordsOf,
  rowsOf,
  withLineages,
} from './row-merges.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

describe('rules', () => {
  const outcome = async (pairs: [number, number][], rehearsal = false) => {
    const { status, violations } = await merge(net, pairs, { rehearsal });
    return { status, violations: violations.map(({ message, rows }) => [message, rows]) };
  };

  it('of the target are all listed, with the number of rows that would break them, and nothing is merged', async () => {
    const columns = [
      codeColumn,
      { name: 'name', length: 20 },
      { name: 'size', data_type: 'integer' },
      { name: 'kind' },
    ];
    const { main, copy } = await givenCopy(net, base, columns);
    const stricter = withLineages(main);
    Object.assign(stricter[1] as object, { length: 5 });
    Object.assign(stricter[2] as object, { is_required: true });
    Object.assign(stricter[3] as object, { valid_values: ['x', 'y'] });
    await edit(net, main.id, { C: { size: 3, kind: 'x' } });
    await deploy(net, [{ ...main, version: 2, columns: stricter }]);
    await edit(net, copy.id, {
      A: { name: 'far too long' },
      B: { size: null, kind: 'z' },
      D: { name: 'D', size: null, kind: 'y' },
    });
    const before = await recordsOf(net, main.id);
    for (const rehearsal of [true, false])
      expect(await outcome([[copy.id, main.id]], rehearsal)).toEqual({
        status: 'refused',
        violations: [
          ['name has values that don’t fit the column on the target branch', 1],
          ["size can't be blank", 2],
          ['kind must be one of x, y', 1],
        ],
      });
    expect(await recordsOf(net, main.id)).toEqual(before);
    await edit(net, copy.id, { A: { name: 'short' }, B: { size: 5, kind: null }, D: { size: 6 } });
    expect(await outcome([[copy.id, main.id]])).toEqual({ status: 'merged', violations: [] });
  });

  it('give values the type of the target', async () => {
    const { main, copy } = await givenCopy(net, base);
    const columns = withLineages(main);
    Object.assign(columns[2] as object, { data_type: 'string', length: 4 });
    await deploy(net, [{ ...main, version: 2, columns }]);
    await edit(net, copy.id, { A: { size: 10 }, D: { size: 44 } });
    await edit(net, main.id, { B: { size: 'two' } });
    expect(await merge(net, [[copy.id, main.id]])).toMatchObject({ status: 'merged', conflict_count: 0 });
    expect(await rowsOf(net, main.id)).toMatchObject({ A: { size: '10' }, B: { size: 'two' }, D: { size: '44' } });
    await edit(net, main.id, { A: { size: 'ten' } });
    expect(await outcome([[main.id, copy.id]])).toMatchObject({
      status: 'refused',
      violations: [[expect.stringContaining('size has'), 2]],
    });
  });

  it('need the same primary key on both sides', async () => {
    const { main, copy } = await givenCopy(net, base);
    const columns = withLineages(main);
    Object.assign(columns[1] as object, { is_primary_key: true });
    await deploy(net, [{ ...main, version: 2, columns }]);
    expect(await outcome([[copy.id, main.id]])).toMatchObject({
      status: 'refused',
      violations: [[expect.stringContaining('primary key is not deployed alike'), 0]],
    });
    const keyless = await givenCopy(net, {}, [{ name: 'code', length: 10 }]);
    expect(await outcome([[keyless.copy.id, keyless.main.id]])).toMatchObject({
      status: 'refused',
      violations: [[expect.stringContaining('no primary key'), 0]],
    });
    expect(await outcome([[keyless.copy.id, main.id]])).toMatchObject({
      violations: [['The table on the source branch is another one.', 0]],
    });
  });
});

describe('references', () => {
  /** Parents P, Q with a child that refers to P, on both branches. */
  async function givenFamily() {
    const parents: TableInput = { id: nextId(), columns: [codeColumn, { name: 'name', length: 20 }] };
    const children: TableInput = {
      id: nextId(),
      columns: [codeColumn, { name: 'parent', length: 10, foreign_key_table_id: parents.id }],
    };
    await deploy(net, [parents, children]);
    await edit(net, parents.id, { P: { name: 'p' }, Q: { name: 'q' } });
    await edit(net, children.id, { c: { parent: 'P' } });
    const columns = withLineages(children);
    Object.assign(columns[1] as object, { foreign_key_table_id: parents.id + 1 });
    await deploy(net, [copyOf(children, { columns }), copyOf(parents)], { branchId: 2 });
    return { parents: parents.id, children: children.id };
  }
  const both = ({ parents, children }: { parents: number; children: number }): [number, number][] => [
    [children + 1, children],
    [parents + 1, parents],
  ];

  it('are merged with the rows they refer to, and deleted in the right order', async () => {
    const family = await givenFamily();
    const { parents, children } = family;
    expect(await rowsOf(net, children + 1)).toEqual({ c: { parent: 'P' } });
    await edit(net, parents + 1, { N: { name: 'new' } });
    await edit(net, children + 1, { c: { parent: 'Q' }, d: { parent: 'N' } });
    await edit(net, parents + 1, { P: null });
    expect(await merge(net, both(family))).toMatchObject({ status: 'merged' });
    expect(await rowsOf(net, parents)).toEqual({ N: { name: 'new' }, Q: { name: 'q' } });
    expect(await rowsOf(net, children)).toEqual({ c: { parent: 'Q' }, d: { parent: 'N' } });
  });

  it('to rows that do not exist are counted', async () => {
    const { parents, children } = await givenFamily();
    await edit(net, parents + 1, { N: { name: 'new' } });
    await edit(net, children + 1, { d: { parent: 'N' }, e: { parent: 'N' } });
    const { status, violations } = await merge(net, [[children + 1, children]]);
    expect([status, violations]).toMatchObject([
      'refused',
      [{ table: `Table ${children}`, message: `parent must refer to a record of Table ${parents}`, rows: 2 }],
    ]);
  });

  it('to rows that would be deleted are counted, whether or not their table is merged too', async () => {
    const family = await givenFamily();
    const { parents, children } = family;
    await edit(net, parents, { N: { name: 'new' } });
    await edit(net, children + 1, { c: null });
    await edit(net, parents + 1, { P: null });
    await edit(net, children, { mine: { parent: 'P' } });
    const message = `parent refers to records of Table ${parents} that would be deleted`;
    expect(await merge(net, [[parents + 1, parents]])).toMatchObject({
      status: 'refused',
      violations: [{ message, rows: 2 }],
    });
    expect(await merge(net, both(family))).toMatchObject({ status: 'refused', violations: [{ message, rows: 1 }] });
    await edit(net, children, { mine: null });
    expect(await merge(net, both(family))).toMatchObject({ status: 'merged' });
  });

  it('of a row that is deleted on one side and changed on the other count as missing', async () => {
    const { parents, children } = await givenFamily();
    await edit(net, children, { c: { parent: 'Q' } });
    await edit(net, parents, { P: null });
    await edit(net, children + 1, { x: { parent: 'P' } });
    const { violations } = await merge(net, [[children + 1, children]], { rehearsal: true });
    expect(violations).toMatchObject([{ rows: 1 }]);
  });
});

describe('structures that differ', () => {
  it('merge the columns that both have; the others once both have them', async () => {
    const { main, copy } = await givenCopy(net, base);
    const capital = { name: 'capital', lineage_id: main.id * 1000 + 9 };
    const grown = { ...copy, version: 2, columns: [...copy.columns, capital] };
    await deploy(net, [grown]);
    await edit(net, copy.id, { A: { capital: 'a', size: 10 }, B: { capital: 'b' } });
    const first = await merge(net, [[copy.id, main.id]]);
    expect(first).toMatchObject({ status: 'merged', warnings: [{ rows: 0 }] });
    expect(first.warnings[0]?.message).toMatch(/^capital is not deployed on the target branch/);
    expect(await rowsOf(net, main.id)).toMatchObject({ A: { name: 'Alpha', size: 10 }, B: { name: 'Beta', size: 2 } });
    await deploy(net, [{ ...main, version: 2, columns: [...withLineages(main), capital] }]);
    await edit(net, main.id, { B: { capital: 'mine' } });
    const second = await merge(net, [[copy.id, main.id]]);
    expect(second).toMatchObject({
      status: 'refused',
      conflicts: [{ key: 'B', column: 'capital', sides: [null, 'b', 'mine'] }],
    });
    const resolutions: Resolution[] = [{ row_key: { code: 'B' }, column: 'capital', resolution: 'target' }];
    expect(await merge(net, [[copy.id, main.id]], { resolutions })).toMatchObject({ status: 'merged', warnings: [] });
    expect(await rowsOf(net, main.id)).toMatchObject({ A: { capital: 'a' }, B: { capital: 'mine' } });
  });

  it('have a conflict before a row is deleted in which the target has a value of its own', async () => {
    const { main, copy } = await givenCopy(net, base);
    await deploy(net, [
      { ...main, version: 2, columns: [...withLineages(main), { name: 'own', lineage_id: main.id * 1000 + 9 }] },
    ]);
    await edit(net, main.id, { A: { own: 'precious' } });
    await edit(net, copy.id, { A: null, B: null });
    expect(await merge(net, [[copy.id, main.id]])).toMatchObject({
      status: 'refused',
      conflicts: [{ key: 'A', column: null, sides: [true, false, true] }],
    });
  });

  it('that are in service on one side only have no rows to merge, with a warning', async () => {
    const { main, copy } = await givenCopy(net, base);
    await net.metadata.DropTable({ accountId: 1 }, { table_definition_id: copy.id });
    const { status, tables, warnings } = await merge(net, [[copy.id, main.id]]);
    expect([status, tables, warnings.length]).toEqual(['merged', [], 1]);
  });

  it('never had the same rows: every difference is a conflict, and nothing is deleted', async () => {
    const main: TableInput = { id: nextId(), columns: [codeColumn, { name: 'name', length: 20 }] };
    await deploy(net, [main]);
    await edit(net, main.id, { A: { name: 'main' }, B: { name: 'b' } });
    const copy = copyOf(main, { rows_from_table_id: undefined });
    await deploy(net, [copy]);
    await edit(net, copy.id, { A: { name: 'copy' }, C: { name: 'c' } });
    const asked = await merge(net, [[copy.id, main.id]]);
    expect(asked).toMatchObject({ status: 'refused', conflicts: [{ key: 'A', sides: [null, 'copy', 'main'] }] });
    await merge(net, [[copy.id, main.id]], { resolutions: [{ resolution: 'source' }] });
    expect(await rowsOf(net, main.id)).toEqual({ A: { name: 'copy' }, B: { name: 'b' }, C: { name: 'c' } });
  });
});
