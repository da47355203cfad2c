// Branches over HTTP: creation under a parent, the current branch, protection, deletion with their
// tables.

import { ServiceError } from '@almanac/service-kit/errors';
import { eventually } from '@almanac/testkit/eventually';
import { reconcile } from '../../src/maintenance/reconciler.ts';
import {
  type Account,
  type Api,
  givenAccount,
  givenAdmin,
  givenTable,
  givenUser,
  type Metadata,
  openAccount,
  startMetadata,
} from '../given.ts';

let metadata: Metadata;
let account: Account;
let admin: Api & { id: number };

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  account = await givenAccount(metadata);
  admin = givenAdmin(metadata, account.id);
});

describe('main', () => {
  it('exists once, however often the account is opened', async () => {
    const ids = await Promise.all([1, 2, 3, 4].map(() => openAccount(metadata, account.id)));
    expect(new Set(ids)).toEqual(new Set([account.mainId]));
    const { data } = await account.api.get('/branches');
    expect(data).toMatchObject([
      {
        id: account.mainId,
        name: 'main',
        is_default: true,
        is_protected: true,
        branch_type: 'shared',
        is_current: false,
      },
    ]);
  });

  it('can be described and unprotected, not deleted, renamed or made private', async () => {
    const path = `/branches/${account.mainId}`;
    expect((await admin.send('DELETE', path)).status).toBe(422);
    expect((await admin.send('PATCH', path, { name: 'line', branch_type: 'private' })).body.errors).toHaveLength(2);
    const changed = await admin.send('PATCH', path, { branch: { description: 'All of it', is_protected: false } });
    expect(changed.body).toMatchObject({ name: 'main', description: 'All of it', is_protected: false });
  });
});

describe('a branch', () => {
  it('belongs to its creator; its parent is the named branch, the current one, or main', async () => {
    const first = await admin.post('/branches', { branch: { name: 'feature' } });
    expect(first).toMatchObject({ parent_branch_id: account.mainId, owner_id: admin.id, is_protected: false });
    await admin.post('/branches/set_current_branch', { branch_id: first.id });
    const second = await admin.post('/branches', { branch: { name: 'below' } });
    expect(second.parent_branch_id).toBe(first.id);
    const third = await admin.post('/branches', { branch: { name: 'beside', parent_branch_id: account.mainId } });
    expect(third.parent_branch_id).toBe(account.mainId);
    expect(metadata.neighbours.identity.ensured.at(-1)).toMatchObject({
      resource_type: 'branch',
      creator_id: admin.id,
    });
    metadata.neighbours.identity.groups.push(
      { id: 7, name: 'D', resource_type: 'branch', resource_id: second.id, members: [admin.id] },
      { id: 8, name: 'A', resource_type: 'branch', resource_id: second.id, members: [admin.id] },
    );
    const shown = await admin.get(`/branches/${second.id}`);
    expect(shown).toMatchObject({ parent: { id: first.id, name: 'feature' }, owner: { id: admin.id } });
    expect(shown.members).toMatchObject([{ id: admin.id }]);
    expect(shown.user_groups).toHaveLength(2);
    const unknownParent = await admin.send('POST', '/branches', { name: 'x', parent_branch_id: 999_999 });
    expect(unknownParent).toMatchObject({ status: 422, body: { errors: ["Parent branch doesn't exist"] } });
  });

  it('needs a plan with branching, a user, and the right to develop somewhere', async () => {
    expect((await account.api.send('POST', '/branches', { name: 'x' })).status).toBe(401);
    const onPlus = givenUser(metadata, account.id, [['admin', 'account', account.id]], { branching: false });
    const refused = await onPlus.send('POST', '/branches', { name: 'x' });
    expect(refused.status).toBe(403);
    expect(refused.body.errors).toEqual(['Branching is not enabled on the current plan']);
    expect((await onPlus.get('/branches')).data).toHaveLength(1);
    const viewer = givenUser(metadata, account.id, [['view', 'account', account.id]]);
    expect((await viewer.send('POST', '/branches', { name: 'x' })).status).toBe(403);
    const developer = givenUser(metadata, account.id, [['develop', 'domain', account.domainId]]);
    expect((await developer.send('POST', '/branches', { name: 'x' })).status).toBe(201);
  });

  it('has a unique name in the account, also under concurrency', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => admin.send('POST', '/branches', { name: 'same' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422]);
    expect(answers.find(({ status }) => status === 422)?.body.errors).toEqual(['Name has already been taken']);
    expect((await admin.send('POST', '/branches', { name: 'MAIN' })).status).toBe(422);
  });

  it('is protected by administrators, deleted by its owner and administrators, described by its developers', async () => {
    const owner = givenUser(metadata, account.id, [['develop', 'domain', account.domainId]]);
    const { id } = await owner.post('/branches', { name: 'mine' });
    const developer = givenUser(metadata, account.id, [['develop', 'branch', id]]);
    const outsider = givenUser(metadata, account.id, [['develop', 'domain', account.domainId]]);
    expect((await developer.send('PATCH', `/branches/${id}`, { description: 'x' })).status).toBe(200);
    expect((await developer.send('PATCH', `/branches/${id}`, { is_protected: true })).status).toBe(403);
    expect((await outsider.send('PATCH', `/branches/${id}`, { description: 'x' })).status).toBe(403);
    expect((await owner.send('PATCH', `/branches/${id}`, { is_protected: true })).status).toBe(403);
    for (const property of ['id', 'owner_id', 'is_default', 'parent_branch_id', 'account_id', 'created_at'])
      expect((await owner.send('PATCH', `/branches/${id}`, { [property]: 1 })).status).toBe(400);
    expect((await developer.send('DELETE', `/branches/${id}`)).status).toBe(403);
    expect((await owner.send('DELETE', `/branches/${id}`)).status).toBe(204);
  });
});

describe('the current branch', () => {
  it('is stored per user, also when set many times concurrently', async () => {
    const { id } = await admin.post('/branches', { name: 'feature' });
    const other = givenAdmin(metadata, account.id);
    await other.post('/branches/set_current_branch', { branch_id: account.mainId });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => admin.send('POST', '/branches/set_current_branch', { branch_id: id })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await admin.get(`/branches/${id}`)).is_current).toBe(true);
    expect((await other.get(`/branches/${id}`)).is_current).toBe(false);
  });

  it('refuses unknown, foreign and deleted branches, applications and wrong parameters', async () => {
    const elsewhere = await givenAccount(metadata);
    const { id } = await admin.post('/branches', { name: 'deleted' });
    await admin.send('DELETE', `/branches/${id}`);
    const path = '/branches/set_current_branch';
    const unknown = await admin.send('POST', path, { branch_id: 999_999 });
    expect(unknown.status).toBe(404);
    expect(await admin.send('POST', path, { branch_id: elsewhere.mainId })).toEqual(unknown);
    expect(await admin.send('POST', path, { branch_id: id })).toEqual(unknown);
    expect((await account.api.send('POST', path, { branch_id: account.mainId })).status).toBe(401);
    for (const body of [{}, { branch_id: 'x' }, { branch_id: 1.5 }, { branch_id: 0 }, { branch_id: 1, more: 1 }])
      expect((await admin.send('POST', path, body)).status).toBe(400);
  });
});

describe('deleting a branch', () => {
  it('is refused while it has children, which are named', async () => {
    const parent = await admin.post('/branches', { name: 'parent' });
    const child = await admin.post('/branches', { name: 'child', parent_branch_id: parent.id });
    const refused = await admin.send('DELETE', `/branches/${parent.id}`);
    expect(refused).toMatchObject({ status: 422, body: { errors: ['Branch still has child branches: child'] } });
    expect((await admin.send('DELETE', `/branches/${child.id}`)).status).toBe(204);
    const answers = await Promise.all([1, 2, 3].map(() => admin.send('DELETE', `/branches/${parent.id}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404]);
  });

  it('deletes its definitions, which may refer to each other, and its deployed tables', async () => {
    const { id } = await admin.post('/branches', { name: 'feature' });
    const place = { ...account, mainId: id };
    const countries = await givenTable(place, 'Countries');
    await givenTable(place, 'Regions', [
      { name: 'code', data_type: 'string', is_primary_key: true },
      { name: 'country', data_type: 'string', length: 10, foreign_key_table_id: countries.id },
    ]);
    const deployment = await admin.post('/deployments', { branch_id: id, table_definition_ids: [countries.id] });
    await admin.post(`/deployments/${deployment.id}/deploy`);
    await admin.post('/branches/set_current_branch', { branch_id: id });
    expect((await admin.send('DELETE', `/branches/${id}`)).status).toBe(204);
    expect((await admin.get('/table_definitions')).data).toEqual([]);
    expect((await admin.get('/deployed_table_definitions')).data).toEqual([]);
    expect((await admin.get('/deployments')).data).toEqual([]);
    expect(metadata.neighbours.data.droppedBranches).toContain(id);
    expect((await admin.post('/branches', { name: 'next' })).parent_branch_id).toBe(account.mainId);
  });

  it('succeeds even when data is unavailable at that moment', async () => {
    const { id } = await admin.post('/branches', { name: 'feature' });
    metadata.neighbours.data.before.DropBranch = () => {
      throw new ServiceError('unavailable', 'data is away');
    };
    expect((await admin.send('DELETE', `/branches/${id}`)).status).toBe(204);
    metadata.neighbours.data.before = {};
    await eventually(async () => {
      await reconcile(metadata.context);
      expect(metadata.neighbours.data.droppedBranches).toContain(id);
      expect(await metadata.context.prisma.branch_removal.count({ where: { branch_id: id } })).toBe(0);
    });
  });
});
