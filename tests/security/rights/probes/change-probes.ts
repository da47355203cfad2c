// Deployments, promotions and change requests.
import { lists, onEitherBranch, type Probe, reads, sends } from './probe.ts';

export const changeProbes: Record<string, Probe> = {
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
  'GET /promotions/{id}/decisions': reads(({ promotionId }) => `/promotions/${promotionId}/decisions`),
  ...onEitherBranch(
    'POST /promotions/{id}/decisions',
    sends(
      ({ promotionId }) => `/promotions/${promotionId}/decisions`,
      422,
      () => ({ decisions: [{ filter: {}, decision: 'reject' }] }),
    ),
  ),
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
  'POST /change_requests/{id}/operations/where': sends(
    ({ changeRequestId }) => `/change_requests/${changeRequestId}/operations/where`,
    422,
    ({ tableId }) => ({ table_definition_id: tableId, all: true, operation: 'delete', expected_count: 99_999 }),
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
};
