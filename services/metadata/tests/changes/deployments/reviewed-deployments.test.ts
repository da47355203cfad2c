// On a protected branch a deployment applies only the revision that approval was requested for or
// that the deployer was shown, even when drafts have changed since.
import {
  type Account,
  type Answer,
  type Api,
  givenAccount,
  givenAdmin,
  givenTable,
  givenUser,
  keyColumn,
  type Metadata,
  startMetadata,
} from '../../given.ts';

let metadata: Metadata;
let account: Account;
type User = Api & { id: number };
let developer: User;
let approver: User;
let admin: User;
let table: Answer['body'];

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  account = await givenAccount(metadata);
  developer = givenUser(metadata, account.id, [['develop', 'account', account.id]]);
  approver = givenApprover();
  admin = givenAdmin(metadata, account.id);
  table = await givenTable(account, 'Codes', [keyColumn, { name: 'note', data_type: 'text' }]);
});
afterEach(() => {
  metadata.neighbours.data.before = {};
});

const givenApprover = () => givenUser(metadata, account.id, [['approve', 'branch', account.mainId]]);
const propose = async (user: User = developer): Promise<number> =>
  (await user.post('/deployments', { branch_id: account.mainId, table_definition_ids: [table.id] })).id;
const send = (user: Api, id: number, action: string, body?: unknown) =>
  user.send('POST', `/deployments/${id}/${action}`, body);
const show = (user: Api, id: number) => user.get(`/deployments/${id}`);
const columnOf = (name: string) =>
  table.column_definitions.find((column: { name: string }) => column.name === name).id as number;
const dropNote = () => developer.send('DELETE', `/column_definitions/${columnOf('note')}`);
const rename = (name: string) => developer.send('PATCH', `/table_definitions/${table.id}`, { name });
const deployedColumns = () =>
  metadata.neighbours.data.deployed.get(table.id)?.columns.map(({ name }: { name: string }) => name);

const stale = ['Codes has changed since the diffs were shown', 'Look at the diffs as they are now, then deploy them.'];
const refused = { status: 422, body: { error: 'Wrong state', errors: stale } };

describe('on a protected branch', () => {
  it('a change after an approver was shown the diffs is refused with the new diffs, and applied afterwards', async () => {
    const id = await propose();
    await send(developer, id, 'send_request');
    const seen = await show(approver, id);
    await dropNote();
    await show(developer, id); // what its creator is shown does not count for the approver
    const answer = await send(approver, id, 'deploy');
    expect(answer).toMatchObject(refused);
    expect(deployedColumns()).toBeUndefined();
    expect(await show(developer, id)).toMatchObject({ status: 'requested', error: null, actions: seen.actions });
    const { diffs, revision } = await show(developer, id);
    expect(answer.body).toMatchObject({ diffs, revision });
    expect(revision).not.toBe(seen.revision);
    expect((await send(approver, id, 'deploy')).body).toMatchObject({ status: 'deployed', revision: null });
    expect(deployedColumns()).toEqual(['code']);
  });

  it('an approver who was shown nothing deploys what approval was requested for, else what was proposed', async () => {
    const proposed = await propose();
    await rename('Names');
    const requested = await propose();
    await rename('Codes');
    await send(developer, requested, 'send_request');
    expect(await send(approver, proposed, 'deploy')).toMatchObject(refused);
    expect((await send(approver, requested, 'deploy')).status).toBe(200);
    const again = await propose();
    await send(developer, again, 'send_request');
    await dropNote();
    expect(await send(approver, again, 'deploy')).toMatchObject(refused);
  });

  it('what a user was shown counts, not what was requested later or shown to another user', async () => {
    const id = await propose();
    const other = givenApprover();
    await show(approver, id);
    await show(other, id);
    await dropNote();
    await send(developer, id, 'send_request');
    expect(await send(other, id, 'deploy')).toMatchObject(refused);
    expect(await send(approver, id, 'deploy')).toMatchObject(refused);
    await send(other, id, 'rehearse'); // shows it as well
    expect((await send(other, id, 'deploy')).status).toBe(200);
  });

  it('administrators are bound by it for proposals of others, and no user for their own', async () => {
    const [id, own] = [await propose(), await propose(admin)];
    await show(admin, id);
    await dropNote();
    expect(await send(admin, id, 'deploy')).toMatchObject(refused);
    expect((await send(admin, own, 'deploy')).status).toBe(200);
    expect((await send(admin, id, 'deploy')).status).toBe(200);
  });

  it('a change while the diffs are computed was not shown', async () => {
    const id = await propose();
    metadata.neighbours.data.before.PlanDeployment = async () => {
      metadata.neighbours.data.before = {};
      await dropNote();
    };
    await show(approver, id);
    expect(await send(approver, id, 'deploy')).toMatchObject(refused);
  });

  it('a refused request may be sent again with its key', async () => {
    const id = await propose();
    await dropNote();
    const deploy = () => approver.send('POST', `/deployments/${id}/deploy`, {}, { 'Idempotency-Key': `shown-${id}` });
    expect(await deploy()).toMatchObject(refused);
    expect(await deploy()).toMatchObject({ status: 200, body: { status: 'deployed' } });
    expect((await deploy()).status).toBe(200);
  });

  it('a deployment of an earlier release that no user was shown is deployed as it is', async () => {
    const id = await propose();
    await metadata.pool.query('update deployment set proposed = null where id = $1', [id]);
    await metadata.pool.query('delete from deployment_showing where deployment_id = $1', [id]);
    expect((await send(approver, id, 'deploy')).status).toBe(200);
  });
});

describe('`revision`', () => {
  it('binds the deployment on any branch', async () => {
    await admin.send('PATCH', `/branches/${account.mainId}`, { is_protected: false });
    const id = await propose();
    const { revision } = await show(developer, id);
    await dropNote();
    const answer = await send(developer, id, 'deploy', { revision });
    expect(answer).toMatchObject(refused);
    expect(await send(developer, id, 'deploy', { revision: 'another' })).toMatchObject({ status: 422 });
    expect(await show(developer, id)).toMatchObject({ status: 'created', revision: answer.body.revision });
    for (const wrong of [7, 'x'.repeat(65)])
      expect((await send(developer, id, 'deploy', { revision: wrong })).status).toBe(400);
    expect((await send(developer, id, 'deploy', { deployment: { revision: answer.body.revision } })).status).toBe(200);
  });

  it('takes precedence over what was shown last', async () => {
    const id = await propose();
    const { revision } = await show(approver, id);
    await dropNote();
    const now = await show(approver, id);
    expect(await send(approver, id, 'deploy', { revision })).toMatchObject({ status: 422 });
    expect((await send(approver, id, 'deploy', { revision: now.revision })).status).toBe(200);
  });
});

it('on any other branch a deployment applies its definitions as they are when it is deployed', async () => {
  await admin.send('PATCH', `/branches/${account.mainId}`, { is_protected: false });
  const id = await propose();
  await show(developer, id);
  await dropNote();
  expect((await send(developer, id, 'deploy')).status).toBe(200);
  expect(deployedColumns()).toEqual(['code']);
});
