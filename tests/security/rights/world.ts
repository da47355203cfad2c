// One resource of every kind of the API, on one branch and in one domain, for trying the operations
// of the rights table.
import { type Api, type Page, poll, upload } from '@almanac/api-client/api';
import { defaultColumns, unique } from '@almanac/testkit/system/builders';

export type World = {
  admin: Api;
  domainId: number;
  branchId: number;
  /** Deployed, with a row, referred to by another table. */
  tableId: number;
  tableKey: string;
  rowId: number;
  columnId: number;
  /** Drafted only. */
  draftId: number;
  /** Removed after it was deployed; it can be restored. */
  removedId: number;
  deploymentId: number;
  /** Another branch, with a copy of the table, whose promotion is done. */
  asideId: number;
  copyId: number;
  promotionId: number;
  /** With an operation on the table; rejected. */
  changeRequestId: number;
  /** Completed, with one table. */
  importId: number;
  importTableId: number;
  exportId: number;
  mappingId: number;
  /** Shared by the administrator. */
  viewId: number;
};

type Made = { id: number };
type Drafted = Made & { key: string };

/**
 * A domain on a branch, with its tables. Their deployment is proposed later, by a person in their
 * groups.
 */
export async function givenTables(admin: Api, branchId: number): Promise<World> {
  const domain = await admin.post<Made>('/domains', { domain: { name: `Domain ${unique()}` } });
  const draft = async (name: string) =>
    admin.post<Drafted>('/table_definitions', {
      branch_id: branchId,
      table_definition: { name: `${name} ${unique()}`, domain_id: domain.id },
    });
  const addColumns = async (table_definition_id: number, columns: object[]) => {
    const made: Made[] = [];
    for (const column_definition of columns)
      made.push(await admin.post<Made>('/column_definitions', { table_definition_id, column_definition }));
    return made;
  };
  const names = ['Countries', 'Regions', 'Draft', 'Removed'];
  const [table, referring, drafted, removed] = (await Promise.all(names.map(draft))) as [
    Drafted,
    Drafted,
    Drafted,
    Drafted,
  ];
  await addColumns(removed.id, defaultColumns);
  const service = { branch_id: branchId, table_definition_ids: [removed.id] };
  const deployment = await admin.post<Made>('/deployments', service);
  await admin.post(`/deployments/${deployment.id}/deploy`);
  await admin.post(`/table_definitions/${removed.id}/remove`);
  const [column] = await addColumns(table.id, defaultColumns);
  const link = { name: 'country', data_type: 'string', length: 10, foreign_key_table_id: table.id };
  await addColumns(referring.id, [...defaultColumns, link]);
  await addColumns(drafted.id, defaultColumns);
  const promotion = { asideId: 0, copyId: 0, promotionId: 0, changeRequestId: 0 };
  const nothing = {
    rowId: 0,
    deploymentId: 0,
    importId: 0,
    importTableId: 0,
    exportId: 0,
    mappingId: 0,
    viewId: 0,
    ...promotion,
  };
  return {
    ...nothing,
    admin,
    domainId: domain.id,
    branchId,
    tableId: table.id,
    tableKey: table.key,
    columnId: column?.id as number,
    draftId: drafted.id,
    removedId: removed.id,
  };
}

/** Deploys the tables, as proposed by `proposer`, and makes all other resources. */
export async function fillWorld(world: World, proposer: Api): Promise<World> {
  const { admin, branchId, tableId } = world;
  const proposal = { branch_id: branchId, table_definition_ids: [tableId] };
  const { id: deploymentId } = await proposer.post<Made>('/deployments', proposal);
  await admin.post(`/deployments/${deploymentId}/deploy`);
  const { record } = await admin.post('/table_data', {
    table_definition_id: tableId,
    record: { code: 'A', name: 'Albania' },
  });
  const promotion = await givenPromotion(world, proposer);
  const changeRequestId = await givenChangeRequest(world, proposer);
  const [viewId, mapping, exported, imported] = await Promise.all([
    givenView(admin, tableId),
    admin.post<Made>('/import_mappings', { table_definition_id: tableId, name: `Mapping ${unique()}` }),
    givenExport(world),
    givenImport(world),
  ]);
  const rows = { viewId, rowId: record.svc_sk, mappingId: mapping.id, exportId: exported, ...imported };
  return { ...world, deploymentId, ...promotion, changeRequestId, ...rows };
}

async function givenPromotion({ admin, branchId, tableId }: World, proposer: Api) {
  const { id: asideId } = await admin.post<Made>('/branches', { name: `aside ${unique()}` });
  const { id: copyId } = await admin.post<Made>(`/table_definitions/${tableId}/clone`, { target_branch_id: asideId });
  const branches = { from_branch_id: asideId, to_branch_id: branchId };
  const { id: promotionId } = await proposer.post<Made>('/promotions', { ...branches, table_definition_ids: [copyId] });
  await admin.post(`/promotions/${promotionId}/promote`);
  return { asideId, copyId, promotionId };
}

async function givenChangeRequest({ admin, branchId, tableId }: World, proposer: Api): Promise<number> {
  const { id } = await proposer.post<Made>('/change_requests', { branch_id: branchId, title: `Rows ${unique()}` });
  const operations = [{ operation: 'create', record: { code: 'C', name: 'c' } }];
  await proposer.post(`/change_requests/${id}/operations`, { table_definition_id: tableId, operations });
  await proposer.post(`/change_requests/${id}/send_request`, { comment: 'please' });
  await admin.post(`/change_requests/${id}/reject`, { comment: 'no' });
  return id;
}

/** A view of the table that its owner shares. */
export async function givenView(owner: Api, tableId: number): Promise<number> {
  const view = { name: 'Everybody’s', sharing: 'shared', state: {} };
  return (await owner.post<Made>('/views', { table_definition_id: tableId, view })).id;
}

async function givenExport({ admin, branchId, tableKey }: World): Promise<number> {
  const body = { branch_id: branchId, table_definition_key: tableKey, pattern: 'full' };
  const { id } = await admin.post<Made>('/exports', body);
  await poll(
    () => admin.get<{ status: string }>(`/exports/${id}`),
    ({ status }) => status === 'completed',
  );
  return id;
}

async function givenImport({ admin, branchId, tableId }: World) {
  const { id: importId } = await admin.post<Made>('/imports', { branch_id: branchId });
  const table = await admin.post<{ id: number; upload_url: string }>(`/imports/${importId}/tables`, {
    table_definition_id: tableId,
    pattern: 'incremental',
  });
  await upload(table.upload_url, 'code,name\nB,b\n');
  await admin.post(`/imports/${importId}/upload_complete`);
  await poll(
    () => admin.get<{ status: string }>(`/imports/${importId}`),
    ({ status }) => status === 'completed',
  );
  return { importId, importTableId: table.id };
}

/** Resources of the account, outside both worlds. */
export type Office = {
  userId: number;
  groupId: number;
  systemGroupId: number;
  assignmentId: number;
  applicationId: number;
  secretId: number;
  webhookId: number;
  deliveryId: number;
  auditEventId: number;
};

/** Of an endpoint to which nothing is sent but tests. */
export const webhookAttributes = { url: 'https://hooks.example/spare', event_types: ['webhook.test'] };

export async function givenOffice(admin: Api): Promise<Office> {
  const user = await admin.post<Made>('/users', {
    email: `someone-${unique()}@example.com`,
    password: unique().repeat(2),
  });
  const group = await admin.post<Made>('/user_groups', { name: `Group ${unique()}` });
  const assignment = await admin.post<Made>('/user_group_assignments', { user_id: user.id, user_group_id: group.id });
  const application = await admin.post<Made>('/oauth_applications', { name: 'Spare', confidential: true });
  const secrets = await admin.get<Page<Made>>(`/oauth_applications/${application.id}/secrets`);
  const webhook = await admin.post<Made>('/webhook_endpoints', webhookAttributes);
  const delivery = await admin.post<Made>(`/webhook_endpoints/${webhook.id}/test`);
  const groups = await admin.get<Page<Made>>('/user_groups?q=name:eq:Administrators');
  const events = await poll(
    () => admin.get<Page<Made>>('/audit_events?per_page=1'),
    ({ data }) => data.length > 0,
  );
  return {
    userId: user.id,
    groupId: group.id,
    systemGroupId: groups.data[0]?.id as number,
    assignmentId: assignment.id,
    applicationId: application.id,
    secretId: secrets.data[0]?.id as number,
    webhookId: webhook.id,
    deliveryId: delivery.id,
    auditEventId: events.data[0]?.id as number,
  };
}
