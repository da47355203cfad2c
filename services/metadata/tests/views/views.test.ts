// Saved views: who sees and changes them, defaults, and their end.
import { limits } from '@almanac/service-kit/limits';
import { eventually } from '@almanac/testkit/eventually';
import { startBus } from '@almanac/testkit/messaging/bus';
import {
  type Account,
  givenAccount,
  givenAdmin,
  givenTable,
  givenUser,
  keyColumn,
  type Metadata,
  startMetadata,
} from '../given.ts';

let metadata: Metadata;
let account: Account;
let table: { id: number };

beforeAll(async () => {
  metadata = await startMetadata();
});
beforeEach(async () => {
  account = await givenAccount(metadata);
  table = await givenTable(account, 'Countries');
});
afterAll(() => metadata.stop());

const state = { columns: ['code', 'name'], filter: { code: null } };
const viewer = () => givenUser(metadata, account.id, [['view', 'table_definition', table.id]]);
const developer = () => givenUser(metadata, account.id, [['develop', 'domain', account.domainId]]);
type User = ReturnType<typeof viewer>;
const save = (by: User, view: object = {}) =>
  by.post('/views', { table_definition_id: table.id, view: { name: 'Mine', state, ...view } });
const listed = async (by: Account['api']) =>
  (await by.get(`/views?table_definition_id=${table.id}&sort=id`)).data as { id: number; name: string }[];
const namesSeen = async (by: Account['api']) => (await listed(by)).map(({ name }) => name);
const missingRight = { status: 403, body: { problems: [{ code: 'missing_right' }] } };

describe('a saved view', () => {
  it('is private unless it is shared, and has its state when it is shown', async () => {
    const owner = viewer();
    const view = await save(owner);
    expect(view).toEqual({
      id: expect.any(Number),
      table_definition_id: table.id,
      owner_id: owner.id,
      name: 'Mine',
      sharing: 'private',
      is_default: false,
      is_own_default: false,
      state,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const { state: _state, ...line } = view;
    expect(await listed(owner)).toEqual([line]);
    expect(await owner.get(`/views/${view.id}`)).toEqual(view);
  });

  it('keeps numbers that no double holds', async () => {
    const exact = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('9007199254740993');
    await save(viewer(), { state: { last: exact } });
    const { rows } = await metadata.pool.query('select state from saved_view where table_definition_id = $1', [
      table.id,
    ]);
    expect(rows[0].state).toBe('{"last":9007199254740993}');
  });

  it('is seen by others when it is shared or locked, if they may view the table', async () => {
    const [owner, other] = [viewer(), viewer()];
    const mine = await save(owner);
    await save(owner, { name: 'Shared', sharing: 'shared' });
    await save(owner, { name: 'Locked', sharing: 'locked' });
    expect(await namesSeen(owner)).toEqual(['Mine', 'Shared', 'Locked']);
    expect(await namesSeen(other)).toEqual(['Shared', 'Locked']);
    expect(await namesSeen(account.api)).toEqual(['Shared', 'Locked']);
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect((await other.send(method, `/views/${mine.id}`, method === 'PATCH' ? {} : undefined)).status).toBe(404);
    expect((await account.api.send('GET', `/views/${mine.id}`)).status).toBe(404);
  });

  it('takes view on the table, not the sight of its definition', async () => {
    const { id } = await save(viewer(), { sharing: 'shared' });
    const approver = givenUser(metadata, account.id, [['approve', 'branch', account.mainId]]);
    const view = { name: 'Mine', state };
    expect(await approver.send('GET', `/views?table_definition_id=${table.id}`)).toMatchObject(missingRight);
    expect(await approver.send('POST', '/views', { table_definition_id: table.id, view })).toMatchObject(missingRight);
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect(await approver.send(method, `/views/${id}`, method === 'PATCH' ? {} : undefined)).toMatchObject(
        missingRight,
      );
  });

  it('is changed by its owner; a shared one also by developers of the table, a locked one by no other user', async () => {
    const [owner, other, dev] = [viewer(), viewer(), developer()];
    const admin = givenUser(metadata, account.id, [['admin', 'account', account.id]]);
    const shared = await save(owner, { sharing: 'shared' });
    const rename = (by: User, id: number, name: string) => by.send('PATCH', `/views/${id}`, { view: { name } });
    expect(await rename(other, shared.id, 'X')).toMatchObject(missingRight);
    expect((await rename(dev, shared.id, 'By a developer')).body).toMatchObject({ name: 'By a developer', state });
    expect(await dev.send('PATCH', `/views/${shared.id}`, { view: { sharing: 'locked' } })).toMatchObject(missingRight);
    expect((await owner.send('PATCH', `/views/${shared.id}`, { view: { sharing: 'locked' } })).status).toBe(200);
    for (const by of [other, dev, admin]) {
      expect(await rename(by, shared.id, 'X')).toMatchObject(missingRight);
      expect(await by.send('DELETE', `/views/${shared.id}`)).toMatchObject(missingRight);
    }
    expect((await rename(owner, shared.id, 'By its owner')).status).toBe(200);
    expect((await owner.send('DELETE', `/views/${shared.id}`)).status).toBe(204);
    const second = await save(owner, { sharing: 'shared' });
    expect(await other.send('DELETE', `/views/${second.id}`)).toMatchObject(missingRight);
    expect((await dev.send('DELETE', `/views/${second.id}`)).status).toBe(204);
    expect(await namesSeen(owner)).toEqual([]);
  });

  it('takes a user', async () => {
    const { id } = await save(viewer(), { sharing: 'shared' });
    const view = { name: 'Mine', state };
    expect((await account.api.send('POST', '/views', { table_definition_id: table.id, view })).status).toBe(401);
    expect((await account.api.send('PATCH', `/views/${id}`, { view })).status).toBe(401);
    expect((await account.api.send('DELETE', `/views/${id}`)).status).toBe(401);
  });

  it('is saved once for one Idempotency-Key', async () => {
    const owner = viewer();
    const body = { table_definition_id: table.id, view: { name: 'Once', state } };
    const headers = { 'idempotency-key': 'once' };
    const first = await owner.send('POST', '/views', body, headers);
    expect(await owner.send('POST', '/views', body, headers)).toEqual(first);
    expect(await namesSeen(owner)).toEqual(['Once']);
  });

  it('of another account is not found, nor is its table', async () => {
    const { id } = await save(viewer(), { sharing: 'shared' });
    const other = await givenAccount(metadata);
    const outsider = givenUser(metadata, other.id, [['admin', 'account', other.id]]);
    expect((await outsider.send('GET', `/views?table_definition_id=${table.id}`)).status).toBe(404);
    const view = { name: 'Mine', state };
    expect((await outsider.send('POST', '/views', { table_definition_id: table.id, view })).status).toBe(404);
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect((await outsider.send(method, `/views/${id}`, method === 'PATCH' ? { view } : undefined)).status).toBe(404);
  });
});

describe('the input', () => {
  it('is refused with every problem, and changes nothing', async () => {
    const owner = viewer();
    const refused = await owner.send('POST', '/views', {
      table_definition_id: table.id,
      view: { name: ' ', sharing: 'public', state: { text: 'x'.repeat(limits.viewStateBytes) } },
    });
    expect(refused).toMatchObject({
      status: 422,
      body: {
        problems: [
          { code: 'blank', field: 'name' },
          { code: 'not_in_list', field: 'sharing' },
          { code: 'too_long', field: 'state', params: { maximum: limits.viewStateBytes } },
        ],
      },
    });
    expect((await owner.send('POST', '/views', { view: { name: 'Mine', state } })).status).toBe(400);
    expect((await owner.send('POST', '/views', { table_definition_id: table.id, view: {} })).status).toBe(422);
    for (const wrong of [[], 'text', 7])
      expect(
        (await owner.send('POST', '/views', { table_definition_id: table.id, view: { name: 'M', state: wrong } }))
          .status,
      ).toBe(400);
    expect((await owner.send('GET', '/views')).status).toBe(400);
    expect(await namesSeen(owner)).toEqual([]);
  });

  it('is a state of 64 kB and not a byte more', async () => {
    const owner = viewer();
    const ofBytes = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) });
    expect((await save(owner, { state: ofBytes(limits.viewStateBytes) })).state.text).toHaveLength(65_525);
    const view = { name: 'Mine', state: ofBytes(limits.viewStateBytes + 1) };
    expect((await owner.send('POST', '/views', { table_definition_id: table.id, view })).status).toBe(422);
  });

  it('is at most a hundred views of one user on one table', async () => {
    const [owner, other] = [viewer(), viewer()];
    await metadata.pool.query(
      `insert into saved_view (account_id, branch_id, table_definition_id, owner_id, name, sharing, state)
       select $1, $2, $3, $4, 'Many', 'private', '{}' from generate_series(1, 99)`,
      [account.id, account.mainId, table.id, owner.id],
    );
    await save(owner);
    const view = { name: 'One more', state };
    expect(await owner.send('POST', '/views', { table_definition_id: table.id, view })).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'limit_reached', params: { maximum: 100 } }] },
    });
    await save(other);
  });
});

describe('the view that a table opens with', () => {
  const defaultsOf = async (by: User) =>
    (await by.get(`/views?table_definition_id=${table.id}&sort=id`)).data.map(
      (view: { is_default: boolean; is_own_default: boolean }) => [view.is_default, view.is_own_default],
    );

  it('is one for everybody, which takes develop, and one for each user', async () => {
    const [dev, other] = [developer(), viewer()];
    const first = await save(dev, { sharing: 'shared', is_default: true });
    const second = await save(dev, { sharing: 'locked' });
    expect(first).toMatchObject({ is_default: true, is_own_default: false });
    expect((await other.send('PATCH', `/views/${second.id}`, { view: { is_own_default: true } })).body).toMatchObject({
      is_own_default: true,
      is_default: false,
    });
    expect(await defaultsOf(other)).toEqual([
      [true, false],
      [false, true],
    ]);
    expect(await defaultsOf(dev)).toEqual([
      [true, false],
      [false, false],
    ]);
    await dev.send('PATCH', `/views/${second.id}`, { view: { is_default: true } });
    expect(await defaultsOf(dev)).toEqual([
      [false, false],
      [true, false],
    ]);
    expect(await other.send('PATCH', `/views/${first.id}`, { view: { is_default: true } })).toMatchObject(missingRight);
    await dev.send('PATCH', `/views/${second.id}`, { view: { is_default: false } });
    expect(await defaultsOf(other)).toEqual([
      [false, false],
      [false, true],
    ]);
  });

  it('is listed with the tables in service, for those who may view their rows', async () => {
    const [dev, other] = [developer(), viewer()];
    const approver = givenUser(metadata, account.id, [['approve', 'branch', account.mainId]]);
    const admin = givenAdmin(metadata, account.id);
    const { id } = await admin.post('/deployments', { branch_id: account.mainId, table_definition_ids: [table.id] });
    await admin.post(`/deployments/${id}/deploy`);
    const opens = async (by: Account['api']) => {
      const [listed] = (await by.get('/deployed_table_definitions?include=opening_view')).data;
      const shown = await by.get(`/deployed_table_definitions/${table.id}?include=opening_view`);
      expect(shown).toEqual(listed);
      return listed.opening_view_id;
    };
    expect(await opens(other)).toBeNull();
    const everybodys = await save(dev, { sharing: 'shared', is_default: true });
    const own = await save(other, { is_own_default: true });
    expect([await opens(dev), await opens(other), await opens(account.api)]).toEqual([
      everybodys.id,
      own.id,
      everybodys.id,
    ]);
    expect(await opens(approver)).toBeNull();
    await other.send('PATCH', `/views/${own.id}`, { view: { is_own_default: false } });
    expect(await opens(other)).toBe(everybodys.id);
    expect((await other.get('/deployed_table_definitions')).data[0]).not.toHaveProperty('opening_view_id');
  });

  it('is no other user’s any more when it becomes private', async () => {
    const [dev, other] = [developer(), viewer()];
    const { id } = await save(dev, { sharing: 'shared', is_default: true, is_own_default: true });
    await other.send('PATCH', `/views/${id}`, { view: { is_own_default: true } });
    expect(await dev.send('PATCH', `/views/${id}`, { view: { sharing: 'private', is_default: true } })).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'incompatible', field: 'is_default' }] },
    });
    const { body } = await dev.send('PATCH', `/views/${id}`, { view: { sharing: 'private' } });
    expect(body).toMatchObject({ is_default: false, is_own_default: true });
    const { rows } = await metadata.pool.query('select user_id from saved_view_default where view_id = $1', [id]);
    expect(rows).toEqual([{ user_id: dev.id }]);
  });

  it('is one at a time, however many set it at once', async () => {
    const devs = [developer(), developer(), developer()];
    const views = await Promise.all(devs.map((dev) => save(dev, { sharing: 'shared' })));
    const answers = await Promise.all(
      views.map(({ id }, i) => (devs[i] as User).send('PATCH', `/views/${id}`, { view: { is_default: true } })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await defaultsOf(devs[0] as User)).filter(([isDefault]: boolean[]) => isDefault)).toHaveLength(1);
  });
});

describe('views end', () => {
  const countOf = async () => {
    const { rows } = await metadata.pool.query(
      'select count(*)::int as views from saved_view where table_definition_id = $1',
      [table.id],
    );
    return rows[0].views;
  };
  const deploy = async (by: User) => {
    const deployment = await by.post('/deployments', { branch_id: account.mainId, table_definition_ids: [table.id] });
    await by.post(`/deployments/${deployment.id}/deploy`);
  };
  const admin = () => givenUser(metadata, account.id, [['admin', 'account', account.id]]);

  it('with a draft that is deleted, but not while the table is in service', async () => {
    const by = admin();
    await save(by, { sharing: 'shared' });
    await by.send('DELETE', `/table_definitions/${table.id}`);
    expect(await countOf()).toBe(0);
    table = await givenTable(account, 'Regions', [keyColumn]);
    await save(by, { sharing: 'shared' });
    await deploy(by);
    expect(await namesSeen(by)).toEqual(['Mine']);
    await by.send('DELETE', `/table_definitions/${table.id}`);
    expect(await namesSeen(by)).toEqual(['Mine']);
  });

  it('when a removed table can be restored no more, and come back with one that is', async () => {
    const by = admin();
    const { id } = await save(by, { sharing: 'shared' });
    await deploy(by);
    await by.send('POST', `/table_definitions/${table.id}/remove`);
    expect((await by.send('GET', `/views/${id}`)).status).toBe(404);
    expect((await by.send('GET', `/views?table_definition_id=${table.id}`)).status).toBe(404);
    await by.post(`/table_definitions/${table.id}/restore`);
    expect(await namesSeen(by)).toEqual(['Mine']);
    await by.send('POST', `/table_definitions/${table.id}/remove`);
    await metadata.pool.query(
      "update table_removal set removed_at = now() - interval '8 days' where table_definition_id = $1",
      [table.id],
    );
    await eventually(async () => expect(await countOf()).toBe(0));
  });

  it('with their branch', async () => {
    const by = admin();
    const branch = await by.post('/branches', { branch: { name: 'Work' } });
    const copy = await by.post(`/table_definitions/${table.id}/clone`, { target_branch_id: branch.id });
    await by.post('/views', { table_definition_id: copy.id, view: { name: 'There', state } });
    expect((await by.send('DELETE', `/branches/${branch.id}`)).status).toBe(204);
    const { rows } = await metadata.pool.query('select from saved_view where table_definition_id = $1', [copy.id]);
    expect(rows).toEqual([]);
  });

  it('with their owner if they are private; developers inherit the others', async () => {
    const [owner, dev] = [viewer(), developer()];
    await save(owner, { name: 'Private', is_own_default: true });
    const locked = await save(owner, { name: 'Locked', sharing: 'locked' });
    const bus = await startBus(metadata.config.common.secrets.busUrl, 'identity');
    await bus.publish([
      {
        v: 1,
        id: crypto.randomUUID(),
        type: 'identity.user.deleted',
        occurred_at: new Date().toISOString(),
        payload: { account_id: account.id, user_id: owner.id },
      },
    ]);
    await eventually(async () => expect(await countOf()).toBe(1));
    await bus.stop();
    await eventually(async () => expect((await dev.get(`/views/${locked.id}`)).sharing).toBe('shared'));
    expect((await dev.send('PATCH', `/views/${locked.id}`, { view: { name: 'Kept' } })).status).toBe(200);
    expect((await metadata.pool.query('select from saved_view_default where user_id = $1', [owner.id])).rows).toEqual(
      [],
    );
  });
});
