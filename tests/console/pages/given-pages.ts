// One path for each page of the console, with something on it.
import { type Api, poll, upload } from '@almanac/api-client/api';
import { givenDeployedTable } from '@almanac/testkit/system/builders';

/** Makes something for each page of the console to show, and answers their paths. */
export async function givenPages(api: Api): Promise<string[]> {
  const columns = [
    { name: 'code', data_type: 'string', length: 10, is_primary_key: true, is_required: true },
    { name: 'state', data_type: 'string', length: 10, valid_values: 'open|closed' },
  ];
  const { id, key } = await givenDeployedTable(api, { name: 'Orders', columns });
  const record = { code: 'A-1', state: 'open' };
  await api.post('/table_data', { table_definition_id: id, record });
  const { svc_sk } = (await api.get(`/table_data?table_definition_id=${id}`)).data[0];
  const { data: branches } = await api.get('/branches');
  const change_request = { title: 'Close an order' };
  const request = await api.post('/change_requests', { branch_id: branches[0].id, change_request });
  const operations = [
    { operation: 'update', id: svc_sk, record: { state: 'closed' } },
    { operation: 'create', record: { code: 'A-2', state: 'open' } },
  ];
  await api.post(`/change_requests/${request.id}/operations`, { table_definition_id: id, operations });
  await api.post(`/change_requests/${request.id}/send_request`, {});
  const admin = ['people', 'groups', 'applications', 'account', 'usage', 'audit'].map((name) => `admin/${name}`);
  const others = ['', 'tables', `t/${key}`, `t/${key}?row=${svc_sk}`, 'requests', `requests/${request.id}`];
  const view = { name: 'Open ones', sharing: 'shared', state: { q: 'open' } };
  const { id: viewId } = await api.post('/views', { table_definition_id: id, view });
  others.push(`t/${key}?view=${viewId}&q=closed`);
  const model = [`t/${key}/structure`, `t/${key}/impact`, 'tables/new'];
  const branching = await givenBranchingPages(api, { id, branchId: branches[0].id });
  const files = ['imports', 'import', await givenRejectedRow(api, { id, branchId: branches[0].id }), 'exports'];
  return [...others, ...model, ...branching, ...files, ...admin, 'me'].map((path) => `/console/${path}`);
}

/** A dry run with a row that is to be corrected. */
async function givenRejectedRow(api: Api, { id, branchId }: { id: number; branchId: number }): Promise<string> {
  const made = await api.post('/imports', { branch_id: branchId });
  const how = { pattern: 'incremental', dry_run: true, on_error: 'reject_rows' };
  const { upload_url } = await api.post(`/imports/${made.id}/tables`, { table_definition_id: id, ...how });
  await upload(upload_url, 'code,state\nA-3,lost\nA-4,open\n');
  await api.post(`/imports/${made.id}/upload_complete`);
  await poll(
    () => api.get(`/imports/${made.id}`),
    ({ status }) => status === 'completed_with_errors',
  );
  return `imports/${made.id}`;
}

async function givenBranchingPages(
  api: Api,
  { id, branchId: main }: { id: number; branchId: number },
): Promise<string[]> {
  const copy = { table_definition_ids: [id], include_data: true, deploy: true };
  const branch = await api.post('/branches', { branch: { name: 'next year' }, copy });
  const { table_definitions, deployment } = branch.copied;
  const promotion = await api.post('/promotions', {
    from_branch_id: branch.id,
    to_branch_id: main,
    table_definition_ids: [table_definitions[0].id],
    include_data: true,
  });
  const changes = [`promotions/${promotion.id}`, `deployments/${deployment.id}`];
  return ['branches', `branches/${branch.id}`, `compare?left=${main}&right=${branch.id}`, ...changes];
}
