// How rows change: the policy of a branch and of a table, who sets it, and that none is shown as in
// force before data follows it.
import { ServiceError } from '@almanac/service-kit/errors';
import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { callingAs, givenUser, keyColumn, outboxEmpty } from '../given.ts';
import { metadata, type User, useWork, work } from '../promotion-given.ts';

useWork();
afterEach(() => {
  metadata.neighbours.data.before = {};
});

const direct = {
  row_changes: 'direct',
  required_approvals: 1,
  self_approval: false,
  comment_required: false,
  machine_imports: true,
};
const nothing = Object.fromEntries(Object.keys(direct).map((name) => [name, null]));

type Sender = Pick<User, 'send'>;
const setBranch = (policy: object, { send }: Sender = work.admin, id = work.account.mainId) =>
  send('PATCH', `/branches/${id}`, { branch: policy });
const setTable = (id: number, policy: object, { send }: Sender = work.admin) =>
  send('PATCH', `/table_definitions/${id}`, { table_definition: policy });
const branch = (id = work.account.mainId) => work.admin.get(`/branches/${id}`);
const definition = (id: number) => work.admin.get(`/table_definitions/${id}`);

async function deploy(...ids: number[]): Promise<void> {
  const body = { branch_id: work.account.mainId, table_definition_ids: ids };
  const { id } = await work.admin.post('/deployments', body);
  await work.admin.post(`/deployments/${id}/deploy`);
}
async function givenDeployed(name: string): Promise<number> {
  const { id } = await work.table(name, [keyColumn]);
  await deploy(id);
  return id;
}
const inData = (id: number) => {
  const { row_changes, machine_imports } = metadata.neighbours.data.deployed.get(id) ?? {};
  return { row_changes, machine_imports };
};
const calls = () => metadata.neighbours.data.calls.filter(({ rpc }) => rpc === 'SetRowPolicies').length;
const dataIsAway = () => {
  metadata.neighbours.data.before.SetRowPolicies = () => {
    throw new ServiceError('unavailable', 'data is away');
  };
};

describe('the policy of a branch', () => {
  it('is to change rows directly, unless it says otherwise', async () => {
    expect(await branch()).toMatchObject({ ...direct, row_policy_in_force: true });
    const id = await givenDeployed('Codes');
    expect(await definition(id)).toMatchObject({ ...nothing, row_policy: { ...direct, in_force: true } });
    expect(inData(id)).toEqual({ row_changes: 'direct', machine_imports: true });
    const [listed] = (await work.admin.get('/branches?sort=id')).data;
    expect(listed).toMatchObject({ ...direct, row_policy_in_force: true });
  });

  it('holds for its deployed tables when the answer comes, and for those deployed later', async () => {
    const [one, two] = [await givenDeployed('Codes'), await givenDeployed('Words')];
    const elsewhere = await work.clone(one);
    const policy = { ...direct, row_changes: 'request', required_approvals: 2, machine_imports: false };
    expect(await setBranch(policy)).toMatchObject({ status: 200, body: { ...policy, row_policy_in_force: true } });
    for (const id of [one, two, await givenDeployed('Later')]) {
      expect(inData(id)).toEqual({ row_changes: 'request', machine_imports: false });
      expect(await definition(id)).toMatchObject({ ...nothing, row_policy: { ...policy, in_force: true } });
    }
    expect(await definition(elsewhere.id)).toMatchObject({ row_policy: { ...direct, in_force: true } });
    await setBranch({ row_changes: 'direct' });
    expect(inData(one)).toEqual({ row_changes: 'direct', machine_imports: false });
  });

  it('is given to a new branch too, and no parent hands it down', async () => {
    await setBranch({ row_changes: 'request' });
    const plain = await work.admin.post('/branches', { name: 'plain' });
    expect(plain).toMatchObject({ ...direct, row_policy_in_force: true });
    const own = { comment_required: true, row_changes: 'request' };
    expect(await work.admin.post('/branches', { name: 'own', ...own })).toMatchObject({ ...direct, ...own });
  });

  it('is recorded, and a change of nothing is not sent to data', async () => {
    await givenDeployed('Codes');
    const before = calls();
    await setBranch({ row_changes: 'direct', self_approval: false });
    expect(calls()).toBe(before);
    await setBranch({ self_approval: true });
    await outboxEmpty(metadata);
    await eventually(() =>
      expect(metadata.acts).toContainEqual(
        expect.objectContaining({
          action: 'branch.updated',
          resource_id: work.account.mainId,
          before: { self_approval: false },
          after: { self_approval: true },
        }),
      ),
    );
  });

  it.each([
    ['row_changes', 'never', 422, 'not_in_list'],
    ['row_changes', null, 422, 'blank'],
    ['required_approvals', 0, 422, 'out_of_range'],
    ['required_approvals', 6, 422, 'out_of_range'],
    ['required_approvals', 1.5, 400, 'wrong_type'],
    ['required_approvals', '2', 400, 'wrong_type'],
    ['self_approval', 'yes', 400, 'wrong_type'],
    ['machine_imports', null, 422, 'blank'],
  ])('refuses %s %j and changes nothing', async (field, value, status, code) => {
    const answer = await setBranch({ [field]: value, comment_required: true });
    expect(answer).toMatchObject({ status, body: { problems: [{ code, field }] } });
    expect(await branch()).toMatchObject(direct);
  });
});

describe('the policy of a table', () => {
  it('differs from that of its branch in what it says, until it says null', async () => {
    const [one, two] = [await givenDeployed('Codes'), await givenDeployed('Words')];
    await setBranch({ required_approvals: 3 });
    const answer = await setTable(one, { row_changes: 'request', comment_required: true });
    const own = { ...nothing, row_changes: 'request', comment_required: true };
    const effective = { ...direct, row_changes: 'request', comment_required: true, required_approvals: 3 };
    expect(answer).toMatchObject({ status: 200, body: { ...own, row_policy: { ...effective, in_force: true } } });
    expect([inData(one), inData(two)].map(({ row_changes }) => row_changes)).toEqual(['request', 'direct']);
    await setBranch({ row_changes: 'request' });
    await setTable(one, { row_changes: 'direct' });
    expect([inData(one), inData(two)].map(({ row_changes }) => row_changes)).toEqual(['direct', 'request']);
    await setTable(one, { row_changes: null });
    expect(inData(one).row_changes).toBe('request');
  });

  it('is no change of the draft, and is recorded', async () => {
    const id = await givenDeployed('Codes');
    const { version } = await definition(id);
    await setTable(id, { row_changes: 'request' });
    expect(await definition(id)).toMatchObject({ version, needs_deployment: false, row_changes: 'request' });
    await eventually(() =>
      expect(metadata.acts).toContainEqual(
        expect.objectContaining({
          action: 'table_definition.updated',
          resource_id: id,
          before: { row_changes: null },
          after: { row_changes: 'request' },
        }),
      ),
    );
    await setTable(id, { row_changes: 'direct', description: 'Codes of countries' });
    expect(await definition(id)).toMatchObject({
      version: version + 1,
      needs_deployment: true,
      row_changes: 'direct',
      description: 'Codes of countries',
    });
  });

  it('stays with the table: a clone says nothing itself', async () => {
    const id = await givenDeployed('Codes');
    await setTable(id, { row_changes: 'request', required_approvals: 5 });
    expect(await work.clone(id)).toMatchObject({ ...nothing, row_policy: { ...direct, in_force: true } });
  });

  it('holds when the table is restored, as the branch is by then', async () => {
    const [plain, own] = [await givenDeployed('Codes'), await givenDeployed('Words')];
    await setTable(own, { row_changes: 'direct', machine_imports: false });
    for (const id of [plain, own]) await work.admin.post(`/table_definitions/${id}/remove`);
    await setBranch({ row_changes: 'request' });
    for (const id of [plain, own]) await work.admin.post(`/table_definitions/${id}/restore`);
    expect(inData(plain)).toEqual({ row_changes: 'request', machine_imports: true });
    expect(inData(own)).toEqual({ row_changes: 'direct', machine_imports: false });
    expect(await definition(own)).toMatchObject({ row_changes: 'direct', row_policy: { in_force: true } });
  });
});

describe('a policy', () => {
  const forbidden = {
    status: 403,
    body: refusal(
      'Forbidden',
      'missing_right',
      'Only an approver or administrator of the branch or the account may change how rows change.',
      { params: { right: 'approve' } },
    ),
  };

  it('is set by approvers and administrators of the branch, who need no other right for it', async () => {
    const id = await givenDeployed('Codes');
    const { mainId } = work.account;
    const branchAdmin = givenUser(metadata, work.account.id, [['admin', 'branch', mainId]]);
    for (const [n, user] of [work.approver, branchAdmin, work.admin].entries()) {
      expect(await setBranch({ required_approvals: n + 2 }, user)).toMatchObject({ status: 200 });
      expect(await setTable(id, { required_approvals: n + 2 }, user)).toMatchObject({ status: 200 });
    }
    expect((await setBranch({ comment_required: true, description: 'x' }, work.approver)).status).toBe(403);
    expect((await setTable(id, { comment_required: true, description: 'x' }, work.approver)).status).toBe(403);
    expect((await setTable(id, { description: 'x' }, work.approver)).status).toBe(403);
    expect((await setBranch({}, work.approver)).status).toBe(403);
    // A missing right is reported before problems of the attributes that it is for.
    expect((await setBranch({ name: '', required_approvals: 9 }, work.approver)).status).toBe(403);
    expect((await setTable(id, { name: '', required_approvals: 9 }, work.approver)).status).toBe(403);
    expect((await setBranch({ required_approvals: 9 }, work.approver)).status).toBe(422);
    expect(await branch()).toMatchObject({ comment_required: false, description: null });
  });

  it('is not set by developers, owners, viewers, or approvers of another branch', async () => {
    const id = await givenDeployed('Codes');
    const { id: accountId } = work.account;
    const developer = givenUser(metadata, accountId, [
      ['develop', 'account', accountId],
      ['approve', 'branch', work.featureId],
    ]);
    expect(await setBranch({ row_changes: 'request' }, developer)).toEqual(forbidden);
    expect(await setTable(id, { row_changes: 'request' }, developer)).toEqual(forbidden);
    const own = (await work.creator.post('/branches', { name: 'own' })).id;
    expect(await setBranch({ row_changes: 'request' }, work.creator, own)).toEqual(forbidden);
    for (const user of [work.outsider, givenUser(metadata, accountId, [['edit', 'account', accountId]])]) {
      expect((await setBranch({ row_changes: 'request' }, user)).status).toBe(403);
      expect((await setTable(id, { row_changes: 'request' }, user)).status).toBe(403);
    }
    expect(await branch()).toMatchObject(direct);
  });

  it('is set by applications with the scope api:admin alone', async () => {
    const id = await givenDeployed('Codes');
    const machine = (...scopes: string[]) => callingAs(metadata, { accountId: work.account.id, scopes });
    const writer = machine('api:read', 'api:write');
    expect((await setBranch({ row_changes: 'request' }, writer)).status).toBe(403);
    expect((await setTable(id, { row_changes: 'request' }, writer)).status).toBe(403);
    expect((await setTable(id, { description: 'x' }, writer)).status).toBe(200);
    expect((await setBranch({ row_changes: 'request' }, machine('api:write', 'api:admin'))).status).toBe(200);
  });

  it('of a hidden branch or of another account is 404', async () => {
    const hidden = await work.admin.post('/branches', { name: 'hidden', branch_type: 'private' });
    const approver = givenUser(metadata, work.account.id, [['approve', 'account', work.account.id]]);
    const { users } = metadata.neighbours.identity;
    users.set(approver.id, { ...users.get(approver.id), private_branch_ids: [hidden.id] } as never);
    const foreigner = callingAs(metadata, { accountId: work.account.id + 100_000 });
    expect((await setBranch({ row_changes: 'request' }, approver)).status).toBe(200);
    expect((await setBranch({ row_changes: 'request' }, approver, hidden.id)).status).toBe(404);
    expect((await setBranch({ row_changes: 'request' }, foreigner)).status).toBe(404);
    expect((await setBranch({ row_changes: 'request' }, foreigner, hidden.id)).status).toBe(404);
  });

  it('is not in force while data is away, and is as soon as it is back', async () => {
    const id = await givenDeployed('Codes');
    dataIsAway();
    expect(await setBranch({ row_changes: 'request' })).toMatchObject({
      status: 200,
      body: { row_changes: 'request', row_policy_in_force: false },
    });
    expect(await branch()).toMatchObject({ row_policy_in_force: false });
    expect(await definition(id)).toMatchObject({ row_policy: { row_changes: 'request', in_force: false } });
    expect(await setTable(id, { comment_required: true })).toMatchObject({ body: { row_policy: { in_force: false } } });
    expect(inData(id).row_changes).toBe('direct');
    metadata.neighbours.data.before = {};
    await eventually(async () => expect(await branch()).toMatchObject({ row_policy_in_force: true }));
    expect(inData(id).row_changes).toBe('request');
  });

  it('is in force although the answer of data was lost', async () => {
    const id = await givenDeployed('Codes');
    metadata.neighbours.data.after.SetRowPolicies = () => {
      metadata.neighbours.data.after = {};
      throw new ServiceError('unavailable', 'the answer is lost');
    };
    expect(await setBranch({ row_changes: 'request' })).toMatchObject({ body: { row_policy_in_force: false } });
    expect(inData(id).row_changes).toBe('request');
    await eventually(async () => expect(await branch()).toMatchObject({ row_policy_in_force: true }));
  });

  it('is not in force before a deployment has ended that began under another', async () => {
    const { id } = await work.table('Codes', [keyColumn]);
    let answer: unknown;
    metadata.neighbours.data.before.ApplyDeployment = async () => {
      metadata.neighbours.data.before = {};
      answer = await setBranch({ row_changes: 'request' });
      expect(await branch()).toMatchObject({ row_policy_in_force: false });
    };
    await deploy(id);
    expect(answer).toMatchObject({ status: 200, body: { row_changes: 'request', row_policy_in_force: false } });
    await eventually(async () => expect(await branch()).toMatchObject({ row_policy_in_force: true }));
    expect(inData(id).row_changes).toBe('request');
  });

  it('is the last one when changes come at once', async () => {
    const id = await givenDeployed('Codes');
    const words = ['request', 'direct', 'request', 'direct', 'request'];
    await Promise.all(words.map((row_changes) => setBranch({ row_changes })));
    const { row_changes } = await eventually(async () => {
      const now = await branch();
      expect(now).toMatchObject({ row_policy_in_force: true });
      return now;
    });
    expect(inData(id)).toMatchObject({ row_changes });
  });
});
