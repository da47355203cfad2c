import { callHeaders } from '@almanac/testkit/calls/call';
import { eventually } from '@almanac/testkit/eventually';
import { randomOf } from '@almanac/testkit/random';
import pg from 'pg';
import { create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { codeColumn, copyOf, type Edits, edit, givenCopy, nextId } from '../merges/row-merges.ts';
import { passed, patch, remove, restore } from '../versions.ts';
import { compare, countsOf, differencesOf, liveRows } from './comparing.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const rows: Edits = { A: { name: 'Alpha', size: 1 }, B: { name: 'Beta', size: 2 }, C: { name: 'Gamma', size: 3 } };

async function now(): Promise<string> {
  const [clock] = await net.query(
    `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`,
  );
  await passed(net, clock?.at as string);
  return clock?.at as string;
}

async function givenTable(columns: TableInput['columns'], records: Record<string, unknown>[] = []): Promise<number> {
  const id = nextId();
  await deploy(net, [{ id, columns }]);
  for (const record of records) await create(net, id, record);
  return id;
}

describe('two branches', () => {
  it('differ in created, changed and deleted rows, matched by key', async () => {
    const { main, copy } = await givenCopy(net, rows);
    await edit(net, copy.id, { A: { size: 10 }, B: null, D: { name: 'Delta', size: null } });
    const { status, body } = await compare(net.call, main.id, {}, { branch_id: 2 });
    expect(status).toBe(200);
    const idOf = async (table: number, code: string) =>
      (await liveRows(net.call, table)).find((row) => row.code === code)?.svc_sk;
    expect(body).toEqual({
      rows: [
        {
          kind: 'updated',
          key: { code: 'A' },
          id_left: await idOf(main.id, 'A'),
          id_right: await idOf(copy.id, 'A'),
          cells: { size: { from: 1, to: 10 } },
        },
        {
          kind: 'deleted',
          key: { code: 'B' },
          id_left: await idOf(main.id, 'B'),
          id_right: null,
          cells: { name: { from: 'Beta', to: null }, size: { from: 2, to: null } },
        },
        {
          kind: 'created',
          key: { code: 'D' },
          id_left: null,
          id_right: await idOf(copy.id, 'D'),
          cells: { name: { from: null, to: 'Delta' } },
        },
      ],
      rowCount: 3,
      counts: { created: 1, updated: 1, deleted: 1, columns: { size: 1 } },
      columns_left_only: [],
      columns_right_only: [],
    });
  });

  it('are compared by the columns that both have, under the names of the right side', async () => {
    const { main } = await givenCopy(net, rows);
    const columns = copyOf(main).columns;
    await deploy(net, [
      copyOf(main, {
        version: 2,
        columns: [
          columns[0] as TableInput['columns'][0],
          { ...columns[1], name: 'title' },
          { name: 'extra', lineage_id: main.id * 1000 + 900 },
        ],
      }),
    ]);
    await edit(net, main.id + 1, { B: { title: 'Bet' } });
    const { body } = await compare(net.call, main.id, {}, { branch_id: 2 });
    expect(body).toMatchObject({
      rows: [{ kind: 'updated', key: { code: 'B' }, cells: { title: { from: 'Beta', to: 'Bet' } } }],
      counts: { updated: 1, columns: { title: 1 } },
      columns_left_only: ['size'],
      columns_right_only: ['extra'],
    });
    const refused = await compare(
      net.call,
      main.id,
      {},
      { branch_id: 2 },
      { columns: ['extra', 'nowhere'], filterModel: { extra: { filterType: 'text', type: 'equals', filter: 'x' } } },
    );
    expect(refused).toMatchObject({
      status: 400,
      body: {
        problems: [
          { code: 'incompatible', field: 'columns', column: 'extra' },
          { code: 'unknown_property', field: 'columns', column: 'nowhere' },
          { code: 'incompatible', field: 'filterModel', column: 'extra' },
        ],
      },
    });
  });

  it('compare columns of other types by their texts', async () => {
    const { main } = await givenCopy(net, rows);
    const [code, name, size] = copyOf(main).columns as [
      TableInput['columns'][0],
      TableInput['columns'][0],
      TableInput['columns'][0],
    ];
    await deploy(net, [
      copyOf(main, { version: 2, columns: [code, name, { ...size, data_type: 'string', length: 9 }] }),
    ]);
    await edit(net, main.id + 1, { C: { size: 'three' } });
    const { body } = await compare(net.call, main.id, {}, { branch_id: 2 });
    expect(body.rows.map(({ cells }: { cells: unknown }) => cells)).toEqual([{ size: { from: 3, to: 'three' } }]);
  });

  it('need a key that is deployed alike', async () => {
    const { main } = await givenCopy(net, rows);
    const [code, name, size] = copyOf(main).columns;
    await deploy(net, [
      copyOf(main, { version: 2, columns: [code, { ...name, is_primary_key: true }, size] as TableInput['columns'] }),
    ]);
    expect(await compare(net.call, main.id, {}, { branch_id: 2 })).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'incompatible', field: 'right' }] },
    });
    const keyless = await givenTable([{ name: 'name', length: 20 }]);
    await deploy(net, [copyOf({ id: keyless, columns: [{ name: 'name', length: 20 }] })]);
    expect((await compare(net.call, keyless, {}, { branch_id: 2 })).status).toBe(422);
  });

  it('are read as of an instant each', async () => {
    const { main, copy } = await givenCopy(net, rows);
    const before = await now();
    await edit(net, main.id, { A: { name: 'First' } });
    await edit(net, copy.id, { B: { name: 'Second' } });
    const keys = async (left: object, right: object) =>
      (await compare(net.call, main.id, left, right)).body.rows.map(({ key }: { key: { code: string } }) => key.code);
    expect(await keys({}, { branch_id: 2 })).toEqual(['A', 'B']);
    expect(await keys({ as_of: before }, { branch_id: 2 })).toEqual(['B']);
    expect(await keys({}, { branch_id: 2, as_of: before })).toEqual(['A']);
    expect(await keys({ branch_id: 2, as_of: before }, { branch_id: 2 })).toEqual(['B']);
  });
});

describe('two instants of a table', () => {
  it('differ by key also where a row was deleted and created again', async () => {
    const table = await givenTable([codeColumn, { name: 'name', length: 20 }]);
    const { svc_sk: old } = await create(net, table, { code: 'A', name: 'one' });
    await create(net, table, { code: 'B', name: 'same' });
    const before = await now();
    await remove(net.call, table, [old]);
    const between = await now();
    const { svc_sk: fresh } = await create(net, table, { code: 'A', name: 'two' });
    const found = async (left: object, right: object) => (await compare(net.call, table, left, right)).body.rows;
    const updated = {
      kind: 'updated',
      key: { code: 'A' },
      id_left: old,
      id_right: fresh,
      cells: { name: { from: 'one', to: 'two' } },
    };
    expect(await found({ as_of: before }, {})).toEqual([updated]);
    expect(await found({}, { as_of: before })).toMatchObject([{ id_left: fresh, id_right: old }]);
    expect(await found({ as_of: before }, { as_of: between })).toMatchObject([{ kind: 'deleted', id_left: old }]);
    expect(await found({ as_of: between }, {})).toMatchObject([{ kind: 'created', id_right: fresh }]);
    expect(await found({}, {})).toEqual([]);
    expect(await found({ as_of: between }, { as_of: between })).toEqual([]);
  });

  it('are matched by svc_sk in a table without a key', async () => {
    const table = await givenTable([{ name: 'name', length: 20 }]);
    const { svc_sk: id } = await create(net, table, { name: 'one' });
    const before = await now();
    await patch(net.call, table, id, { name: 'two' });
    expect((await compare(net.call, table, { as_of: before }, {})).body.rows).toEqual([
      { kind: 'updated', key: { svc_sk: id }, id_left: id, id_right: id, cells: { name: { from: 'one', to: 'two' } } },
    ]);
  });

  it('are 400 in the future and before the history, under the name of the side', async () => {
    const table = await givenTable([codeColumn]);
    expect(await compare(net.call, table, {}, { as_of: '2999-01-01T00:00:00Z' })).toMatchObject({
      status: 400,
      body: { problems: [{ code: 'out_of_range', field: 'right.as_of' }] },
    });
    await net.query('update deployed_table set history_since = now() where table_definition_id = $1', [table]);
    expect(await compare(net.call, table, { as_of: '2026-01-01T00:00:00Z' }, {})).toMatchObject({
      status: 400,
      body: { problems: [{ code: 'out_of_range', field: 'left.as_of', params: { minimum: expect.any(String) } }] },
    });
  });

  it('show every type as the grid does, and long numbers as texts on request', async () => {
    const columns = [
      codeColumn,
      { name: 'amount', data_type: 'decimal', length: 30, scale: 10 },
      { name: 'at', data_type: 'datetime' },
      { name: 'on', data_type: 'boolean' },
      { name: 'more', data_type: 'json' },
    ];
    const table = await givenTable(columns);
    const before = await now();
    await create(net, table, {
      code: 'A',
      amount: '12345678901234567890.5',
      at: '2026-01-02T03:04:05Z',
      on: false,
      more: { x: [1] },
    });
    const [row] = (await compare(net.call, table, { as_of: before }, {})).body.rows;
    expect(row.cells).toMatchObject({
      at: { from: null, to: '2026-01-02T03:04:05.000Z' },
      on: { from: null, to: false },
      more: { from: null, to: { x: [1] } },
    });
    const exact = await net.call('POST', '/api/v1/table_data/diff?exact_numbers=true', {
      table_definition_id: table,
      left: { as_of: before },
      startRow: 0,
      endRow: 1,
    });
    expect(exact.body.rows[0].cells.amount).toEqual({ from: null, to: '12345678901234567890.5000000000' });
  });
});

describe('a window', () => {
  it('has the requested kinds, columns and rows; the counts are of all kinds', async () => {
    const { main, copy } = await givenCopy(net, rows);
    await edit(net, copy.id, { A: { size: 10 }, B: null, C: { name: 'G', size: 5 }, D: { name: 'Delta' } });
    const keys = async (more: object) => {
      const { body } = await compare(net.call, main.id, {}, { branch_id: 2 }, more as Record<string, unknown>);
      return [
        body.rows.map(({ key }: { key: { code: string } }) => key.code).join(''),
        body.rowCount,
        body.counts.updated,
      ];
    };
    expect(await keys({ kinds: ['updated'] })).toEqual(['AC', 2, 2]);
    expect(await keys({ kinds: ['created', 'deleted'] })).toEqual(['BD', 2, 2]);
    expect(await keys({ columns: ['name'] })).toEqual(['BCD', 3, 1]);
    expect(await keys({ startRow: 1, endRow: 3 })).toEqual(['BC', 4, 2]);
    expect(await keys({ startRow: 9, endRow: 10 })).toEqual(['', 4, 2]);
  });

  it('has the rows that match the filter on either side', async () => {
    const { main, copy } = await givenCopy(net, rows);
    await edit(net, copy.id, { A: { size: 10 }, B: null, C: { size: 1 }, D: { name: 'Delta', size: 7 } });
    const filterModel = { size: { filterType: 'number', type: 'equals', filter: 1 } };
    const { body } = await compare(net.call, main.id, {}, { branch_id: 2 }, { filterModel });
    expect(body.rows.map(({ key }: { key: unknown }) => key)).toEqual([{ code: 'A' }, { code: 'C' }]);
    expect(body.counts).toEqual({ created: 0, updated: 2, deleted: 0, columns: { size: 2 } });
  });

  it.each([
    [{ startRow: 0, endRow: 1001 }, 'endRow'],
    [{ startRow: 5, endRow: 5 }, 'endRow'],
    [{ kinds: [] }, 'kinds'],
    [{ kinds: ['moved'] }, 'kinds'],
    [{ left: { branch: 2 } }, 'left'],
    [{ left: null }, 'left'],
    [{ right: { as_of: 'yesterday' } }, 'right.as_of'],
    [{ filterModel: { x: {} } }, 'filterModel'],
  ])('is 400 with %j', async (more, field) => {
    const table = await givenTable([codeColumn]);
    const { status, body } = await compare(net.call, table, {}, {}, more as Record<string, unknown>);
    expect(status).toBe(400);
    expect(body.problems[0].field.startsWith(field)).toBe(true);
  });
});

describe('rights', () => {
  it('are those to view both tables; other accounts and unknown branches have no such table', async () => {
    const { main, copy } = await givenCopy(net, rows);
    const view = (resource_id: number) => ({ action: 'view', resource_type: 'table_definition', resource_id }) as const;
    const as = (userId: number, tables: number[]) => {
      net.rights.set(userId, { license_type: 'end_user', permissions: tables.map(view) });
      return net.as({ userId });
    };
    const status = async (call: DataNet['call'], left: object, right: object) =>
      (await compare(call, main.id, left, right)).status;
    expect(await status(as(21, [main.id, copy.id]), {}, { branch_id: 2 })).toBe(200);
    for (const [left, right] of [
      [{}, { branch_id: 2 }],
      [{ branch_id: 2 }, {}],
    ] as const) {
      expect(await status(as(22, [main.id]), left, right)).toBe(403);
      expect(await status(as(23, [copy.id]), left, right)).toBe(403);
    }
    expect(await status(net.call, {}, { branch_id: 3 })).toBe(404);
    expect(await status(net.as({ accountId: 2 }), {}, { branch_id: 2 })).toBe(404);
  });
});

it('a comparison goes on with tables that were deployed since they were last read', async () => {
  const { main, copy } = await givenCopy(net, rows);
  await edit(net, copy.id, { A: { size: 10 } });
  for (const deployed of [[main.id], [copy.id], [main.id, copy.id]])
    for (const [left, right, differ] of [
      [{}, { branch_id: 2 }, 1],
      [{ branch_id: 2 }, { branch_id: 2 }, 0],
      [{ branch_id: 2 }, {}, 1],
    ] as const) {
      const revise = `update deployed_table set revision = nextval('deployed_revision') where table_definition_id = any($1)`;
      await net.query(revise, [deployed]);
      const { status, body } = await compare(net.call, main.id, left, right);
      expect([status, body.rowCount]).toEqual([200, differ]);
    }
});

it('tables of 200 columns are compared, and their changes listed', async () => {
  const columns = Array.from({ length: 200 }, (_, n) => ({ name: `column_${n}`, length: 5, is_primary_key: n < 31 }));
  const record = (text: string) =>
    Object.fromEntries(columns.map(({ name, is_primary_key }) => [name, is_primary_key ? 'k' : text]));
  const table = await givenTable(columns);
  const { svc_sk: id } = await create(net, table, record('a'));
  const before = await now();
  await patch(net.call, table, id, record('b'));
  const [row] = (await compare(net.call, table, { as_of: before }, {})).body.rows;
  expect([Object.keys(row.key), Object.keys(row.cells)].map(({ length }) => length)).toEqual([31, 169]);
  const { data } = (await net.call('GET', `/api/v1/table_data/activity?table_definition_id=${table}&column=column_199`))
    .body;
  expect(data.map(({ cells }: { cells: object }) => Object.keys(cells).length)).toEqual([169, 200]);
});

it('a comparison is cancelled when its caller leaves', async () => {
  const { main } = await givenCopy(net, rows);
  await compare(net.call, main.id, {}, { branch_id: 2 });
  const locker = new pg.Client({ connectionString: net.database.url });
  await locker.connect();
  try {
    await locker.query(`begin; lock table b_2.t_${main.id} in access exclusive mode`);
    const leaving = new AbortController();
    const { control } = net.context.pools;
    let cancelled = 0;
    control.on('acquire', () => {
      cancelled += 1;
    });
    const sent = fetch(new URL('/api/v1/table_data/diff', net.baseUrl), {
      method: 'POST',
      headers: { ...(await callHeaders(net.keys)), 'content-type': 'application/json' },
      body: JSON.stringify({ table_definition_id: main.id, right: { branch_id: 2 }, startRow: 0, endRow: 1 }),
      signal: leaving.signal,
    });
    const waiting = async () => {
      const of = `wait_event_type = 'Lock' and query like '%full join%' and datname = current_database()`;
      return (await net.query(`select count(*)::int as n from pg_stat_activity where ${of}`))[0]?.n;
    };
    await eventually(async () => expect(await waiting()).toBe(1));
    leaving.abort();
    await sent.catch(() => {});
    await eventually(async () => expect(cancelled).toBe(1));
    await eventually(async () => expect(await waiting()).toBe(0));
  } finally {
    await locker.end();
  }
  expect((await compare(net.call, main.id, {}, { branch_id: 2 })).status).toBe(200);
});

it('random writes on two branches differ as a plain comparison of their rows says, at any instants', async () => {
  const seed = Number(process.env.DIFFERENCES_SEED ?? Date.now() % 1_000_000);
  console.log(`DIFFERENCES_SEED=${seed}`);
  const random = randomOf(seed);
  const { main, copy } = await givenCopy(net, rows);
  const tables = [main.id, copy.id] as const;
  const instants: string[] = [await now()];
  for (let n = 0; n < 25; n += 1) {
    const table = tables[random(2)] as number;
    const edits: Edits = {};
    const live = new Set((await liveRows(net.call, table)).map((row) => row.code));
    for (let i = 0; i < 1 + random(3); i += 1) {
      const code = `K${random(8)}`;
      if (live.has(code) && random(3) === 0) edits[code] = null;
      else edits[code] = { name: random(4) === 0 ? null : `n${random(3)}`, size: random(3) };
    }
    await edit(net, table, edits);
    if (random(4) === 0) {
      const [deleted] = await net.query(
        `select svc_sk from b_${table === main.id ? 1 : 2}.t_${main.id} where svc_is_deleted order by random() limit 1`,
      );
      if (deleted) await restore(net.call, table, [Number(deleted.svc_sk)]);
    }
    instants.push(await now());
  }
  for (let n = 0; n < 60; n += 1) {
    const side = () => {
      const as_of = random(4) === 0 ? undefined : instants[random(instants.length)];
      return { branch: 1 + random(2), as_of };
    };
    const [left, right] = [side(), side()];
    const read = ({ branch, as_of }: typeof left) => liveRows(net.call, tables[branch - 1] as number, as_of);
    const expected = differencesOf(await read(left), await read(right), 'code', ['name', 'size']);
    const sideOf = ({ branch, as_of }: typeof left) => ({ branch_id: branch, ...(as_of && { as_of }) });
    const { body } = await compare(net.call, main.id, sideOf(left), sideOf(right));
    expect({ seed, left, right, rows: body.rows, counts: body.counts }).toEqual({
      seed,
      left,
      right,
      rows: expected,
      counts: countsOf(expected),
    });
  }
}, 300_000);
