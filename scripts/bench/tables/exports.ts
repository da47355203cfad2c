// Exports of the bench.
import type { Api } from '@almanac/api-client/api';
import type { DeployedTable } from '@almanac/testkit/system/builders';
import { completed } from './imports.ts';

type Export = { id: number; rows_exported: number; download_url: string };
export type Exported = { seconds: number; downloadUrl: string };

/** The seconds from the request until the file is in the object store. */
export async function runExport(
  api: Api,
  table: Pick<DeployedTable, 'branchId' | 'key'>,
  rows: number,
  how: Record<string, unknown>,
): Promise<Exported> {
  const body = { branch_id: table.branchId, table_definition_key: table.key, pattern: 'full', ...how };
  const begun = Date.now();
  const { id } = await api.post<Export>('/exports', body);
  const ended = await completed<Export>(api, `/exports/${id}`, begun);
  if (ended.rows_exported !== rows) throw new Error(`The export ended as ${JSON.stringify(ended)}`);
  return { seconds: ended.seconds, downloadUrl: ended.download_url };
}
