// GET /table_data/{id}/references: which records refer to one.
import { limits } from '@almanac/service-kit/limits';
import { create, type DataNet, deploy, givenData } from '../given.ts';
import { remove } from '../versions.ts';

let net: DataNet;
let last = 0;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const ask = (table: number, id: unknown, call = net.call) =>
  call('GET', `/api/v1/table_data/${id}/references?table_definition_id=${table}`);

const code = { name: 'code', length: 10, is_primary_key: true };

/** Kinds, which refer to kinds; and items of two domains, which refer to kinds. */
async function givenKinds() {
  last += 10;
  const [kinds, items, others] = [last, last + 1, last + 2];
  await deploy(net, [
    { id: kinds, name: 'Kinds', columns: [code, { name: 'parent', length: 10, foreign_key_table_id: kinds }] },
    {
      id: items,
      name: 'Items',
      key: `items_${items}`,
      columns: [
        code,
        { name: 'kind', length: 10, foreign_key_table_id: kinds },
        { name: 'second', length: 10, foreign_key_table_id: kinds },
      ],
    },
    {
      id: others,
      name: 'Others',
      domain_id: 5,
      columns: [code, { name: 'kind', length: 10, foreign_key_table_id: kinds }],
    },
  ]);
  const [k, l] = [await create(net, kinds, { code: 'K' }), await create(net, kinds, { code: 'L', parent: 'K' })];
  const made = [];
  for (const [own, kind, second] of [
    ['A', 'K', null],
    ['B', 'K', 'K'],
    ['C', 'L', null],
  ])
    made.push((await create(net, items, { code: own, kind, second })).svc_sk as number);
  await create(net, others, { code: 'O', kind: 'K' });
  return { kinds, items, others, k: k.svc_sk as number, l: l.svc_sk as number, made };
}

describe('the references to a row', () => {
  it('are counted by foreign key, with a filter that shows them', async () => {
    const { kinds, items, others, k, l, made } = await givenKinds();
    const of = (table: number, name: string, column: string, ids: number[]) =>
      expect.objectContaining({
        ...{ table_definition_id: table, name, columns: [column], count: ids.length, is_exact: true, ids },
        filterModel: { [column]: { filterType: 'set', values: ['K'] } },
      });
    const { status, body } = await ask(kinds, k);
    expect(status).toBe(200);
    expect(body.references).toEqual([
      of(kinds, 'Kinds', 'parent', [l]),
      of(items, 'Items', 'kind', made.slice(0, 2)),
      of(items, 'Items', 'second', made.slice(1, 2)),
      expect.objectContaining({ table_definition_id: others, count: 1 }),
    ]);
    const [, reference] = body.references;
    const shown = await net.call('POST', '/api/v1/table_data/grid', {
      table_definition_id: reference.table_definition_id,
      filterModel: reference.filterModel,
      startRow: 0,
      endRow: 10,
    });
    expect(shown.body.rowCount).toBe(2);
  });

  it('are those of live rows, and a deleted row has none', async () => {
    const { kinds, items, l, made } = await givenKinds();
    await remove(net.call, items, [made[2] as number]);
    expect((await ask(kinds, l)).body).toEqual({ references: [] });
    await remove(net.call, kinds, [l]);
    expect(await ask(kinds, l)).toMatchObject({ status: 200, body: { references: [] } });
  });

  it('are shown of tables that the caller may view; others leave no trace', async () => {
    const { kinds, items, k } = await givenKinds();
    net.rights.set(8, {
      license_type: 'developer',
      permissions: [
        { action: 'view', resource_type: 'table_definition', resource_id: kinds },
        { action: 'view', resource_type: 'table_definition', resource_id: items },
      ] as never,
    });
    const { body } = await ask(kinds, k, net.as({ userId: 8 }));
    expect(Object.keys(body)).toEqual(['references']);
    const tables = body.references.map((each: { table_definition_id: number }) => each.table_definition_id);
    expect(tables).toEqual([kinds, items, items]);
    net.rights.set(9, { license_type: 'developer', permissions: [] });
    expect((await ask(kinds, k, net.as({ userId: 9 }))).status).toBe(403);
  });

  it('are 404 for an absent row and for another account, and 400 for what is no id', async () => {
    const { kinds, k } = await givenKinds();
    expect((await ask(kinds, 999_999)).status).toBe(404);
    expect((await ask(kinds, k, net.as({ accountId: 2 }))).status).toBe(404);
    for (const id of ['x', '0', '-1', '1e3', '9'.repeat(30)]) expect((await ask(kinds, id)).status).toBe(400);
  });

  it('of a key of several columns need all of them', async () => {
    last += 10;
    const [pairs, uses] = [last, last + 1];
    await deploy(net, [
      { id: pairs, columns: [code, { name: 'day', data_type: 'date', is_primary_key: true }] },
      {
        id: uses,
        columns: [
          code,
          { name: 'pair', length: 10, foreign_key_table_id: pairs },
          { name: 'pair_day', data_type: 'date', foreign_key_table_id: pairs },
        ],
      },
    ]);
    const row = await create(net, pairs, { code: 'P', day: '2026-01-31' });
    await create(net, pairs, { code: 'P', day: '2026-02-28' });
    await create(net, uses, { code: 'U', pair: 'P', pair_day: '2026-01-31' });
    await create(net, uses, { code: 'V', pair: 'P', pair_day: '2026-02-28' });
    expect((await ask(pairs, row.svc_sk)).body.references).toMatchObject([
      {
        columns: ['pair', 'pair_day'],
        count: 1,
        filterModel: {
          pair: { filterType: 'set', values: ['P'] },
          pair_day: { filterType: 'set', values: ['2026-01-31'] },
        },
      },
    ]);
  });
});

it('counts 100,000 records and no more', async () => {
  const { kinds, others, l } = await givenKinds();
  const fill = (from: number, to: number) =>
    net.query(
      `insert into b_1.t_${others} (svc_created_at, svc_updated_at, c_${others * 1000 + 1}, c_${others * 1000 + 2})
       select now(), now(), i::text, 'L' from generate_series($1::int, $2::int) i`,
      [from, to],
    );
  await fill(1, limits.countedReferences);
  const ofOthers = async () => (await ask(kinds, l)).body.references.at(-1);
  expect(await ofOthers()).toMatchObject({ count: limits.countedReferences, is_exact: true });
  await fill(0, 0);
  expect(await ofOthers()).toMatchObject({ count: limits.countedReferences, is_exact: false });
});
