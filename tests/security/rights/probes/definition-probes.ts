// Domains, branches and definitions.
import { unique } from '@almanac/testkit/system/builders';
import { lists, type Made, nameless, onEitherBranch, type Probe, reads, sends } from './probe.ts';

export const definitionProbes: Record<string, Probe> = {
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
  'GET /branches/{id}/divergence': reads(({ branchId }) => `/branches/${branchId}/divergence`),
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
};
