// The gRPC calls of metadata, the events that it consumes, and those that it announces.

import { createContextSigner } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { samePayload } from '@almanac/service-kit/messaging/bus/received-message';
import { createRpcClient } from '@almanac/service-kit/rpc/client';
import { eventually } from '@almanac/testkit/eventually';
import { badPayloads } from '@almanac/testkit/messaging/bad-payloads';
import { anyPayload, startBus } from '@almanac/testkit/messaging/bus';
import { callingAs, givenAccount, givenAdmin, givenTable, givenUser, type Metadata, startMetadata } from './given.ts';

let metadata: Metadata;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(async () => {
  for (const close of closing) await close();
  await metadata.stop();
});

async function clientOf(issuer: 'jobs' | 'identity' | 'gateway') {
  const sign = await createContextSigner(issuer, metadata.keys.privateKeys[issuer]);
  const { client, close } = createRpcClient('metadata', metadata.rpcAddress, sign);
  closing.push(close);
  return client;
}

async function busOf(service: string) {
  const bus = await startBus(metadata.config.common.secrets.busUrl, service);
  closing.push(() => bus.stop());
  return bus;
}

describe('gRPC', () => {
  it('reads branches and definitions of the account alone', async () => {
    const jobs = await clientOf('jobs');
    const account = await givenAccount(metadata);
    const other = await givenAccount(metadata);
    const table = await givenTable(account, 'Codes');
    const mine = { accountId: account.id };
    expect(await jobs.GetBranch(mine, { id: account.mainId })).toMatchObject({ name: 'main', is_default: true });
    expect(await jobs.GetTableDefinition(mine, { id: table.id })).toMatchObject({
      key: 'codes',
      branch_id: account.mainId,
      columns: [{ name: 'code', data_type: 'string', is_primary_key: true, valid_values: [] }],
    });
    for (const handle of [String(table.id), table.uuid, 'codes'])
      expect(await jobs.GetTableDefinition(mine, { handle, branch_id: account.mainId })).toMatchObject({
        id: table.id,
      });
    const named = { key: 'codes', branch_id: account.mainId };
    expect(await jobs.GetTableDefinition(mine, named)).toMatchObject({ id: table.id });
    for (const key of [String(table.id), table.uuid, 'Codes'])
      await expect(jobs.GetTableDefinition(mine, { ...named, key })).rejects.toMatchObject({ kind: 'not_found' });
    await expect(jobs.GetTableDefinition({ accountId: other.id }, named)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(jobs.GetTableDefinition(mine, { handle: 'codes' })).rejects.toMatchObject({ kind: 'bad_request' });
    await expect(jobs.GetBranch({ accountId: other.id }, { id: account.mainId })).rejects.toMatchObject({
      kind: 'not_found',
    });
    await expect(jobs.GetTableDefinition({ accountId: other.id }, { id: table.id })).rejects.toMatchObject({
      kind: 'not_found',
    });
  });

  it('answers the places of tables of the account: as drafted, else as deployed', async () => {
    const jobs = await clientOf('jobs');
    const account = await givenAccount(metadata);
    const admin = givenAdmin(metadata, account.id);
    const [draft, deleted, unknown] = [
      await givenTable(account, 'Draft'),
      await givenTable(account, 'Deleted'),
      999_999,
    ];
    const { id } = await admin.post('/deployments', {
      branch_id: account.mainId,
      table_definition_ids: [draft.id, deleted.id],
    });
    await admin.post(`/deployments/${id}/deploy`);
    const elsewhere = (await admin.post('/domains', { name: 'Elsewhere' })).id;
    await admin.send('PATCH', `/table_definitions/${draft.id}`, { domain_id: elsewhere });
    await admin.send('DELETE', `/table_definitions/${deleted.id}`);
    const ids = [draft.id, deleted.id, unknown];
    const { places } = await jobs.ListTablePlaces({ accountId: account.id }, { ids });
    expect(places.toSorted((a, b) => a.table_definition_id - b.table_definition_id)).toEqual([
      { table_definition_id: draft.id, domain_id: elsewhere, branch_id: account.mainId },
      { table_definition_id: deleted.id, domain_id: account.domainId, branch_id: account.mainId },
    ]);
    const other = await givenAccount(metadata);
    expect(await jobs.ListTablePlaces({ accountId: other.id }, { ids })).toEqual({ places: [] });
  });

  it('creates one change request for a dry run, or none when data refuses it', async () => {
    const jobs = await clientOf('jobs');
    const account = await givenAccount(metadata);
    const steward = givenUser(metadata, account.id, [['edit', 'branch', account.mainId]]);
    const mine = { accountId: account.id, userId: steward.id };
    const load_id = `load-${account.id}`;
    const request = { branch_id: account.mainId, title: 'Prices', description: 'Of 2027', load_id };
    const { data } = metadata.neighbours;
    data.before.OpenChangeRequest = () => {
      throw new ServiceError('wrong_state', { code: 'wrong_state', message: 'Not kept.' });
    };
    await expect(jobs.CreateChangeRequest(mine, request)).rejects.toMatchObject({ kind: 'wrong_state' });
    data.before = {};
    const made = await Promise.all([1, 2, 3].map(() => jobs.CreateChangeRequest(mine, request)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    const [{ id } = { id: 0 }] = made;
    expect(data.changeRequests.requests.get(id)).toMatchObject({
      ...{ accountId: account.id, branch_id: account.mainId, created_by: steward.id, load_id },
    });
    const { data: listed } = await givenAdmin(metadata, account.id).get('/change_requests');
    expect(listed).toMatchObject([
      { id, title: 'Prices', description: 'Of 2027', status: 'draft', created_by: steward.id },
    ]);
    const viewer = givenUser(metadata, account.id, [['view', 'branch', account.mainId]]);
    const others = [{ ...mine, userId: viewer.id }, { accountId: (await givenAccount(metadata)).id }];
    const kinds = await Promise.all(
      others.map((caller) =>
        jobs.CreateChangeRequest(caller, { ...request, load_id: 'another' }).then(
          () => 'made',
          (error: ServiceError) => error.kind,
        ),
      ),
    );
    expect(kinds).toEqual(['forbidden', 'not_found']);
  });

  it('opens accounts for identity and no other service', async () => {
    const identity = await clientOf('identity');
    const first = await identity.OpenAccount({ accountId: 77 }, {});
    expect(await identity.OpenAccount({ accountId: 77 }, {})).toEqual(first);
    const jobs = await clientOf('jobs');
    await expect(jobs.OpenAccount({ accountId: 78 }, {})).rejects.toMatchObject({ kind: 'forbidden' });
    const gateway = await clientOf('gateway');
    await expect(gateway.GetBranch({ accountId: 77 }, { id: 1 })).rejects.toMatchObject({ kind: 'forbidden' });
  });
});

describe('events', () => {
  let bus: Bus;
  beforeAll(async () => {
    bus = await busOf('identity');
  });
  const tell = async (type: string, payload: Record<string, unknown>, times = 1) => {
    const message = { v: 1 as const, id: crypto.randomUUID(), type, occurred_at: new Date().toISOString(), payload };
    for (let i = 0; i < times; i += 1) await bus.publish([{ ...message, id: crypto.randomUUID() }]);
  };

  it('of a new account create its branch main, once however often they come', async () => {
    await tell('identity.account.created', { account_id: 501, name: 'New', plan: 'business' }, 3);
    const api = callingAs(metadata, { accountId: 501 });
    await eventually(async () => expect((await api.get('/branches')).data).toMatchObject([{ name: 'main' }]));
    await tell('identity.account.created', { account_id: 501, name: 'New', plan: 'business' });
    expect((await api.get('/branches')).meta.total_count).toBe(1);
  });

  it('with an invalid payload become dead letters at once, and the next ones are consumed', async () => {
    for (const type of ['identity.account.created', 'identity.user.deleted', 'identity.permission.changed'])
      for (const payload of badPayloads) await tell(type, payload);
    await eventually(async () => expect(await bus.deadLetters('metadata.accounts')).toBe(2 * badPayloads.length));
    await tell('identity.account.created', { account_id: 502, name: 'New', plan: 'business' });
    const api = callingAs(metadata, { accountId: 502 });
    await eventually(async () => expect((await api.get('/branches')).data).toMatchObject([{ name: 'main' }]));
  });

  it('of changed rights invalidate the cache at once', async () => {
    const account = await givenAccount(metadata);
    const user = givenUser(metadata, account.id);
    const draft = () => user.send('POST', '/table_definitions', { branch_id: account.mainId, name: 'X' });
    expect((await draft()).status).toBe(403);
    metadata.neighbours.identity.users.set(user.id, {
      license_type: 'developer',
      permissions: [{ action: 'develop', resource_type: 'account', resource_id: account.id }],
    });
    await tell('identity.permission.changed', { account_id: account.id, user_id: user.id });
    await eventually(async () => expect((await draft()).status).toBe(422));
  });

  it('of a deleted user delete their current branch', async () => {
    const account = await givenAccount(metadata);
    const admin = givenAdmin(metadata, account.id);
    await admin.post('/branches/set_current_branch', { branch_id: account.mainId });
    await tell('identity.user.deleted', { account_id: account.id, user_id: admin.id });
    await eventually(async () =>
      expect(await metadata.context.prisma.current_branch.count({ where: { user_id: admin.id } })).toBe(0),
    );
  });

  it('announce changes of domains, branches, tables and deployments, each with its account', async () => {
    const heard: { type: string; payload: Record<string, unknown> }[] = [];
    const bus = await busOf('listener');
    const types = [
      ...['domain', 'branch'].flatMap((noun) => ['created', 'updated', 'deleted'].map((what) => `${noun}.${what}`)),
      ...['created', 'updated', 'cloned', 'deployed', 'deleted', 'removed'].map((what) => `table_definition.${what}`),
      ...['created', 'submitted', 'begun', 'deployed', 'abandoned'].map((what) => `deployment.${what}`),
    ].map((name) => `metadata.${name}`);
    await bus.consume(
      'listener.all',
      samePayload(types, anyPayload),
      async ({ type, payload }) => void heard.push({ type, payload }),
    );
    const account = await givenAccount(metadata);
    const admin = givenAdmin(metadata, account.id);
    await admin.send('PATCH', `/domains/${account.domainId}`, { name: 'Places' });
    const branch = await admin.post('/branches', { name: 'feature' });
    await admin.send('PATCH', `/branches/${branch.id}`, { name: 'work' });
    const table = await givenTable(account, 'Codes');
    const copy = await admin.post(`/table_definitions/${table.id}/clone`, { target_branch_id: branch.id });
    const body = { branch_id: account.mainId, table_definition_ids: [table.id] };
    const { id } = await admin.post('/deployments', body);
    await admin.post(`/deployments/${id}/send_request`, { comment: 'please' });
    await admin.post(`/deployments/${id}/deploy`);
    await admin.post(`/deployments/${(await admin.post('/deployments', body)).id}/abandon`);
    await admin.send('POST', `/table_definitions/${table.id}/remove`);
    await admin.send('DELETE', `/table_definitions/${copy.id}`);
    await admin.send('DELETE', `/branches/${branch.id}`);
    await admin.send('DELETE', `/domains/${account.domainId}`);
    const ofAccount = () => heard.filter(({ payload }) => payload.account_id === account.id);
    await eventually(() => expect(new Set(ofAccount().map(({ type }) => type))).toEqual(new Set(types)));
    expect(ofAccount().find(({ type }) => type === 'metadata.branch.created')?.payload).toMatchObject({
      branch_id: account.mainId,
      name: 'main',
      creator_id: null,
    });
    const by = { user_id: admin.id, application_id: null };
    for (const what of ['cloned', 'deployed', 'removed'])
      expect(ofAccount().find(({ type }) => type === `metadata.table_definition.${what}`)?.payload.by).toEqual(by);
    expect(ofAccount().find(({ type }) => type === 'metadata.deployment.submitted')?.payload).toEqual({
      account_id: account.id,
      deployment_id: id,
      branch_id: account.mainId,
      user_id: admin.id,
      comment: 'please',
    });
  });
});
