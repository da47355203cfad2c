// Imports, exports and import mappings.
import { unique } from '@almanac/testkit/system/builders';
import { lists, type Made, nameless, type Probe, reads, sends } from './probe.ts';

export const fileProbes: Record<string, Probe> = {
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
  'GET /imports/{id}/tables/{table_id}/rejected_rows': reads(
    ({ importId, importTableId }) => `/imports/${importId}/tables/${importTableId}/rejected_rows`,
  ),
  'POST /imports/{id}/tables/{table_id}/correct': sends(
    ({ importId, importTableId }) => `/imports/${importId}/tables/${importTableId}/correct`,
    422, // it has rejected no row
    () => ({ rows: [{ row: 2, cells: { code: 'C' } }] }),
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
