// The revision of a change request, and what metadata does with it.
import { caller, create, deploy, failureOf } from '../given.ts';
import { added, changed } from '../operations.ts';
import { net, useData } from '../running-data.ts';
import { code, givenTable, patch } from './proposed-operations.ts';
import { openRequest, operationsOf, propose, setPhase, summaryOf } from './requests.ts';

useData();

describe('the revision of a request', () => {
  it('changes with its operations, the rows they concern and the structure of tables', async () => {
    const table = await givenTable();
    const [row, other] = [await create(net, table, { code: 'A' }), await create(net, table, { code: 'B' })];
    const request = await openRequest(net);
    const revision = async () => (await summaryOf(net, request))?.revision;
    const seen = [await revision()];
    await propose(net.call, request, table, [changed(row.svc_sk, { x: '1' })]);
    seen.push(await revision());
    expect(await revision()).toBe(seen[1]);
    await patch(table, other.svc_sk, { x: 'unconcerned' });
    expect(await revision()).toBe(seen[1]);
    await patch(table, row.svc_sk, { x: '2' });
    seen.push(await revision());
    await propose(net.call, request, table, [added({ code: 'C' })]);
    seen.push(await revision());
    await setPhase(net, request, 'review').catch(() => undefined);
    await deploy(net, [
      { id: table, version: 2, columns: [code, { name: 'x', length: 10 }, { name: 'z', length: 3 }] },
    ]);
    seen.push(await revision());
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('stays when undecided operations become accepted', async () => {
    const table = await givenTable();
    const request = await openRequest(net);
    await propose(net.call, request, table, [added({ code: 'A' })]);
    await setPhase(net, request, 'review');
    const before = await summaryOf(net, request);
    expect((await operationsOf(net.call, request))[0]).toMatchObject({ decision: 'undecided', decided_by: null });
    await setPhase(net, request, 'closed', 7);
    const after = await summaryOf(net, request);
    expect([before?.undecided, after?.accepted, after?.revision]).toEqual([1, 1, before?.revision]);
    expect((await operationsOf(net.call, request))[0]).toMatchObject({ decision: 'accepted', decided_by: 7 });
  });
});

describe('the calls of metadata', () => {
  it('are idempotent, and count by table', async () => {
    const table = await givenTable();
    const request = await openRequest(net);
    await propose(net.call, request, table, [added({ code: 'A' }), added({ code: 'B', x: 'too long for this' })]);
    const summary = await net.metadata.OpenChangeRequest(
      { accountId: 1, applicationId: 9, scopes: ['api'], branching: true },
      { change_request_id: request, branch_id: 2 },
    );
    expect(summary).toMatchObject({ branch_id: 1, phase: 'draft', operation_count: 2, undecided: 2, with_problems: 1 });
    expect(summary.tables).toEqual([
      {
        table_definition_id: table,
        key: `table_${table}`,
        name: `Table ${table}`,
        domain_id: 1,
        created: 2,
        updated: 0,
        deleted: 0,
        with_problems: 1,
      },
    ]);
    const account = { accountId: 1, applicationId: 9, scopes: ['api'], branching: true };
    const drop = () => net.metadata.DropChangeRequest(account, { change_request_id: request });
    expect([(await drop()).dropped, (await drop()).dropped]).toEqual([true, false]);
    expect(await summaryOf(net, request)).toBeUndefined();
    expect(await net.query('select * from change_request_operation where change_request_id = $1', [request])).toEqual(
      [],
    );
    expect((await failureOf(setPhase(net, request, 'review'))).kind).toBe('not_found');
    expect((await failureOf(setPhase(net, request, 'shut'))).kind).toBe('bad_request');
  });

  it('goes with its branch', async () => {
    const request = await openRequest(net, { branchId: 77 });
    await net.metadata.DropBranch(caller, { branch_id: 77 });
    expect(await summaryOf(net, request)).toBeUndefined();
  });
});
