// Applying change requests, by example: what is accepted is written whole or refused whole, and a
// rehearsal says the same before.
import { type ColumnInput, caller, deploy, failureOf } from '../../given.ts';
import { net, useData } from '../../running-data.ts';
import { patch, remove, restore, versionsOf } from '../../versions.ts';
import {
  apply,
  approver,
  givenRequest,
  nextRequest,
  problemsOf,
  rehearse,
  requester,
  stored,
  type TestOperation,
} from './applied-requests.ts';
import { expectProblems, given, rowsOf, usual } from './given-tables.ts';

useData();

describe('an application', () => {
  it('creates, changes, deletes and restores rows of several tables at once', async () => {
    const one = await given();
    const two = await given();
    await remove(net.call, two.table.id, [two.ids.C as number]);
    const id = nextRequest();
    await givenRequest(net, id, [
      { table: one.table, kind: 'create', cells: { code: 'D', name: 'new', size: 4 } },
      { table: one.table, kind: 'update', id: one.ids.A as number, cells: { size: 10, color: 'red' } },
      { table: one.table, kind: 'update', id: one.ids.B as number, cells: { size: 1 } },
      { table: two.table, kind: 'delete', id: two.ids.A as number },
      { table: two.table, kind: 'restore', id: two.ids.C as number },
    ]);
    const tables = [
      {
        table_definition_id: one.table.id,
        key: `table_${one.table.id}`,
        created: 1,
        updated: 1,
        deleted: 0,
        restored: 0,
      },
      {
        table_definition_id: two.table.id,
        key: `table_${two.table.id}`,
        created: 0,
        updated: 0,
        deleted: 1,
        restored: 1,
      },
    ];
    const rehearsed = await rehearse(net, id);
    expect(rehearsed).toEqual({
      problems: [],
      problem_count: 0,
      tables,
      revision: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(Object.keys(await rowsOf(one))).toEqual(['A', 'B', 'C']);
    const applied = await apply(net, id, { revision: rehearsed.revision });
    expect(applied).toEqual({
      status: 'applied',
      revision: rehearsed.revision,
      problems: [],
      problem_count: 0,
      tables,
      left: 0,
    });
    expect(await rowsOf(one)).toEqual({
      A: ['nA', 10, 'red'],
      B: ['nB', 1, null],
      C: ['nC', 1, null],
      D: ['new', 4, null],
    });
    expect(Object.keys(await rowsOf(two))).toEqual(['B', 'C']);
    // The values were there already.
    expect(await versionsOf(net.call, one.table.id, one.ids.B as number)).toHaveLength(1);
  });

  it('stands in the history with the request, who asked for it and who approved it', async () => {
    const { table, ids } = await given();
    await remove(net.call, table.id, [ids.C as number]);
    const id = nextRequest();
    await givenRequest(net, id, [
      { table, kind: 'update', id: ids.A as number, cells: { size: 5 } },
      { table, kind: 'delete', id: ids.B as number },
      { table, kind: 'restore', id: ids.C as number },
    ]);
    await apply(net, id);
    const change_request = { id, requested_by: requester, approved_by: approver };
    const actions = { A: 'updated', B: 'deleted', C: 'restored' };
    for (const [code, action] of Object.entries(actions)) {
      const [version, before] = await versionsOf(net.call, table.id, ids[code] as number);
      expect(version).toMatchObject({ action, channel: 'change_request', user_id: requester, change_request });
      expect(version.request_id).toEqual(expect.any(String));
      expect(before.change_request).toBeNull();
    }
  });

  it('merges what others have changed in other columns, and takes the same change for none', async () => {
    const rows = await given();
    const { table, ids } = rows;
    const id = nextRequest();
    await givenRequest(net, id, [
      { table, kind: 'update', id: ids.A as number, cells: { size: 10 } },
      { table, kind: 'update', id: ids.B as number, cells: { size: 20 } },
    ]);
    await patch(net.call, table.id, ids.A as number, { name: 'theirs' });
    await patch(net.call, table.id, ids.B as number, { size: 20 });
    expect(await apply(net, id)).toMatchObject({ status: 'applied', tables: [{ updated: 1 }] });
    expect(await rowsOf(rows)).toMatchObject({ A: ['theirs', 10, null], B: ['nB', 20, null] });
  });

  it('is refused for rows that others have changed, by operation', async () => {
    const rows = await given();
    const { table, ids } = rows;
    const [a, b, c] = [ids.A, ids.B, ids.C] as [number, number, number];
    const id = nextRequest();
    const operations = await givenRequest(net, id, [
      { table, kind: 'update', id: a, cells: { size: 10 } },
      { table, kind: 'delete', id: b },
      { table, kind: 'update', id: c, cells: { size: 3 } },
    ]);
    await patch(net.call, table.id, a, { size: 11 });
    await patch(net.call, table.id, b, { size: 11 });
    await remove(net.call, table.id, [c]);
    const before = await rowsOf(rows);
    const changed = (row: number) => `record ${row} has been changed since the version that the operation is based on`;
    expect(await problemsOf(net, id, operations)).toEqual([
      [0, 'version_conflict', `size: ${changed(a)}`],
      [1, 'version_conflict', changed(b)],
      [2, 'not_found', `record ${c} not found`],
    ]);
    expect(await apply(net, id)).toMatchObject({ status: 'refused', problem_count: 3 });
    expect(await rowsOf(rows)).toEqual(before);
    expect((await stored(net, id)).map(({ problems }) => problems)).toEqual([
      [{ code: 'version_conflict', message: `size: ${changed(a)}`, column: 'size', row: a }],
      [{ code: 'version_conflict', message: changed(b), row: b, params: { version: 2 } }],
      [{ code: 'not_found', message: `record ${c} not found`, row: c }],
    ]);
    // Solved by others, the problems go.
    await restore(net.call, table.id, [c]);
    await rehearse(net, id);
    expect((await stored(net, id)).map(({ problems }) => (problems as object[]).length)).toEqual([1, 1, 0]);
  });

  it('is refused for values that break rules of the present structure', async () => {
    const { table, ids } = await given();
    await remove(net.call, table.id, [ids.C as number]);
    const operations: TestOperation[] = [
      { table, kind: 'create', cells: { code: 'D' } },
      { table, kind: 'update', id: ids.A as number, cells: { size: 'many', color: 'green' } },
      { table, kind: 'update', id: ids.B as number, cells: { color: 'blue' } },
      { table, kind: 'restore', id: ids.C as number },
    ];
    const [code, name, size, color] = usual as [ColumnInput, ColumnInput, ColumnInput, ColumnInput];
    const list = 'color must be one of red, blue';
    const blank = "name can't be blank";
    const whole = expect.stringContaining('size must be an integer') as unknown as string;
    await expectProblems(operations, [
      [0, 'blank', blank],
      [1, 'wrong_format', whole],
      [1, 'not_in_list', list],
    ]);
    // A column was dropped since, and another has become narrower.
    const id = nextRequest();
    const ids2 = await givenRequest(net, id, [
      { table, kind: 'update', id: ids.A as number, cells: { color: 'red', name: 'nine long' } },
    ]);
    const changed = { ...table, version: 2, columns: [code, { ...name, length: 5 }, size] };
    await deploy(net, [changed]);
    expect(await problemsOf(net, id, ids2)).toEqual([
      [0, 'unknown_property', 'the operation gives a value to a column that the table no longer has'],
      [0, 'too_long', 'name is too long (maximum is 5 characters)'],
    ]);
    expect(color.name).toBe('color');
  });

  it('keeps the problem of a value that was refused when it was proposed', async () => {
    const { table, ids } = await given();
    const problem = { code: 'wrong_type', message: 'size must be an integer', column: 'size' };
    const id = nextRequest();
    const made = await givenRequest(net, id, [
      { table, kind: 'update', id: ids.A as number, cells: { name: 'x' }, problems: [problem] },
    ]);
    for (let round = 1; round <= 2; round += 1)
      expect(await problemsOf(net, id, made)).toEqual([[0, 'wrong_type', 'size must be an integer']]);
    expect(await apply(net, id)).toMatchObject({ status: 'refused', problem_count: 1 });
  });

  it('names operations whose key is taken, by a row or by another operation', async () => {
    const { table, ids } = await given();
    const twice = (other: number) => `code must be unique: operation ${other} gives the same value`;
    const id = nextRequest();
    const made = await givenRequest(net, id, [
      { table, kind: 'create', cells: { code: 'A', name: 'x' } },
      { table, kind: 'create', cells: { code: 'D', name: 'x' } },
      { table, kind: 'create', cells: { code: 'D', name: 'x' } },
      { table, kind: 'update', id: ids.B as number, cells: { code: 'C' } },
      { table, kind: 'update', id: ids.C as number, cells: { code: 'E' } },
    ]);
    expect(await problemsOf(net, id, made)).toEqual([
      [0, 'taken', 'code must be unique: a record with this value exists'],
      [2, 'taken', twice(made[1] as number)],
      [
        3,
        'taken',
        `code must be unique: operation ${made[4]} gives this value up, but no value can go from record to record in a batch`,
      ],
    ]);
  });

  it('hands a key from a deleted row to a new one, or to a changed one', async () => {
    const rows = await given();
    const { table, ids } = rows;
    const id = nextRequest();
    await givenRequest(net, id, [
      { table, kind: 'create', cells: { code: 'A', name: 'new' } },
      { table, kind: 'update', id: ids.B as number, cells: { code: 'C' } },
      { table, kind: 'delete', id: ids.C as number },
      { table, kind: 'delete', id: ids.A as number },
    ]);
    expect(await apply(net, id)).toMatchObject({ status: 'applied', problem_count: 0 });
    expect(await rowsOf(rows)).toEqual({ C: ['nB', 1, null], A: ['new', null, null] });
  });

  it('takes accepted operations, leaves the rejected, and gives the returned to a new draft', async () => {
    const rows = await given();
    const { table, ids } = rows;
    const id = nextRequest();
    const made = await givenRequest(net, id, [
      { table, kind: 'update', id: ids.A as number, cells: { size: 2 } },
      { table, kind: 'update', id: ids.B as number, cells: { size: 2 }, decision: 'rejected' },
      { table, kind: 'update', id: ids.C as number, cells: { size: 2 }, decision: 'returned' },
    ]);
    await net.query("update change_request_operation set comment = 'why' where id = $1", [made[2]]);
    expect(await apply(net, id, { rest: 9_000 + id })).toMatchObject({ status: 'applied', left: 1 });
    expect(await rowsOf(rows)).toMatchObject({ A: ['nA', 2, null], B: ['nB', 1, null], C: ['nC', 1, null] });
    expect((await stored(net, id)).map(({ id: each, decision }) => [each, decision])).toEqual([
      [made[0], 'accepted'],
      [made[1], 'rejected'],
    ]);
    expect(await stored(net, 9_000 + id)).toMatchObject([{ id: made[2], decision: 'undecided', comment: 'why' }]);
    const headers = await net.query(
      'select phase, created_by, branch_id, operation_count from change_request where id in ($1, $2) order by id',
      [id, 9_000 + id],
    );
    const header = { created_by: requester, branch_id: 1 };
    expect(headers).toEqual([
      { ...header, phase: 'closed', operation_count: 2 },
      { ...header, phase: 'draft', operation_count: 1 },
    ]);
  });

  it('is done once, under whatever id, and says so afterwards', async () => {
    const rows = await given();
    const id = nextRequest();
    await givenRequest(net, id, [{ table: rows.table, kind: 'create', cells: { code: 'D', name: 'x' } }]);
    const status = async (apply_id: string) =>
      (await net.metadata.GetAppliedChangeRequest(caller, { apply_id })).status;
    expect(await status(`apply-${id}`)).toBe('unknown');
    const results = await Promise.all([apply(net, id), apply(net, id), apply(net, id, { applyId: `other-${id}` })]);
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
    expect(results[0]).toMatchObject({ status: 'applied' });
    expect(await apply(net, id)).toEqual(results[0]);
    const known = await Promise.all([status(`apply-${id}`), status(`other-${id}`)]);
    expect(known).toContain('applied');
    expect(Object.keys(await rowsOf(rows))).toHaveLength(4);
    expect((await net.call('POST', `/api/v1/change_requests/${id}/rehearse`)).status).toBe(422);
  });

  it('is refused under another revision, in a draft, and with undecided operations', async () => {
    const { table, ids } = await given();
    const id = nextRequest();
    await givenRequest(net, id, [{ table, kind: 'update', id: ids.A as number, cells: { size: 7 } }]);
    const { revision } = await rehearse(net, id);
    await patch(net.call, table.id, ids.A as number, { name: 'theirs' });
    const refused = await apply(net, id, { revision });
    expect(refused).toMatchObject({
      status: 'refused',
      problem_count: 1,
      problems: [{ operation_id: 0, code: 'not_reviewed' }],
    });
    expect(refused.revision).toBe((await rehearse(net, id)).revision);
    expect(refused.revision).not.toBe(revision);
    const draft = nextRequest();
    await givenRequest(net, draft, [{ table, kind: 'update', id: ids.A as number, cells: { size: 7 } }], 'draft');
    expect((await failureOf(apply(net, draft))).kind).toBe('wrong_state');
    const open = nextRequest();
    await givenRequest(net, open, [{ table, kind: 'delete', id: ids.A as number, decision: 'undecided' }]);
    expect((await failureOf(apply(net, open))).kind).toBe('wrong_state');
    expect((await rehearse(net, open)).tables).toMatchObject([{ deleted: 1 }]);
  });

  it('is refused for a table that is no longer deployed', async () => {
    const { table } = await given();
    const id = nextRequest();
    const made = await givenRequest(net, id, [{ table, kind: 'create', cells: { code: 'D', name: 'x' } }]);
    await net.metadata.DropTable(caller, { table_definition_id: table.id });
    expect(await problemsOf(net, id, made)).toEqual([[0, 'not_found', 'the table is not deployed on the branch']]);
    expect(await apply(net, id)).toMatchObject({ status: 'refused', problem_count: 1 });
  });

  it('waits for no one, but takes turns with writers of the same rows', async () => {
    const { table, ids } = await given();
    const id = nextRequest();
    await givenRequest(net, id, [{ table, kind: 'update', id: ids.A as number, cells: { size: 7 } }]);
    const writes = Array.from({ length: 20 }, (_, i) => patch(net.call, table.id, ids.A as number, { name: `w${i}` }));
    const [applied, ...answers] = await Promise.all([apply(net, id), ...writes]);
    expect(applied.status).toBe('applied');
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const versions = await versionsOf(net.call, table.id, ids.A as number);
    expect(versions[0].record.size).toBe(7);
  });
});

describe('a rehearsal', () => {
  it('is for those who see the request; the tables that a caller may not view are left out', async () => {
    const one = await given();
    const two = await given();
    const id = nextRequest();
    await givenRequest(net, id, [
      { table: one.table, kind: 'create', cells: { code: 'D' } },
      { table: two.table, kind: 'create', cells: { code: 'D' } },
    ]);
    const path = `/api/v1/change_requests/${id}/rehearse`;
    const may = (userId: number, action: string, resource_type: string, resource_id: number) => {
      net.rights.set(userId, { license_type: 'developer', permissions: [{ action, resource_type, resource_id }] });
      return net.as({ userId, applicationId: 1 })('POST', path);
    };
    const tablesIn = ({ body }: { body: { problems: { table_definition_id: number }[] } }) =>
      body.problems.map(({ table_definition_id }) => table_definition_id);
    const both = [one.table.id, two.table.id];
    expect(tablesIn(await may(100, 'approve', 'branch', 1))).toEqual(both);
    const viewer = await may(101, 'view', 'table_definition', two.table.id);
    expect([tablesIn(viewer), viewer.body.problem_count, viewer.body.tables]).toEqual([
      [two.table.id],
      1,
      [expect.objectContaining({ table_definition_id: two.table.id })],
    ]);
    net.rights.set(requester, { license_type: 'developer', permissions: [] });
    expect(tablesIn(await net.as({ userId: requester, applicationId: 1 })('POST', path))).toEqual(both);
    expect((await may(102, 'view', 'table_definition', 99_999)).status).toBe(403);
    expect((await net.as({ accountId: 2 })('POST', path)).status).toBe(404);
    for (const wrong of ['0', '-1', 'x', '99999999999', '1;select 1'])
      expect([400, 404]).toContain(
        (await net.call('POST', `/api/v1/change_requests/${encodeURIComponent(wrong)}/rehearse`)).status,
      );
    expect((await net.call('POST', '/api/v1/change_requests/999999/rehearse')).status).toBe(404);
  });
});
