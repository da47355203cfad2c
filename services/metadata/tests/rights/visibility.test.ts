// Who sees definitions and deployments, and which rights are read from identity instead of the
// cache because they matter too much.
import { type Account, type Api, givenAccount, givenTable, givenUser, type Metadata, startMetadata } from '../given.ts';

let metadata: Metadata;
let account: Account;
/** Tables in the account's domain, and in another one. */
let codes: { id: number; column_definitions: { id: number }[] };
let grades: typeof codes;
let elsewhere: number;
let deployments: { codes: number; grades: number; both: number };

type Grants = Parameters<typeof givenUser>[2];
const user = (...grants: NonNullable<Grants>) => givenUser(metadata, account.id, grants);
const setRights = (person: { id: number }, ...grants: NonNullable<Grants>) =>
  metadata.neighbours.identity.users.set(person.id, {
    license_type: 'developer',
    permissions: grants.map(([action, resource_type, resource_id]) => ({ action, resource_type, resource_id })),
  });

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  account = await givenAccount(metadata);
  elsewhere = (await account.api.post('/domains', { name: 'Elsewhere' })).id;
  codes = await givenTable(account, 'Codes');
  grades = await givenTable({ ...account, domainId: elsewhere }, 'Grades');
  const admin = user(['admin', 'account', account.id]);
  const propose = async (...ids: number[]) =>
    (await admin.post('/deployments', { branch_id: account.mainId, table_definition_ids: ids })).id;
  deployments = {
    codes: await propose(codes.id),
    grades: await propose(grades.id),
    both: await propose(codes.id, grades.id),
  };
  for (const id of [deployments.codes, deployments.grades]) await admin.post(`/deployments/${id}/deploy`);
});

/** What a user finds in the lists, and which of these they can open. */
async function visibleTo(api: Api) {
  const ids = async (path: string) => {
    const { data, meta } = await api.get(path);
    expect(meta.total_count).toBe(data.length);
    return data.map(({ id }: { id: number }) => id).sort((a: number, b: number) => a - b);
  };
  const opens = async (path: string, all: number[]) => {
    const answers = await Promise.all(all.map((id) => api.send('GET', `/${path}/${id}`)));
    for (const { status, body } of answers)
      if (status !== 200)
        expect([status, body.error, body.errors[0]]).toEqual([403, 'Forbidden', expect.stringContaining('"view"')]);
    return all.filter((_, index) => answers[index]?.status === 200);
  };
  const tables = [codes.id, grades.id];
  const columns = [codes, grades].map(({ column_definitions: [column] }) => column?.id as number);
  const listed = {
    tables: await ids('/table_definitions'),
    columns: await ids('/column_definitions'),
    deployed: await ids('/deployed_table_definitions'),
    deployments: await ids('/deployments'),
  };
  const opened = {
    tables: await opens('table_definitions', tables),
    columns: await opens('column_definitions', columns),
    deployed: await opens('deployed_table_definitions', tables),
    deployments: await opens('deployments', Object.values(deployments)),
  };
  expect(opened).toEqual(listed);
  return listed;
}

const all = () => ({
  tables: [codes.id, grades.id],
  columns: [codes.column_definitions[0]?.id, grades.column_definitions[0]?.id],
  deployed: [codes.id, grades.id],
  deployments: [deployments.codes, deployments.grades, deployments.both],
});
const onlyCodes = () => ({
  tables: [codes.id],
  columns: [codes.column_definitions[0]?.id],
  deployed: [codes.id],
  deployments: [deployments.codes],
});
const nothing = { tables: [], columns: [], deployed: [], deployments: [] };

describe('definitions and deployments', () => {
  it('are visible to users who may view the account, or have any right on their branch', async () => {
    const { id, mainId } = account;
    for (const grant of [
      ['view', 'account', id],
      ['edit', 'branch', mainId],
      ['approve', 'branch', mainId],
      ['approve', 'account', id],
    ] as const)
      expect(await visibleTo(user([...grant]))).toEqual(all());
    expect(await visibleTo(givenUser(metadata, id, [['admin', 'account', id]], { license: 'end_user' }))).toEqual(
      all(),
    );
  });

  it('are visible to users who may view their domain or the tables, and then no others', async () => {
    expect(await visibleTo(user(['view', 'domain', account.domainId]))).toEqual(onlyCodes());
    expect(await visibleTo(user(['develop', 'table_definition', codes.id]))).toEqual(onlyCodes());
    expect(
      await visibleTo(user(['view', 'domain', account.domainId], ['view', 'table_definition', grades.id])),
    ).toEqual(all());
  });

  it('are hidden from other users', async () => {
    expect(await visibleTo(user())).toEqual(nothing);
    expect(
      await visibleTo(user(['view', 'branch', account.mainId + 1_000], ['approve', 'domain', account.domainId])),
    ).toEqual(nothing);
  });

  it('are all visible to applications', async () => {
    expect((await account.api.get('/table_definitions')).meta.total_count).toBe(2);
    expect((await account.api.send('GET', `/table_definitions/${grades.id}`)).status).toBe(200);
  });

  it('reveal nothing of a hidden table by its columns or its key', async () => {
    const viewer = user(['view', 'domain', account.domainId]);
    expect((await viewer.get(`/column_definitions?table_definition_id=${grades.id}`)).meta.total_count).toBe(0);
    expect((await viewer.send('GET', `/table_definitions/grades?branch_id=${account.mainId}`)).status).toBe(403);
    expect((await viewer.get('/table_definitions?q=grades')).meta.total_count).toBe(0);
  });

  it('follow a table into another domain', async () => {
    const [before, after] = [user(['view', 'domain', elsewhere]), user(['view', 'domain', account.domainId])];
    await account.api.send('PATCH', `/table_definitions/${grades.id}`, { domain_id: account.domainId });
    expect((await before.get('/deployments')).meta.total_count).toBe(0);
    expect((await before.send('GET', `/deployments/${deployments.grades}`)).status).toBe(403);
    expect((await after.get('/deployments')).meta.total_count).toBe(3);
    // The deployed table is still in the domain that it was deployed in.
    expect((await before.get('/deployed_table_definitions')).data).toMatchObject([{ id: grades.id }]);
  });

  it('stay visible when the draft was deleted', async () => {
    await account.api.send('DELETE', `/table_definitions/${codes.id}`);
    const viewer = user(['view', 'domain', account.domainId]);
    expect((await viewer.get('/deployments')).data).toMatchObject([{ id: deployments.codes }]);
  });

  it('can not be cloned to one’s own branch when hidden', async () => {
    const developer = user(['develop', 'domain', account.domainId]);
    const branch = await developer.post('/branches', { name: 'mine' });
    const clone = (id: number) =>
      developer.send('POST', `/table_definitions/${id}/clone`, { target_branch_id: branch.id });
    expect((await clone(grades.id)).status).toBe(403);
    expect((await developer.send('POST', `/table_definitions/${grades.id}/clone`, { nonsense: 1 })).status).toBe(403);
    expect((await clone(codes.id)).status).toBe(201);
  });
});

// No event is sent in any of these, so the cache is out of date.
describe('a right that was revoked a moment ago', () => {
  it('no longer approves', async () => {
    const approver = user(['approve', 'branch', account.mainId]);
    expect((await approver.get(`/deployments/${deployments.both}`)).status).toBe('created');
    setRights(approver);
    for (const step of ['deploy', 'reject', 'abandon'])
      expect((await approver.send('POST', `/deployments/${deployments.both}/${step}`)).status).toBe(403);
    const another = user(['approve', 'branch', account.mainId]);
    expect((await another.get(`/deployments/${deployments.both}`)).status).toBe('created');
  });

  it('no longer administers, nor removes tables', async () => {
    const admin = user(['admin', 'account', account.id]);
    await admin.get(`/table_definitions/${codes.id}`);
    setRights(admin);
    const tries: [string, string][] = [
      ['POST', '/domains'],
      ['PATCH', `/domains/${elsewhere}`],
      ['DELETE', `/domains/${elsewhere}`],
      ['DELETE', `/branches/${account.mainId}`],
      ['DELETE', `/table_definitions/${codes.id}`],
      ['POST', `/table_definitions/${codes.id}/remove`],
    ];
    for (const [method, path] of tries) expect([path, (await admin.send(method, path)).status]).toEqual([path, 403]);
  });

  it('leaves the owner of a branch no rights on it', async () => {
    const owner = user(['develop', 'domain', account.domainId]);
    const { id } = await owner.post('/branches', { name: 'mine' });
    expect((await owner.send('PATCH', `/branches/${id}`, { description: 'y' })).status).toBe(200);
    setRights(owner, ['develop', 'domain', account.domainId]);
    expect((await owner.send('PATCH', `/branches/${id}`, { is_protected: false })).status).toBe(403);
    expect((await owner.send('PATCH', `/branches/${id}`, { description: 'x' })).status).toBe(403);
    expect((await owner.send('DELETE', `/branches/${id}`)).status).toBe(403);
  });

  it('is 401 when the user was deleted', async () => {
    const admin = user(['admin', 'account', account.id]);
    metadata.neighbours.identity.users.delete(admin.id);
    expect(await admin.send('POST', '/domains', { name: 'Late' })).toMatchObject({
      status: 401,
      body: { error: 'Invalid resource owner' },
    });
  });
});
