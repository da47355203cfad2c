// Builders for tests of the system: they use the operators' CLI and the public API, have defaults
// for everything, and answer what they made. Two calls share nothing.
import { randomBytes } from 'node:crypto';
import { type Api, createApi, type Page, poll, upload } from '@almanac/api-client/api';
import { type Application, type Person, signInMachine, signInPerson } from '@almanac/api-client/sign-in';
import { type Client, createClient } from '@almanac/client';
import { admin } from './system.ts';

export type Plan = 'free' | 'plus' | 'business' | 'enterprise';

export type Account = {
  id: number;
  baseUrl: string;
  admin: Person;
  application: Application;
  /** Calls as the application itself, without a user. */
  machine(scope?: string): Promise<Api>;
  /** Calls on behalf of the administrator. */
  person(scope?: string): Promise<Api>;
  /** The published client, on behalf of the administrator. */
  client(): Promise<Client>;
};

/** Address of the system under test. */
export function baseUrl(): string {
  const url = process.env.ALMANAC_BASE_URL;
  if (!url) throw new Error('ALMANAC_BASE_URL is not set: run tests with `npm test`, which starts a system.');
  return url.replace(/\/+$/, '');
}

/** Letters and digits that no other call gives. */
export const unique = () => randomBytes(4).toString('hex');

export type Colleague = { api: Api; id: number; email: string; token: string };

/** Another person of the account, a member of the group of this name; of the first if several. */
export async function givenColleague(account: Account, groupName: string): Promise<Colleague> {
  const api = await account.person();
  const [email, password] = [`person-${unique()}@example.com`, 'correct horse battery staple'];
  const { id } = await api.post<{ id: number }>('/users', { email, password, license_type: 'developer' });
  const { data } = await api.get<Page<{ id: number; name: string }>>('/user_groups?per_page=1000');
  const group = data.find(({ name }) => name === groupName) ?? data.find(({ name }) => name.endsWith(` ${groupName}`));
  await api.post('/user_group_assignments', { user_id: id, user_group_id: group?.id });
  const { access_token } = await signInPerson(account.baseUrl, account.application, { email, password });
  return { api: createApi(account.baseUrl, access_token), id, email, token: access_token };
}

type Created = { account_id: number; admin: Person; application: Application };

/** A new account, ready for calls. `allowance` replaces the plan's. */
export async function givenAccount({
  plan = 'business' as Plan,
  allowance = undefined as number | undefined,
  name = `Account ${unique()}`,
  email = `admin-${unique()}@example.com`,
} = {}): Promise<Account> {
  const command = ['accounts', 'create', '--name', name, '--plan', plan];
  const made = await admin<Created>([
    ...command,
    '--admin-email',
    email,
    '--redirect-uri',
    'http://127.0.0.1:9876/callback',
  ]);
  if (allowance !== undefined)
    await admin(['accounts', 'update', String(made.account_id), '--allowance', String(allowance)]);
  const url = baseUrl();
  return {
    id: made.account_id,
    baseUrl: url,
    admin: made.admin,
    application: made.application,
    machine: async (scope) => createApi(url, (await signInMachine(url, made.application, scope)).access_token),
    person: async (scope) =>
      createApi(url, (await signInPerson(url, made.application, made.admin, scope)).access_token),
    client: async () => {
      const { access_token: token } = await signInPerson(url, made.application, made.admin);
      return createClient({ baseUrl: url, token });
    },
  };
}

export type Column = {
  name: string;
  data_type: string;
  length?: number;
  scale?: number;
  is_primary_key?: boolean;
  is_required?: boolean;
  foreign_key_table_id?: number;
  is_hierarchy?: boolean;
  valid_values?: string;
};

export type DeployedTable = { id: number; key: string; name: string; branchId: number; domainId: number };

export const defaultColumns: Column[] = [
  { name: 'code', data_type: 'string', length: 10, is_primary_key: true, is_required: true },
  { name: 'name', data_type: 'string', length: 100 },
];

/** The id of the account's branch `main`. */
export async function mainBranchId(api: Api): Promise<number> {
  type Branch = { id: number; is_default: boolean };
  const page = await poll(
    () => api.get<Page<Branch>>('/branches'),
    ({ data }) => data.some((branch) => branch.is_default),
  );
  return (page.data.find((branch) => branch.is_default) as Branch).id;
}

/**
 * A deployed table on `main`, in a new domain unless one is given. `api` needs a user when the plan
 * has branching.
 */
export async function givenDeployedTable(
  api: Api,
  {
    columns = defaultColumns,
    name = `Table ${unique()}`,
    domainId = undefined as number | undefined,
    withoutBranching = false,
  } = {},
): Promise<DeployedTable> {
  const branchId = await mainBranchId(api);
  const domain =
    domainId ?? (await api.post<{ id: number }>('/domains', { domain: { name: `Domain ${unique()}` } })).id;
  const { id, key } = await api.post<{ id: number; key: string }>('/table_definitions', {
    branch_id: branchId,
    table_definition: { name, domain_id: domain },
  });
  for (const column_definition of columns)
    await api.post('/column_definitions', { table_definition_id: id, column_definition });
  if (withoutBranching) await api.post(`/table_definitions/${id}/deploy`);
  else await deployTable(api, { id, branchId });
  return { id, key, name, branchId, domainId: domain };
}

/** Deploys the draft of a table on its branch. */
export async function deployTable(api: Api, { id, branchId }: Pick<DeployedTable, 'id' | 'branchId'>): Promise<void> {
  const deployment = await api.post<{ id: number }>('/deployments', {
    branch_id: branchId,
    table_definition_ids: [id],
  });
  await api.post(`/deployments/${deployment.id}/deploy`);
}

/** A branch with a copy of the table and of its rows, in service. */
export async function givenBranchCopy(
  api: Api,
  tableId: number,
  name = `Work ${unique()}`,
): Promise<{ branchId: number; id: number }> {
  const copy = { table_definition_ids: [tableId], include_data: true, deploy: true };
  const { id: branchId, copied } = await api.post('/branches', { branch: { name }, copy });
  return { branchId, id: copied.table_definitions[0].id };
}

export type ImportedTable = {
  status: string;
  errors: string[];
  rejections: { row: number; column: string; value: string; message: string }[];
  metrics: Record<string, number> | null;
};

/** Exports a table with these options; answers the completed export and its file. */
export async function exportFile(api: Api, table: DeployedTable, options: Record<string, unknown>) {
  const source = { branch_id: table.branchId, table_definition_key: table.key };
  const { id } = await api.post<{ id: number }>('/exports', { ...source, ...options });
  const done = await poll(
    () => api.get(`/exports/${id}`),
    ({ status }) => /^(completed|failed)$/.test(status),
  );
  if (done.status !== 'completed') throw new Error(`The export ended as ${JSON.stringify(done)}`);
  return { done, file: new Uint8Array(await (await fetch(done.download_url)).arrayBuffer()) };
}

/** Imports a file into a table with these options, and waits for the end of the import. */
export async function importFile(
  api: Api,
  table: Pick<DeployedTable, 'id' | 'branchId'>,
  options: Record<string, unknown>,
  file: string | Uint8Array,
): Promise<ImportedTable> {
  const { id } = await api.post<{ id: number }>('/imports', { branch_id: table.branchId });
  const { upload_url } = await api.post(`/imports/${id}/tables`, { table_definition_id: table.id, ...options });
  await upload(upload_url, file);
  await api.post(`/imports/${id}/upload_complete`);
  const done = await poll(
    () => api.get<{ status: string; import_tables: [ImportedTable] }>(`/imports/${id}`),
    ({ status }) => !/^(created|uploading|processing)$/.test(status),
  );
  return done.import_tables[0];
}
