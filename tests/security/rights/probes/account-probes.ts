// The account, its people and groups, its programs.
import { unique } from '@almanac/testkit/system/builders';
import { webhookAttributes } from '../world.ts';
import { lists, type Made, nameless, type Probe, reads, sends } from './probe.ts';

const email = () => `scratch-${unique()}@example.com`;

export const accountProbes: Record<string, Probe> = {
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
};
