// Exports as the bench orders them.
import type { Api } from '@almanac/api-client/api';
import type { DeployedTable } from '@almanac/testkit/builders';
import { completed } from './imports.ts';

type Export = { id: number; rows_exported: number; download_url: string };
export type Exported = { seconds: number; downloadUrl: string };

/** From the order until the file is in the object store. */
export async function runExport(
  api: Api,
  table: Pick<DeployedTable, 'branchId' | 'key'>,
  rows: number,
  how: Record<string, unknown>,
): Promise<Exported> {
  const body = { branch_id: table.branchId, table_definition_key: table.key, pattern: 'full', ...how };
  const order = async () => `/exports/${(await api.post<Export>('/exports', body)).id}`;
  const { done, seconds } = await completed<Export>(order, api);
  if (done.rows_exported !== rows) throw new Error(`The export ended as ${JSON.stringify(done)}`);
  return { seconds, downloadUrl: done.download_url };
}
