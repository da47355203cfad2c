// A private branch and all that is on it, by the public API: its owner, the members of its groups
// and administrators see it; for all others, whatever their rights on the account or the domain, it
// does not exist.
import { type Api, createApi, type Page, poll } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, defaultColumns, givenAccount, unique } from '@almanac/testkit/system/builders';

type Made = { id: number };
type Group = { id: number; name: string };

const password = 'correct horse battery staple';
const unknown = 999_999_999;

let admin: Api;
let machine: Api;
let owner: Api;
let member: Api;
let developer: Api;
let viewer: Api;
let branch: { id: number; name: string };
let developers: Group;
/** Paths of lists, each with the id of the branch's item in them. */
let lists: [path: string, id: number][];
/** Paths of single items, each with the same path of an unknown one. */
let reads: [path: string, unknown: string][];

async function givenPerson(account: Account, ...groups: Group[]): Promise<Api> {
  const email = `person-${unique()}@example.com`;
  const { id } = await admin.post<Made>('/users', { email, password, license_type: 'developer' });
  for (const group of groups) await admin.post('/user_group_assignments', { user_id: id, user_group_id: group.id });
  const { access_token } = await signInPerson(account.baseUrl, account.application, { email, password });
  return createApi(account.baseUrl, access_token);
}

const groupNamed = async (name: string): Promise<Group> => {
  const { data } = await admin.get<Page<Group>>('/user_groups?per_page=1000');
  return data.find((group) => group.name === name) as Group;
};

beforeAll(async () => {
  const account = await givenAccount();
  admin = await account.person();
  machine = await account.machine();
  const domain = await admin.post<Made>('/domains', { domain: { name: `Domain ${unique()}` } });
  const { data } = await admin.get<Page<Group>>(`/user_groups?q=resource_type:eq:domain&q=resource_id:eq:${domain.id}`);
  const viewers = data.find(({ name }) => name.endsWith('Viewers')) as Group;
  viewer = await givenPerson(account, viewers);
  developer = await givenPerson(account, await groupNamed('Developers'));
  owner = await givenPerson(account, await groupNamed('Developers'));
  branch = await owner.post('/branches', { branch: { name: `Secret ${unique()}`, branch_type: 'private' } });
  developers = await groupNamed(`${branch.name} Developers`);
  member = await givenPerson(account, await groupNamed(`${branch.name} Editors`));

  const table = await owner.post<Made & { key: string }>('/table_definitions', {
    branch_id: branch.id,
    table_definition: { name: `Plans ${unique()}`, domain_id: domain.id },
  });
  const columns: Made[] = [];
  for (const column_definition of defaultColumns)
    columns.push(await owner.post<Made>('/column_definitions', { table_definition_id: table.id, column_definition }));
  const deployment = await owner.post<Made>('/deployments', {
    branch_id: branch.id,
    table_definition_ids: [table.id],
  });
  await owner.post(`/deployments/${deployment.id}/deploy`);
  const record = { code: 'A', name: 'a' };
  const row = await owner.post('/table_data', { table_definition_id: table.id, record });
  const mapping = await owner.post<Made>('/import_mappings', { table_definition_id: table.id, name: 'Mapping' });
  const opened = await owner.post<Made>('/imports', { branch_id: branch.id });
  await owner.post(`/imports/${opened.id}/tables`, { table_definition_id: table.id, pattern: 'incremental' });
  const wanted = { branch_id: branch.id, table_definition_key: table.key, pattern: 'full' };
  const exported = await owner.post<Made>('/exports', wanted);
  await poll(
    () => owner.get<{ status: string }>(`/exports/${exported.id}`),
    ({ status }) => status === 'completed',
  );
  const column = columns[0] as Made;
  lists = [
    ['/branches', branch.id],
    ['/table_definitions', table.id],
    [`/table_definitions?branch_id=${branch.id}`, table.id],
    ['/column_definitions', column.id],
    ['/deployed_table_definitions', table.id],
    ['/deployments', deployment.id],
    ['/imports', opened.id],
    ['/exports', exported.id],
    ['/import_mappings', mapping.id],
    ['/user_groups', developers.id],
  ];
  const one = (path: string, id: number): [string, string] => [`${path}/${id}`, `${path}/${unknown}`];
  reads = [
    one('/branches', branch.id),
    one('/table_definitions', table.id),
    one('/column_definitions', column.id),
    one('/deployed_table_definitions', table.id),
    one('/deployments', deployment.id),
    one('/imports', opened.id),
    one('/exports', exported.id),
    one('/import_mappings', mapping.id),
    one('/user_groups', developers.id),
    [`/table_data?table_definition_id=${table.id}`, `/table_data?table_definition_id=${unknown}`],
    [
      `/table_data/${row.record.svc_sk}?table_definition_id=${table.id}`,
      `/table_data/${row.record.svc_sk}?table_definition_id=${unknown}`,
    ],
  ];
});

/**
 * What a user finds of the branch: the lists that have it (counted as listed), and the reads that
 * answer differently from those of unknown ids.
 */
async function found(api: Api) {
  const listed: string[] = [];
  for (const [path, id] of lists) {
    const { data, meta } = await api.get<Page<Made>>(`${path}${path.includes('?') ? '&' : '?'}per_page=1000`);
    expect([path, meta.total_count]).toEqual([path, data.length]);
    if (data.some((each) => each.id === id)) listed.push(path);
  }
  const read: string[] = [];
  for (const [path, nothing] of reads) {
    const [answer, absent] = [await api.send('GET', path), await api.send('GET', nothing)];
    if (answer.status === 200) read.push(path);
    else expect([path, answer.status, answer.body]).toEqual([path, 404, absent.body]);
  }
  return { listed, read };
}
const everything = () => ({ listed: lists.map(([path]) => path), read: reads.map(([path]) => path) });
const nothing = { listed: [], read: [] };

it.each([
  ['its owner', () => owner],
  ['a member of one of its groups', () => member],
  ['an administrator', () => admin],
])('is found in every list and read by %s', async (_who, api) => {
  expect(await found(api())).toEqual(everything());
});

it('is listed for an application, which acts for the whole account', async () => {
  const { data } = await machine.get<Page<Made>>('/branches?per_page=1000');
  expect(data.map(({ id }) => id)).toContain(branch.id);
  for (const [path] of reads.filter(([path]) => !path.startsWith('/deployments')))
    expect([path, (await machine.send('GET', path)).status]).toEqual([path, 200]);
});

it.each([
  ['a viewer of its tables’ domain', () => viewer],
  ['a developer of the account', () => developer],
])('is not there for %s', async (_who, api) => {
  expect(await found(api())).toEqual(nothing);
  for (const path of ['/user_groups', '/permissions', '/user_group_assignments', '/branches', '/table_definitions'])
    expect(JSON.stringify(await api().get(`${path}?per_page=1000`))).not.toContain(branch.name);
  const { data } = await api().get<Page<{ user_group_id: number }>>('/user_group_assignments?per_page=1000');
  expect(data.filter(({ user_group_id }) => user_group_id === developers.id)).toEqual([]);
  const permissions = await api().get<Page<{ user_group_id: number }>>('/permissions?per_page=1000');
  expect(permissions.data.filter(({ user_group_id }) => user_group_id === developers.id)).toEqual([]);
});

it('refuses changes by a developer of the account as it refuses those of an unknown branch', async () => {
  const table = lists[1]?.[1];
  const change = (branchId: number, tableId: number | undefined): [string, string, object?][] => [
    ['PATCH', `/branches/${branchId}`, { branch: { description: 'mine' } }],
    ['DELETE', `/branches/${branchId}`],
    ['POST', '/branches/set_current_branch', { branch_id: branchId }],
    ['POST', '/imports', { branch_id: branchId }],
    ['POST', '/deployments', { branch_id: branchId, table_definition_ids: [tableId] }],
    ['PATCH', `/table_definitions/${tableId}`, { table_definition: { description: 'mine' } }],
    ['DELETE', `/table_definitions/${tableId}`],
    ['POST', `/table_definitions/${tableId}/remove`],
    ['POST', `/table_definitions/${tableId}/clone`, { target_branch_id: branchId }],
    ['POST', '/table_data', { table_definition_id: tableId, record: { code: 'B', name: 'b' } }],
    ['POST', '/branches', { branch: { name: `Child ${unique()}`, parent_branch_id: branchId } }],
  ];
  const absent = change(unknown, unknown);
  for (const [index, [method, path, body]] of change(branch.id, table).entries()) {
    const [, absentPath, absentBody] = absent[index] as [string, string, object?];
    const answer = await developer.send(method as 'POST', path, body);
    const other = await developer.send(method as 'POST', absentPath, absentBody);
    expect([method, path, answer.status, answer.body]).toEqual([method, path, other.status, other.body]);
    expect([404, 422]).toContain(answer.status);
  }
});

it('is visible when it is shared, and hidden again when it is private', async () => {
  await owner.patch(`/branches/${branch.id}`, { branch: { branch_type: 'shared' } });
  await eventually(async () => expect(await found(developer)).toEqual(everything()));
  await owner.patch(`/branches/${branch.id}`, { branch: { branch_type: 'private' } });
  await eventually(async () => expect(await found(developer)).toEqual(nothing));
  expect(await found(owner)).toEqual(everything());
});
