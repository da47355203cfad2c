// Deployments of a table that others refer to which aren't part of the deployment: their rows are
// checked as if they were, since their references are made again though they have not changed.
import { eventually } from '@almanac/testkit/eventually';
import pg from 'pg';
import { validatePending } from '../../src/maintenance/pending-constraints.ts';
import { nextId, plan } from '../columns.ts';
import { create, type DataNet, deploy, failureOf, givenData, type TableInput } from '../given.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const names = ['k1', 'k2', 'k3'];
/** A table of columns that keep their lineage wherever they stand. */
const target = (id: number, order: string[], key: string[]): TableInput => ({
  id,
  columns: order.map((name) => ({
    name,
    length: 10,
    is_primary_key: key.includes(name),
    lineage_id: id * 1000 + 1 + names.indexOf(name),
  })),
});
const child = (id: number, targets: Record<string, number>): TableInput => ({
  id,
  columns: [
    { name: 'id', data_type: 'integer', is_primary_key: true },
    ...Object.entries(targets).map(([name, table]) => ({ name, length: 10, foreign_key_table_id: table })),
    { name: 'pad', data_type: 'text' },
  ],
});

/** Rows of the child, directly in the database: enough that it is large. */
const fill = (id: number, value: string) =>
  net.query(
    `insert into b_1.t_${id} (svc_created_at, svc_updated_at, c_${id}001, c_${id}002, c_${id}003)
     select clock_timestamp(), clock_timestamp(), n, $1, repeat('p', 90) from generate_series(1, 60000) n`,
    [value],
  );
const references = (id: number) =>
  net.query(
    `select conname as name, convalidated as proven, pg_get_constraintdef(oid) as definition from pg_constraint
     where conrelid = 'b_1.t_${id}'::regclass and contype = 'f' order by 1`,
  );
const add = (table_definition_id: number, record: object) =>
  net.call('POST', '/api/v1/table_data', { table_definition_id, record });

/**
 * Expects that a deployment of these tables is refused for these reasons when it is planned and
 * when it is applied, and changes nothing of `id`.
 */
async function expectRefused(id: number, tables: TableInput[], blockers: { message: string; rows: number }[]) {
  const was = await references(id);
  expect((await plan(net, tables)).diffs.flatMap((diff) => diff.blockers)).toEqual(blockers);
  const failure = await failureOf(deploy(net, tables));
  expect(failure.kind).toBe('validation_failed');
  expect(failure.errors).toEqual(
    blockers.map(({ message, rows }) => expect.stringContaining(`${message} (${rows} ${rows === 1 ? 'row' : 'rows'})`)),
  );
  expect(await references(id)).toEqual(was);
}

describe('a new key of a table that others refer to', () => {
  async function given(rows: object[]) {
    const [parent, own] = [nextId(), nextId()];
    await deploy(net, [target(parent, ['k1', 'k3'], ['k1']), child(own, { a: parent })]);
    for (const row of rows) await create(net, parent, { ...row });
    const next = target(parent, ['k1', 'k3'], ['k3']);
    const message = `Table ${own} refers to this table: a refers to Table ${parent}; rows have values that are not there.`;
    return { parent, own, next, message };
  }

  it('is refused with the number of rows that would refer to no record', async () => {
    const { own, next, message } = await given([
      { k1: 'x', k3: 'other' },
      { k1: 'y', k3: 'y' },
    ]);
    for (const [id, a] of ['x', 'x', 'y', null].entries()) await create(net, own, { id, a });
    await expectRefused(own, [next], [{ message, rows: 2 }]);
  });

  it('is refused for a large table as well, and no constraint is pending', async () => {
    const { own, next, message } = await given([{ k1: 'x', k3: 'other' }]);
    await fill(own, 'x');
    await expectRefused(own, [next], [{ message, rows: 60_000 }]);
    expect(await references(own)).toMatchObject([{ proven: true }]);
    expect((await add(own, { id: 0, a: 'x' })).status).toBe(201);
  });

  it('is refused when rows would come to refer to others than before', async () => {
    const { parent, own, next } = await given([
      { k1: 'x', k3: 'y' },
      { k1: 'y', k3: 'x' },
      { k1: 'z', k3: 'z' },
    ]);
    for (const [id, a] of ['x', 'y', 'z'].entries()) await create(net, own, { id, a });
    await expectRefused(
      own,
      [next],
      [
        {
          message: `Table ${own} refers to this table: a refers to another key of Table ${parent}; rows come to refer to other records.`,
          rows: 2,
        },
      ],
    );
  });

  it('is refused for a row that was written while the deployment waited', async () => {
    const { own, next, message } = await given([{ k1: 'x', k3: 'other' }]);
    expect((await plan(net, [next])).diffs[0]?.blockers).toEqual([]);
    const writer = new pg.Client({ connectionString: net.database.url });
    await writer.connect();
    try {
      await writer.query('begin');
      await writer.query(
        `insert into b_1.t_${own} (svc_created_at, svc_updated_at, c_${own}001, c_${own}002) values (now(), now(), 1, 'x')`,
      );
      const failure = failureOf(deploy(net, [next]));
      await eventually(async () => {
        const [waiting] = await net.query(
          `select count(*)::int as sessions from pg_locks where relation = 'b_1.t_${own}'::regclass and not granted`,
        );
        expect(waiting?.sessions).toBe(1);
      });
      await writer.query('commit');
      expect((await failure).errors).toEqual([expect.stringContaining(`${message} (1 row)`)]);
    } finally {
      await writer.end();
    }
  });

  it('is applied when the rows fit, shows the changes of the others, and is validated later', async () => {
    const { parent, own, next } = await given([{ k1: 'x', k3: 'x' }]);
    await fill(own, 'x');
    const definition = `foreign key (c_${own}002, svc_live) references b_1.t_${parent} (c_${parent}003, svc_live)`;
    const { diffs } = await plan(net, [next]);
    expect(diffs[0]).toMatchObject({ warnings: [], blockers: [] });
    const statements = diffs[0]?.statements ?? [];
    expect(statements[0]).toBe(`alter table b_1.t_${own} drop constraint f_${own}_${own}002`);
    expect(statements.slice(-2)).toEqual([
      `alter table b_1.t_${own} add constraint f_${own}_${own}002 ${definition} not valid`,
      `alter table b_1.t_${own} validate constraint f_${own}_${own}002`,
    ]);
    expect((await deploy(net, [next])).diffs[0]?.statements).toEqual(statements);
    await eventually(
      async () => {
        await net.context.indexing.round();
        expect(await references(own)).toMatchObject([{ proven: true }]);
      },
      { withinMs: 30_000 },
    );
  });

  it('is reported for each of two tables separately', async () => {
    const [p, q, own] = [nextId(), nextId(), nextId()];
    const columns = ['k1', 'k3'];
    await deploy(net, [target(p, columns, ['k1']), target(q, columns, ['k1']), child(own, { a: p, b: q })]);
    await create(net, p, { k1: 'x', k3: 'x' });
    await create(net, q, { k1: 'x', k3: 'other' });
    await create(net, own, { id: 1, a: 'x', b: 'x' });
    const { diffs } = await plan(net, [target(p, columns, ['k3']), target(q, columns, ['k3'])]);
    expect(diffs.map(({ blockers }) => blockers)).toEqual([
      [],
      [
        {
          message: `Table ${own} refers to this table: b refers to Table ${q}; rows have values that are not there.`,
          rows: 1,
        },
      ],
    ]);
    const added = /^alter table b_1\.t_\d+ add constraint (f_\S+) /;
    expect(diffs.map(({ statements }) => statements.flatMap((text) => added.exec(text)?.[1] ?? []))).toEqual([
      [`f_${own}_${own}002`],
      [`f_${own}_${own}003`],
    ]);
  });
});

describe('another order of the columns of a key', () => {
  async function given(rows: [string, string][]) {
    const [parent, own] = [nextId(), nextId()];
    await deploy(net, [target(parent, ['k1', 'k2'], ['k1', 'k2']), child(own, { a: parent, b: parent })]);
    for (const [i, [x, y]] of rows.entries()) {
      await create(net, parent, { k1: x, k2: y });
      await create(net, own, { id: i, a: x, b: y });
    }
    const next = target(parent, ['k2', 'k1'], ['k1', 'k2']);
    return { parent, own, next };
  }

  it('is refused while rows would refer to no record', async () => {
    const { parent, own, next } = await given([['x', 'y']]);
    const message = `Table ${own} refers to this table: a, b refers to Table ${parent}; rows have values that are not there.`;
    await expectRefused(own, [next], [{ message, rows: 1 }]);
    expect((await add(own, { id: 9, a: 'x', b: 'y' })).status).toBe(201);
    const ids = [1];
    const deleted = await net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: parent, ids });
    expect(deleted.status).toBe(422);
  });

  it('is refused while rows could come to refer to others, even without such rows', async () => {
    const { parent, own, next } = await given([
      ['x', 'y'],
      ['y', 'x'],
      ['z', 'z'],
    ]);
    const message = `Table ${own} refers to this table: a, b refers to another key of Table ${parent}; rows come to refer to other records.`;
    await expectRefused(own, [next], [{ message, rows: 2 }]);
    // A deployment of both defines the references: in the same order nothing changes.
    const [id, a, b, pad] = child(own, { a: parent, b: parent }).columns.map((column, i) => ({
      ...column,
      lineage_id: own * 1000 + 1 + i,
    })) as [TableInput['columns'][number], ...TableInput['columns']];
    const along = [id, b, a, pad] as TableInput['columns'];
    const both = [next, { id: own, columns: along }];
    expect((await plan(net, both)).diffs.map(({ warnings, blockers }) => [warnings, blockers])).toEqual([
      [[], []],
      [[], []],
    ]);
    await deploy(net, both);
    expect((await add(own, { id: 9, a: 'x', b: 'y' })).status).toBe(201);
    expect((await add(own, { id: 10, a: 'x', b: 'z' })).status).toBe(422);
  });

  it('gives a warning when both are deployed without changing the others', async () => {
    const { parent, own, next } = await given([
      ['x', 'y'],
      ['y', 'x'],
    ]);
    const { diffs } = await plan(net, [next, child(own, { a: parent, b: parent })]);
    expect(diffs.map(({ warnings, blockers }) => [warnings, blockers])).toEqual([
      [[], []],
      [
        [{ message: `a, b refers to another key of Table ${parent}; rows come to refer to other records.`, rows: 2 }],
        [],
      ],
    ]);
  });
});

it('a change that keeps the key checks no rows of the tables that refer to it', async () => {
  const [parent, own] = [nextId(), nextId()];
  await deploy(net, [target(parent, ['k1', 'k3'], ['k1']), child(own, { a: parent })]);
  const was = await references(own);
  const { diffs } = await deploy(net, [target(parent, ['k1', 'k2', 'k3'], ['k1'])]);
  expect(diffs[0]?.statements.filter((text) => text.includes(`t_${own} `))).toEqual([]);
  expect(await references(own)).toEqual(was);
});

describe('a reference that does not hold', () => {
  async function given() {
    const [parent, own] = [nextId(), nextId()];
    const integer = { data_type: 'integer' };
    const tables = (data_type: string): TableInput => ({
      id: parent,
      columns: [{ name: 'code', data_type, is_primary_key: true }],
    });
    await deploy(net, [
      tables('integer'),
      {
        id: own,
        columns: [
          { name: 'id', ...integer, is_primary_key: true },
          { name: 'a', ...integer, foreign_key_table_id: parent },
        ],
      },
    ]);
    const name = `f_${own}_${own}002`;
    const [reference] = await references(own);
    await net.query(`alter table b_1.t_${own} drop constraint ${name}`);
    await net.query(
      `insert into b_1.t_${own} (svc_created_at, svc_updated_at, c_${own}001, c_${own}002) values (now(), now(), 1, 7)`,
    );
    await net.query(`alter table b_1.t_${own} add constraint ${name} ${reference?.definition} not valid`);
    return { parent, own, name, next: tables('bigint') };
  }

  it('is an error in the log when it can not be validated', async () => {
    const { name } = await given();
    const errors: { object: string }[] = [];
    const logger = { info: () => {}, warn: () => {}, error: (about: { object: string }) => errors.push(about) };
    const pool = new pg.Pool({ connectionString: net.database.url, max: 2 });
    const client = await pool.connect();
    try {
      await validatePending({ pool, client, signal: new AbortController().signal, logger: logger as never });
    } finally {
      client.release();
      await pool.end();
    }
    expect(errors.filter(({ object }) => object === name)).toMatchObject([{ branch_id: 1, err: { code: '23503' } }]);
  });

  it('is not made again by a deployment', async () => {
    const { parent, own, next } = await given();
    const message = `Table ${own} refers to this table: a refers to Table ${parent}; rows have values that are not there.`;
    await expectRefused(own, [next], [{ message, rows: 1 }]);
  });
});
