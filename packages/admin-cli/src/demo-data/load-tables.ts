// Loads tables with their rows into an account by the public API: domain, definitions, one
// deployment, imports. It looks before it creates, so that it can be repeated, and makes few calls,
// since they count.
import { type Api, type Page, poll, upload as uploadHere } from '@almanac/api-client/api';
import { domain, type SeedTable, toCsv } from './iso-data.ts';

type Named = { id: number; name: string };
type Definition = Named & { key: string; lookup_display_column_id: number | null; deployed_version: number | null };
type ImportTable = { upload_url: string };
type Import = { id: number; status: string };

export type LoadedTable = { name: string; rows: number };

/** Uploads a file to a pre-signed URL. */
export type Upload = (url: string, content: string) => Promise<void>;

const correlationCode = 'demo-iso-data';
const open = /^(created|uploading|processing)$/;

/** Loads `tables` (each after those it refers to) into `main`, and returns the rows of each. */
export async function loadTables(
  api: Api,
  tables: SeedTable[],
  announce: (what: string) => void,
  upload: Upload = uploadHere,
): Promise<LoadedTable[]> {
  announce('the domain');
  const domainId = await ensureDomain(api);
  const branchId = await findMain(api);
  announce('the table definitions');
  const definitions = await ensureDefinitions(api, tables, domainId, branchId);
  announce('the deployment');
  await ensureDeployed(api, branchId, [...definitions.values()]);
  announce(`the rows of ${tables.map((table) => table.name).join(', ')}`);
  await ensureImported(api, branchId, tables, definitions, upload);
  return tables.map((table) => ({ name: table.name, rows: table.rows.length }));
}

async function ensureDomain(api: Api): Promise<number> {
  const { data } = await api.get<Page<Named>>('/domains?per_page=1000');
  const found = data.find(({ name }) => name === domain.name);
  return (found ?? (await api.post<Named>('/domains', { domain }))).id;
}

async function findMain(api: Api): Promise<number> {
  // An event creates the branch of a new account, a moment after the account.
  const { data } = await poll(
    () => api.get<Page<Named & { is_default: boolean }>>('/branches?per_page=1000'),
    (page) => page.data.some((branch) => branch.is_default),
  );
  return (data.find((branch) => branch.is_default) as Named).id;
}

async function ensureDefinitions(api: Api, tables: SeedTable[], domainId: number, branchId: number) {
  const { data } = await api.get<Page<Definition>>(`/table_definitions?branch_id=${branchId}&per_page=1000`);
  const byName = new Map<string, Definition>(data.map((definition) => [definition.name, definition]));
  for (const { name, description, columns, display } of tables) {
    const found = byName.get(name);
    const table_definition = { name, description, domain_id: domainId };
    const definition =
      found ?? (await api.post<Definition>('/table_definitions', { branch_id: branchId, table_definition }));
    byName.set(name, definition);
    const existing = found ? await findColumns(api, found.id) : [];
    for (const { refersTo, ...column } of columns) {
      if (existing.some((one) => one.name === column.name)) continue;
      const target = refersTo ? { foreign_key_table_id: byName.get(refersTo)?.id } : {};
      const created = await api.post<Named>('/column_definitions', {
        table_definition_id: definition.id,
        column_definition: { ...column, ...target },
      });
      existing.push(created);
    }
    const shown = existing.find((column) => column.name === display);
    if (shown && definition.lookup_display_column_id === null && definition.deployed_version === null)
      await api.patch(`/table_definitions/${definition.id}`, {
        table_definition: { lookup_display_column_id: shown.id },
      });
  }
  return new Map(tables.map(({ name }) => [name, byName.get(name) as Definition]));
}

async function findColumns(api: Api, tableDefinitionId: number): Promise<Named[]> {
  const path = `/column_definitions?table_definition_id=${tableDefinitionId}&per_page=1000`;
  return (await api.get<Page<Named>>(path)).data;
}

async function ensureDeployed(api: Api, branchId: number, definitions: Definition[]): Promise<void> {
  const path = `/deployed_table_definitions?branch_id=${branchId}&per_page=1000`;
  const deployed = (await api.get<Page<{ table_definition_id: number }>>(path)).data;
  const isDeployed = ({ id }: Definition) => deployed.some((table) => table.table_definition_id === id);
  if (definitions.every(isDeployed)) return;
  const deployment = await api.post<{ id: number }>('/deployments', {
    branch_id: branchId,
    table_definition_ids: definitions.map(({ id }) => id),
  });
  await api.post(`/deployments/${deployment.id}/deploy`);
}

// An import loads its tables in the order in which they were added: referenced tables first.
async function ensureImported(
  api: Api,
  branchId: number,
  tables: SeedTable[],
  definitions: Map<string, Definition>,
  upload: Upload,
): Promise<void> {
  const { data } = await api.get<Page<Import>>(`/imports?q=correlation_code:eq:${correlationCode}&per_page=1000`);
  if (data.some(({ status }) => status === 'completed')) return;
  const underWay = data.find(({ status }) => status === 'processing');
  const id = underWay?.id ?? (await startImport(api, branchId, tables, definitions, upload));
  const done = await poll(
    () => api.get<Import>(`/imports/${id}`),
    ({ status }) => !open.test(status),
    { timeoutMs: 300_000 },
  );
  if (done.status !== 'completed') throw new Error(`The import of the ISO data ended as ${JSON.stringify(done)}`);
}

async function startImport(
  api: Api,
  branchId: number,
  tables: SeedTable[],
  definitions: Map<string, Definition>,
  upload: Upload,
): Promise<number> {
  const { id } = await api.post<Import>('/imports', { branch_id: branchId, correlation_code: correlationCode });
  for (const table of tables) {
    const { upload_url } = await api.post<ImportTable>(`/imports/${id}/tables`, {
      table_definition_id: definitions.get(table.name)?.id,
      pattern: 'full',
    });
    await upload(upload_url, toCsv(table));
  }
  await api.post(`/imports/${id}/upload_complete`);
  return id;
}
