// Hierarchies: no row leads back to itself, through any channel that writes it.

import { proveHierarchiesSql } from '../../src/deployments/schema/hierarchy-checks.ts';
import type { ForeignKey } from '../../src/tables/table.ts';
import { plan } from '../columns.ts';
import { create, type DataNet, deploy, failureOf, givenData, type TableInput } from '../given.ts';

let net: DataNet;
let last = 0;
beforeAll(async () => {
  net = await givenData();
});
afterAll(() => net.stop());

function staff(is_hierarchy = true): TableInput {
  last += 10;
  return {
    id: last,
    columns: [
      { name: 'code', length: 40, is_primary_key: true },
      { name: 'parent_code', length: 40, foreign_key_table_id: last, is_hierarchy },
      { name: 'title', length: 40 },
    ],
  };
}

/** A deployed hierarchy with rows, each under the named one: answers ids by code. */
async function given(rows: Record<string, string | null>, table = staff()) {
  await deploy(net, [table]);
  const ids = new Map<string, number>();
  for (const [code, parent_code] of Object.entries(rows))
    ids.set(code, (await create(net, table.id, { code, parent_code })).svc_sk);
  return { table, id: table.id, sk: (code: string) => ids.get(code) as number };
}

const edges = async (table: number) =>
  (await net.call('GET', `/api/v1/table_data?table_definition_id=${table}&sort=code&per_page=1000`)).body.data.map(
    (row: Record<string, unknown>) => `${row.code}>${row.parent_code ?? ''}`,
  );
const change = (table: number, sk: number, record: object) =>
  net.call('PATCH', `/api/v1/table_data/${sk}`, { table_definition_id: table, record });
const mark = (table_definition_id: number, how: 'delete' | 'restore', ...ids: number[]) =>
  net.call('POST', `/api/v1/table_data/${how}_records`, { table_definition_id, ids });
const problem = (cycle: string) => `parent_code can't lead back to the record itself: ${cycle}`;

describe('a row', () => {
  it('that refers to itself is refused when it is created', async () => {
    const { id } = await given({ a: null });
    const answer = await net.call('POST', '/api/v1/table_data', {
      table_definition_id: id,
      record: { code: 'x', parent_code: 'x' },
    });
    expect([answer.status, answer.body.errors]).toEqual([422, [problem('x > x')]]);
    expect(await edges(id)).toEqual(['a>']);
  });

  it('that comes to refer to its own descendant is refused, with the path', async () => {
    const { id, sk } = await given({ a: null, b: 'a', c: 'b' });
    const answer = await change(id, sk('a'), { parent_code: 'c' });
    expect([answer.status, answer.body.errors]).toEqual([422, [problem('a > c > b > a')]]);
    expect(await edges(id)).toEqual(['a>', 'b>a', 'c>b']);
    expect((await change(id, sk('c'), { parent_code: 'a' })).status).toBe(200);
    expect((await change(id, sk('b'), { parent_code: 'c' })).status).toBe(200);
    expect(await edges(id)).toEqual(['a>', 'b>c', 'c>a']);
  });

  it('that is deleted is on no cycle, and is not restored onto one', async () => {
    const { id, sk } = await given({ y: null, x: 'y' });
    await mark(id, 'delete', sk('x'));
    const twin = await create(net, id, { code: 'x' });
    expect((await change(id, sk('y'), { parent_code: 'x' })).status).toBe(200);
    await mark(id, 'delete', sk('y'), twin.svc_sk);
    const answer = await mark(id, 'restore', sk('x'), sk('y'));
    expect([answer.status, answer.body.errors]).toEqual([
      422,
      [`Record ${sk('y')}: ${problem('y > x > y')}`, `Record ${sk('x')}: ${problem('y > x > y')}`],
    ]);
    expect(await edges(id)).toEqual([]);
  });

  it('is not reverted to a parent that is now below it', async () => {
    const { id, sk } = await given({ a: null, b: 'a' });
    expect((await change(id, sk('b'), { parent_code: null })).status).toBe(200);
    expect((await change(id, sk('a'), { parent_code: 'b' })).status).toBe(200);
    const answer = await net.call('POST', `/api/v1/table_data/${sk('b')}/revert`, {
      table_definition_id: id,
      version: 1,
    });
    expect([answer.status, answer.body.errors]).toEqual([422, [problem('a > b > a')]]);
    expect(await edges(id)).toEqual(['a>b', 'b>']);
  });
});

describe('a batch', () => {
  const batch = (table_definition_id: number, operations: object[]) =>
    net.call('POST', '/api/v1/table_data/batch', { table_definition_id, operations });

  it('is judged by its outcome', async () => {
    const { id, sk } = await given({ a: null, b: 'a', c: 'b' });
    const turned = [
      { operation: 'update', id: sk('a'), record: { parent_code: 'c' } },
      { operation: 'update', id: sk('c'), record: { parent_code: 'd' } },
      { operation: 'create', record: { code: 'd' } },
    ];
    expect((await batch(id, turned)).status).toBe(200);
    expect(await edges(id)).toEqual(['a>c', 'b>a', 'c>d', 'd>']);
  });

  it('is refused with the operations that close a cycle', async () => {
    const { id, sk } = await given({ a: null, b: 'a' });
    const answer = await batch(id, [
      { operation: 'create', record: { code: 'e', parent_code: 'a' } },
      { operation: 'create', record: { code: 'd', parent_code: 'b' } },
      { operation: 'update', id: sk('a'), record: { parent_code: 'd' } },
    ]);
    const sentence = problem('a > d > b > a');
    expect([answer.status, answer.body.errors]).toEqual([
      422,
      [`Operation 1: ${sentence}`, `Operation 2: ${sentence}`],
    ]);
    expect(await edges(id)).toEqual(['a>', 'b>a']);
  });

  it('is refused when a row takes over a key that leads back to it', async () => {
    const { id, sk } = await given({ a: null, b: 'a' });
    const answer = await batch(id, [
      { operation: 'delete', id: sk('a') },
      { operation: 'create', record: { code: 'a', parent_code: 'b' } },
    ]);
    expect([answer.status, answer.body.errors]).toEqual([422, [`Operation 1: ${problem('b > a > b')}`]]);
    expect(await edges(id)).toEqual(['a>', 'b>a']);
  });
});

describe('a deployment', () => {
  const table = (is_hierarchy: boolean, { id, columns }: TableInput): TableInput => ({
    id,
    version: 2,
    columns: columns.map((column) => ({ ...column, ...(column.foreign_key_table_id && { is_hierarchy }) })),
  });

  it('that makes a reference a hierarchy is blocked by rows on cycles, and names some', async () => {
    const chain = Object.fromEntries(Array.from({ length: 14 }, (_, n) => [`c${n}`, n === 0 ? null : `c${n - 1}`]));
    const { id, table: free, sk } = await given({ a: null, b: 'a', hangs: 'b', ...chain }, staff(false));
    expect((await change(id, sk('a'), { parent_code: 'b' })).status).toBe(200);
    const wanted = table(true, free);
    const [diff] = (await plan(net, [wanted])).diffs;
    expect(diff?.columns.find(({ name }) => name === 'parent_code')?.attributes).toEqual([
      { name: 'is_hierarchy', from: 'false', to: 'true' },
    ]);
    const message = 'parent_code is a hierarchy; rows lead back to themselves: a, b.';
    expect(diff?.blockers.map(({ message, rows }) => [message, Number(rows)])).toEqual([[message, 2]]);
    expect(await failureOf(deploy(net, [wanted]))).toEqual({
      kind: 'validation_failed',
      errors: [`Table ${id}: ${message} (2 rows)`],
    });
    expect((await change(id, sk('c0'), { parent_code: 'c13' })).status).toBe(200);
    expect((await plan(net, [wanted])).diffs[0]?.blockers[0]?.message).toMatch(/: a, b(, c\d){8}, …\.$/);
    for (const [code, parent_code] of [
      ['a', null],
      ['c0', null],
    ] as const)
      expect((await change(id, sk(code), { parent_code })).status).toBe(200);
    await deploy(net, [wanted]);
    expect((await change(id, sk('a'), { parent_code: 'b' })).status).toBe(422);
  });

  it('that ends a hierarchy is allowed, and so is any reference of its rows then', async () => {
    const { id, table: hierarchy, sk } = await given({ a: null, b: 'a' });
    await deploy(net, [table(false, hierarchy)]);
    expect((await change(id, sk('a'), { parent_code: 'b' })).status).toBe(200);
    expect(await net.query("select proname from pg_proc where proname like 'y\\_' || $1 || '%'", [String(id)])).toEqual(
      [],
    );
  });

  it('makes a hierarchy again that a release without hierarchies has deployed since', async () => {
    const { id, table: hierarchy, sk } = await given({ a: null, b: 'a' });
    await net.query(
      `update deployed_table set revision = nextval('deployed_revision'), structure = replace(structure::text, '"is_hierarchy": true', '"x": 1')::jsonb
       where table_definition_id = $1`,
      [id],
    );
    await deploy(net, [table(true, hierarchy)]);
    expect((await change(id, sk('a'), { parent_code: 'b' })).body.errors).toEqual([problem('a > b > a')]);
  });

  it('changes nothing else of a hierarchy: new columns, another type of the key', async () => {
    const { id, table: hierarchy, sk } = await given({ 1: null, 2: '1' });
    const columns = hierarchy.columns.map((column, n) =>
      n === 2 ? column : { ...column, data_type: 'integer', length: undefined },
    );
    await deploy(net, [{ id, version: 2, columns: [...columns, { name: 'more' }] as TableInput['columns'] }]);
    expect((await change(id, sk('1'), { parent_code: 2 })).body.errors).toEqual([problem('1 > 2 > 1')]);
    expect((await change(id, sk('1'), { more: 'x' })).status).toBe(200);
  });

  it('refuses a hierarchy that refers to another table, and half of one', async () => {
    const target = staff(false);
    const other = staff();
    const columns = other.columns.map((column) =>
      column.foreign_key_table_id ? { ...column, foreign_key_table_id: target.id } : column,
    );
    expect((await failureOf(deploy(net, [target, { ...other, columns }]))).errors).toEqual([
      `Table ${other.id}: parent_code can be a hierarchy only when it refers to its own table.`,
    ]);
    last += 10;
    const key = { data_type: 'integer', is_primary_key: true };
    const parent = { data_type: 'integer', foreign_key_table_id: last };
    const half: TableInput = {
      id: last,
      columns: [
        { name: 'year', ...key },
        { name: 'code', ...key },
        { name: 'parent_year', ...parent, is_hierarchy: true },
        { name: 'parent_code', ...parent },
      ],
    };
    expect((await failureOf(deploy(net, [half]))).errors).toEqual([
      `Table ${last}: parent_year, parent_code are one reference: all of them are a hierarchy, or none.`,
    ]);
    const whole = half.columns.map((column) => ({ ...column, is_hierarchy: column.foreign_key_table_id === last }));
    await deploy(net, [{ ...half, columns: whole }]);
    const first = await create(net, last, { year: 1, code: 1 });
    await create(net, last, { year: 1, code: 2, parent_year: 1, parent_code: 1 });
    const answer = await change(last, first.svc_sk, { parent_year: 1, parent_code: 2 });
    expect(answer.body.errors).toEqual([
      "parent_year, parent_code can't lead back to the record itself: 1, 1 > 1, 2 > 1, 1",
    ]);
    expect((await change(last, first.svc_sk, { parent_year: 1 })).status).toBe(200);
  });

  it('of a copy with rows fails when they lie on a cycle', async () => {
    const { id, table: free, sk } = await given({ a: null, b: 'a' }, staff(false));
    const copy = (number: number): TableInput => ({
      ...table(true, free),
      id: number,
      lineage_id: id,
      branch_id: 2,
      key: `copy_${number}`,
      rows_from_table_id: id,
      columns: table(true, free).columns.map((column, n) => ({
        ...column,
        lineage_id: id * 1000 + n + 1,
        ...(column.foreign_key_table_id && { foreign_key_table_id: number }),
      })),
    });
    expect((await change(id, sk('a'), { parent_code: 'b' })).status).toBe(200);
    expect((await failureOf(deploy(net, [copy(id + 1)]))).errors).toEqual([
      expect.stringContaining('rows lead back to themselves: a, b.'),
    ]);
    // Rows may have changed since the check: copied rows are checked again.
    const deployed = await net.context.catalogue.get(1, { id });
    const [foreignKey] = deployed.structure.foreign_keys;
    const structure = { ...deployed.structure, foreign_keys: [{ ...(foreignKey as ForeignKey), is_hierarchy: true }] };
    const [prove] = proveHierarchiesSql({ ...deployed, structure });
    await expect(net.query(prove as string)).rejects.toMatchObject({ code: '23514' });
    expect((await change(id, sk('a'), { parent_code: null })).status).toBe(200);
    await net.query(prove as string);
    await deploy(net, [copy(id + 1)]);
    expect(await edges(id + 1)).toEqual(['a>', 'b>a']);
    const [top] = (await net.call('GET', `/api/v1/table_data?table_definition_id=${id + 1}&sort=code`)).body.data;
    expect((await change(id + 1, top.svc_sk, { parent_code: 'b' })).status).toBe(422);
  });
});

it('a chain of 100,000 rows is walked, closed and refused', async () => {
  const { id } = await given({});
  const insert = (from: number, to: number) =>
    net.query(
      `insert into b_1.t_${id} (svc_created_at, svc_updated_at, c_${id}001, c_${id}002)
       select now(), now(), n::text, nullif(n - 1, 0)::text from generate_series($1::int, $2::int) n`,
      [from, to],
    );
  await insert(1, 100_000);
  const bottom = await create(net, id, { code: 'bottom', parent_code: '100000' });
  const [top] = (await net.call('GET', `/api/v1/table_data?table_definition_id=${id}&sort=svc_sk&per_page=1`)).body
    .data;
  const answer = await change(id, top.svc_sk, { parent_code: 'bottom' });
  expect([answer.status, answer.body.errors]).toEqual([
    422,
    [expect.stringMatching(/: 1 > bottom > 100000 > .* > …$/)],
  ]);
  expect((await change(id, bottom.svc_sk, { parent_code: null })).status).toBe(200);
});
