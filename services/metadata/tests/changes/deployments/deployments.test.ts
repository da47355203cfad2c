// Deployments over HTTP: who may take which step in which state, what is stored, and the deployment
// of one definition without branching.
import { ServiceError } from '@almanac/service-kit/errors';
import {
  type DeploymentState,
  deploymentStates,
  deploymentTransitions,
} from '../../../src/changes/deployments/deployment-states.ts';
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
let creator: User;
let approver: User;
let admin: User;
let outsider: User;

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  account = await givenAccount(metadata);
  creator = givenUser(metadata, account.id, [['develop', 'account', account.id]]);
  approver = givenUser(metadata, account.id, [
    ['approve', 'branch', account.mainId],
    ['develop', 'branch', account.mainId],
  ]);
  admin = givenAdmin(metadata, account.id);
  outsider = givenUser(metadata, account.id, [['view', 'account', account.id]]);
});
afterEach(() => {
  metadata.neighbours.data.before = {};
  metadata.neighbours.data.after = {};
});

const propose = async (user: User, ...ids: number[]) =>
  user.post('/deployments', { branch_id: account.mainId, table_definition_ids: ids });
const act = (user: Api, id: number, action: string, body?: unknown) =>
  user.send('POST', `/deployments/${id}/${action}`, body);
const stepsOf = ({ actions }: Answer['body']) => actions.map(({ action }: { action: string }) => action);

describe('a deployment', () => {
  it('takes its body nested, flat and with bracket keys', async () => {
    const { id } = await givenTable(account, 'Codes');
    for (const body of [
      { deployment: { branch_id: account.mainId, table_definition_ids: [id] } },
      { 'deployment[branch_id]': account.mainId, 'deployment[table_definition_ids][]': [id] },
    ]) {
      const made = await creator.post('/deployments', body);
      const { status, comment } = await creator.post(`/deployments/${made.id}/send_request`, {
        deployment: { comment: 'Please' },
      });
      expect({ status, comment }).toEqual({ status: 'requested', comment: 'Please' });
    }
  });

  it('goes from created to deployed with its diffs, and leaves its tables in service', async () => {
    const countries = await givenTable(account, 'Countries', [
      { ...keyColumn, valid_values: 'CH|DE' },
      { name: 'area', data_type: 'decimal', length: 12, scale: 2, description: 'km²' },
    ]);
    const regions = await givenTable(account, 'Regions', [
      keyColumn,
      { name: 'country', data_type: 'string', length: 10, foreign_key_table_id: countries.id },
    ]);
    const created = await propose(creator, regions.id, countries.id, regions.id);
    expect(created).toMatchObject({
      status: 'created',
      created_by: creator.id,
      branch: { name: 'main', is_protected: true },
      table_definitions: [
        { id: countries.id, needs_deployment: true },
        { id: regions.id, needs_deployment: true },
      ],
      actions: [{ action: 'create', user: creator.id }],
      diffs: [
        { name: 'Countries', change: 'new', statements: [expect.any(String)], blockers: [] },
        { name: 'Regions' },
      ],
    });
    expect(await creator.get(`/deployments/${created.id}`)).toEqual(created);
    const requested = await act(creator, created.id, 'send_request', { comment: 'please' });
    expect(requested.body).toMatchObject({ status: 'requested', comment: 'please' });
    const { status, body: deployed } = await act(approver, created.id, 'deploy');
    expect(status).toBe(200);
    expect(deployed).toMatchObject({
      status: 'deployed',
      approved_by: approver.id,
      deployed_by: approver.id,
      error: null,
      table_definitions: [{ needs_deployment: false, deployed_version: 3 }, { needs_deployment: false }],
      diffs: [{ change: 'new' }, { change: 'new' }],
    });
    expect(JSON.stringify(deployed.diffs)).toBe(JSON.stringify(created.diffs));
    expect(stepsOf(deployed)).toEqual(['create', 'send_request', 'deploy', 'succeed']);
    expect(metadata.neighbours.data.deployed.get(countries.id)?.columns).toMatchObject([
      { name: 'code', valid_values: ['CH', 'DE'], length: 10 },
      { name: 'area', length: 12, scale: 2 },
    ]);
    const { data } = await creator.get('/deployed_table_definitions?q=countr');
    expect(data).toMatchObject([
      {
        id: countries.id,
        table_definition_id: countries.id,
        uuid: countries.uuid,
        key: 'countries',
        version: 3,
        deployed_by: approver.id,
        column_definitions: [
          { name: 'code', valid_values: 'CH|DE', is_required: true },
          { name: 'area', description: 'km²', scale: 2 },
        ],
      },
    ]);
    expect(await creator.get(`/deployed_table_definitions/${countries.id}`)).toEqual(data[0]);
  });

  it('leaves the deployed table unchanged while the draft changes, and shows the change in the next one', async () => {
    const table = await givenTable(account, 'Codes');
    const first = await propose(admin, table.id);
    await act(admin, first.id, 'deploy');
    await admin.send('PATCH', `/table_definitions/${table.id}`, { name: 'Renamed' });
    expect((await admin.get(`/deployed_table_definitions/${table.id}`)).name).toBe('Codes');
    expect((await admin.get(`/table_definitions/${table.id}`)).needs_deployment).toBe(true);
    const second = await propose(admin, table.id);
    expect(second.diffs).toMatchObject([
      { change: 'modified', attributes: [{ name: 'name', from: 'Codes', to: 'Renamed' }] },
    ]);
    await admin.send('PATCH', `/table_definitions/${table.id}`, { name: 'Renamed again' });
    expect((await admin.get(`/deployments/${second.id}`)).diffs[0].attributes[0].to).toBe('Renamed again');
    await act(admin, second.id, 'deploy');
    expect((await admin.get(`/deployed_table_definitions/${table.id}`)).name).toBe('Renamed again');
  });

  it('reads its parameters strictly', async () => {
    const table = await givenTable(account, 'Codes');
    const branch = await admin.post('/branches', { name: 'feature' });
    const there = await givenTable({ ...account, mainId: branch.id }, 'There');
    const foreign = await givenTable(await givenAccount(metadata), 'Foreign');
    const on = (branch_id: unknown, table_definition_ids: unknown) =>
      admin.send('POST', '/deployments', { branch_id, table_definition_ids });
    for (const ids of [[], undefined, 'x', [1.5], ['1'], [[1]], [0], Array.from({ length: 1001 }, (_, i) => i + 1)])
      expect((await on(account.mainId, ids)).status).toBe(400);
    expect((await on(undefined, [table.id])).status).toBe(400);
    expect((await on(999_999, [table.id])).body.errors).toEqual(['Branch not found']);
    const unknown = await on(account.mainId, [table.id, 999_999]);
    expect(unknown.status).toBe(404);
    expect(await on(account.mainId, [table.id, foreign.id])).toEqual(unknown);
    expect(await on(account.mainId, [there.id])).toMatchObject({
      status: 422,
      body: { errors: [`Table definition ${there.id} is not on this branch`] },
    });
    expect((await admin.get('/deployments')).data).toEqual([]);
    const { id } = await propose(admin, table.id);
    for (const action of ['deploy', 'cancel', 'reject', 'abandon', 'send_request'])
      expect((await act(admin, id, action, { colour: 'red' })).status).toBe(400);
    expect((await act(admin, id, 'send_request', { comment: 7 })).status).toBe(400);
    expect((await admin.get(`/deployments/${id}`)).status).toBe('created');
  });

  it('needs a user and a plan with branching, everywhere', async () => {
    const { id } = await propose(admin, (await givenTable(account, 'Codes')).id);
    const onPlus = givenUser(metadata, account.id, [['admin', 'account', account.id]], { branching: false });
    const requests = [
      ['GET', '/deployments'],
      ['GET', `/deployments/${id}`],
      ['POST', '/deployments'],
      ...['deploy', 'cancel', 'reject', 'abandon', 'send_request'].map((action) => [
        'POST',
        `/deployments/${id}/${action}`,
      ]),
    ] as [string, string][];
    for (const [method, path] of requests) {
      expect((await account.api.send(method, path)).status).toBe(401);
      expect((await onPlus.send(method, path)).status).toBe(403);
    }
  });

  it('is listed with filters', async () => {
    const table = await givenTable(account, 'Codes');
    const first = await propose(admin, table.id);
    const second = await propose(admin, table.id);
    await act(admin, second.id, 'abandon', { comment: 'not needed' });
    const ids = async (query: string) =>
      (await admin.get(`/deployments?${query}`)).data.map(({ id }: { id: number }) => id);
    expect(await ids('sort=-id')).toEqual([second.id, first.id]);
    expect(await ids('q=status:eq:created')).toEqual([first.id]);
    expect(await ids('q=needed')).toEqual([second.id]);
    expect(await ids(`branch_id=${account.mainId}&q=created_by:eq:${admin.id}`)).toHaveLength(2);
    expect(await ids('branch_id=999999')).toEqual([]);
    expect((await admin.send('GET', '/deployments?q=wanted:contains:x')).status).toBe(400);
  });
});

describe('who may', () => {
  const outcomes = async (action: string, users: User[], protectedBranch = true) => {
    await admin.send('PATCH', `/branches/${account.mainId}`, { is_protected: protectedBranch });
    const table = await givenTable(account, `Codes ${Math.random()}`);
    const statuses = [];
    for (const user of users) {
      const { id } = await propose(creator, table.id);
      statuses.push((await act(user, id, action)).status);
    }
    return statuses;
  };

  it('deploy to a protected branch: approvers other than the creator, and administrators', async () => {
    expect(await outcomes('deploy', [creator, outsider, approver, admin])).toEqual([403, 403, 200, 200]);
    const own = await propose(approver, (await givenTable(account, 'Own')).id);
    expect((await act(approver, own.id, 'deploy')).status).toBe(403);
    const adminsOwn = await propose(admin, own.table_definitions[0].id);
    expect((await act(admin, adminsOwn.id, 'deploy')).status).toBe(200);
  });

  it('deploy elsewhere: developers', async () => {
    expect(await outcomes('deploy', [creator, outsider, approver], false)).toEqual([200, 403, 200]);
  });

  it('reject: approvers; cancel: the creator; abandon: creator and approvers; request: developers', async () => {
    expect(await outcomes('reject', [creator, outsider, approver, admin])).toEqual([403, 403, 200, 200]);
    expect(await outcomes('cancel', [creator, outsider, approver, admin])).toEqual([200, 403, 403, 403]);
    expect(await outcomes('abandon', [creator, outsider, approver, admin])).toEqual([200, 403, 200, 200]);
    expect(await outcomes('send_request', [creator, outsider, approver, admin])).toEqual([200, 403, 200, 200]);
  });

  it('create one: those who may develop every table of it', async () => {
    const table = await givenTable(account, 'Codes');
    const elsewhere = await account.api.post('/domains', { name: 'Elsewhere' });
    const other = await givenTable({ ...account, domainId: elsewhere.id }, 'Other');
    const partly = givenUser(metadata, account.id, [['develop', 'domain', account.domainId]]);
    const body = { branch_id: account.mainId, table_definition_ids: [table.id, other.id] };
    expect((await partly.send('POST', '/deployments', body)).status).toBe(403);
    expect((await outsider.send('POST', '/deployments', body)).status).toBe(403);
    expect((await partly.send('POST', '/deployments', { ...body, table_definition_ids: [table.id] })).status).toBe(201);
  });

  it('is read at the moment of use, not cached', async () => {
    const { id } = await propose(creator, (await givenTable(account, 'Codes')).id);
    await act(creator, id, 'send_request');
    expect((await approver.send('GET', `/deployments/${id}`)).status).toBe(200);
    metadata.neighbours.identity.users.set(approver.id, { license_type: 'developer', permissions: [] });
    expect((await act(approver, id, 'deploy')).status).toBe(403);
  });
});

describe('every state and every action', () => {
  // Brings a deployment into each state, through the API alone.
  const into: Record<DeploymentState, (id: number, tableId: number) => Promise<unknown>> = {
    created: async () => {},
    requested: (id) => act(creator, id, 'send_request'),
    deployed: (id) => act(admin, id, 'deploy'),
    failed: async (id, tableId) => {
      metadata.neighbours.data.blockers.set(tableId, [{ message: 'code holds NULL', rows: 3 }]);
      await act(admin, id, 'deploy');
      metadata.neighbours.data.blockers.delete(tableId);
    },
    rejected: (id) => act(approver, id, 'reject', { comment: 'no' }),
    cancelled: (id) => act(creator, id, 'cancel'),
    abandoned: (id) => act(creator, id, 'abandon'),
    deploying: async () => {},
  };
  const actors: Record<string, () => User> = {
    send_request: () => creator,
    deploy: () => admin,
    reject: () => approver,
    cancel: () => creator,
    abandon: () => admin,
  };
  const states = deploymentStates.filter((state) => state !== 'deploying');
  const pairs = states.flatMap((state) => Object.keys(actors).map((action) => [state, action] as const));

  it.each(pairs)('%s, %s', async (state, action) => {
    const table = await givenTable(account, 'Codes');
    const { id } = await propose(creator, table.id);
    await into[state](id, table.id);
    expect((await creator.get(`/deployments/${id}`)).status).toBe(state);
    const { from, to } = deploymentTransitions[action as keyof typeof deploymentTransitions];
    const answer = await act((actors[action] as () => User)(), id, action);
    const after = (await creator.get(`/deployments/${id}`)).status;
    if ((from as readonly string[]).includes(state)) {
      expect(answer.status).toBe(200);
      expect(after).toBe(action === 'deploy' ? 'deployed' : to);
    } else {
      expect(answer.status).toBe(422);
      expect(answer.body.errors[0]).toContain(`is ${state}`);
      expect(after).toBe(state);
    }
  });

  it('of many concurrent ones, one wins', async () => {
    const { id } = await propose(creator, (await givenTable(account, 'Codes')).id);
    const answers = await Promise.all(
      ['cancel', 'cancel', 'abandon', 'abandon', 'send_request'].map((action) => act(creator, id, action)),
    );
    const won = answers.filter(({ status }) => status === 200).length;
    const { actions } = await creator.get(`/deployments/${id}`);
    expect(actions).toHaveLength(won + 1);
    expect(actions.filter(({ action }: { action: string }) => action !== 'send_request')).toHaveLength(2);
  });
});

describe('a blocker', () => {
  it('is 422 with every reason; the deployment failed and can be deployed again', async () => {
    const table = await givenTable(account, 'Codes');
    metadata.neighbours.data.blockers.set(table.id, [
      { message: 'code holds NULL', rows: 3 },
      { message: 'name can not become an integer', rows: 1 },
    ]);
    const { id, diffs } = await propose(admin, table.id);
    expect(diffs[0].blockers).toHaveLength(2);
    const refused = await act(admin, id, 'deploy');
    expect(refused).toMatchObject({
      status: 422,
      body: { errors: ['Codes: code holds NULL (3 rows)', 'Codes: name can not become an integer (1 row)'] },
    });
    const failed = await admin.get(`/deployments/${id}`);
    expect(failed).toMatchObject({ status: 'failed', error: expect.stringContaining('3 rows'), deployed_at: null });
    expect(failed.actions.at(-1)).toMatchObject({ action: 'fail', user: null });
    expect(metadata.neighbours.data.deployed.has(table.id)).toBe(false);
    metadata.neighbours.data.blockers.delete(table.id);
    expect((await act(admin, id, 'deploy')).body).toMatchObject({ status: 'deployed', error: null });
    expect(metadata.neighbours.data.applications.at(-1)).toBe(`metadata-${id}-2`);
  });

  it('is a foreign key to a table that is neither deployed nor in the same deployment', async () => {
    const countries = await givenTable(account, 'Countries');
    const regions = await givenTable(account, 'Regions', [
      { name: 'country', data_type: 'string', length: 10, foreign_key_table_id: countries.id },
    ]);
    const alone = await propose(admin, regions.id);
    expect((await act(admin, alone.id, 'deploy')).status).toBe(422);
    const both = await propose(admin, regions.id, countries.id);
    expect((await act(admin, both.id, 'deploy')).status).toBe(200);
  });

  it('is a definition that was deleted since', async () => {
    const table = await givenTable(account, 'Codes');
    const kept = await givenTable(account, 'Kept');
    const { id } = await propose(admin, table.id, kept.id);
    await admin.send('DELETE', `/table_definitions/${table.id}`);
    const reason = `Table definition ${table.id} (Codes) has been deleted`;
    const body = { error: 'Validation failed', errors: [reason] };
    const keyed = { 'Idempotency-Key': `deploy-${id}` };
    const deploy = () => admin.send('POST', `/deployments/${id}/deploy`, {}, keyed);
    expect(await deploy()).toMatchObject({ status: 422, body });
    expect(await deploy()).toMatchObject({ status: 422, body }); // the answer of the first
    const shown = await admin.get(`/deployments/${id}`);
    expect(shown).toMatchObject({
      status: 'failed',
      error: reason,
      table_definitions: [{ id: table.id, name: 'Codes', version: null }, { id: kept.id }],
    });
    expect(stepsOf(shown)).toEqual(['create', 'deploy', 'fail']);
    expect(metadata.neighbours.data.deployed.has(kept.id)).toBe(false);
    expect(await act(admin, id, 'deploy')).toMatchObject({ status: 422, body });
    expect((await act(admin, id, 'abandon')).status).toBe(200);
  });

  it('is a refusal by data at the last moment', async () => {
    const table = await givenTable(account, 'Codes');
    const { id } = await propose(admin, table.id);
    metadata.neighbours.data.before.ApplyDeployment = () => {
      throw new ServiceError('wrong_state', { code: 'wrong_state', message: 'Rows came in between.' });
    };
    expect((await act(admin, id, 'deploy')).body.errors).toEqual(['Rows came in between.']);
    expect((await admin.get(`/deployments/${id}`)).status).toBe('failed');
  });
});

describe('without branching', () => {
  let plain: Api;
  beforeEach(() => {
    plain = givenUser(metadata, account.id, [['develop', 'account', account.id]], { branching: false });
  });

  it('one definition is deployed at once, and again after changes', async () => {
    const table = await givenTable(account, 'Codes');
    const deployed = await plain.post(`/table_definitions/${table.id}/deploy`);
    expect(deployed).toMatchObject({
      needs_deployment: false,
      deployed_version: 2,
      deployment: { status: 'deployed', diffs: [{ change: 'new' }] },
    });
    await account.api.send('PATCH', `/table_definitions/${table.id}`, { description: 'x' });
    expect((await plain.post(`/table_definitions/${table.id}/deploy`)).deployed_version).toBe(3);
    const unchanged = await plain.post(`/table_definitions/codes/deploy?branch_id=${account.mainId}`);
    expect(unchanged.deployment.diffs[0].change).toBe('unchanged');
  });

  it('a blocker is 422', async () => {
    const table = await givenTable(account, 'Codes');
    metadata.neighbours.data.blockers.set(table.id, [{ message: 'no', rows: 0 }]);
    expect(await plain.send('POST', `/table_definitions/${table.id}/deploy`)).toMatchObject({
      status: 422,
      body: { errors: ['Codes: no'] },
    });
    expect((await plain.send('POST', `/table_definitions/${table.id}/deploy`, { x: 1 })).status).toBe(400);
  });

  it('and with branching it is 403', async () => {
    const table = await givenTable(account, 'Codes');
    expect((await admin.send('POST', `/table_definitions/${table.id}/deploy`)).status).toBe(403);
    expect((await account.api.send('POST', `/table_definitions/${table.id}/deploy`)).status).toBe(403);
  });
});
