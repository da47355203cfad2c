// Only administrators remove and restore deployed tables of a protected branch, and change its
// protection.
import { refusal } from '@almanac/testkit/calls/refusal';
import { callingAs, givenUser, keyColumn } from '../given.ts';
import { metadata, useWork, type Work, work } from '../promotion-given.ts';

useWork();

type Send = Work['admin']['send'];
const machine = (...scopes: string[]) => callingAs(metadata, { accountId: work.account.id, scopes });
const developer = (options = {}) =>
  givenUser(metadata, work.account.id, [['develop', 'account', work.account.id]], options);
const branchAdministrator = () => givenUser(metadata, work.account.id, [['admin', 'branch', work.account.mainId]]);

async function givenDeployed(name: string): Promise<number> {
  const { id } = await work.table(name, [keyColumn]);
  const body = { branch_id: work.account.mainId, table_definition_ids: [id] };
  const deployment = await work.admin.post('/deployments', body);
  await work.admin.post(`/deployments/${deployment.id}/deploy`);
  return id;
}
const remove = (id: number, { send }: { send: Send }) => send('POST', `/table_definitions/${id}/remove`);
const restore = (id: number, { send }: { send: Send }) => send('POST', `/table_definitions/${id}/restore`);
const deleteDraft = (id: number, { send }: { send: Send }) => send('DELETE', `/table_definitions/${id}`);
const unprotect = () => work.admin.send('PATCH', `/branches/${work.account.mainId}`, { is_protected: false });

const onlyAdministrators = (act: string) => ({
  status: 403,
  body: refusal(
    'Forbidden',
    'missing_right',
    `Only an administrator of the branch or the account may ${act} on a protected branch.`,
  ),
});

describe('a table that is deployed on a protected branch', () => {
  it('is not removed by mere developers, nor its definition deleted', async () => {
    const id = await givenDeployed('Codes');
    expect(await remove(id, developer())).toEqual(onlyAdministrators('remove a deployed table'));
    expect(await deleteDraft(id, developer())).toEqual(onlyAdministrators('delete the definition of a deployed table'));
    expect((await remove(2_000_000_000, developer())).status).toBe(404);
    expect((await work.admin.send('GET', `/table_definitions/${id}`)).status).toBe(200);
    expect(metadata.neighbours.data.deployed.has(id)).toBe(true);
  });

  it('is not removed by an application without the scope api:admin, which is a right of its own', async () => {
    const id = await givenDeployed('Codes');
    const writer = machine('api:read', 'api:write', 'api:delete');
    for (const answer of [await remove(id, writer), await deleteDraft(id, writer)])
      expect(answer).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
    expect((await remove(id, machine('api'))).status).toBe(204);
    const other = await givenDeployed('Others');
    expect((await deleteDraft(other, machine('api:delete', 'api:admin'))).status).toBe(204);
  });

  it('is removed and restored by administrators of the branch', async () => {
    const id = await givenDeployed('Codes');
    expect((await remove(id, branchAdministrator())).status).toBe(204);
    expect(await restore(id, developer())).toEqual(onlyAdministrators('bring a deployed table back'));
    expect((await restore(id, machine('api:write'))).status).toBe(403);
    expect((await restore(id, branchAdministrator())).status).toBe(200);
  });

  it('is removed by its developers once the branch is not protected any more', async () => {
    const id = await givenDeployed('Codes');
    await unprotect();
    expect((await remove(id, developer())).status).toBe(204);
    expect((await restore(id, developer())).status).toBe(200);
    expect((await deleteDraft(id, machine('api:delete'))).status).toBe(204);
  });

  it('is removed by developers on plans without branching, which have no approvals', async () => {
    const id = await givenDeployed('Codes');
    expect((await remove(id, developer({ branching: false }))).status).toBe(204);
  });
});

it('tables that were never deployed are deleted, removed and restored by developers', async () => {
  const [one, other] = [await work.table('One', [keyColumn]), await work.table('Other', [keyColumn])];
  expect((await deleteDraft(one.id, developer())).status).toBe(204);
  expect((await remove(other.id, developer())).status).toBe(204);
  expect((await restore(other.id, developer())).status).toBe(200);
});

describe('a protected branch', () => {
  it('is not deleted by its owner, nor by an application without the scope api:admin', async () => {
    const owner = givenUser(metadata, work.account.id, [['develop', 'domain', work.account.domainId]]);
    const { id } = await owner.post('/branches', { name: 'mine', is_protected: true });
    metadata.neighbours.identity.users.get(owner.id)?.permissions.push({
      action: 'develop',
      resource_type: 'branch',
      resource_id: id,
    });
    expect(await owner.send('DELETE', `/branches/${id}`)).toEqual(onlyAdministrators('delete what is deployed'));
    expect((await owner.send('PATCH', `/branches/${id}`, { is_protected: false })).status).toBe(403);
    expect((await machine('api:delete').send('DELETE', `/branches/${id}`)).status).toBe(403);
    expect((await work.admin.send('DELETE', `/branches/${id}`)).status).toBe(204);
  });

  it('loses its protection or changes its type only by administrators with the scope api:admin', async () => {
    const path = `/branches/${work.account.mainId}`;
    const refused = { status: 403, body: { error: 'Insufficient scope. Required: api:admin' } };
    const admin = (...scopes: string[]) =>
      callingAs(metadata, { accountId: work.account.id, userId: work.admin.id, scopes });
    for (const { send } of [machine('api:write'), admin('api:write')]) {
      expect(await send('PATCH', path, { is_protected: false })).toMatchObject(refused);
      expect(await send('PATCH', path, { branch_type: 'shared' })).toMatchObject(refused);
      expect((await send('PATCH', path, { description: 'All of it' })).status).toBe(200);
    }
    expect((await developer().send('PATCH', path, { is_protected: false })).body.error).toBe('Forbidden');
    const unprotected = await admin('api:write', 'api:admin').send('PATCH', path, { is_protected: false });
    expect(unprotected).toMatchObject({ status: 200, body: { is_protected: false } });
  });
});
