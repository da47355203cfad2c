// The differences of a table from what a dry run would make of it.
import { pgSql } from '@almanac/service-kit/postgres/database';
import { randomOf } from '@almanac/testkit/random';
import { sweepLoads } from '../../src/imports/rejected-rows.ts';
import { openRequest, operationsOf, propose } from '../change-requests/requests.ts';
import { load } from '../files.ts';
import { caller, deploy } from '../given.ts';
import { codeColumn, nextId } from '../merges/row-merges.ts';
import { added } from '../operations.ts';
import { net, useData } from '../running-data.ts';
import { patch } from '../versions.ts';
import { compare, countsOf, differencesOf, liveRows } from './comparing.ts';
import {
  beforeLoad,
  clock,
  columns,
  file_columns,
  givenTable,
  type Row,
  statusOf,
  tried,
  withoutNewIds,
} from './sides.ts';

useData();

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
