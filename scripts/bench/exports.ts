// Exports as the bench orders them.
import type { Api } from '@almanac/api-client/api';
import type { DeployedTable } from '@almanac/testkit/builders';
import { finished } from './imports.ts';

type Export = { id: number; status: string; rows_exported: number; download_url: string };
export type Exported = { seconds: number; downloadUrl: string };

/** From the order until the file is in the object store. */
export async function runExport(
  api: Api,
  table: Pick<DeployedTable, 'branchId' | 'key'>,
  rows: number,
  how: Record<string, unknown>,
): Promise<Exported> {
  const begun = performance.now();
  const body = { branch_id: table.branchId, table_definition_key: table.key, pattern: 'full', ...how };
  const { id } = await api.post<Export>('/exports', body);
  const done = await finished(() => api.get<Export>(`/exports/${id}`));
  if (done.status !== 'completed' || done.rows_exported !== rows)
    throw new Error(`The export ended as ${JSON.stringify(done)}`);
  return { seconds: (performance.now() - begun) / 1_000, downloadUrl: done.download_url };
}
