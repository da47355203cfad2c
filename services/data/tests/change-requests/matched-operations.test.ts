// POST /change_requests/{id}/operations/where: the same operation on all rows of a filter.

import { deploy } from '../given.ts';
import { changed, deletion } from '../operations.ts';
import { equals, given, givenItems, isNumber, rowsOf, stateOf } from '../records/sets/sets.ts';
import { net, useData } from '../running-data.ts';
import { codesOf } from './proposed-operations.ts';
import { openRequest, operationsOf, propose, setPhase, summaryOf } from './requests.ts';

useData();

const proposeWhere = (request: number, table: number, body: object, headers = {}) =>
  net.call(
    'POST',
    `/api/v1/change_requests/${request}/operations/where`,
    { table_definition_id: table, ...body },
    headers,
  );

const operation = 'update' as const;

/** The operations of a request by the codes of their rows. */
async function operationsByCode(request: number, table: number) {
  const rows = await rowsOf(net, table);
  const codes = new Map(rows.map(({ svc_sk, code }: { svc_sk: number; code: string }) => [svc_sk, code]));
  const operations = await operationsOf(net.call, request);
  return Object.fromEntries(operations.map((each: { svc_sk: number }) => [codes.get(each.svc_sk), each]));
}

it('proposes the values for the rows of a filter and a search, but for those that have them', async () => {
  const { items } = await givenItems(net, ['A1', 'A2', 'A3', 'A4', 'A5', 'B1']);
  const request = await openRequest(net);
  const before = await stateOf(net, items);
  const selection = { filterModel: { n: { filterType: 'number', type: 'lessThan', filter: 3 } }, q: 'a' };
  const answer = await proposeWhere(request, items, {
    ...selection,
    operation,
    set: { n: 1, x: 'a2' },
    expected_count: 4,
  });
  expect(answer).toMatchObject({
    status: 201,
    body: { matched: 4, operation_count: 3, with_problems: 0, message: '3 operations added, 0 with problems' },
  });
  expect(await operationsByCode(request, items)).toMatchObject({
    A1: { kind: 'update', base_version: 1, base: { x: 'a1', n: 0 }, proposed: { x: 'a2', n: 1 }, problems: [] },
    A3: { base: { x: 'a3', n: 2 }, proposed: { x: 'a2', n: 1 } },
    A5: { base: { x: 'a5', n: 0 } },
  });
  expect(await summaryOf(net, request)).toMatchObject({ operation_count: 3 });
  expect(await stateOf(net, items)).toBe(before);
});

it('changes what the request changes already, and deletes', async () => {
  const { items } = await givenItems(net, ['A', 'B', 'C']);
  const [a, b] = (await rowsOf(net, items)).map(({ svc_sk }: { svc_sk: number }) => svc_sk);
  const request = await openRequest(net);
  await propose(net.call, request, items, [changed(a, { x: 'new', n: 9 }), deletion(b)]);
  const where = (body: object) => proposeWhere(request, items, { all: true, expected_count: 3, ...body });
  expect((await where({ operation, set: { kind: 'L' } })).body).toMatchObject({ operation_count: 3, with_problems: 1 });
  expect(await summaryOf(net, request)).toMatchObject({ operation_count: 3 });
  expect(await operationsByCode(request, items)).toMatchObject({
    A: { kind: 'update', proposed: { x: 'new', kind: 'L' }, problems: [{ column: 'n' }] },
    B: { kind: 'update', proposed: { kind: 'L' }, problems: [] },
    C: { kind: 'update', proposed: { kind: 'L' } },
  });
  expect((await where({ operation, set: { n: 2 } })).body).toMatchObject({ with_problems: 0 });
  expect((await where({ operation: 'delete' })).body).toMatchObject({ matched: 3, operation_count: 3 });
  const kinds = Object.values(await operationsByCode(request, items)).map((each) => (each as { kind: string }).kind);
  expect(kinds).toEqual(['delete', 'delete', 'delete']);
  expect(await summaryOf(net, request)).toMatchObject({ operation_count: 3 });
});

it('keeps what is wrong with single rows, and refuses values that are wrong in all', async () => {
  const { items } = await givenItems(net, ['A', 'B']);
  const request = await openRequest(net);
  const update = (set: object) => proposeWhere(request, items, { all: true, operation, set, expected_count: 2 });
  const long = await update({ x: 'x'.repeat(11) });
  expect([long.status, codesOf(long.body.problems)]).toEqual([422, ['too_long']]);
  expect((await update({})).body.problems).toMatchObject([{ code: 'blank', field: 'set' }]);
  expect((await update({ code: 'Z' })).body).toMatchObject({ operation_count: 2, with_problems: 1 });
  const operations = Object.values(await operationsByCode(request, items)) as { problems: { code: string }[] }[];
  expect(operations.map(({ problems }) => codesOf(problems))).toEqual([[], ['taken']]);
});

it('adds nothing when other rows match than were seen, or when it says no rows', async () => {
  const { items } = await givenItems(net, ['A', 'B']);
  const request = await openRequest(net);
  const where = (body: object) => proposeWhere(request, items, { operation, set: { x: 'new' }, ...body });
  const all = { all: true, expected_count: 2 };
  const refusals: [object, number, object][] = [
    [{ all: true, expected_count: 3 }, 422, { code: 'not_reviewed', params: { count: 2 } }],
    [{ filterModel: equals('code', 'A'), expected_count: 2 }, 422, { code: 'not_reviewed', params: { count: 1 } }],
    [{ expected_count: 2 }, 400, { code: 'blank', field: 'filterModel' }],
    [{ ...all, q: 'a' }, 400, { code: 'incompatible', field: 'all' }],
    [{ ...all, operation: 'delete' }, 400, { code: 'incompatible', field: 'set' }],
    [{ all: true }, 400, { field: 'expected_count' }],
    [{ ...all, operation: 'create' }, 400, { field: 'operation' }],
  ];
  for (const [body, status, problem] of refusals) {
    const answer = await where(body);
    expect([body, answer.status, answer.body.problems]).toMatchObject([body, status, [problem]]);
  }
  await net.query('update change_request set operation_count = 99999 where id = $1', [request]);
  expect((await where(all)).body.problems).toMatchObject([{ code: 'limit_reached' }]);
  await net.query('update change_request set operation_count = 0 where id = $1', [request]);
  expect(await operationsOf(net.call, request)).toEqual([]);
  expect((await where({ filterModel: isNumber('n', 3), expected_count: 0 })).body).toMatchObject({
    operation_count: 0,
  });
});

it('is for the creator of a draft who may edit the table, on its branch', async () => {
  const { items } = await givenItems(net, ['A']);
  const request = await openRequest(net);
  const body = { all: true, operation, set: { x: 'new' }, expected_count: 1 };
  const ofOther = await openRequest(net, { createdBy: 4711 });
  expect((await proposeWhere(ofOther, items, body)).status).toBe(403);
  const elsewhere = await openRequest(net, { branchId: 2 });
  expect((await proposeWhere(elsewhere, items, body)).body.problems).toMatchObject([{ code: 'incompatible' }]);
  expect((await proposeWhere(request, items, body)).status).toBe(201);
  await setPhase(net, request, 'review');
  expect((await proposeWhere(request, items, body)).body.problems).toMatchObject([{ code: 'wrong_state' }]);
});

it('is done once for a key, and answers the same', async () => {
  const { items } = await givenItems(net, ['A', 'B']);
  const request = await openRequest(net);
  const headers = { 'idempotency-key': `where-${request}` };
  const body = { all: true, operation, set: { x: 'new' }, expected_count: 2 };
  const first = await proposeWhere(request, items, body, headers);
  await given(net, items, [{ code: 'C', x: 'c', kind: 'K' }]);
  expect(await proposeWhere(request, items, body, headers)).toMatchObject({ status: 201, body: first.body });
  expect(await operationsOf(net.call, request)).toHaveLength(2);
});

it('checks the values by the columns as they were deployed last', async () => {
  const { kinds } = await givenItems(net, ['A']);
  const request = await openRequest(net);
  const body = { all: true, operation, set: { label: 'one' }, expected_count: 2 };
  expect((await proposeWhere(request, kinds, body)).body).toMatchObject({ operation_count: 2 });
  const code = { name: 'code', length: 5, is_primary_key: true };
  await deploy(net, [{ id: kinds, name: 'Kinds', columns: [code, { name: 'label', length: 30 }] }]);
  const longer = { ...body, set: { label: 'l'.repeat(25) } };
  expect((await proposeWhere(request, kinds, longer)).body).toMatchObject({ operation_count: 2 });
});
