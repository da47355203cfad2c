// Creates the tables of the bench in the product: definitions, a deployment, imports.
import { type Api, poll, upload } from '@almanac/api-client/api';
import { type DeployedTable, givenDeployedTable } from '@almanac/testkit/system/builders';
import { categoryColumns, columns, makeCategoryCsv } from './rows.ts';

const deployedCategories = new WeakMap<Api, Promise<number>>();

/** Deploys the categories with their rows, once for all parts of a run; returns the table's id. */
export function deployCategories(api: Api): Promise<number> {
  const made = deployedCategories.get(api) ?? makeCategories(api);
  deployedCategories.set(api, made);
  return made;
}

async function makeCategories(api: Api): Promise<number> {
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

type Target = Pick<DeployedTable, 'id' | 'branchId'>;
type Load = { pattern: 'full' | 'incremental'; dry_run?: boolean };
/** `path`: of the file's table in its import. */
type Loaded = { path: string; seconds: number };

/** Imports a file, by default as the whole table. Returns the seconds of `loadFile`. */
export async function importFile(
  api: Api,
  table: Target,
  csv: Buffer,
  pattern: Load['pattern'] = 'full',
): Promise<number> {
  return (await loadFile(api, table, csv, { pattern })).seconds;
}

/**
 * Loads a file, or runs that dry. The seconds are those from "upload complete" to "completed": the
 * upload isn't the system's work.
 */
export async function loadFile(api: Api, table: Target, csv: Buffer, load: Load): Promise<Loaded> {
  const { id } = await api.post<{ id: number }>('/imports', { branch_id: table.branchId });
  const added = await api.post(`/imports/${id}/tables`, { table_definition_id: table.id, ...load });
  await upload(added.upload_url, csv);
  const begun = Date.now();
  await api.post(`/imports/${id}/upload_complete`);
  const { seconds } = await completed(api, `/imports/${id}`, begun);
  return { path: `/imports/${id}/tables/${added.id}`, seconds };
}

type Ended = { status: string; finished_at: string | null };

/**
 * Waits for the end of an import or export, and returns it with the seconds since `begun`
 * (Date.now) by its own timestamps: polling more often, to see the end sooner, would cost CPU.
 */
export async function completed<T>(api: Api, path: string, begun: number): Promise<T & { seconds: number }> {
  const isOver = ({ status }: Ended) => !/^(created|uploading|processing)$/.test(status);
  const ended = await poll(() => api.get<T & Ended>(path), isOver, { timeoutMs: 1_800_000, everyMs: 100 });
  if (ended.status !== 'completed') throw new Error(`${path} ended as ${JSON.stringify(ended)}`);
  return { ...ended, seconds: (Date.parse(ended.finished_at as string) - begun) / 1_000 };
}
