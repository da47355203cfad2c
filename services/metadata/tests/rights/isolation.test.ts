// Nothing of another account can be seen, named or changed: a foreign id answers byte for byte like
// one that never existed. The cases are made from the routes, so a new route with an id is covered
// or fails here.
import { metadataRoutes } from '../../src/http.ts';
import {
  type Account,
  type Api,
  callingAs,
  givenAccount,
  givenAdmin,
  givenTable,
  type Metadata,
  startMetadata,
} from '../given.ts';

let metadata: Metadata;
let ours: Account & { admin: Api };
let theirs: Account & { admin: Api };
let their: Record<string, number>;
let table: { id: number; uuid: string; key: string; column_definitions: { id: number }[] };
const never = 1_999_999_999;

beforeAll(async () => {
  metadata = await startMetadata();
  const make = async () => {
    const account = await givenAccount(metadata);
    return { ...account, admin: givenAdmin(metadata, account.id) };
  };
  theirs = await make();
  ours = await make();
  table = await givenTable(theirs, 'Codes');
  await givenTable(ours, 'Ours');
  const on = { branch_id: theirs.mainId, table_definition_ids: [table.id] };
  const deployed = await theirs.admin.post('/deployments', on);
  await theirs.admin.post(`/deployments/${deployed.id}/deploy`);
  const open = await theirs.admin.post('/deployments', on);
  const branch = await theirs.admin.post('/branches', { name: 'feature' });
  const between = { from_branch_id: theirs.mainId, to_branch_id: branch.id };
  const view = { name: 'By code', sharing: 'shared', state: {} };
  const saved = await theirs.admin.post('/views', { table_definition_id: table.id, view });
  const promotion = await theirs.admin.post('/promotions', { ...between, table_definition_ids: [table.id] });
  const request = await theirs.admin.post('/change_requests', { branch_id: theirs.mainId, title: 'Rows' });
  their = {
    domains: theirs.domainId,
    branches: branch.id,
    table_definitions: table.id,
    column_definitions: table.column_definitions[0]?.id as number,
    deployed_table_definitions: table.id,
    deployments: open.id,
    promotions: promotion.id,
    change_requests: request.id,
    views: saved.id,
  };
});
afterAll(() => metadata.stop());

async function everythingOfTheirs(): Promise<string> {
  const parts = await Promise.all(
    Object.entries(their).flatMap(([resource, id]) => [
      theirs.admin.get(`/${resource}/${id}`),
      resource === 'column_definitions' || resource === 'views' ? undefined : theirs.admin.get(`/${resource}`),
    ]),
  );
  return JSON.stringify(parts);
}

// A body that would be accepted if the object were ours.
const bodies: Record<string, (id: number) => unknown> = {
  'PATCH /domains/{id}': () => ({ name: 'Taken' }),
  'PATCH /branches/{id}': () => ({ description: 'taken' }),
  'PATCH /table_definitions/{id}': () => ({ description: 'taken' }),
  'PATCH /column_definitions/{id}': () => ({ description: 'taken' }),
  'POST /table_definitions/{id}/clone': () => ({ target_branch_id: ours.mainId }),
};

it('every route with an id answers a foreign one as an unknown one', async () => {
  const before = await everythingOfTheirs();
  const withId = metadataRoutes(metadata.context).filter(({ path }) => path.includes('{id}'));
  expect(withId.length).toBeGreaterThanOrEqual(20);
  for (const { method, path, extension } of withId) {
    const resource = path.split('/')[1] as string;
    const body = bodies[`${method} ${path}`];
    // The one route that is for plans without branching.
    const api =
      extension && path.endsWith('/deploy')
        ? callingAs(metadata, { accountId: ours.id, branching: false })
        : ours.admin;
    const call = (id: number) => api.send(method, path.replace('{id}', String(id)), body?.(id));
    const foreign = await call(their[resource] as number);
    expect({ route: `${method} ${path}`, ...foreign }).toMatchObject({ status: 404 });
    expect(foreign).toEqual(await call(never));
  }
  expect(await everythingOfTheirs()).toBe(before);
});

it('uuid, key and key with a foreign branch are unknown', async () => {
  const unknown = await ours.admin.send('GET', `/table_definitions/${never}`);
  for (const handle of [
    table.uuid,
    `${table.key}?branch_id=${ours.mainId}`,
    `${table.key}?branch_id=${theirs.mainId}`,
    `ours?branch_id=${theirs.mainId}`,
  ])
    expect(await ours.admin.send('GET', `/table_definitions/${handle}`)).toEqual(unknown);
});

it('ids inside bodies are unknown, and nothing is written', async () => {
  const before = await everythingOfTheirs();
  const own = (await ours.admin.get('/table_definitions')).data[0];
  const column = (await ours.admin.get(`/table_definitions/${own.id}`)).column_definitions[0];
  const named = (name: string, foreign: number, request: (id: number) => [string, string, unknown]) => ({
    name,
    foreign,
    request,
  });
  const cases = [
    named('branch_id of a definition', theirs.mainId, (branch_id) => [
      'POST',
      '/table_definitions',
      { branch_id, name: 'X', domain_id: ours.domainId },
    ]),
    named('domain_id of a definition', theirs.domainId, (domain_id) => [
      'POST',
      '/table_definitions',
      { branch_id: ours.mainId, name: 'X', domain_id },
    ]),
    named('domain_id of a change', theirs.domainId, (domain_id) => [
      'PATCH',
      `/table_definitions/${own.id}`,
      { domain_id },
    ]),
    named('lookup_display_column_id', their.column_definitions as number, (lookup_display_column_id) => [
      'PATCH',
      `/table_definitions/${own.id}`,
      { lookup_display_column_id },
    ]),
    named('table_definition_id of a column', table.id, (table_definition_id) => [
      'POST',
      '/column_definitions',
      { table_definition_id, name: 'x', data_type: 'text' },
    ]),
    named('foreign_key_table_id', table.id, (foreign_key_table_id) => [
      'PATCH',
      `/column_definitions/${column.id}`,
      { foreign_key_table_id },
    ]),
    named('target_branch_id', their.branches as number, (target_branch_id) => [
      'POST',
      `/table_definitions/${own.id}/clone`,
      { target_branch_id },
    ]),
    named('parent_branch_id', their.branches as number, (parent_branch_id) => [
      'POST',
      '/branches',
      { name: 'x', parent_branch_id },
    ]),
    named('current branch', their.branches as number, (branch_id) => [
      'POST',
      '/branches/set_current_branch',
      { branch_id },
    ]),
    named('branch_id of a deployment', theirs.mainId, (branch_id) => [
      'POST',
      '/deployments',
      { branch_id, table_definition_ids: [own.id] },
    ]),
    named('an element of table_definition_ids', table.id, (id) => [
      'POST',
      '/deployments',
      { branch_id: ours.mainId, table_definition_ids: [own.id, id] },
    ]),
    named('an element of remove_table_definition_ids', table.id, (id) => [
      'POST',
      '/deployments',
      { branch_id: ours.mainId, table_definition_ids: [own.id], remove_table_definition_ids: [id] },
    ]),
    named('from_branch_id of a promotion', theirs.mainId, (from_branch_id) => [
      'POST',
      '/promotions',
      { from_branch_id, to_branch_id: ours.mainId, table_definition_ids: [own.id] },
    ]),
    named('to_branch_id of a promotion', their.branches as number, (to_branch_id) => [
      'POST',
      '/promotions',
      { from_branch_id: ours.mainId, to_branch_id, table_definition_ids: [own.id] },
    ]),
    named('a table of a promotion', table.id, (id) => [
      'POST',
      '/promotions',
      { from_branch_id: ours.mainId, to_branch_id: ours.mainId, table_definition_ids: [own.id, id] },
    ]),
  ];
  for (const { name, foreign, request } of cases) {
    const answer = await ours.admin.send(...request(foreign));
    expect({ name, status: answer.status }).toEqual({ name, status: answer.status === 404 ? 404 : 422 });
    expect(answer).toEqual(await ours.admin.send(...request(never)));
  }
  expect(await everythingOfTheirs()).toBe(before);
});

it('lists hold only what is ours, also when filtered by what is theirs', async () => {
  for (const path of [
    `/table_definitions?branch_id=${theirs.mainId}`,
    `/table_definitions?domain_id=${theirs.domainId}`,
    `/column_definitions?table_definition_id=${table.id}`,
    `/deployed_table_definitions?branch_id=${theirs.mainId}`,
    `/deployed_table_definitions?domain_id=${theirs.domainId}`,
    `/deployments?branch_id=${theirs.mainId}`,
    `/table_definitions?q=id:eq:${table.id}`,
    `/branches?q=id:eq:${their.branches}`,
    '/deployed_table_definitions',
    '/deployments',
    `/promotions?from_branch_id=${theirs.mainId}`,
    '/promotions',
  ])
    expect((await ours.admin.get(path)).meta.total_count).toBe(0);
  expect((await ours.admin.get('/domains')).meta.total_count).toBe(1);
  expect((await ours.admin.get('/branches')).meta.total_count).toBe(1);
});
