// A call for every case of the rights table that changes nothing when it is allowed. Rights are
// checked before the body, so an invalid body is 422 for a caller with the right, and 403 without
// it. Calls that can't be tried so get resources made for them.
import { unique } from '@almanac/testkit/system/builders';
import { givenView, type Office, type World, webhookAttributes } from './world.ts';

type Surroundings = World & Office;
type Call = { path: string; body?: unknown };

export type Probe = {
  call: (at: Surroundings) => Call;
  /** For calls that would change something: makes a resource for the call, when it is allowed. */
  made?: (at: Surroundings) => Promise<Call>;
  /** The status when it is allowed. */
  allowed: number;
  /** For a list: the id that it must contain, or must not. */
  shows?: (at: Surroundings) => number;
};

const reads = (path: (at: Surroundings) => string, allowed = 200): Probe => ({
  call: (at) => ({ path: path(at) }),
  allowed,
});
const lists = (path: string, shows?: Probe['shows']): Probe => ({
  call: () => ({ path: `${path}?per_page=1000&sort=-id` }),
  allowed: 200,
  ...(shows ? { shows } : {}),
});
const sends = (
  path: (at: Surroundings) => string,
  allowed: number,
  body: (at: Surroundings) => unknown = () => ({}),
): Probe => ({
  call: (at) => ({ path: path(at), body: body(at) }),
  allowed,
});
/** The same call, whether the branch is protected or not. */
const onEitherBranch = (operation: string, probe: Probe): Record<string, Probe> => ({
  [`${operation} on a protected branch`]: probe,
  [`${operation} on any other branch`]: probe,
});
const nameless = () => ({ name: '' });

const email = () => `scratch-${unique()}@example.com`;
type Made = { id: number };

/** By operation, or by operation and case. */
export const probes: Record<string, Probe> = {
  'GET /account': reads(() => '/account'),
  'PATCH /account': sends(() => '/account', 422, nameless),
  'GET /me': reads(() => '/me'),
  'PATCH /me': sends(
    () => '/me',
    422,
    () => ({ first_name: 'a\nb' }),
  ),
  'PUT /me/password': sends(
    () => '/me/password',
    422,
    () => ({ current_password: 'of no user', new_password: 'short' }),
  ),
  'GET /me/sessions': lists('/me/sessions'),
  'DELETE /me/sessions': reads(() => '/me/sessions', 204),
  'DELETE /me/sessions/{id}': reads(() => '/me/sessions/2000000000', 404),
  'GET /me/preferences': reads(() => '/me/preferences'),
  'PUT /me/preferences': sends(
    () => '/me/preferences',
    422,
    () => ({ preferences: { long: 'x'.repeat(17 * 1024) } }),
  ),
  'GET /people': lists('/people', ({ userId }) => userId),

  'GET /usage': reads(() => '/usage'),
  'GET /usage/statement': reads(() => '/usage/statement'),
  'GET /events': reads(() => '/events?limit=1'),
  // An id that was never given is refused, which ends the answer.
  'GET /events/stream': reads(() => '/events/stream?after=999999999999', 410),
  'GET /audit_events': lists('/audit_events'),
  'GET /audit_events/{id}': reads(({ auditEventId }) => `/audit_events/${auditEventId}`),

  'GET /users': lists('/users', ({ userId }) => userId),
  'POST /users': sends(
    () => '/users',
    422,
    () => ({ email: 'nowhere' }),
  ),
  'GET /users/{id}': reads(({ userId }) => `/users/${userId}`),
  'PATCH /users/{id}': sends(
    ({ userId }) => `/users/${userId}`,
    422,
    () => ({ license_type: 'king' }),
  ),
  'DELETE /users/{id}': {
    ...reads(({ userId }) => `/users/${userId}`, 204),
    made: async ({ admin }) => ({ path: `/users/${(await admin.post<Made>('/users', { email: email() })).id}` }),
  },
  'POST /users/{id}/send_invitation': sends(({ userId }) => `/users/${userId}/send_invitation`, 422),
  'GET /users/{id}/refresh_tokens': reads(({ userId }) => `/users/${userId}/refresh_tokens`),
  // Of a person, who has none there.
  'POST /users/{id}/refresh_tokens': sends(
    ({ userId }) => `/users/${userId}/refresh_tokens`,
    422,
    ({ applicationId }) => ({ oauth_application_id: applicationId }),
  ),
  'DELETE /users/{id}/refresh_tokens/{token_id}': reads(({ userId }) => `/users/${userId}/refresh_tokens/1`, 404),
  'GET /user_groups': lists('/user_groups', ({ groupId }) => groupId),
  'POST /user_groups': sends(() => '/user_groups', 422, nameless),
  'GET /user_groups/{id}': reads(({ groupId }) => `/user_groups/${groupId}`),
  'PATCH /user_groups/{id}': sends(({ groupId }) => `/user_groups/${groupId}`, 422, nameless),
  'DELETE /user_groups/{id}': reads(({ systemGroupId }) => `/user_groups/${systemGroupId}`, 422),
  'GET /user_group_assignments': lists('/user_group_assignments', ({ assignmentId }) => assignmentId),
  'POST /user_group_assignments': sends(() => '/user_group_assignments', 400),
  'DELETE /user_group_assignments/{id}': {
    ...reads(({ assignmentId }) => `/user_group_assignments/${assignmentId}`, 204),
    made: async ({ admin, groupId }) => {
      const { id: user_id } = await admin.post<Made>('/users', { email: email() });
      const { id } = await admin.post<Made>('/user_group_assignments', { user_id, user_group_id: groupId });
      return { path: `/user_group_assignments/${id}` };
    },
  },
  'GET /permissions': lists('/permissions'),
  'POST /permissions/explain': sends(
    () => '/permissions/explain',
    200,
    ({ userId }) => ({ user_id: userId, action: 'edit', resource_type: 'account' }),
  ),
  'POST /permissions/explain of a table': sends(
    () => '/permissions/explain',
    200,
    ({ userId, tableId }) => ({
      user_id: userId,
      action: 'edit',
      resource_type: 'table_definition',
      resource_id: tableId,
    }),
  ),
  'GET /oauth_applications': lists('/oauth_applications', ({ applicationId }) => applicationId),
  'POST /oauth_applications': sends(() => '/oauth_applications', 422, nameless),
  'GET /oauth_applications/{id}': reads(({ applicationId }) => `/oauth_applications/${applicationId}`),
  'PATCH /oauth_applications/{id}': sends(({ applicationId }) => `/oauth_applications/${applicationId}`, 422, nameless),
  'DELETE /oauth_applications/{id}': {
    ...reads(({ applicationId }) => `/oauth_applications/${applicationId}`, 204),
    made: async ({ admin }) => ({
      path: `/oauth_applications/${(await admin.post<Made>('/oauth_applications', { name: 'Scratch' })).id}`,
    }),
  },
  'POST /oauth_applications/{id}/regenerate_secret': {
    ...sends(({ applicationId }) => `/oauth_applications/${applicationId}/regenerate_secret`, 422),
    made: async ({ admin }) => {
      const { id } = await admin.post<Made>('/oauth_applications', { name: 'Open', confidential: false });
      return { path: `/oauth_applications/${id}/regenerate_secret`, body: {} };
    },
  },
  'GET /oauth_applications/{id}/secrets': reads(({ applicationId }) => `/oauth_applications/${applicationId}/secrets`),
  'POST /oauth_applications/{id}/secrets': {
    ...sends(({ applicationId }) => `/oauth_applications/${applicationId}/secrets`, 422),
    made: async ({ admin }) => {
      const { id } = await admin.post<Made>('/oauth_applications', { name: 'Open', confidential: false });
      return { path: `/oauth_applications/${id}/secrets`, body: {} };
    },
  },
  // The last secret can't be deleted.
  'DELETE /oauth_applications/{id}/secrets/{secret_id}': reads(
    ({ applicationId, secretId }) => `/oauth_applications/${applicationId}/secrets/${secretId}`,
    422,
  ),

  'GET /webhook_endpoints': lists('/webhook_endpoints', ({ webhookId }) => webhookId),
  'POST /webhook_endpoints': sends(() => '/webhook_endpoints', 422),
  'GET /webhook_endpoints/{id}': reads(({ webhookId }) => `/webhook_endpoints/${webhookId}`),
  'PATCH /webhook_endpoints/{id}': sends(
    ({ webhookId }) => `/webhook_endpoints/${webhookId}`,
    422,
    () => ({ event_types: [] }),
  ),
  'DELETE /webhook_endpoints/{id}': {
    ...reads(({ webhookId }) => `/webhook_endpoints/${webhookId}`, 204),
    made: async ({ admin }) => ({
      path: `/webhook_endpoints/${(await admin.post<Made>('/webhook_endpoints', webhookAttributes)).id}`,
    }),
  },
  'POST /webhook_endpoints/{id}/rotate_secret': sends(
    ({ webhookId }) => `/webhook_endpoints/${webhookId}/rotate_secret`,
    200,
  ),
  'POST /webhook_endpoints/{id}/test': sends(({ webhookId }) => `/webhook_endpoints/${webhookId}/test`, 201),
  'POST /webhook_endpoints/{id}/replay': sends(
    ({ webhookId }) => `/webhook_endpoints/${webhookId}/replay`,
    422,
    () => ({ since: '2999-01-01T00:00:00Z' }),
  ),
  'GET /webhook_endpoints/{id}/deliveries': reads(({ webhookId }) => `/webhook_endpoints/${webhookId}/deliveries`),
  'POST /webhook_endpoints/{id}/deliveries/{delivery_id}/resend': sends(
    ({ webhookId, deliveryId }) => `/webhook_endpoints/${webhookId}/deliveries/${deliveryId}/resend`,
    200,
  ),

  'GET /domains': lists('/domains', ({ domainId }) => domainId),
  'POST /domains': sends(() => '/domains', 422, nameless),
  'GET /domains/{id}': reads(({ domainId }) => `/domains/${domainId}`),
  'PATCH /domains/{id}': sends(({ domainId }) => `/domains/${domainId}`, 422, nameless),
  'DELETE /domains/{id}': reads(({ domainId }) => `/domains/${domainId}`, 422), // it has tables

  'GET /branches': lists('/branches', ({ branchId }) => branchId),
  'POST /branches': sends(() => '/branches', 422, nameless),
  'POST /branches/set_current_branch': sends(
    () => '/branches/set_current_branch',
    200,
    ({ branchId }) => ({ branch_id: branchId }),
  ),
  'GET /branches/{id}': reads(({ branchId }) => `/branches/${branchId}`),
  'PATCH /branches/{id}': sends(({ branchId }) => `/branches/${branchId}`, 422, nameless),
  'PATCH /branches/{id} to protect it or no longer, or to change its type': sends(
    ({ branchId }) => `/branches/${branchId}`,
    200,
    () => ({ is_protected: true }), // as it is
  ),
  'PATCH /branches/{id} to say how rows change': sends(
    ({ branchId }) => `/branches/${branchId}`,
    200,
    () => ({ row_changes: 'direct' }), // as it is
  ),
  // `main` can't be deleted, nor can a parent of another branch.
  'DELETE /branches/{id}': reads(({ branchId }) => `/branches/${branchId}`, 422),

  'GET /table_definitions': lists('/table_definitions', ({ tableId }) => tableId),
  'POST /table_definitions': sends(
    () => '/table_definitions',
    422,
    ({ branchId, domainId }) => ({
      branch_id: branchId,
      table_definition: { name: 'Right first', domain_id: domainId, lookup_display_column_id: 2_000_000_000 },
    }),
  ),
  'GET /table_definitions/{id}': reads(({ tableId }) => `/table_definitions/${tableId}`),
  'PATCH /table_definitions/{id}': sends(({ tableId }) => `/table_definitions/${tableId}`, 422, nameless),
  'PATCH /table_definitions/{id} to say how rows change': sends(
    ({ tableId }) => `/table_definitions/${tableId}`,
    200,
    () => ({ row_changes: null }), // as it is
  ),
  // Another table refers to it.
  ...onEitherBranch(
    'DELETE /table_definitions/{id}',
    reads(({ tableId }) => `/table_definitions/${tableId}`, 422),
  ),
  'POST /table_definitions/{id}/clone': sends(
    ({ tableId }) => `/table_definitions/${tableId}/clone`,
    422,
    ({ branchId }) => ({
      target_branch_id: branchId, // where it is already
    }),
  ),
  ...onEitherBranch(
    'POST /table_definitions/{id}/remove',
    sends(({ tableId }) => `/table_definitions/${tableId}/remove`, 422),
  ),
  ...onEitherBranch('POST /table_definitions/{id}/restore', {
    ...sends(({ removedId }) => `/table_definitions/${removedId}/restore`, 200),
    made: async ({ admin, branchId, domainId }) => {
      const table_definition = { name: `Removed ${unique()}`, domain_id: domainId };
      const { id } = await admin.post<Made>('/table_definitions', { branch_id: branchId, table_definition });
      await admin.post(`/table_definitions/${id}/remove`);
      return { path: `/table_definitions/${id}/restore`, body: {} };
    },
  }),
  'POST /table_definitions/{id}/deploy': sends(({ tableId }) => `/table_definitions/${tableId}/deploy`, 200),
  'POST /table_definitions/{id}/infer_columns': sends(
    ({ tableId }) => `/table_definitions/${tableId}/infer_columns`,
    200,
    () => ({ sample: 'code,name\nA,one\n' }),
  ),
  'GET /column_definitions': lists('/column_definitions', ({ columnId }) => columnId),
  'POST /column_definitions': sends(
    () => '/column_definitions',
    422,
    ({ tableId }) => ({
      table_definition_id: tableId,
      column_definition: { name: '', data_type: 'string' },
    }),
  ),
  'GET /column_definitions/{id}': reads(({ columnId }) => `/column_definitions/${columnId}`),
  'PATCH /column_definitions/{id}': sends(({ columnId }) => `/column_definitions/${columnId}`, 422, nameless),
  'DELETE /column_definitions/{id}': {
    ...reads(({ columnId }) => `/column_definitions/${columnId}`, 204),
    made: async ({ admin, draftId }) => {
      const column_definition = { name: `c_${unique()}`, data_type: 'text' };
      const { id } = await admin.post<Made>('/column_definitions', { table_definition_id: draftId, column_definition });
      return { path: `/column_definitions/${id}` };
    },
  },
  'GET /deployed_table_definitions': lists('/deployed_table_definitions', ({ tableId }) => tableId),
  'GET /deployed_table_definitions/{id}': reads(({ tableId }) => `/deployed_table_definitions/${tableId}`),

  'GET /deployments': lists('/deployments', ({ deploymentId }) => deploymentId),
  'POST /deployments': sends(
    () => '/deployments',
    201,
    ({ branchId, draftId }) => ({
      branch_id: branchId,
      table_definition_ids: [draftId],
    }),
  ),
  'GET /deployments/{id}': reads(({ deploymentId }) => `/deployments/${deploymentId}`),
  // It is deployed, which is final.
  'POST /deployments/{id}/rehearse': sends(({ deploymentId }) => `/deployments/${deploymentId}/rehearse`, 422),
  'POST /deployments/{id}/send_request': sends(({ deploymentId }) => `/deployments/${deploymentId}/send_request`, 422),
  'POST /deployments/{id}/deploy on a protected branch': sends(
    ({ deploymentId }) => `/deployments/${deploymentId}/deploy`,
    422,
  ),
  'POST /deployments/{id}/deploy on any other branch': sends(
    ({ deploymentId }) => `/deployments/${deploymentId}/deploy`,
    422,
  ),
  'POST /deployments/{id}/reject': sends(({ deploymentId }) => `/deployments/${deploymentId}/reject`, 422),
  'POST /deployments/{id}/cancel': sends(({ deploymentId }) => `/deployments/${deploymentId}/cancel`, 422),
  'POST /deployments/{id}/abandon': sends(({ deploymentId }) => `/deployments/${deploymentId}/abandon`, 422),

  'GET /promotions': lists('/promotions', ({ promotionId }) => promotionId),
  'POST /promotions': sends(
    () => '/promotions',
    201,
    ({ asideId, branchId, copyId }) => ({
      from_branch_id: asideId,
      to_branch_id: branchId,
      table_definition_ids: [copyId],
    }),
  ),
  'GET /promotions/{id}': reads(({ promotionId }) => `/promotions/${promotionId}`),
  // It is promoted, which is final.
  'GET /promotions/{id}/rows': reads(({ promotionId }) => `/promotions/${promotionId}/rows`, 422),
  'POST /promotions/{id}/rehearse': sends(({ promotionId }) => `/promotions/${promotionId}/rehearse`, 422),
  'POST /promotions/{id}/send_request': sends(({ promotionId }) => `/promotions/${promotionId}/send_request`, 422),
  'POST /promotions/{id}/promote on a protected branch': sends(
    ({ promotionId }) => `/promotions/${promotionId}/promote`,
    422,
  ),
  'POST /promotions/{id}/promote on any other branch': sends(
    ({ promotionId }) => `/promotions/${promotionId}/promote`,
    422,
  ),
  'POST /promotions/{id}/reject': sends(({ promotionId }) => `/promotions/${promotionId}/reject`, 422),
  'POST /promotions/{id}/cancel': sends(({ promotionId }) => `/promotions/${promotionId}/cancel`, 422),
  'POST /promotions/{id}/abandon': sends(({ promotionId }) => `/promotions/${promotionId}/abandon`, 422),

  'GET /change_requests': lists('/change_requests', ({ changeRequestId }) => changeRequestId),
  'POST /change_requests': sends(
    () => '/change_requests',
    422,
    ({ branchId }) => ({ branch_id: branchId, title: '' }),
  ),
  'GET /change_requests/{id}': reads(({ changeRequestId }) => `/change_requests/${changeRequestId}`),
  // It is rejected, which is final.
  'PATCH /change_requests/{id}': sends(
    ({ changeRequestId }) => `/change_requests/${changeRequestId}`,
    422,
    () => ({ title: 'Another one' }),
  ),
  ...Object.fromEntries(
    ['send_request', 'withdraw', 'request_changes', 'approve', 'reject', 'cancel', 'apply'].map((step) => [
      `POST /change_requests/{id}/${step}`,
      sends(
        ({ changeRequestId }) => `/change_requests/${changeRequestId}/${step}`,
        422,
        () => (step === 'approve' || step === 'apply' ? { revision: 'none' } : { comment: 'Because' }),
      ),
    ]),
  ),
  'GET /change_requests/{id}/comments': reads(({ changeRequestId }) => `/change_requests/${changeRequestId}/comments`),
  'POST /change_requests/{id}/comments': sends(
    ({ changeRequestId }) => `/change_requests/${changeRequestId}/comments`,
    400,
  ),

  'GET /change_requests/{id}/operations': reads(
    ({ changeRequestId }) => `/change_requests/${changeRequestId}/operations`,
  ),
  'POST /change_requests/{id}/operations': sends(
    ({ changeRequestId }) => `/change_requests/${changeRequestId}/operations`,
    422,
    ({ tableId }) => ({ table_definition_id: tableId, operations: [{ operation: 'create', record: { code: 'D' } }] }),
  ),
  'POST /change_requests/{id}/operations/remove': sends(
    ({ changeRequestId }) => `/change_requests/${changeRequestId}/operations/remove`,
    422,
    () => ({ ids: [1] }),
  ),
  'POST /change_requests/{id}/resolutions': sends(
    ({ changeRequestId }) => `/change_requests/${changeRequestId}/resolutions`,
    422,
    () => ({ resolutions: [{ operation_id: 1, columns: { name: 'mine' } }] }),
  ),
  'POST /change_requests/{id}/decisions': sends(
    ({ changeRequestId }) => `/change_requests/${changeRequestId}/decisions`,
    422,
    () => ({ decisions: [{ operation_ids: [1], decision: 'accept' }] }),
  ),
  'POST /change_requests/{id}/rehearse': sends(
    ({ changeRequestId }) => `/change_requests/${changeRequestId}/rehearse`,
    200,
  ),

  'GET /search': { ...reads(({ tableKey }) => `/search?q=${tableKey}`), shows: ({ tableId }) => tableId },
  'GET /inbox': reads(() => '/inbox'),
  'GET /inbox/counts': reads(() => '/inbox/counts'),

  'GET /views': reads(({ tableId }) => `/views?table_definition_id=${tableId}`),
  'POST /views': sends(
    () => '/views',
    422,
    ({ tableId }) => ({ table_definition_id: tableId, view: { name: '', state: {} } }),
  ),
  'GET /views/{id}': reads(({ viewId }) => `/views/${viewId}`),
  'PATCH /views/{id} to make it one’s own default': sends(
    ({ viewId }) => `/views/${viewId}`,
    200,
    () => ({ is_own_default: false }), // as it is
  ),
  'PATCH /views/{id}': sends(
    ({ viewId }) => `/views/${viewId}`,
    200,
    () => ({ name: 'Everybody’s' }), // as it is
  ),
  'DELETE /views/{id}': {
    ...reads(({ viewId }) => `/views/${viewId}`, 204),
    made: async ({ admin, tableId }) => ({ path: `/views/${await givenView(admin, tableId)}` }),
  },

  'GET /table_data': reads(({ tableId }) => `/table_data?table_definition_id=${tableId}`),
  'POST /table_data/grid': sends(
    () => '/table_data/grid',
    200,
    ({ tableId }) => ({
      table_definition_id: tableId,
      startRow: 0,
      endRow: 10,
    }),
  ),
  'POST /table_data/values': sends(
    () => '/table_data/values',
    200,
    ({ tableId }) => ({ table_definition_id: tableId, column: 'code' }),
  ),
  'POST /table_data/position': sends(
    () => '/table_data/position',
    200,
    ({ tableId, rowId }) => ({ table_definition_id: tableId, id: rowId }),
  ),
  'POST /table_data/groups': sends(
    () => '/table_data/groups',
    200,
    ({ tableId }) => ({ table_definition_id: tableId, columns: ['code'], startRow: 0, endRow: 10 }),
  ),
  'GET /table_data/by_key': reads(({ tableId }) => `/table_data/by_key?table_definition_id=${tableId}&key[code]=A`),
  'PUT /table_data/by_key': sends(
    () => '/table_data/by_key',
    422,
    ({ tableId }) => ({ table_definition_id: tableId, record: { code: 'A', nonsense: 1 } }),
  ),
  'DELETE /table_data/by_key': reads(
    ({ tableId }) => `/table_data/by_key?table_definition_id=${tableId}&key[code]=never`,
    404,
  ),
  'GET /table_data/{id}': reads(({ tableId, rowId }) => `/table_data/${rowId}?table_definition_id=${tableId}`),
  'GET /table_data/{id}/history': reads(
    ({ tableId, rowId }) => `/table_data/${rowId}/history?table_definition_id=${tableId}`,
  ),
  'POST /table_data/diff': sends(
    () => '/table_data/diff',
    200,
    ({ tableId }) => ({ table_definition_id: tableId, startRow: 0, endRow: 10 }),
  ),
  'GET /table_data/activity': reads(({ tableId }) => `/table_data/activity?table_definition_id=${tableId}`),
  'GET /table_data/changes': reads(({ tableId }) => `/table_data/changes?table_definition_id=${tableId}`),
  'GET /table_data/timeline': reads(({ tableId }) => `/table_data/timeline?table_definition_id=${tableId}`),
  'POST /table_data': sends(
    () => '/table_data',
    422,
    ({ tableId }) => ({ table_definition_id: tableId, record: { nonsense: 1 } }),
  ),
  'PATCH /table_data/{id}': sends(
    ({ rowId }) => `/table_data/${rowId}`,
    422,
    ({ tableId }) => ({
      table_definition_id: tableId,
      record: { nonsense: 1 },
    }),
  ),
  'POST /table_data/delete_records': sends(
    () => '/table_data/delete_records',
    404,
    ({ tableId }) => ({
      table_definition_id: tableId,
      ids: [2_000_000_000],
    }),
  ),
  'POST /table_data/restore_records': sends(
    () => '/table_data/restore_records',
    404,
    ({ tableId }) => ({ table_definition_id: tableId, ids: [2_000_000_000] }),
  ),
  'POST /table_data/batch': sends(
    () => '/table_data/batch',
    404,
    ({ tableId }) => ({ table_definition_id: tableId, operations: [{ operation: 'delete', id: 2_000_000_000 }] }),
  ),
  'POST /table_data/update_where': sends(
    () => '/table_data/update_where',
    422,
    ({ tableId }) => ({ table_definition_id: tableId, all: true, set: { nonsense: 1 }, expected_count: 0 }),
  ),
  'POST /table_data/delete_where': sends(
    () => '/table_data/delete_where',
    200,
    ({ tableId }) => ({ table_definition_id: tableId, all: true, dry_run: true }),
  ),
  'POST /table_data/undo': sends(
    () => '/table_data/undo',
    404,
    ({ tableId }) => ({ table_definition_id: tableId, request_id: 'never-sent' }),
  ),
  'GET /table_data/search': {
    ...reads(({ branchId }) => `/table_data/search?q=albania&branch_id=${branchId}`),
    shows: ({ tableId }) => tableId,
  },
  'GET /table_data/usage': reads(({ tableId }) => `/table_data/usage?table_definition_id=${tableId}`),
  'POST /table_data/resolve': sends(
    () => '/table_data/resolve',
    200,
    ({ tableId }) => ({ table_definition_id: tableId, labels: ['one'] }),
  ),
  'GET /table_data/{id}/references': reads(
    ({ tableId, rowId }) => `/table_data/${rowId}/references?table_definition_id=${tableId}`,
  ),
  'POST /table_data/{id}/revert': sends(
    ({ rowId }) => `/table_data/${rowId}/revert`,
    404,
    ({ tableId }) => ({ table_definition_id: tableId, version: 2_000_000 }),
  ),

  'GET /imports': lists('/imports', ({ importId }) => importId),
  'POST /imports': sends(
    () => '/imports',
    422,
    ({ branchId }) => ({ branch_id: branchId, correlation_code: '' }),
  ),
  'GET /imports/{id}': reads(({ importId }) => `/imports/${importId}`),
  'POST /imports/{id}/tables': sends(
    ({ importId }) => `/imports/${importId}/tables`,
    422,
    ({ tableId }) => ({
      table_definition_id: tableId,
      pattern: 'backwards',
    }),
  ),
  'POST /imports/{id}/tables to allow mass deletion on a protected branch': sends(
    ({ importId }) => `/imports/${importId}/tables`,
    422,
    ({ tableId }) => ({ table_definition_id: tableId, pattern: 'backwards', allow_mass_delete: true }),
  ),
  'PUT /imports/{id}/tables/{table_id}/file': sends(
    ({ importId, importTableId }) => `/imports/${importId}/tables/${importTableId}/file`,
    422, // it is completed
    () => 'code\nC\n',
  ),
  'GET /imports/{id}/tables/{table_id}/changes': reads(
    ({ importId, importTableId }) => `/imports/${importId}/tables/${importTableId}/changes`,
    422, // it is no dry run
  ),
  'POST /imports/{id}/tables/{table_id}/apply': sends(
    ({ importId, importTableId }) => `/imports/${importId}/tables/${importTableId}/apply`,
    422, // it is no dry run
    () => ({ as: 'rows' }),
  ),
  'POST /imports/{id}/upload_complete': sends(({ importId }) => `/imports/${importId}/upload_complete`, 422),
  'POST /imports/{id}/complete': sends(({ importId }) => `/imports/${importId}/complete`, 422),
  'POST /imports/{id}/cancel': sends(({ importId }) => `/imports/${importId}/cancel`, 422),
  'GET /exports': lists('/exports', ({ exportId }) => exportId),
  'POST /exports': sends(
    () => '/exports',
    422,
    ({ branchId, tableKey }) => ({
      branch_id: branchId,
      table_definition_key: tableKey,
      pattern: 'backwards',
    }),
  ),
  'GET /exports/{id}': reads(({ exportId }) => `/exports/${exportId}`),
  'POST /exports/{id}/cancel': sends(({ exportId }) => `/exports/${exportId}/cancel`, 422),
  'GET /import_mappings': lists('/import_mappings', ({ mappingId }) => mappingId),
  'POST /import_mappings': sends(
    () => '/import_mappings',
    422,
    ({ tableId }) => ({ table_definition_id: tableId, name: '' }),
  ),
  'POST /import_mappings/suggest': sends(
    () => '/import_mappings/suggest',
    200,
    ({ tableId }) => ({ table_definition_id: tableId, sample: 'code,name\nA,one\n' }),
  ),
  'GET /import_mappings/{id}': reads(({ mappingId }) => `/import_mappings/${mappingId}`),
  'PATCH /import_mappings/{id}': sends(({ mappingId }) => `/import_mappings/${mappingId}`, 422, nameless),
  'DELETE /import_mappings/{id}': {
    ...reads(({ mappingId }) => `/import_mappings/${mappingId}`, 204),
    made: async ({ admin, tableId }) => {
      const body = { table_definition_id: tableId, name: `Scratch ${unique()}` };
      return { path: `/import_mappings/${(await admin.post<Made>('/import_mappings', body)).id}` };
    },
  },
};
