// Conflicts with what others have changed since, settled by cell and by row.
import { create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { changed, deletion, type Op } from '../operations.ts';
import { openRequest, operationsOf, propose, setPhase, summaryOf } from './requests.ts';

let net: DataNet;
let last = 0;

const code: TableInput['columns'][number] = { name: 'code', length: 5, is_primary_key: true };

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const patch = (table: number, id: number, record: Op) =>
  net.call('PATCH', `/api/v1/table_data/${id}`, { table_definition_id: table, record });

const resolve = (request: number, resolutions: unknown, call = net.call) =>
  call('POST', `/api/v1/change_requests/${request}/resolutions`, { resolutions });

/** An update of x, y and z, of which others have changed all, and the deletion of a changed row. */
async function given() {
  last += 10;
  const table = last;
  const columns = ['x', 'y', 'z'].map((name) => ({ name, length: 9 }));
  await deploy(net, [{ id: table, columns: [code, ...columns] }]);
  const row = await create(net, table, { code: 'A', x: '0', y: '0', z: '0' });
  const removed = await create(net, table, { code: 'B', x: '0' });
  const request = await openRequest(net);
  const made = await propose(net.call, request, table, [
    changed(row.svc_sk, { x: 'mine', y: 'mine', z: 'mine' }),
    deletion(removed.svc_sk),
  ]);
  await patch(table, row.svc_sk, { x: 'theirs', y: 'theirs', z: 'theirs' });
  await patch(table, removed.svc_sk, { x: 'theirs' });
  const [update, removal] = made.body.operations.map(({ id }: { id: number }) => id);
  return { table, request, update, removal, row, removed };
}

describe('conflicts', () => {
  it('are settled by cell: mine, theirs, or another value', async () => {
    const { request, update } = await given();
    const first = await resolve(request, [{ operation_id: update, columns: { x: 'mine', y: 'theirs' } }]);
    expect(first.status).toBe(200);
    expect(first.body.operations[0].problems.map((each: Op) => [each.code, each.column])).toEqual([
      ['version_conflict', 'z'],
    ]);
    const [partly] = await operationsOf(net.call, request);
    expect(partly).toMatchObject({
      base_version: 1,
      proposed: { x: 'mine', z: 'mine' },
      conflict: { row: false, columns: { z: { base: '0', proposed: 'mine', current: 'theirs' } } },
    });
    const second = await resolve(request, [{ operation_id: update, columns: { z: { value: 'both' } } }]);
    expect(second.body).toEqual({ operations: [{ id: update, problems: [] }] });
    expect((await operationsOf(net.call, request))[0]).toMatchObject({
      base_version: 2,
      base: { code: 'A', x: 'theirs', z: 'theirs' },
      proposed: { x: 'mine', z: 'both' },
      conflict: null,
      changed_columns: ['x', 'z'],
    });
  });

  it('of a whole row keep the operation, or take it out', async () => {
    const { request, removal } = await given();
    await resolve(request, [{ operation_id: removal, row: 'mine' }]);
    const kept = (await operationsOf(net.call, request))[1];
    expect(kept).toMatchObject({ kind: 'delete', base_version: 2, conflict: null, problems: [] });
    expect((await resolve(request, [{ operation_id: removal, row: 'theirs' }])).body).toEqual({ operations: [] });
    expect((await summaryOf(net, request))?.operation_count).toBe(1);
  });

  it('are refused for other columns, wrong values, unknown operations, other callers and phases', async () => {
    const { request, update, removal } = await given();
    const statusOf = async (resolutions: unknown, call = net.call) =>
      (await resolve(request, resolutions, call)).status;
    const columns = { x: 'mine' };
    expect(await statusOf([{ operation_id: update, columns: { code: 'mine' } }])).toBe(422);
    expect(await statusOf([{ operation_id: update, columns: { nope: 'mine' } }])).toBe(422);
    expect(await statusOf([{ operation_id: update, columns: { x: { value: 'much too long' } } }])).toBe(422);
    expect(await statusOf([{ operation_id: removal, columns }])).toBe(422);
    expect(await statusOf([{ operation_id: 99_999_999, columns }])).toBe(404);
    for (const wrong of [
      [],
      [{ operation_id: update }],
      [{ operation_id: update, row: 'mine', columns }],
      [
        { operation_id: update, columns },
        { operation_id: update, columns },
      ],
      [{ operation_id: update, columns: { x: 'ours' } }],
      [{ operation_id: update, columns: 'mine' }],
    ])
      expect(await statusOf(wrong)).toBe(400);
    const outsider = net.as({ accountId: 2 });
    expect(await statusOf([{ operation_id: update, columns }], outsider)).toBe(404);
    net.rights.set(97, {
      license_type: 'developer',
      permissions: [{ action: 'edit', resource_type: 'account', resource_id: 1 }],
    });
    expect(await statusOf([{ operation_id: update, columns }], net.as({ userId: 97 }))).toBe(403);
    expect((await operationsOf(net.call, request))[0].proposed).toEqual({ x: 'mine', y: 'mine', z: 'mine' });
    await setPhase(net, request, 'closed');
    expect(await statusOf([{ operation_id: update, columns }])).toBe(422);
  });
});
