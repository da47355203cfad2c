// POST /table_data/undo: takes back what one request wrote, in new versions.
import { load } from '../../files.ts';
import { caller, create, type DataNet, deploy, givenData } from '../../given.ts';
import { gaps, kept, patch, remove, restore, versionsOf } from '../../versions.ts';
import { batch, equals, given, givenItems, rowsOf, stateOf, write } from './sets.ts';

let net: DataNet;
let requests = 0;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const newRequest = () => {
  requests += 1;
  return `request-${String(requests).padStart(4, '0')}`;
};
const as = (id: string) => ({ 'x-request-id': id });

const undo = (table: number, request_id: string, more: object = {}, headers = {}, call = net.call) =>
  write(call, 'undo', table, { request_id, ...more }, headers);

/** The values of all rows, deleted ones too. */
const valuesOf = async (table: number) =>
  (await rowsOf(net, table, true)).map(({ svc_is_deleted, code, x, n, kind }: Record<string, unknown>) => ({
    ...{ svc_is_deleted, code, x, n, kind },
  }));

/** Sends a batch that creates, changes and deletes; answers its request and the values before. */
async function givenBatch() {
  const { items, kinds } = await givenItems(net, ['A', 'B', 'C']);
  const [a, b] = await rowsOf(net, items);
  const before = await valuesOf(items);
  const request = newRequest();
  const operations = [
    { operation: 'create', record: { code: 'D', x: 'd', kind: 'L' } },
    { operation: 'update', id: a.svc_sk, record: { code: 'AA', x: null, n: 3, kind: 'L' } },
    { operation: 'delete', id: b.svc_sk },
  ];
  expect((await batch(net.call, items, operations, as(request))).status).toBe(200);
  return { items, kinds, a: a.svc_sk as number, b: b.svc_sk as number, before, request };
}

async function expectRefused(table: number, request: string, wanted: object, more: object = {}) {
  const before = await stateOf(net, table);
  expect(await undo(table, request, more)).toMatchObject(wanted);
  expect(await stateOf(net, table)).toBe(before);
}

describe('an undo', () => {
  it('deletes what a batch created, restores what it deleted, and gives values back', async () => {
    const { items, a, b, before, request } = await givenBatch();
    const answer = await undo(items, request);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        deleted_count: 1,
        restored_count: 1,
        changed_count: 1,
        message: '1 record deleted, 1 record restored, 1 record changed back',
      },
    });
    expect((await valuesOf(items)).slice(0, 3)).toEqual(before);
    const [, , , d] = await rowsOf(net, items, true);
    expect(d).toMatchObject({ code: 'D', x: 'd', svc_is_deleted: true, svc_version: 2 });
    const request_id = answer.headers.get('x-request-id');
    const [ofA] = await versionsOf(net.call, items, a);
    expect(ofA).toMatchObject({ svc_version: 3, action: 'reverted', channel: 'undo', request_id });
    expect(ofA.changed_columns).toEqual(['code', 'x', 'n', 'kind']);
    expect((await versionsOf(net.call, items, b))[0]).toMatchObject({ action: 'reverted', channel: 'undo' });
    expect((await versionsOf(net.call, items, d.svc_sk))[0]).toMatchObject({ action: 'deleted', channel: 'undo' });
    expect(await gaps(net, items)).toEqual([]);
  });

  it('is undone by another undo, and that one by a third', async () => {
    const { items, before, request } = await givenBatch();
    const after = await valuesOf(items);
    let last = request;
    for (const wanted of [before, after, before, after]) {
      const own = newRequest();
      expect((await undo(items, last, {}, as(own))).status).toBe(200);
      expect((await valuesOf(items)).slice(0, 3)).toEqual(wanted.slice(0, 3));
      last = own;
    }
    expect(await valuesOf(items)).toEqual(after);
    expect(await gaps(net, items)).toEqual([]);
  });

  it('takes back single writes, deletions, restorations, and update_where', async () => {
    const { items } = await givenItems(net, ['A', 'B']);
    const [a] = await rowsOf(net, items);
    const ids = [a.svc_sk];
    const path = '/api/v1/table_data';
    const writes: [() => Promise<{ headers: Headers; status: number }>, object][] = [
      [() => net.call('POST', path, { table_definition_id: items, record: { code: 'N' } }), { deleted_count: 1 }],
      [() => patch(net.call, items, a.svc_sk, { x: 'new' }), { changed_count: 1 }],
      [() => remove(net.call, items, ids), { restored_count: 1 }],
      [
        () => write(net.call, 'update_where', items, { all: true, set: { n: 3 }, expected_count: 2 }),
        { changed_count: 2 },
      ],
      [() => write(net.call, 'delete_where', items, { all: true, expected_count: 2 }), { restored_count: 2 }],
    ];
    const before = await valuesOf(items);
    for (const [send, counts] of writes) {
      const { headers, status } = await send();
      expect(status).toBeLessThan(300);
      const answer = await undo(items, headers.get('x-request-id') as string);
      expect(answer).toMatchObject({ status: 200, body: counts });
      expect((await valuesOf(items)).slice(0, 2)).toEqual(before);
    }
    await remove(net.call, items, ids);
    const { headers } = await restore(net.call, items, ids);
    expect((await undo(items, headers.get('x-request-id') as string)).body).toMatchObject({ deleted_count: 1 });
    expect((await rowsOf(net, items)).map((row: { code: string }) => row.code)).toEqual(['B']);
  });

  it('takes back the load of an import, also in a table of load type source', async () => {
    const columns = [{ name: 'code', length: 5, is_primary_key: true }, { name: 'x' }];
    const id = 9_001;
    await deploy(net, [{ id, load_type: 'source', columns }]);
    const file_columns = ['code', 'x'];
    const request = (n: number) => ({ ...caller, requestId: `import-${id}-${n}` });
    await load(net, id, 'A,a\nB,b\nC,c\n', { file_columns }, request(1));
    const before = await rowsOf(net, id);
    await load(net, id, 'A,other\nC,c\nD,d\n', { file_columns, pattern: 'full', allow_mass_delete: true }, request(2));
    const answer = await undo(id, `import-${id}-2`);
    expect(answer).toMatchObject({ status: 200, body: { deleted_count: 1, restored_count: 1, changed_count: 1 } });
    const values = (rows: Record<string, unknown>[]) => rows.map(({ code, x }) => [code, x]);
    expect(values(await rowsOf(net, id))).toEqual(values(before));
    // Rows that the second load wrote have changed since the first one.
    expect(await undo(id, `import-${id}-1`)).toMatchObject({ status: 422 });
  });

  it('names the rows that have been changed since, and changes nothing', async () => {
    const { items, a, request } = await givenBatch();
    await patch(net.call, items, a, { x: 'later' });
    await expectRefused(items, request, {
      status: 422,
      body: {
        errors: [`Record ${a} has been changed since by another request; it has version 3.`],
        problems: [{ code: 'version_conflict', row: a, params: { version: 3 } }],
      },
    });
  });

  it('does not undo twice', async () => {
    const { items, request } = await givenBatch();
    expect((await undo(items, request)).status).toBe(200);
    await expectRefused(items, request, {
      status: 422,
      body: { problems: [1, 2, 3].map(() => ({ code: 'version_conflict' })) },
    });
  });

  it('answers a repeated request with its key once', async () => {
    const { items, request } = await givenBatch();
    const headers = { 'idempotency-key': `undo-${items}` };
    const first = await undo(items, request, {}, headers);
    expect(first.status).toBe(200);
    expect(await undo(items, request, {}, headers)).toMatchObject({ status: 200, body: first.body });
  });

  it('is 404 for a request that wrote no row of this table, and 400 for what is no id', async () => {
    const { items, request } = await givenBatch();
    const other = await givenItems(net, ['A']);
    await expectRefused(other.items, request, { status: 404, body: { errors: ['Request not found'] } });
    await expectRefused(items, 'request-never', { status: 404 });
    await expectRefused(items, 'request-never', { status: 404 }, { dry_run: true });
    for (const id of ['short', `x' or true --`, 'x'.repeat(129), 7])
      await expectRefused(items, id as string, { status: 400, body: { problems: [{ field: 'request_id' }] } });
  });

  it('keeps the rules of today, and names the rows', async () => {
    const { items, kinds, a, b, request } = await givenBatch();
    await create(net, items, { code: 'B' });
    await create(net, items, { code: 'E', kind: 'L' });
    await expectRefused(items, request, {
      status: 422,
      body: { problems: [{ code: 'taken', row: b, column: 'code' }] },
    });
    await write(net.call, 'update_where', items, {
      filterModel: equals('code', 'B'),
      set: { code: 'F' },
      expected_count: 1,
    });
    // The kind that A had is deleted: what refers to it goes first.
    await write(net.call, 'update_where', items, {
      filterModel: equals('code', 'C'),
      set: { kind: 'L' },
      expected_count: 1,
    });
    const k = (await rowsOf(net, kinds))[0].svc_sk;
    expect((await remove(net.call, kinds, [k])).status).toBe(200);
    await expectRefused(items, request, {
      status: 422,
      body: {
        problems: [a, b].map((row) => ({ code: 'invalid_reference', row, column: 'kind' })),
      },
    });
  });

  it('does not delete a created row that others refer to by now', async () => {
    const { items, kinds } = await givenItems(net, ['A']);
    const request = newRequest();
    const [m] = await given(net, kinds, [{ code: 'M' }], as(request));
    await write(net.call, 'update_where', items, { all: true, set: { kind: 'M' }, expected_count: 1 });
    await expectRefused(kinds, request, {
      status: 422,
      body: { problems: [{ code: 'still_referenced', row: m, params: { count: 1 } }] },
    });
  });

  it('checks values that a deployment no longer allows', async () => {
    const columns = (more: object) => [
      { name: 'code', length: 5, is_primary_key: true },
      { name: 'x', length: 10, ...more },
    ];
    const id = 9_101;
    await deploy(net, [{ id, columns: columns({}) }]);
    const [row] = await given(net, id, [{ code: 'A', x: 'old' }]);
    const { headers } = await patch(net.call, id, row as number, { x: 'new' });
    await deploy(net, [{ id, version: 2, columns: columns({ valid_values: ['new', 'newer'] }) }]);
    await expectRefused(id, headers.get('x-request-id') as string, {
      status: 422,
      body: { problems: [{ code: 'not_in_list', row, column: 'x' }] },
    });
  });

  it('is blocked when the versions from before are not kept', async () => {
    const { items, a, b, request } = await givenBatch();
    expect(await kept(net, items)).toBe(2);
    await net.query(`delete from b_1.h_${items}`);
    await expectRefused(items, request, {
      status: 422,
      body: { problems: [a, b].map((row) => ({ code: 'blocked', row })) },
    });
  });

  it('takes back all versions of an id that a caller has used again, if they follow each other', async () => {
    const { items } = await givenItems(net, ['A']);
    const [a] = await rowsOf(net, items);
    const request = newRequest();
    await patch(net.call, items, a.svc_sk, { x: 'one' }, as(request));
    await patch(net.call, items, a.svc_sk, { x: 'two' }, as(request));
    expect((await undo(items, request)).body).toMatchObject({ changed_count: 1 });
    expect((await rowsOf(net, items))[0]).toMatchObject({ x: 'a', svc_version: 4 });
    const other = newRequest();
    for (const id of [other, newRequest(), other]) await patch(net.call, items, a.svc_sk, { x: id.slice(-4) }, as(id));
    await expectRefused(items, other, { status: 422, body: { problems: [{ code: 'version_conflict' }] } });
  });
});

describe('a dry run of an undo', () => {
  it('answers the counts or the problems, and changes nothing', async () => {
    const { items, a, request } = await givenBatch();
    const counts = { matched: 3, would_delete: 1, would_restore: 1, would_change: 1 };
    await expectRefused(items, request, { status: 200, body: { ...counts, problems: [] } }, { dry_run: true });
    const none = { matched: 3, would_delete: 0, would_restore: 0, would_change: 0 };
    await create(net, items, { code: 'B' });
    const taken = { status: 200, body: { ...none, problems: [{ code: 'taken' }] } };
    await expectRefused(items, request, taken, { dry_run: true });
    await patch(net.call, items, a, { x: 'later' });
    const changed = { status: 200, body: { ...none, problems: [{ code: 'version_conflict', row: a }] } };
    await expectRefused(items, request, changed, { dry_run: true });
  });
});

it('needs the right to edit, and finds no request of another account', async () => {
  const { items, request } = await givenBatch();
  net.rights.set(8, {
    license_type: 'developer',
    permissions: [{ action: 'view', resource_type: 'account', resource_id: 1 }],
  });
  expect((await undo(items, request, {}, {}, net.as({ userId: 8 }))).status).toBe(403);
  expect((await undo(items, request, {}, {}, net.as({ accountId: 2 }))).status).toBe(404);
  const theirs = 9_201;
  await deploy(net, [{ id: theirs, branch_id: 7, columns: [{ name: 'code', is_primary_key: true }] }], {
    accountId: 2,
  });
  expect((await undo(theirs, request, {}, {}, net.as({ accountId: 2 }))).body.errors).toEqual(['Request not found']);
});
