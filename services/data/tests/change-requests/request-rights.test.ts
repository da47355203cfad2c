// Who may do what with change requests, and input that means harm.
import { deploy, holding } from '../given.ts';
import { nextId } from '../merges/row-merges.ts';
import { added, changed } from '../operations.ts';
import { net, useData } from '../running-data.ts';
import { code, codesOf, givenTable } from './proposed-operations.ts';
import { listed, openRequest, operationsOf, propose, takeOut } from './requests.ts';

useData();

describe('rights', () => {
  it('the creator alone changes operations; viewers see those of their tables, approvers all', async () => {
    const [one, two] = [await givenTable(), await givenTable()];
    net.rights.set(51, holding(['edit', 'account', 1]));
    net.rights.set(52, holding(['view', 'table_definition', one]));
    net.rights.set(53, holding(['approve', 'branch', 1]));
    net.rights.set(54, holding());
    net.rights.set(55, holding(['edit', 'account', 1]));
    const as = (userId: number) => net.as({ userId });
    const request = await openRequest(net, { createdBy: 51 });
    const made = await propose(as(51), request, one, [added({ code: 'A' })]);
    expect(made.status).toBe(201);
    await propose(as(51), request, two, [added({ code: 'B' })]);
    for (const user of [52, 53, 54, 55]) {
      const answers = [
        await propose(as(user), request, one, [added({ code: 'Z' })]),
        await takeOut(as(user), request, [made.body.operations[0].id]),
      ];
      expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    }
    expect((await propose(net.call, request, one, [added({ code: 'Z' })])).status).toBe(403);
    const seen = async (user: number) => {
      const { status, body } = await listed(as(user), request);
      return status === 200 ? [body.rowCount, body.operations.length, body.counts.kinds.create] : status;
    };
    expect(await Promise.all([51, 52, 53, 54, 55].map(seen))).toEqual([
      [2, 2, 2],
      [1, 1, 1],
      [2, 2, 2],
      403,
      [2, 2, 2],
    ]);
    const hidden = await listed(as(52), request, `?table_definition_id=${two}`);
    expect([hidden.body.rowCount, hidden.body.operations]).toEqual([0, []]);
  });

  it('an application changes what applications have made, and a creator without `edit` nothing', async () => {
    const table = await givenTable();
    net.rights.set(61, holding(['view', 'account', 1]));
    const request = await openRequest(net, { createdBy: 61 });
    const refused = await propose(net.as({ userId: 61 }), request, table, [added({ code: 'A' })]);
    expect([refused.status, codesOf(refused.body.problems)]).toEqual([403, ['missing_right']]);
  });

  it('requests and tables of other accounts, and requests on hidden branches, are unknown', async () => {
    const table = await givenTable();
    const request = await openRequest(net);
    const outsider = net.as({ accountId: 2 });
    const unknown = await listed(outsider, 999_999);
    for (const answer of [
      await listed(outsider, request),
      await propose(outsider, request, table, [added({ code: 'A' })]),
      await takeOut(outsider, request, [1]),
    ])
      expect([answer.status, answer.body]).toEqual([404, unknown.body]);
    const own = await openRequest(net, { accountId: 2 });
    const foreign = await propose(outsider, own, table, [added({ code: 'A' })]);
    expect([foreign.status, foreign.body.errors]).toEqual([404, ['Deployed table definition not found']]);
    net.rights.set(71, { license_type: 'developer', permissions: [], private_branch_ids: [1] } as never);
    const private_ = await listed(net.as({ userId: 71 }), request);
    expect([private_.status, private_.body]).toEqual([404, unknown.body]);
  });

  it('tables of other branches are refused', async () => {
    const table = nextId();
    await deploy(net, [{ id: table, branch_id: 2, columns: [code] }], { branchId: 2 });
    const request = await openRequest(net);
    const answer = await propose(net.call, request, table, [added({ code: 'A' })]);
    expect([answer.status, codesOf(answer.body.problems)]).toEqual([422, ['incompatible']]);
  });
});

describe('hostile input', () => {
  it('is 4xx and stores nothing', async () => {
    const table = await givenTable([{ name: 'j', data_type: 'json' }]);
    const request = await openRequest(net);
    let deep: unknown = 1;
    for (let i = 0; i < 60; i += 1) deep = [deep];
    const bodies: unknown[] = [
      null,
      [],
      {},
      { table_definition_id: table, operations: [] },
      { table_definition_id: table, operations: 'x' },
      { table_definition_id: table, operations: [null] },
      { table_definition_id: table, operations: Array.from({ length: 1001 }, () => added({ code: 'A' })) },
      { table_definition_id: table, operations: [added({ code: 'A' })], more: 1 },
      { table_definition_id: table, operations: [{ ...added({ code: 'A' }), id: 1 }] },
      { table_definition_id: table, operations: [changed("1' or 1=1", { code: 'A' })] },
      { table_definition_id: table, operations: [changed(1, { code: 'A' }, 1e12)] },
      { table_definition_id: table, operations: [added({ code: 'A', j: deep })] },
    ];
    for (const body of bodies) {
      const { status } = await net.call('POST', `/api/v1/change_requests/${request}/operations`, body);
      expect([400, 413, 422]).toContain(status);
    }
    for (const ids of [undefined, [], ['x'], [0], [1.5], [1e30]])
      expect([400, 404]).toContain((await takeOut(net.call, request, ids)).status);
    for (const query of ['?startRow=-1', '?startRow=5&endRow=1', '?endRow=1001', '?kind=x', '?decision=1', '?nope=1'])
      expect((await listed(net.call, request, query)).status).toBe(400);
    for (const id of ['0', 'x', '-1', '99999999999999999999'])
      expect([400, 404]).toContain((await net.call('GET', `/api/v1/change_requests/${id}/operations`)).status);
    expect(await operationsOf(net.call, request)).toEqual([]);
    const nul = await propose(net.call, request, table, [added({ code: '\u0000' })]);
    expect(nul.status).toBeLessThan(500);
  });

  it('stays within texts: names and values with quotes, percent signs and other alphabets', async () => {
    const name = 'Select_1';
    const table = await givenTable([{ name }]);
    const request = await openRequest(net);
    const value = `'; drop table change_request; -- "\\ $1 %s 漢字`;
    await propose(net.call, request, table, [added({ code: 'A', [name]: value })]);
    const [found] = await operationsOf(net.call, request);
    expect(found.proposed).toEqual({ code: 'A', [name]: value });
    expect(found.changed_columns).toEqual(['code', name]);
  });

  it('operations outlive a change of a column’s type', async () => {
    const table = await givenTable([{ name: 'x', length: 10 }]);
    const request = await openRequest(net);
    await propose(net.call, request, table, [added({ code: 'A', x: 'word' })]);
    await deploy(net, [{ id: table, version: 2, columns: [code, { name: 'x', data_type: 'integer' }] }]);
    const [found] = await operationsOf(net.call, request);
    expect(found.proposed).toEqual({ code: 'A', x: null });
    expect((await propose(net.call, request, table, [added({ code: 'B', x: 5 })])).status).toBe(201);
  });
});
