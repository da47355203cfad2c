// The tables of the bench in the product, and how they get their rows: definitions, a deployment, imports.
import { type Api, poll, upload } from '@almanac/api-client/api';
import { type DeployedTable, givenDeployedTable } from '@almanac/testkit/builders';
import { categoryColumns, columns, makeCategoryCsv } from './rows.ts';

/** Deploys the categories with their rows; answers the id of the table. */
export async function deployCategories(api: Api): Promise<number> {
  const table = await givenDeployedTable(api, { name: 'Categories', columns: categoryColumns });
  await importFile(api, table, makeCategoryCsv());
  return table.id;
}

/** Deploys a table of products without rows. */
export function deployProducts(api: Api, name: string, categoriesId: number): Promise<DeployedTable> {
  const own = columns.map(({ sql, ...column }) =>
    column.name === 'category_id' ? { ...column, foreign_key_table_id: categoriesId } : column,
  );
  return givenDeployedTable(api, { name, columns: own });
}

type Import = { id: number; import_tables?: { metrics?: { inserted: number } }[] };

/** Imports the file, all of the table unless told otherwise; answers the seconds from "the upload is complete" to "completed": the upload is not the system's work. */
export async function importFile(
  api: Api,
  table: Pick<DeployedTable, 'id' | 'branchId'>,
  csv: Buffer,
  pattern: 'full' | 'incremental' = 'full',
): Promise<number> {
  const { id } = await api.post<Import>('/imports', { branch_id: table.branchId });
  const { upload_url } = await api.post(`/imports/${id}/tables`, { table_definition_id: table.id, pattern });
  await upload(upload_url, csv);
  const { seconds } = await completed(async () => {
    await api.post(`/imports/${id}/upload_complete`);
    return `/imports/${id}`;
  }, api);
  return seconds;
}

type Ending = { status: string; finished_at: string | null };

/**
 * Begins an import or an export, waits until it is over, and answers it with the seconds until then by its own account: asking oftener, to see it
 * sooner, would take part of the cores.
 */
export async function completed<T>(begin: () => Promise<string>, api: Api): Promise<{ done: T; seconds: number }> {
  const begun = Date.now();
  const path = await begin();
  const isOver = ({ status }: Ending) => !/^(created|uploading|processing)$/.test(status);
  const done = await poll(() => api.get<T & Ending>(path), isOver, { timeoutMs: 1_800_000, everyMs: 100 });
  if (done.status !== 'completed') throw new Error(`${path} ended as ${JSON.stringify(done)}`);
  return { done, seconds: (Date.parse(done.finished_at as string) - begun) / 1_000 };
}
