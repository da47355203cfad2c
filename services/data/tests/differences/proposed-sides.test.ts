// Comparisons with a table as it would be: through a change request, and after a dry run.
import { pgSql } from '@almanac/service-kit/postgres/database';
import type { Call } from '@almanac/testkit/calls/call';
import { randomOf } from '@almanac/testkit/random';
import { sweepLoads } from '../../src/imports/rejected-rows.ts';
import {
  added,
  changed,
  deletion,
  openRequest,
  operationsOf,
  propose,
  restoration,
} from '../change-requests/requests.ts';
import { load } from '../files.ts';
import { caller, create, type DataNet, deploy, givenData } from '../given.ts';
import { codeColumn, edit, givenCopy, nextId } from '../merges/row-merges.ts';
import { patch, remove } from '../versions.ts';
import { compare, countsOf, type Difference, differencesOf, liveRows } from './comparing.ts';

let net: DataNet;
let importTables = 0;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const columns = ['name', 'size'];
const file_columns = ['code', ...columns];
type Row = Record<string, unknown>;

/** A table with the rows a, b and c. */
async function givenTable(): Promise<{ table: number; ids: Record<string, number> }> {
  const table = nextId();
  const [name, size] = [{ name: 'name', length: 20 }, { name: 'size', data_type: 'integer' } as const];
  await deploy(net, [{ id: table, columns: [codeColumn, name, size] }]);
  const ids: Record<string, number> = {};
  for (const code of ['a', 'b', 'c']) ids[code] = (await create(net, table, { code, name: code, size: 1 })).svc_sk;
  return { table, ids };
}

/** Tries a file; answers the id of its import table. */
async function tried(table: number, file: string, options = {}): Promise<number> {
  importTables += 1;
  const dry = { file_columns, dry_run: true, import_table_id: importTables, pattern: 'full', allow_mass_delete: true };
  await load(net, table, file, { ...dry, ...options });
  return importTables;
}

/** Of a row that would be created the id is not known yet. */
const withoutNewIds = (rows: Difference[]) =>
  rows.map((row) => (row.kind === 'created' ? { ...row, id_right: null } : row));

const statusOf = async (answer: ReturnType<typeof compare>) => {
  const { status, body } = await answer;
  return [status, body.problems?.[0]?.field, body.problems?.[0]?.message];
};

describe('a side through a change request', () => {
  it('has the rows as they would be, against the table now, at an instant and on another branch', async () => {
    const { main, copy } = await givenCopy(net, { a: { name: 'a', size: 1 }, b: { name: 'b', size: 1 } });
    const [a, b] = await liveRows(net.call, main.id);
    const before = b?.svc_updated_at as string;
    const request = await openRequest(net);
    await propose(net.call, request, main.id, [
      added({ code: 'n', name: 'new' }),
      changed(a?.svc_sk, { size: 5 }),
      deletion(b?.svc_sk),
    ]);
    const side = { change_request_id: request };
    const { status, body } = await compare(net.call, main.id, {}, side);
    const expected = [
      { kind: 'updated', key: { code: 'a' }, cells: { size: { from: 1, to: 5 } } },
      { kind: 'deleted', key: { code: 'b' }, cells: { name: { from: 'b', to: null }, size: { from: 1, to: null } } },
      { kind: 'created', key: { code: 'n' }, cells: { name: { from: null, to: 'new' } } },
    ];
    expect(status).toBe(200);
    expect(body).toMatchObject({ rows: expected, rowCount: 3, counts: { created: 1, updated: 1, deleted: 1 } });
    expect(body.rows[2]).toMatchObject({ id_left: null });
    expect(body.rows[2].id_right).toBeLessThan(0);
    expect((await compare(net.call, main.id, { as_of: before }, side)).body.rows).toMatchObject(expected);
    expect((await compare(net.call, main.id, side, side)).body.rows).toEqual([]);
    const back = (await compare(net.call, main.id, side, {})).body;
    expect(back.counts).toMatchObject({ created: 1, updated: 1, deleted: 1 });
    // On its branch, also when the named table is on another one.
    await edit(net, copy.id, { a: { size: 7 } });
    const { rows } = (await compare(net.call, copy.id, {}, side)).body;
    expect(rows).toMatchObject([{ ...expected[0], cells: { size: { from: 7, to: 5 } } }, expected[1], expected[2]]);
    const shown = {
      kinds: ['updated'],
      columns: ['name'],
      filterModel: { code: { filterType: 'text', type: 'equals', filter: 'b' } },
    };
    expect((await compare(net.call, main.id, {}, side, shown)).body).toMatchObject({
      rows: [],
      counts: { created: 0, updated: 0, deleted: 1 },
    });
  });

  it('shows a row whose key was taken in between as changed', async () => {
    const { table } = await givenTable();
    const request = await openRequest(net);
    await propose(net.call, request, table, [added({ code: 'x', name: 'mine', size: 1 })]);
    const { svc_sk } = await create(net, table, { code: 'x', name: 'theirs', size: 1 });
    expect((await compare(net.call, table, {}, { change_request_id: request })).body.rows).toMatchObject([
      { kind: 'updated', key: { code: 'x' }, id_left: svc_sk, cells: { name: { from: 'theirs', to: 'mine' } } },
    ]);
  });

  it('is that of a table without a key by its rows', async () => {
    const table = nextId();
    await deploy(net, [{ id: table, columns: [{ name: 'name', length: 9 }] }]);
    const { svc_sk } = await create(net, table, { name: 'old' });
    const request = await openRequest(net);
    await propose(net.call, request, table, [added({ name: 'more' }), changed(svc_sk, { name: 'new' })]);
    const { rows } = (await compare(net.call, table, {}, { change_request_id: request })).body;
    expect(rows.map(({ kind }: Difference) => kind).toSorted()).toEqual(['created', 'updated']);
  });

  it('is read by viewers, and by reviewers beside the present rows alone', async () => {
    const { table, ids } = await givenTable();
    const request = await openRequest(net);
    await propose(net.call, request, table, [changed(ids.a, { size: 5 })]);
    const may = (userId: number, ...permissions: { action: string; resource_type: string; resource_id: number }[]) => {
      net.rights.set(userId, { license_type: 'developer', permissions: permissions as never });
      return net.as({ userId });
    };
    const on = (action: string, resource_id: number, resource_type = 'table_definition') => ({
      ...{ action, resource_type, resource_id },
    });
    const side = { change_request_id: request };
    const answers = async (call: Call, left = {}) => (await compare(call, table, left, side)).status;
    expect(await answers(may(61, on('view', table)))).toBe(200);
    const reviewer = may(62, on('approve', 1, 'branch'));
    expect((await compare(reviewer, table, {}, side)).body.rows).toMatchObject([
      { cells: { size: { from: 1, to: 5 } } },
    ]);
    expect(await answers(reviewer, { as_of: '2026-01-01T00:00:00Z' })).toBe(403);
    expect(await answers(reviewer, { branch_id: 2 })).toBe(403);
    expect((await compare(reviewer, table, {}, {})).status).toBe(403);
    expect(await answers(may(63, on('approve', 2, 'branch')))).toBe(403);
    expect(await answers(may(64))).toBe(403);
  });

  it('is refused for another table, an unknown request, one that was applied, and beside other members', async () => {
    const { table } = await givenTable();
    const request = await openRequest(net);
    const elsewhere = await openRequest(net, { branchId: 2 });
    expect(await statusOf(compare(net.call, table, {}, { change_request_id: elsewhere }))).toEqual([
      ...[422, 'change_request_id', 'The change request is not of this table.'],
    ]);
    expect((await statusOf(compare(net.call, table, {}, { change_request_id: 2_000_000 })))[0]).toBe(404);
    const foreign = await openRequest(net, { accountId: 2 });
    expect((await statusOf(compare(net.call, table, { change_request_id: foreign }, {})))[0]).toBe(404);
    const both = { change_request_id: request, as_of: '2026-01-01T00:00:00Z' };
    expect(await statusOf(compare(net.call, table, {}, both))).toEqual([
      ...[400, 'right', 'right: change_request_id and import_table_id go without other members.'],
    ]);
    await net.query(
      `insert into applied_change_request (account_id, apply_id, change_request_id, result) values (1, 'done', $1, '{}')`,
      [request],
    );
    expect((await statusOf(compare(net.call, table, {}, { change_request_id: request })))[0]).toBe(422);
  });
});

describe('a side after a dry run', () => {
  it('has the rows as the load would leave them, in all forms of a comparison', async () => {
    const { table } = await givenTable();
    const import_table_id = await tried(table, 'a,Anna,1\nb,b,1\nd,D,5\n');
    const { status, body } = await compare(net.call, table, {}, { import_table_id });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      rows: [
        { kind: 'updated', key: { code: 'a' }, cells: { name: { from: 'a', to: 'Anna' } } },
        { kind: 'deleted', key: { code: 'c' } },
        { kind: 'created', key: { code: 'd' }, cells: { name: { from: null, to: 'D' }, size: { from: null, to: 5 } } },
      ],
      counts: { created: 1, updated: 1, deleted: 1, columns: { name: 1 } },
    });
    const request = await openRequest(net);
    await propose(net.call, request, table, [added({ code: 'd', name: 'D', size: 6 })]);
    // Two proposals beside each other.
    const two = await compare(net.call, table, { change_request_id: request }, { import_table_id });
    expect(two.body.rows).toMatchObject([
      { kind: 'updated', key: { code: 'a' } },
      { kind: 'deleted', key: { code: 'c' } },
      { kind: 'updated', key: { code: 'd' }, cells: { size: { from: 6, to: 5 } } },
    ]);
    const window = { startRow: 1, endRow: 2, kinds: ['created', 'deleted'] };
    expect((await compare(net.call, table, {}, { import_table_id }, window)).body).toMatchObject({
      rows: [{ key: { code: 'd' } }],
      rowCount: 2,
    });
  });

  it('keeps every type of value exactly, under the names that columns have now', async () => {
    const table = nextId();
    const types = [
      ...['text', 'integer', 'bigint', 'decimal', 'double', 'boolean', 'date', 'time', 'timestamptz', 'uuid', 'json'],
    ] as const;
    const shapeOf = (data_type: string) => (data_type === 'decimal' ? { length: 30, scale: 4 } : {});
    const definition = (prefix: string, version: number) => ({
      ...{ id: table, version },
      columns: [
        codeColumn,
        ...types.map((data_type, i) => ({
          ...{ name: `${prefix}_${data_type}`, data_type, lineage_id: table * 1000 + i + 2 },
          ...shapeOf(data_type),
        })),
      ],
    });
    await deploy(net, [definition('v', 1)]);
    const cells = [
      ...[
        '"say ""ä"" \\ and more"',
        '-5',
        '9007199254740993',
        '12345678901234567890.1234',
        '0.1',
        'true',
        '2026-02-28',
      ],
      ...[
        '23:59:01',
        '2026-01-02T03:04:05.678Z',
        '0f0e0d0c-0b0a-4908-8706-050403020100',
        '"{""b"": [1.50, ""x""], ""a"": null}"',
      ],
    ];
    const names = ['code', ...types.map((type) => `v_${type}`)];
    const file = `k,${cells.join(',')}\n`;
    const import_table_id = await tried(table, file, { file_columns: names });
    await deploy(net, [definition('w', 2)]);
    const exactly = async (left: object, right: object) => {
      const body = { table_definition_id: table, left, right, startRow: 0, endRow: 10 };
      return (await net.call('POST', '/api/v1/table_data/diff?exact_numbers=true', body)).body.rows;
    };
    const rows = await exactly({}, { import_table_id });
    await load(net, table, file, { file_columns: names.map((name) => name.replace('v_', 'w_')) });
    const after = await exactly({ as_of: await beforeLoad(table) }, {});
    expect(withoutNewIds(rows)).toEqual(withoutNewIds(after));
    expect(Object.keys(rows[0].cells)).toHaveLength(types.length);
  });

  it('is refused for another table, an unknown one, a load, a failed one, and when its rows are not kept', async () => {
    const { table } = await givenTable();
    const other = await givenTable();
    const good = await tried(table, 'a,X,1\n');
    const refusal = async (import_table_id: number, of = table, call = net.call) =>
      statusOf(compare(call, of, {}, { import_table_id }));
    expect(await refusal(good, other.table)).toEqual([
      422,
      'import_table_id',
      'The import table is not of this table.',
    ]);
    expect((await refusal(2_000_000))[0]).toBe(404);
    const [foreign] = await net.query(
      `insert into finished_load (account_id, load_id, table_definition_id, result, file_columns, import_table_id, dry_run)
       select 2, load_id, table_definition_id, result, file_columns, 777, true from finished_load where import_table_id = $1 returning import_table_id`,
      [good],
    );
    expect((await refusal(foreign?.import_table_id as number))[0]).toBe(404);
    expect((await refusal(await tried(table, 'a,X,1\n', { dry_run: false, pattern: 'incremental' })))[2]).toMatch(
      /was loaded/,
    );
    expect((await refusal(await tried(table, 'a,X,many\n')))[2]).toMatch(/failed, so it has no rows; correct the file/);
    net.rights.set(71, {
      license_type: 'developer',
      permissions: [{ action: 'view', resource_type: 'table_definition', resource_id: other.table }],
    });
    expect((await refusal(good, other.table, net.as({ userId: 71 })))[0]).toBe(403);
    await net.query(
      'update changed_block set created = 0, updated = 1, deleted = 1 where load_id = (select load_id from finished_load where account_id = 1 and import_table_id = $1)',
      [good],
    );
    expect((await refusal(good))[2]).toMatch(/would change 3 rows, of which the first 2 were kept/);
    await net.query(`update finished_load set finished_at = now() - interval '25 hours' where import_table_id = $1`, [
      good,
    ]);
    expect((await refusal(good))[2]).toBe(
      'The rows of the dry run are no longer kept; import the file with dry_run again.',
    );
    await sweepLoads(pgSql(net.context.pools.quiet));
    expect((await refusal(good))[2]).toBe(
      'The rows of the dry run are no longer kept; import the file with dry_run again.',
    );
    expect((await refusal(await tried(table, 'a,a,1\nb,b,1\nc,c,1\n', { pattern: 'incremental' })))[0]).toBe(200);
  });
});

/** An instant after which the last rows of the table came. */
async function beforeLoad(table: number): Promise<string> {
  const [row] = await net.query(
    `select to_char((max(svc_updated_at) - interval '1 millisecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from b_1.t_${table}`,
  );
  return row?.at as string;
}

it('random operations of a request differ from the table as the rows through it do', async () => {
  const seed = Number(process.env.PROPOSED_SEED ?? Date.now() % 1_000_000);
  console.log(`PROPOSED_SEED=${seed}`);
  const random = randomOf(seed);
  const { table } = await givenTable();
  const free = new Set(['d', 'e', 'f', 'g', 'h']);
  for (let n = 0; n < 12; n += 1) {
    const live = await liveRows(net.call, table);
    const request = await openRequest(net);
    const operations: unknown[] = [...free]
      .filter(() => random(2) === 0)
      .map((code) => added({ code, name: `n${random(2)}`, size: random(2) }));
    for (const row of live) {
      const how = random(4);
      if (how === 0) operations.push(deletion(row.svc_sk));
      if (how === 1) operations.push(changed(row.svc_sk, { name: `n${random(2)}`, size: random(2) }));
    }
    const [dead] = await net.query(
      `select svc_sk::int as id from b_1.t_${table} where svc_is_deleted order by random() limit 1`,
    );
    if (dead && random(2) === 0) operations.push(restoration(dead.id));
    if (operations.length === 0) continue;
    await propose(net.call, request, table, operations);
    const through = await liveRows(net.call, table, undefined, request);
    const keys = through.map(({ code }) => code);
    // A restored row may have the key of a new one; its request is not applied like that.
    if (new Set(keys).size < keys.length) continue;
    const expected = differencesOf(live, through, 'code', columns);
    const side = { change_request_id: request };
    const { body } = await compare(net.call, table, {}, side);
    expect({ seed, n, rows: body.rows, counts: body.counts }).toEqual({
      seed,
      n,
      rows: expected,
      counts: countsOf(expected),
    });
    const unequal = (await operationsOf(net.call, request)).length;
    expect(body.rowCount).toBeLessThanOrEqual(unequal);
    // The rows of the whole table instead of those that are touched.
    const at = { as_of: await clock() };
    expect((await compare(net.call, table, at, side)).body.rows).toEqual(expected);
    for (const { svc_sk, code } of live.filter(() => random(5) === 0)) {
      await remove(net.call, table, [svc_sk as number]);
      free.add(code as string);
    }
    for (const code of [...free].filter(() => random(4) === 0)) {
      await create(net, table, { code, name: 'made', size: 9 });
      free.delete(code);
    }
  }
}, 300_000);

async function clock(): Promise<string> {
  const [row] = await net.query(
    `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`,
  );
  return row?.at as string;
}

it('a dry run differs from the table in what the load of its file then changes', async () => {
  const seed = Number(process.env.DRY_RUN_SEED ?? Date.now() % 1_000_000);
  console.log(`DRY_RUN_SEED=${seed}`);
  const random = randomOf(seed);
  const { table } = await givenTable();
  for (let n = 0; n < 15; n += 1) {
    const pattern = ['full', 'incremental', 'incremental_with_delete'][random(3)] as string;
    const withCodes = pattern === 'incremental_with_delete';
    const codes = Array.from({ length: 10 }, (_, i) => `c${i}`).filter(() => random(2) === 0);
    const line = (code: string) => [code, ['', 'n0', 'n1'][random(3)], ['', '1', '2'][random(3)]].join(',');
    const file = codes.map((code) => `${line(code)}${withCodes ? `,${random(4) === 0 ? 'd' : 'u'}` : ''}\n`).join('');
    if (file === '') continue;
    const options = { pattern, file_columns: withCodes ? [...file_columns, 'svc_transaction_code'] : file_columns };
    const import_table_id = await tried(table, file, options);
    const before = await liveRows(net.call, table);
    const { body } = await compare(net.call, table, {}, { import_table_id });
    const whole = await compare(net.call, table, { as_of: await clock() }, { import_table_id });
    await load(net, table, file, { ...options, allow_mass_delete: true });
    const expected = differencesOf(before, await liveRows(net.call, table), 'code', columns);
    expect({ seed, n, rows: withoutNewIds(body.rows), counts: body.counts }).toEqual({
      ...{ seed, n, rows: withoutNewIds(expected), counts: countsOf(expected) },
    });
    expect(whole.body.rows).toEqual(body.rows);
  }
}, 300_000);

describe('a change request that begins with a dry run', () => {
  let last = 100_000;
  const open = async (table: number, file: string, as = caller, options = {}) => {
    last += 1;
    const load_id = `proposed-${process.pid}-${last}`;
    await tried(table, file, { load_id, ...options });
    const request = { change_request_id: last, branch_id: 1, load_id };
    return { request, made: () => net.metadata.OpenChangeRequest(as, request) };
  };

  it('has its rows as operations, based on the versions that it found', async () => {
    const { table, ids } = await givenTable();
    const { request, made } = await open(table, 'a,Anna,1\nb,b,7\nd,D,\n');
    await patch(net.call, table, ids.b as number, { size: 2 });
    await patch(net.call, table, ids.a as number, { size: 3 });
    expect(await made()).toMatchObject({ operation_count: 4, with_problems: 1 });
    const operations = await operationsOf(net.call, request.change_request_id);
    expect(operations).toMatchObject([
      { kind: 'update', svc_sk: ids.a, base_version: 1, problems: [] },
      { kind: 'update', svc_sk: ids.b, base_version: 1, problems: [{ code: 'version_conflict', column: 'size' }] },
      { kind: 'delete', svc_sk: ids.c, problems: [] },
      { kind: 'create', svc_sk: null, problems: [] },
    ]);
    const through = await liveRows(net.call, table, undefined, request.change_request_id);
    const shown = through.map((row: Row) => [row.code, row.name, row.size].join('|')).toSorted();
    expect(shown).toEqual(['a|Anna|3', 'b|b|7', 'd|D|']);
    // Repeating it changes nothing.
    expect(await made()).toMatchObject({ operation_count: 4 });
    expect(await operationsOf(net.call, request.change_request_id)).toHaveLength(4);
  });

  it('takes the right to edit, all of its rows, and at least one', async () => {
    const { table } = await givenTable();
    const failure = async (attempt: Promise<unknown>) =>
      attempt.then(
        () => 'made',
        (error: { kind: string; problems: { message: string }[] }) => [error.kind, error.problems[0]?.message],
      );
    const none = await open(table, 'a,a,1\nb,b,1\nc,c,1\n');
    expect(await failure(none.made())).toEqual([
      ...['validation_failed', 'The dry run would change no row, so there is nothing to propose.'],
    ]);
    const on = (action: 'view' | 'edit') => [
      { action, resource_type: 'table_definition' as const, resource_id: table },
    ];
    net.rights.set(81, { license_type: 'developer', permissions: on('view') });
    net.rights.set(82, { license_type: 'developer', permissions: on('edit') });
    const by = (userId: number) => ({ ...caller, applicationId: undefined, userId });
    const { request } = await open(table, 'a,X,1\n', caller, { pattern: 'incremental' });
    const made = (userId: number, more = {}) =>
      failure(net.metadata.OpenChangeRequest(by(userId), { ...request, created_by: userId, ...more }));
    expect((await made(81))[0]).toBe('forbidden');
    expect((await made(82, { branch_id: 2 }))[0]).toBe('validation_failed');
    expect((await made(82, { load_id: 'nowhere' }))[0]).toBe('not_found');
    expect(await net.query('select id from change_request where id = $1', [request.change_request_id])).toEqual([]);
    expect(await made(82)).toBe('made');
    const { request: expired } = await open(table, 'a,Y,1\n', caller, { pattern: 'incremental' });
    await net.query(`update finished_load set finished_at = now() - interval '25 hours' where load_id = $1`, [
      expired.load_id,
    ]);
    expect(await failure(net.metadata.OpenChangeRequest(caller, expired))).toEqual([
      ...['wrong_state', 'The rows of the dry run are no longer kept; import the file with dry_run again.'],
    ]);
  });
});
