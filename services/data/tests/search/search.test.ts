// GET /table_data/search: rows by a text, in all tables of a branch that the caller may view.
import { enableTrigrams } from '../../src/maintenance/automatic-indexes/trigrams.ts';
import { searchRows } from '../../src/search/search-rows.ts';
import { create, type DataNet, deploy, givenData, holding, type TableInput } from '../given.ts';
import { remove } from '../versions.ts';

let net: DataNet;
let branch = 0;
let lastTable = 0;

beforeAll(async () => {
  net = await givenData();
});
beforeEach(() => {
  branch += 1;
});
afterAll(() => net.stop());

const codes = [
  { name: 'code', length: 20, is_primary_key: true },
  { name: 'title', length: 100 },
  { name: 'note', data_type: 'text' },
];

/** A table on the branch of the test, with these rows. */
async function givenTable(rows: object[] = [], more: Partial<TableInput> = {}): Promise<number> {
  lastTable += 1;
  await deploy(net, [{ id: lastTable, branch_id: branch, columns: codes, ...more }]);
  for (const row of rows) await create(net, lastTable, row as Record<string, unknown>);
  return lastTable;
}

const ask = (q: string, call = net.call, on = branch) =>
  call('GET', `/api/v1/table_data/search?${new URLSearchParams({ q, branch_id: String(on) })}`);

async function found(q: string, call = net.call, on = branch) {
  const { status, body } = await ask(q, call, on);
  expect(body).toMatchObject({ tables: expect.any(Array), truncated: expect.any(Boolean) });
  expect(status).toBe(200);
  return body;
}
/** The codes that are found, by table. */
const codesOf = async (q: string, call = net.call, on = branch) =>
  Object.fromEntries(
    (await found(q, call, on)).tables.map(
      ({ table_definition_id, rows }: { table_definition_id: number; rows: { key: { code: string } }[] }) => [
        table_definition_id,
        rows.map(({ key }) => key.code),
      ],
    ),
  );

describe('a search for rows', () => {
  it('finds keys first, then beginnings of texts, then parts of them', async () => {
    const table = await givenTable([
      { code: 'X1', title: 'North of de' },
      { code: 'X2', title: 'Delta' },
      { code: 'DE-BY', title: 'Bavaria' },
      { code: 'de', title: 'lower' },
      { code: 'DE', title: 'Germany' },
    ]);
    expect(await codesOf('de')).toEqual({ [table]: ['de', 'DE', 'DE-BY', 'X2', 'X1'] });
    expect((await found('germ')).tables).toEqual([
      {
        table_definition_id: table,
        table_definition_key: `table_${table}`,
        name: `Table ${table}`,
        rows: [{ id: 5, key: { code: 'DE' }, label: 'Germany', column: 'title', text: 'Germany' }],
      },
    ]);
    expect((await found('DE-B')).tables[0].rows).toMatchObject([{ column: 'code', text: 'DE-BY', label: 'Bavaria' }]);
  });

  it('shows tables with that very key before others', async () => {
    const text = await givenTable([{ code: 'A', title: 'berlin' }]);
    const start = await givenTable([{ code: 'BERLIN-1' }]);
    const key = await givenTable([{ code: 'BERLIN' }]);
    expect(
      (await found('Berlin')).tables.map((each: { table_definition_id: number }) => each.table_definition_id),
    ).toEqual([key, start, text]);
  });

  it('answers five rows of a table and no more', async () => {
    const table = await givenTable([1, 2, 3, 4, 5].map((i) => ({ code: `K${i}`, title: 'same' })));
    expect((await codesOf('same'))[table]).toHaveLength(5);
    await create(net, table, { code: 'K6', title: 'same' });
    expect((await codesOf('same'))[table]).toEqual(['K1', 'K2', 'K3', 'K4', 'K5']);
  });

  it('takes the metacharacters of patterns literally, and ignores case beyond ASCII', async () => {
    const table = await givenTable([
      { code: '10%', title: 'a_b' },
      { code: '10x', title: 'axb' },
      { code: 'back\\slash', title: 'ÄÖÜ' },
    ]);
    expect(await codesOf('0%')).toEqual({ [table]: ['10%'] });
    expect(await codesOf('10%')).toEqual({ [table]: ['10%'] });
    expect(await codesOf('a_b')).toEqual({ [table]: ['10%'] });
    expect(await codesOf('back\\s')).toEqual({ [table]: ['back\\slash'] });
    expect(await codesOf('äö')).toEqual({ [table]: ['back\\slash'] });
    expect(await codesOf('%%')).toEqual({});
    expect(await codesOf("';--")).toEqual({});
  });

  it('finds a key that is no text by its value, and no deleted row', async () => {
    const columns = [{ name: 'code', data_type: 'integer', is_primary_key: true }, { name: 'title' }];
    const table = await givenTable([{ code: 12, title: 'twelve' }, { code: 123 }], { columns });
    expect(await codesOf('12')).toEqual({ [table]: [12] });
    expect(await codesOf('99999999999999999999')).toEqual({});
    await remove(net.call, table, [1]);
    expect(await codesOf('12')).toEqual({});
    expect(await codesOf('twelve')).toEqual({});
  });

  it('shows the surroundings of the text in a long value', async () => {
    await givenTable([{ code: 'A', note: `${'x'.repeat(5_000)} needle ${'y'.repeat(5_000)}` }]);
    const [{ rows }] = (await found('NEEDLE')).tables;
    expect(rows[0].column).toBe('note');
    expect(rows[0].text).toContain('needle');
    expect(rows[0].text).toHaveLength(200);
  });

  it('searches tables without a key, without text, and without rows', async () => {
    const keyless = await givenTable([{ title: 'a keyless row' }], { columns: [{ name: 'title' }] });
    await givenTable([{ amount: 5 }], { columns: [{ name: 'amount', data_type: 'decimal' }] });
    await givenTable();
    const { tables, truncated } = await found('keyless');
    expect(tables).toMatchObject([
      { table_definition_id: keyless, rows: [{ key: {}, label: 'a keyless row', column: 'title' }] },
    ]);
    expect(truncated).toBe(false);
  });
});

describe('the text of a search', () => {
  it.each([2, 100])('may have %d characters', async (length) => {
    expect((await ask('😀'.repeat(length))).status).toBe(200);
  });

  it.each([
    ['one', '😀', { code: 'too_short', params: { minimum: 2 } }],
    ['101', '😀'.repeat(101), { code: 'too_long', params: { maximum: 100 } }],
    ['no', '   ', { code: 'too_short', params: { minimum: 2 } }],
  ])('may not have %s', async (_name, q, problem) => {
    expect(await ask(q)).toMatchObject({ status: 422, body: { problems: [{ field: 'q', ...problem }] } });
  });

  it('is refused when it is missing or no text, and so is a wrong branch', async () => {
    for (const query of [`branch_id=${branch}`, 'q=abc', 'q=abc&branch_id=x', `q=a%00b&branch_id=${branch}`])
      expect((await net.call('GET', `/api/v1/table_data/search?${query}`)).status).toBe(400);
  });
});

describe('what a search finds', () => {
  it('is of tables that the caller may view, on that branch of their account alone', async () => {
    const open = await givenTable([{ code: 'SECRET-1' }], { domain_id: 5 });
    const closed = await givenTable([{ code: 'SECRET-2' }], { domain_id: 6 });
    const own = branch;
    net.rights.set(21, holding(['view', 'domain', 5]));
    net.rights.set(22, holding(['view', 'table_definition', closed]));
    net.rights.set(23, holding(['approve', 'branch', own]));
    net.rights.set(24, holding());
    const as = (userId: number) => net.as({ userId });
    expect(await codesOf('secret')).toEqual({ [open]: ['SECRET-1'], [closed]: ['SECRET-2'] });
    expect(await codesOf('secret', as(21))).toEqual({ [open]: ['SECRET-1'] });
    expect(await codesOf('secret', as(22))).toEqual({ [closed]: ['SECRET-2'] });
    for (const outsider of [as(23), as(24), net.as({ accountId: 2 })])
      expect(await found('secret', outsider)).toEqual({ tables: [], truncated: false });
    expect(await codesOf('secret', net.call, own + 1_000)).toEqual({});
  });

  it('follows a deployment', async () => {
    const table = await givenTable([{ code: 'A', title: 'before' }]);
    expect(await codesOf('before')).toEqual({ [table]: ['A'] });
    const [code, title] = codes;
    await deploy(net, [{ id: table, branch_id: branch, version: 2, columns: [code, title] as never }]);
    await create(net, table, { code: 'B', title: 'after' });
    expect(await codesOf('after')).toEqual({ [table]: ['B'] });
  });
});

describe('a search is bounded', () => {
  const bounded = async (text: string, bounds: { tables?: number; totalMs?: number; tableMs?: number }) => {
    const call = { accountId: 1, applicationId: 9 } as never;
    const request = { text, branchId: branch, signal: new AbortController().signal };
    const usual = { tables: 100, totalMs: 60_000, tableMs: 60_000 };
    return JSON.parse(await searchRows(net.context, call, request, { ...usual, ...bounds }));
  };

  it('by the number of tables, those with the latest changes first', async () => {
    const first = await givenTable([{ code: 'CODE-1' }]);
    await givenTable([{ code: 'CODE-2' }]);
    await net.query(`update announced_rows set until = now() + interval '1 hour' where table_definition_id = $1`, [
      first,
    ]);
    expect(await bounded('code', { tables: 1 })).toMatchObject({
      tables: [{ table_definition_id: first }],
      truncated: true,
    });
    expect((await bounded('code', { tables: 2 })).tables).toHaveLength(2);
  });

  it('by time: what takes too long is left out, the rest is answered', async () => {
    const locked = await givenTable([{ code: 'CODE-1' }]);
    const other = await givenTable([{ code: 'CODE-2' }]);
    await net.query(`update announced_rows set until = now() + interval '1 hour' where table_definition_id = $1`, [
      locked,
    ]);
    await net.query('begin');
    try {
      await net.query(`lock table b_${branch}.t_${locked} in access exclusive mode`);
      expect(await bounded('code', { tableMs: 50 })).toMatchObject({
        tables: [{ table_definition_id: other }],
        truncated: true,
      });
    } finally {
      await net.query('rollback');
    }
    expect(await bounded('code', { totalMs: 0 })).toEqual({ tables: [], truncated: true });
    expect((await bounded('code', {})).truncated).toBe(false);
  });

  it('by size: texts of a large table are found by an index, its keys always', async () => {
    const table = await givenTable([{ code: 'KEY-1', title: 'a rare word' }]);
    const name = `b_${branch}.t_${table}`;
    await net.query(
      `insert into ${name} (svc_created_at, svc_updated_at, c_${table * 1000 + 1}, c_${table * 1000 + 3})
       select now(), now(), 'N-' || n, repeat(md5(n::text), 20) from generate_series(1, 14000) n`,
    );
    await net.query(`analyze ${name}`);
    expect(await codesOf('rare word')).toEqual({});
    expect(await codesOf('key-')).toEqual({ [table]: ['KEY-1'] });
    expect(await codesOf('N-1399')).toEqual({ [table]: ['N-1399', 'N-13990', 'N-13991', 'N-13992', 'N-13993'] });
    const client = await net.context.pools.quiet.connect();
    try {
      await enableTrigrams(client);
      await client.query(
        `create index g_${table}_w${table * 1000 + 2} on ${name} using gin (lower(c_${table * 1000 + 2} collate "default") gin_trgm_ops) where not svc_is_deleted`,
      );
    } finally {
      client.release(true);
    }
    expect(await codesOf('RARE w')).toEqual({ [table]: ['KEY-1'] });
    expect(await codesOf('ra')).toEqual({});
  });
});
