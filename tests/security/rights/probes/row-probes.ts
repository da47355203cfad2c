// Searching and views, and the rows of tables.
import { givenView } from '../world.ts';
import { type Probe, reads, sends } from './probe.ts';

export const rowProbes: Record<string, Probe> = {
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
};
