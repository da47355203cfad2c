// Two people and one table, by the public API: a steward proposes rows, an approver who may not
// view the table reads them, returns two, rejects one and applies the rest in one step.
import type { Api, Page } from '@almanac/api-client/api';
import { eventually } from '@almanac/testkit/eventually';
import {
  type Account,
  type Colleague,
  type DeployedTable,
  givenAccount,
  givenColleague,
  givenDeployedTable,
} from '@almanac/testkit/system/builders';

type Made = { id: number };
type Operation = Made & { kind: string; decision: string; comment: string | null; proposed: { code: string } };

let account: Account;
let admin: Api;
let table: DeployedTable;
let steward: Colleague;
let approver: Colleague;

const codes = Array.from({ length: 20 }, (_, i) => `P${String(i).padStart(2, '0')}`);
const creation = (code: string) => ({ operation: 'create', record: { code, name: `Place ${code}` } });
const mailsTo = async ({ email }: Colleague) => {
  const text = await (await fetch(`${account.baseUrl}/dev/mail`)).text();
  return text.split('\n').filter((line) => line.includes(email));
};

beforeAll(async () => {
  account = await givenAccount();
  admin = await account.person();
  table = await givenDeployedTable(admin);
  await admin.patch(`/branches/${table.branchId}`, { branch: { row_changes: 'request' } });
  steward = await givenColleague(account, 'Data Managers');
  approver = await givenColleague(account, 'main Approvers');
}, 120_000);

async function givenRequest(title: string): Promise<number> {
  const { id } = await steward.api.post<Made>('/change_requests', { branch_id: table.branchId, title });
  const operations = codes.map(creation);
  const body = { table_definition_id: table.id, operations };
  expect(await steward.api.post(`/change_requests/${id}/operations`, body)).toMatchObject({
    operations: codes.map(() => ({ problems: [] })),
  });
  return id;
}

it('rows are proposed, read by an approver, decided one by one and applied together', async () => {
  const direct = { table_definition_id: table.id, record: { code: 'X', name: 'X' } };
  expect(await steward.api.send('POST', '/table_data', direct)).toMatchObject({
    status: 422,
    body: { problems: [{ code: 'proposals_only' }] },
  });
  const id = await givenRequest('Places of the north');
  const grid = { table_definition_id: table.id, startRow: 0, endRow: 100 };
  expect(await steward.api.post('/table_data/grid', grid)).toMatchObject({ rowCount: 0 });
  const through = await steward.api.post('/table_data/grid', { ...grid, change_request_id: id });
  expect(through).toMatchObject({ rowCount: 20 });
  expect(through.rows[0].svc_change).toMatchObject({ kind: 'create' });
  await steward.api.post(`/change_requests/${id}/send_request`, { comment: 'As agreed on Monday' });

  expect((await approver.api.send('POST', '/table_data/grid', grid)).status).toBe(403);
  expect(await approver.api.post('/table_data/grid', { ...grid, change_request_id: id })).toMatchObject({
    rowCount: 20,
  });
  const inbox = await approver.api.get('/inbox');
  expect(JSON.stringify(inbox)).toContain('Places of the north');
  const { operations } = await approver.api.get<{ operations: Operation[] }>(`/change_requests/${id}/operations`);
  expect(operations.map(({ proposed }) => proposed.code)).toEqual(codes);
  const idOf = (code: string) => operations.find(({ proposed }) => proposed.code === code)?.id;
  await approver.api.post(`/change_requests/${id}/decisions`, {
    decisions: [
      { operation_ids: [idOf('P03'), idOf('P07')], decision: 'return', comment: 'Which source?' },
      { operation_ids: [idOf('P11')], decision: 'reject', comment: 'Not a place' },
    ],
  });
  const rehearsed = await approver.api.post(`/change_requests/${id}/rehearse`, {});
  expect(rehearsed).toMatchObject({ problem_count: 0 });
  const { revision, counts } = await approver.api.get(`/change_requests/${id}`);
  expect(counts).toMatchObject({ operations: 20, undecided: 17, rejected: 1, returned: 2 });
  expect(await approver.api.send('POST', `/change_requests/${id}/apply`, { revision: 'another' })).toMatchObject({
    status: 422,
    body: { problems: [{ code: 'outdated' }] },
  });
  const applied = await approver.api.post(`/change_requests/${id}/apply`, { revision });
  expect(applied).toMatchObject({ status: 'applied', approved_by: approver.id, created_by: steward.id });

  const { rows, rowCount } = await steward.api.post('/table_data/grid', grid);
  expect(rowCount).toBe(17);
  const history = await steward.api.get(`/table_data/${rows[0].svc_sk}/history?table_definition_id=${table.id}`);
  expect(history.data[0]).toMatchObject({
    channel: 'change_request',
    action: 'created',
    user_id: steward.id,
    change_request: { id, requested_by: steward.id, approved_by: approver.id },
  });
  const rest = await steward.api.get(`/change_requests/${applied.continued_by_id}`);
  expect(rest).toMatchObject({ status: 'draft', continues_id: id, counts: { operations: 2, undecided: 2 } });
  const left = await steward.api.get<{ operations: Operation[] }>(`/change_requests/${rest.id}/operations`);
  expect(left.operations.map(({ proposed }) => proposed.code)).toEqual(['P03', 'P07']);
  const acts = await admin.get<Page<{ action: string }>>(
    `/audit_events?q=resource_type:eq:change_request&per_page=100`,
  );
  expect(acts.data.length).toBeGreaterThan(0);
  await eventually(async () => expect((await mailsTo(approver)).length).toBeGreaterThan(0));
  await eventually(async () => expect((await mailsTo(steward)).length).toBeGreaterThan(0));
});
