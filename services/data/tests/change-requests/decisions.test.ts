// Decisions on operations: who makes them, when, and what goes along.
import { create, type DataNet, deploy, givenData, type TableInput } from '../given.ts';
import { added, changed, deletion, type Op } from '../operations.ts';
import { openRequest, operationsOf, propose, setPhase, summaryOf } from './requests.ts';

let net: DataNet;
let last = 0;

const code: TableInput['columns'][number] = { name: 'code', length: 5, is_primary_key: true };

beforeAll(async () => {
  net = await givenData();
  const approve = { action: 'approve', resource_type: 'branch', resource_id: 1 };
  net.rights.set(81, { license_type: 'developer', permissions: [approve] });
  net.rights.set(82, {
    license_type: 'developer',
    permissions: [{ action: 'develop', resource_type: 'account', resource_id: 1 }],
  });
});

afterAll(() => net.stop());

/** A table, and one whose rows refer to it. */
async function givenTables() {
  last += 10;
  const [parent, child] = [last, last + 1];
  await deploy(net, [{ id: parent, columns: [code, { name: 'x', length: 9 }] }]);
  await deploy(net, [{ id: child, columns: [code, { name: 'parent', length: 5, foreign_key_table_id: parent }] }]);
  return { parent, child };
}

const decide = (request: number, decisions: unknown, userId: number | undefined = 81) =>
  net.as(userId === undefined ? {} : { userId })('POST', `/api/v1/change_requests/${request}/decisions`, { decisions });

const idsOf = (answer: { body: { operations: { id: number }[] } }) => answer.body.operations.map(({ id }) => id);

const decisionsOf = async (request: number) =>
  (await operationsOf(net.call, request)).map(({ decision }: { decision: string }) => decision);

describe('decisions', () => {
  it('are made by ids and by filters, with comments, and taken back', async () => {
    const { parent } = await givenTables();
    const row = await create(net, parent, { code: 'A' });
    const request = await openRequest(net);
    const made = await propose(net.call, request, parent, [
      added({ code: 'B' }),
      added({ code: 'C' }),
      changed(row.svc_sk, { x: '1' }),
    ]);
    const [b, c] = idsOf(made);
    await setPhase(net, request, 'review');
    const answer = await decide(request, [
      { filter: {}, decision: 'accept' },
      { operation_ids: [b], decision: 'reject', comment: 'Not “B”: no.' },
      { filter: { kind: 'update' }, decision: 'return', comment: 'Which?' },
    ]);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      decided_count: 5,
      also: [],
      also_count: 0,
      decisions: { undecided: 0, accepted: 1, rejected: 1, returned: 1 },
    });
    const found = await operationsOf(net.call, request);
    expect(found.map((each: Op) => [each.decision, each.decided_by, each.comment])).toEqual([
      ['rejected', 81, 'Not “B”: no.'],
      ['accepted', 81, null],
      ['returned', 81, 'Which?'],
    ]);
    expect(Date.parse(found[0].decided_at)).toBeGreaterThan(0);
    await decide(request, [{ operation_ids: [b, c], decision: 'undecided' }]);
    expect(await decisionsOf(request)).toEqual(['undecided', 'undecided', 'returned']);
    expect((await operationsOf(net.call, request))[0]).toMatchObject({
      decided_by: null,
      decided_at: null,
      comment: null,
    });
    expect(await summaryOf(net, request)).toMatchObject({ undecided: 2, returned: 1, rejected: 0, accepted: 0 });
  });

  it('take along what an accepted row refers to, and what refers to a rejected one', async () => {
    const { parent, child } = await givenTables();
    const request = await openRequest(net);
    const [p, q] = idsOf(await propose(net.call, request, parent, [added({ code: 'P' }), added({ code: 'Q' })]));
    const [a, b, c] = idsOf(
      await propose(net.call, request, child, [
        added({ code: 'A', parent: 'P' }),
        added({ code: 'B', parent: 'P' }),
        added({ code: 'C', parent: 'Q' }),
      ]),
    );
    await setPhase(net, request, 'review');
    const rejected = await decide(request, [{ operation_ids: [p], decision: 'reject', comment: 'no' }]);
    expect(rejected.body.also).toEqual([
      { operation_id: a, because_of: p },
      { operation_id: b, because_of: p },
    ]);
    expect(await decisionsOf(request)).toEqual(['rejected', 'undecided', 'rejected', 'rejected', 'undecided']);
    const accepted = await decide(request, [{ operation_ids: [b, c], decision: 'accept' }]);
    expect(accepted.body.also).toEqual([
      { operation_id: p, because_of: b },
      { operation_id: q, because_of: c },
    ]);
    expect(await decisionsOf(request)).toEqual(['accepted', 'accepted', 'rejected', 'accepted', 'accepted']);
  });

  it('take along what a deletion needs: rows that referred to it go, or refer to something else', async () => {
    const { parent, child } = await givenTables();
    const [removed, stays] = [await create(net, parent, { code: 'G' }), await create(net, parent, { code: 'S' })];
    const [x, y] = [
      await create(net, child, { code: 'X', parent: 'G' }),
      await create(net, child, { code: 'Y', parent: 'G' }),
    ];
    const request = await openRequest(net);
    const [d] = idsOf(
      await propose(net.call, request, parent, [deletion(removed.svc_sk), changed(stays.svc_sk, { x: '1' })]),
    );
    const [dx, uy] = idsOf(
      await propose(net.call, request, child, [deletion(x.svc_sk), changed(y.svc_sk, { parent: 'S' })]),
    );
    await setPhase(net, request, 'review');
    const accepted = await decide(request, [{ operation_ids: [d], decision: 'accept' }]);
    expect(accepted.body.also).toEqual([
      { operation_id: dx, because_of: d },
      { operation_id: uy, because_of: d },
    ]);
    const returned = await decide(request, [{ operation_ids: [uy], decision: 'return' }]);
    expect(returned.body.also).toEqual([{ operation_id: d, because_of: uy }]);
    expect(await decisionsOf(request)).toEqual(['returned', 'undecided', 'accepted', 'returned']);
  });

  it('go along chains, and through circles', async () => {
    last += 10;
    const table = last;
    await deploy(net, [{ id: table, columns: [code, { name: 'up', length: 5, foreign_key_table_id: table }] }]);
    const request = await openRequest(net);
    const ids = idsOf(
      await propose(net.call, request, table, [
        added({ code: 'A' }),
        added({ code: 'B', up: 'A' }),
        added({ code: 'C', up: 'B' }),
        added({ code: 'D', up: 'E' }),
        added({ code: 'E', up: 'D' }),
      ]),
    );
    await setPhase(net, request, 'review');
    const accepted = await decide(request, [{ operation_ids: [ids[2]], decision: 'accept' }]);
    expect(accepted.body.also_count).toBe(2);
    expect(await decisionsOf(request)).toEqual(['accepted', 'accepted', 'accepted', 'undecided', 'undecided']);
    await decide(request, [{ operation_ids: [ids[0], ids[4]], decision: 'reject' }]);
    expect(await decisionsOf(request)).toEqual(Array.from({ length: 5 }, () => 'rejected'));
  });

  it('end when an operation changes again', async () => {
    const { parent } = await givenTables();
    const row = await create(net, parent, { code: 'A' });
    const request = await openRequest(net);
    const made = await propose(net.call, request, parent, [changed(row.svc_sk, { x: '1' })]);
    await setPhase(net, request, 'review');
    await decide(request, [{ operation_ids: idsOf(made), decision: 'reject', comment: 'no' }]);
    await setPhase(net, request, 'draft');
    await propose(net.call, request, parent, [changed(row.svc_sk, { x: '2' })]);
    expect((await operationsOf(net.call, request))[0]).toMatchObject({ decision: 'undecided', comment: null });
  });

  it('are at most a hundred in a request', async () => {
    const { parent } = await givenTables();
    const request = await openRequest(net);
    const [a] = idsOf(await propose(net.call, request, parent, [added({ code: 'A' })]));
    await setPhase(net, request, 'review');
    const many = (length: number) => Array.from({ length }, () => ({ operation_ids: [a], decision: 'accept' }));
    expect((await decide(request, many(100))).status).toBe(200);
    expect((await decide(request, many(101))).status).toBe(400);
  });

  it('take a review, a person, and the right to approve; none is made in part', async () => {
    const { parent } = await givenTables();
    const request = await openRequest(net);
    const [a] = idsOf(await propose(net.call, request, parent, [added({ code: 'A' })]));
    const some = [{ operation_ids: [a], decision: 'accept' }];
    const statusOf = async (decisions: unknown, user?: number) => (await decide(request, decisions, user)).status;
    expect(await statusOf(some)).toBe(422);
    await setPhase(net, request, 'review');
    expect(await statusOf(some, 82)).toBe(403);
    expect((await net.call('POST', `/api/v1/change_requests/${request}/decisions`, { decisions: some })).status).toBe(
      401,
    );
    const partly = await decide(request, [...some, { operation_ids: [a, 99_999_999], decision: 'reject' }]);
    expect([partly.status, partly.body.errors]).toEqual([404, ['Operation 99999999 not found']]);
    for (const decisions of [
      [],
      [{}],
      [{ decision: 'accept' }],
      [{ operation_ids: [a], filter: {}, decision: 'accept' }],
      [{ operation_ids: [a], decision: 'accepted' }],
      [{ operation_ids: ['x'], decision: 'accept' }],
      [{ filter: { nope: 1 }, decision: 'accept' }],
      [{ operation_ids: [a], decision: 'accept', comment: 5 }],
    ])
      expect([400, 422]).toContain(await statusOf(decisions));
    expect(await decisionsOf(request)).toEqual(['undecided']);
    const other = net.as({ accountId: 2, userId: 83 });
    net.rights.set(83, {
      license_type: 'developer',
      permissions: [{ action: 'admin', resource_type: 'account', resource_id: 2 }],
    });
    expect((await other('POST', `/api/v1/change_requests/${request}/decisions`, { decisions: some })).status).toBe(404);
  });
});
