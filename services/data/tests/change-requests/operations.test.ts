// The operations of change requests: what is stored, checked and shown, and who may do it.
import { eventually } from '@almanac/testkit/eventually';
import { create, failureOf } from '../given.ts';
import { added, changed, deletion, type Op, restoration } from '../operations.ts';
import { net, useData } from '../running-data.ts';
import { remove } from '../versions.ts';
import { codesOf, givenTable, patch } from './proposed-operations.ts';
import { listed, openRequest, operationsOf, propose, setPhase, summaryOf, takeOut } from './requests.ts';

useData();

describe('operations', () => {
  it('are added by the thousand to a request that PostgreSQL knows nothing about', async () => {
    const table = await givenTable();
    const records = Array.from({ length: 1_000 }, (_, i) => ({ code: `K${i}`, x: 'old' }));
    const operations = records.map((record) => ({ operation: 'create', record }));
    const written = await net.call('POST', '/api/v1/table_data/batch', { table_definition_id: table, operations });
    const rows = written.body.created as { svc_sk: number }[];
    const answer = await propose(
      net.call,
      await openRequest(net),
      table,
      rows.map(({ svc_sk }) => changed(svc_sk, { x: 'new' })),
    );
    expect(answer.status).toBe(201);
    expect(answer.body.operations.filter(({ problems }: { problems: unknown[] }) => problems.length > 0)).toEqual([]);
    // PostgreSQL counts a moment later how often it has looked into the table: some times for each
    // row, never all rows for each.
    const looks = async () => {
      const counted = await net.query('select idx_scan from pg_stat_user_tables where relname = $1', [`t_${table}`]);
      return Number(counted[0]?.idx_scan);
    };
    await eventually(async () => expect(await looks()).toBeGreaterThanOrEqual(1_000));
    expect(await looks()).toBeLessThan(100_000);
  });

  it('are added, shown with base, proposed and present values, and change nothing in the table', async () => {
    const table = await givenTable([
      { name: 'x', length: 10 },
      { name: 'n', data_type: 'decimal', length: 30, scale: 2 },
      { name: 'big', data_type: 'bigint' },
      { name: 'at', data_type: 'datetime' },
      { name: 't', data_type: 'time' },
      { name: 'u', data_type: 'uuid' },
      { name: 'b', data_type: 'boolean' },
      { name: 'j', data_type: 'json' },
      { name: 'd', data_type: 'date' },
      { name: 'r', data_type: 'double' },
    ]);
    const row = await create(net, table, { code: 'A', x: 'old', n: '1.50', j: { a: 1 } });
    const request = await openRequest(net);
    const values = {
      x: '"{,}\\é😀',
      n: '1234567890123456789012345678.9',
      big: '9007199254740993',
      at: '2024-01-01T02:00:00.5+02:00',
      t: '07:30',
      u: '0F8FAD5B-D9CB-469F-A165-70867728950E',
      b: true,
      j: { a: [null, '"', { b: 1.5 }] },
      d: '2024-02-29',
      r: 0.1,
    };
    const answer = await propose(net.call, request, table, [
      added({ code: 'B', ...values }),
      changed(row.svc_sk, { ...values, n: null }),
    ]);
    expect(answer.status).toBe(201);
    expect(answer.body.operations.map(({ problems }: { problems: unknown }) => problems)).toEqual([[], []]);
    const [creation, change] = await operationsOf(net.call, request, '?exact_numbers=true');
    const shown = {
      ...values,
      n: '1234567890123456789012345678.90',
      at: '2024-01-01T00:00:00.500Z',
      t: '07:30:00',
      u: values.u.toLowerCase(),
    };
    expect(creation).toMatchObject({ kind: 'create', svc_sk: null, base_version: null, base: null, current: null });
    expect(creation.proposed).toEqual({ code: 'B', ...shown });
    expect(creation.key).toEqual({ code: 'B' });
    expect(change.proposed).toEqual({ ...shown, n: null });
    expect(change.base).toEqual({
      code: 'A',
      x: 'old',
      n: '1.50',
      big: null,
      at: null,
      t: null,
      u: null,
      b: null,
      j: { a: 1 },
      d: null,
      r: null,
    });
    expect(change).toMatchObject({ kind: 'update', svc_sk: row.svc_sk, base_version: 1, key: { code: 'A' } });
    expect(change.current).toMatchObject({ svc_sk: row.svc_sk, svc_version: 1, n: '1.50' });
    expect(change.changed_columns).toEqual(['x', 'n', 'big', 'at', 't', 'u', 'b', 'j', 'd', 'r']);
    expect([change.conflict, change.problems, change.decision, change.comment]).toEqual([null, [], 'undecided', null]);
    const grid = await net.call('GET', `/api/v1/table_data?table_definition_id=${table}`);
    expect(grid.body.data.map((each: Op) => [each.code, each.svc_version, each.x])).toEqual([['A', 1, 'old']]);
  });

  it('keep what is wrong with them: values, presence, keys, references, absent rows', async () => {
    const parent = await givenTable();
    await create(net, parent, { code: 'P' });
    const table = await givenTable([
      { name: 'n', data_type: 'integer' },
      { name: 'must', length: 5, is_required: true },
      { name: 'parent', length: 5, foreign_key_table_id: parent },
    ]);
    const row = await create(net, table, { code: 'A', must: 'x' });
    const removed = await create(net, table, { code: 'G', must: 'x' });
    await remove(net.call, table, [removed.svc_sk]);
    const request = await openRequest(net);
    const answer = await propose(net.call, request, table, [
      added({ code: 'B', n: 'abc', must: 'x' }),
      added({ code: 'C' }),
      added({ code: 'A', must: 'x' }),
      added({ code: 'D', must: 'x', parent: 'NO' }),
      changed(row.svc_sk, { must: null, n: 'toolong' }),
      changed(removed.svc_sk, { n: 1 }),
      deletion(99_999),
      added({ code: 'E', must: 'x', parent: 'P' }),
      added({ code: 'E', must: 'x' }),
    ]);
    expect(answer.status).toBe(201);
    expect(answer.body.operations.map(({ problems }: { problems: { code: string }[] }) => codesOf(problems))).toEqual([
      ['wrong_format'],
      ['blank'],
      ['taken'],
      ['invalid_reference'],
      ['blank', 'wrong_format'],
      ['not_found'],
      ['not_found'],
      [],
      ['taken'],
    ]);
    expect(answer.body.message).toBe('9 operations added, 8 with problems');
    const page = await listed(net.call, request, '?has_problem=true&startRow=0&endRow=2');
    expect(page.body.rowCount).toBe(8);
    expect(page.body.operations).toHaveLength(2);
    expect(page.body.counts).toEqual({
      kinds: { create: 6, update: 2, delete: 1, restore: 0 },
      decisions: { undecided: 9, accepted: 0, rejected: 0, returned: 0 },
      with_problems: 8,
    });
    const refused = await failureOf(setPhase(net, request, 'review'));
    expect(refused.kind).toBe('wrong_state');
    expect(refused.errors[0]).toMatch(/^8 operations have problems: blank \(2\), not_found \(2\), taken \(2\), /);
  });

  it('that name no column of the table, or a row twice, are refused and add nothing', async () => {
    const table = await givenTable();
    const row = await create(net, table, { code: 'A' });
    const request = await openRequest(net);
    const cases: [Op[], number, string][] = [
      [[changed(row.svc_sk, { nope: 1 })], 422, 'unknown_property'],
      [[changed(row.svc_sk, { svc_version: 1 })], 422, 'read_only'],
      [[changed(row.svc_sk, {})], 422, 'blank'],
      [[changed(row.svc_sk, { x: 'a' }), deletion(row.svc_sk)], 400, 'given_twice'],
      [[{ operation: 'drop', id: 1 }], 400, 'not_in_list'],
    ];
    for (const [operations, status, problem] of cases) {
      const answer = await propose(net.call, request, table, operations);
      expect([answer.status, codesOf(answer.body.problems)[0]]).toEqual([status, problem]);
    }
    expect(await operationsOf(net.call, request)).toEqual([]);
  });

  it('on one row become one: a change of a change adds its cells, anything else replaces', async () => {
    const table = await givenTable([
      { name: 'x', length: 10 },
      { name: 'y', length: 10 },
      { name: 'n', data_type: 'integer' },
    ]);
    const row = await create(net, table, { code: 'A', x: 'x1', y: 'y1' });
    const request = await openRequest(net);
    const id = row.svc_sk;
    await propose(net.call, request, table, [changed(id, { x: 'x2', n: 'bad' })]);
    await patch(table, id, { y: 'y2' });
    await propose(net.call, request, table, [changed(id, { y: 'y3' })]);
    const [merged, ...others] = await operationsOf(net.call, request);
    expect(others).toEqual([]);
    expect(merged).toMatchObject({
      proposed: { x: 'x2', y: 'y3' },
      base: { code: 'A', x: 'x1', y: 'y2' },
      base_version: 1,
      conflict: null,
    });
    expect(codesOf(merged.problems)).toEqual(['wrong_format']);
    await propose(net.call, request, table, [changed(id, { n: 5 })]);
    expect((await operationsOf(net.call, request))[0]).toMatchObject({ problems: [], proposed: { n: 5 } });
    await propose(net.call, request, table, [deletion(id)]);
    const [replaced] = await operationsOf(net.call, request);
    expect(replaced).toMatchObject({
      id: merged.id,
      kind: 'delete',
      proposed: null,
      base: { code: 'A' },
      base_version: 2,
    });
    expect((await summaryOf(net, request))?.operation_count).toBe(1);
  });

  it('upsert: a change of the live row with the key, or a new row', async () => {
    const table = await givenTable();
    await create(net, table, { code: 'A', x: 'a' });
    const request = await openRequest(net);
    await propose(net.call, request, table, [
      { operation: 'upsert', record: { code: 'A', x: 'b' } },
      { operation: 'upsert', record: { code: 'B', x: 'b' } },
    ]);
    const found = await operationsOf(net.call, request);
    expect(found.map(({ kind, key }: Op) => [kind, key])).toEqual([
      ['update', { code: 'A' }],
      ['create', { code: 'B' }],
    ]);
  });

  it('know what others have changed since: by cell, and of the row', async () => {
    const table = await givenTable([
      { name: 'x', length: 10 },
      { name: 'y', length: 10 },
    ]);
    const [a, b, c] = [
      await create(net, table, { code: 'A', x: '1', y: '1' }),
      await create(net, table, { code: 'B', x: '1', y: '1' }),
      await create(net, table, { code: 'C', x: '1', y: '1' }),
    ];
    const request = await openRequest(net);
    await patch(table, a.svc_sk, { x: 'theirs', y: '1' });
    const answer = await propose(net.call, request, table, [
      changed(a.svc_sk, { x: 'mine', y: '2' }, 1),
      changed(b.svc_sk, { y: '2' }, 1),
      deletion(c.svc_sk, 1),
    ]);
    expect(answer.body.operations.map(({ problems }: { problems: { code: string }[] }) => codesOf(problems))).toEqual([
      ['version_conflict'],
      [],
      [],
    ]);
    expect(answer.body.operations[0].problems[0]).toMatchObject({ column: 'x', row: a.svc_sk });
    await patch(table, b.svc_sk, { x: 'theirs' });
    await patch(table, c.svc_sk, { x: 'theirs' });
    const found = await operationsOf(net.call, request);
    expect(found.map(({ conflict }: Op) => conflict)).toEqual([
      { row: false, columns: { x: { base: '1', proposed: 'mine', current: 'theirs' } } },
      null,
      { row: true, columns: {} },
    ]);
    await remove(net.call, table, [b.svc_sk]);
    expect((await operationsOf(net.call, request))[1].conflict).toEqual({ row: true, columns: {} });
  });

  it('see each other, across tables and in any order', async () => {
    const parent = await givenTable();
    const table = await givenTable([{ name: 'parent', length: 5, foreign_key_table_id: parent }]);
    const old = await create(net, parent, { code: 'OLD' });
    const child = await create(net, table, { code: 'C', parent: 'OLD' });
    const request = await openRequest(net);
    const problemsOf = async (query = '') =>
      (await operationsOf(net.call, request, query)).map(({ problems }: { problems: { code: string }[] }) =>
        codesOf(problems),
      );
    await propose(net.call, request, table, [added({ code: 'N', parent: 'NEW' })]);
    await propose(net.call, request, parent, [deletion(old.svc_sk)]);
    expect(await problemsOf()).toEqual([['invalid_reference'], ['still_referenced']]);
    const made = await propose(net.call, request, parent, [added({ code: 'NEW' })]);
    await propose(net.call, request, table, [changed(child.svc_sk, { parent: 'NEW' })]);
    expect(await problemsOf()).toEqual([[], [], [], []]);
    expect(await problemsOf(`?table_definition_id=${parent}&kind=delete`)).toEqual([[]]);
    expect((await setPhase(net, request, 'review')).phase).toBe('review');
    await setPhase(net, request, 'draft');
    const removed = await takeOut(net.call, request, [made.body.operations[0].id]);
    expect(removed.body).toEqual({ removed_count: 1, message: '1 operation removed' });
  });

  it('restore deleted rows alone, with their keys', async () => {
    const table = await givenTable();
    const [a, b, c] = [
      await create(net, table, { code: 'A' }),
      await create(net, table, { code: 'B' }),
      await create(net, table, { code: 'C' }),
    ];
    await remove(net.call, table, [a.svc_sk, b.svc_sk]);
    await create(net, table, { code: 'B' });
    const request = await openRequest(net);
    await propose(net.call, request, table, [restoration(a.svc_sk), restoration(b.svc_sk), restoration(c.svc_sk)]);
    const found = await operationsOf(net.call, request);
    expect(found.map((each: { problems: { code: string }[]; key: Op }) => [each.key, codesOf(each.problems)])).toEqual([
      [{ code: 'A' }, []],
      [{ code: 'B' }, ['taken']],
      [{ code: 'C' }, ['wrong_state']],
    ]);
  });

  it('are added once for an Idempotency-Key', async () => {
    const table = await givenTable();
    const request = await openRequest(net);
    const headers = { 'Idempotency-Key': `key-${table}` };
    const first = await propose(net.call, request, table, [added({ code: 'A' })], headers);
    const again = await propose(net.call, request, table, [added({ code: 'A' })], headers);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect((await summaryOf(net, request))?.operation_count).toBe(1);
    const other = await propose(net.call, request, table, [added({ code: 'B' })], headers);
    expect([other.status, codesOf(other.body.problems)]).toEqual([422, ['key_reused']]);
  });

  it('are at most 100,000 in a request', async () => {
    const table = await givenTable();
    const request = await openRequest(net);
    await net.query('update change_request set operation_count = 99999 where id = $1', [request]);
    expect((await propose(net.call, request, table, [added({ code: 'A' })])).status).toBe(201);
    const answer = await propose(net.call, request, table, [added({ code: 'B' })]);
    expect([answer.status, codesOf(answer.body.problems)]).toEqual([422, ['limit_reached']]);
  });

  it('change in a draft alone', async () => {
    const table = await givenTable();
    const request = await openRequest(net);
    expect((await failureOf(setPhase(net, request, 'review'))).errors).toEqual([
      'The change request has no operations yet.',
    ]);
    const made = await propose(net.call, request, table, [added({ code: 'A' })]);
    for (const phase of ['review', 'closed']) {
      await setPhase(net, request, phase);
      const answers = [
        await propose(net.call, request, table, [added({ code: 'B' })]),
        await takeOut(net.call, request, [made.body.operations[0].id]),
      ];
      for (const { status, body } of answers) expect([status, codesOf(body.problems)]).toEqual([422, ['wrong_state']]);
    }
  });

  it('are removed all or none', async () => {
    const table = await givenTable();
    const request = await openRequest(net);
    const made = await propose(net.call, request, table, [added({ code: 'A' }), added({ code: 'B' })]);
    const [a, b] = made.body.operations.map(({ id }: { id: number }) => id);
    const refused = await takeOut(net.call, request, [a, 999_999_999]);
    expect([refused.status, refused.body.errors]).toEqual([404, ['Operation 999999999 not found']]);
    expect(await operationsOf(net.call, request)).toHaveLength(2);
    expect((await takeOut(net.call, request, [a, a, b])).body.removed_count).toBe(2);
    expect((await summaryOf(net, request))?.operation_count).toBe(0);
  });
});
