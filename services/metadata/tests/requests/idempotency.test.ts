// Idempotency-Key: every POST of metadata has its effect once for a key, and its answer can be
// requested again.
import { ServiceError } from '@almanac/service-kit/errors';
import { metadataRoutes } from '../../src/http.ts';
import { type Api, givenTable, givenUser, keyColumn, type Metadata, startMetadata } from '../given.ts';
import { givenWork, type Work } from '../promotion-given.ts';

let metadata: Metadata;
let work: Work;
let keys = 0;

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  work = await givenWork(metadata);
});
afterEach(() => {
  metadata.neighbours.data.before = {};
});

const freshKey = () => {
  keys += 1;
  return `key-${keys}`;
};
const post = (user: Api, path: string, body: unknown, key: string) =>
  user.send('POST', path, body, { 'idempotency-key': key });
const count = async (table: string, where: string, ...values: unknown[]) =>
  (await metadata.pool.query(`select count(*)::int as n from ${table} where ${where}`, values)).rows[0].n;
const mine = (table: string) => () => count(table, 'account_id = $1', work.account.id);
const actionsOf = (noun: string, id: number) => () => count(`${noun}_action`, `${noun}_id = $1`, id);

const deploy = async (id: number) => {
  const branch = { branch_id: work.account.mainId, table_definition_ids: [id] };
  const made = await work.admin.post('/deployments', branch);
  await work.admin.post(`/deployments/${made.id}/deploy`);
};
const proposed = async () => {
  const table = await work.table('Codes');
  return work.creator.post('/deployments', { branch_id: work.account.mainId, table_definition_ids: [table.id] });
};
const promotion = async () => work.propose(work.creator, (await work.onFeature('Codes')).id);

/** A change request of one operation, in the state that a step takes. */
const changeRequest = async (step: string) => {
  const { id: tableId } = await work.table('Codes');
  await deploy(tableId);
  const { id } = await work.creator.post('/change_requests', { branch_id: work.account.mainId, title: 'Rows' });
  metadata.neighbours.data.changeRequests.propose(id, tableId, ['create']);
  if (step === 'send_request' || step === 'cancel') return work.admin.get(`/change_requests/${id}`);
  return work.creator.post(`/change_requests/${id}/send_request`);
};

type Case = { path: string; body?: object; other?: object; user?: Api; effects: () => Promise<number> };

// `effects` counts what the request has stored; `other` is another request to the same address.
const cases: Record<string, () => Promise<Case>> = {
  'create a domain': async () => ({
    path: '/domains',
    body: { name: 'Finance' },
    other: { name: 'Law' },
    effects: mine('domain'),
  }),
  'create a branch': async () => ({ path: '/branches', body: { name: 'next' }, effects: mine('branch') }),
  'set the current branch': async () => ({
    path: '/branches/set_current_branch',
    body: { branch_id: work.featureId },
    other: { branch_id: work.account.mainId },
    effects: mine('current_branch'),
  }),
  'create a table definition': async () => ({
    path: '/table_definitions',
    body: { branch_id: work.account.mainId, name: 'Codes', domain_id: work.account.domainId },
    effects: mine('table_definition'),
  }),
  'create a column definition': async () => ({
    path: '/column_definitions',
    body: { table_definition_id: (await work.table('Codes')).id, name: 'name', data_type: 'text' },
    effects: mine('column_definition'),
  }),
  'clone a table': async () => ({
    path: `/table_definitions/${(await work.table('Codes')).id}/clone`,
    body: { target_branch_id: work.featureId },
    effects: mine('table_definition'),
  }),
  'remove a deployed table': async () => {
    const { id } = await work.table('Codes');
    await deploy(id);
    return { path: `/table_definitions/${id}/remove`, effects: mine('table_removal') };
  },
  'restore a table': async () => {
    const { id } = await work.table('Codes');
    await deploy(id);
    await work.admin.send('POST', `/table_definitions/${id}/remove`);
    return { path: `/table_definitions/${id}/restore`, effects: mine('table_definition') };
  },
  'deploy a table without branching': async () => {
    const { id } = await work.table('Codes');
    const user = givenUser(metadata, work.account.id, [['admin', 'account', work.account.id]], { branching: false });
    return { path: `/table_definitions/${id}/deploy`, user, effects: mine('deployment') };
  },
  'propose a deployment': async () => ({
    path: '/deployments',
    body: { branch_id: work.account.mainId, table_definition_ids: [(await work.table('Codes')).id] },
    effects: mine('deployment'),
  }),
  ...Object.fromEntries(
    ['send_request', 'reject', 'cancel', 'abandon', 'deploy'].map((step) => [
      `${step} a deployment`,
      async () => {
        const { id } = await proposed();
        const body = step === 'deploy' ? {} : { comment: 'once' };
        const user = step === 'cancel' ? work.creator : work.admin;
        return { path: `/deployments/${id}/${step}`, body, user, effects: actionsOf('deployment', id) };
      },
    ]),
  ),
  'propose a promotion': async () => ({
    path: '/promotions',
    body: {
      from_branch_id: work.featureId,
      to_branch_id: work.account.mainId,
      table_definition_ids: [(await work.onFeature('Codes')).id],
    },
    effects: mine('promotion'),
  }),
  ...Object.fromEntries(
    ['send_request', 'reject', 'cancel', 'abandon', 'promote'].map((step) => [
      `${step} a promotion`,
      async () => {
        const { id } = await promotion();
        const body = step === 'promote' ? {} : { comment: 'once' };
        const user = step === 'cancel' ? work.creator : work.admin;
        return { path: `/promotions/${id}/${step}`, body, user, effects: actionsOf('promotion', id) };
      },
    ]),
  ),
  'save a view': async () => ({
    path: '/views',
    body: {
      table_definition_id: (await work.table('Codes')).id,
      view: { name: 'By code', sharing: 'private', state: {} },
    },
    effects: mine('saved_view'),
  }),
  'create a change request': async () => ({
    path: '/change_requests',
    body: { branch_id: work.account.mainId, title: 'Rows' },
    other: { branch_id: work.account.mainId, title: 'Others' },
    effects: mine('change_request'),
  }),
  ...Object.fromEntries(
    ['send_request', 'withdraw', 'request_changes', 'approve', 'reject', 'cancel', 'apply'].map((step) => [
      `${step} a change request`,
      async () => {
        const { id, revision } = await changeRequest(step);
        const isDecision = step === 'approve' || step === 'apply';
        const body = { comment: 'once', ...(isDecision ? { revision } : {}) };
        const user = ['send_request', 'withdraw', 'cancel'].includes(step) ? work.creator : work.approver;
        return { path: `/change_requests/${id}/${step}`, body, user, effects: actionsOf('change_request', id) };
      },
    ]),
  ),
  'comment on a change request': async () => {
    const { id } = await changeRequest('send_request');
    const effects = () => count('change_request_comment', 'change_request_id = $1', id);
    return { path: `/change_requests/${id}/comments`, body: { body: 'once' }, other: { body: 'twice' }, effects };
  },
};

describe('a repeated request', () => {
  it.each(Object.keys(cases))(
    'to %s has one effect and one answer, also when several come concurrently',
    async (name) => {
      const given = await (cases[name] as () => Promise<Case>)();
      const { path, body, user = work.admin, other = { ...body, name: 'Other', comment: 'other' }, effects } = given;
      const key = freshKey();
      const answers = await Promise.all([1, 2, 3, 4].map(() => post(user, path, body, key)));
      const after = await effects();
      answers.push(await post(user, path, body, key));
      const seen = answers.map(({ status, body }) => ({ status, id: body?.id, state: body?.status }));
      expect(seen).toEqual(seen.map(() => seen[0]));
      expect(seen[0]?.status).toBeLessThan(300);
      expect(await effects()).toBe(after);
      // Without a key a second request would be counted here: a second resource of the kind, or a
      // second action.
      expect(await count('idempotent_answer', 'account_id = $1 and key = $2', work.account.id, key)).toBe(1);
      expect(await post(user, path, other, key)).toMatchObject({
        status: 422,
        body: { errors: ['Idempotency-Key was used before with another request.'] },
      });
    },
  );

  it('is accepted by every POST that does more when it is repeated', () => {
    const posts = metadataRoutes(metadata.context).filter(({ method }) => method === 'POST');
    const without = posts.filter(({ requestHeaders }) => requestHeaders?.['Idempotency-Key'] === undefined);
    expect(without.map(({ path }) => path)).toEqual([
      '/deployments/{id}/rehearse',
      '/promotions/{id}/decisions',
      '/promotions/{id}/rehearse',
      '/permissions/explain',
    ]);
    expect(posts.length - without.length).toBe(Object.keys(cases).length);
  });

  it('that was refused first succeeds when nothing blocks it any more', async () => {
    const body = { branch_id: work.account.mainId, name: 'Codes', domain_id: work.account.domainId };
    const taken = await work.table('Codes');
    const key = freshKey();
    expect((await post(work.admin, '/table_definitions', body, key)).status).toBe(422);
    await work.admin.send('DELETE', `/table_definitions/${taken.id}`);
    expect((await post(work.admin, '/table_definitions', body, key)).status).toBe(201);
  });

  it('to remove a table that data refused to drop runs again', async () => {
    const { id } = await work.table('Codes');
    await deploy(id);
    const path = `/table_definitions/${id}/remove`;
    const key = freshKey();
    metadata.neighbours.data.before.DropTable = () => {
      throw new ServiceError('wrong_state', { code: 'wrong_state', message: 'Rows are being loaded.' });
    };
    expect((await post(work.admin, path, undefined, key)).status).toBe(422);
    metadata.neighbours.data.before = {};
    expect((await post(work.admin, path, undefined, key)).status).toBe(204);
    expect((await work.admin.send('GET', `/table_definitions/${id}`)).status).toBe(404);
  });

  it('to deploy is answered how the first one failed, and applies nothing', async () => {
    const { id, table_definitions } = await proposed();
    metadata.neighbours.data.blockers.set(table_definitions[0].id, [{ message: 'Rows have no value', rows: 3 }]);
    const key = freshKey();
    const deployOnce = () => post(work.admin, `/deployments/${id}/deploy`, {}, key);
    const first = await deployOnce();
    expect(first.status).toBe(422);
    metadata.neighbours.data.blockers.clear();
    expect(await deployOnce()).toEqual(first);
    expect((await post(work.admin, `/deployments/${id}/deploy`, {}, freshKey())).status).toBe(200);
  });

  it('with another caller’s or account’s key is a request of its own', async () => {
    const key = freshKey();
    const request = (user: Api) => post(user, '/domains', { name: 'Law' }, key);
    const [one, other] = [work, await givenWork(metadata)];
    expect((await request(one.admin)).status).toBe(201);
    expect((await request(other.admin)).status).toBe(201);
    expect((await request(one.account.api)).body.errors).toEqual(['Name has already been taken']);
  });

  it('is 404 when its result was deleted, and refused to callers who may not see it', async () => {
    const developer = givenUser(metadata, work.account.id, [['develop', 'domain', work.account.domainId]]);
    const body = { branch_id: work.account.mainId, name: 'Codes', domain_id: work.account.domainId };
    const key = freshKey();
    const made = await post(developer, '/table_definitions', body, key);
    expect(made.status).toBe(201);
    metadata.neighbours.identity.users.get(developer.id)?.permissions.splice(0);
    metadata.context.rights.invalidate(work.account.id, developer.id);
    expect((await post(developer, '/table_definitions', body, key)).status).toBe(403);
    await work.admin.send('DELETE', `/table_definitions/${made.body.id}`);
    expect((await post(developer, '/table_definitions', body, key)).status).toBe(404);
  });

  it('takes a key of visible characters only, and is a new request after a day', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256)])
      expect((await post(work.admin, '/domains', { name: 'Law' }, key)).status).toBe(400);
    const key = freshKey();
    const column = (name: string) => ({ table_definition_id: table.id, name, data_type: 'text' });
    const table = await givenTable(work.account, 'Codes', [keyColumn]);
    const [first] = [await post(work.admin, '/column_definitions', column('one'), key)];
    await metadata.pool.query(
      `update idempotent_answer set created_at = created_at - interval '24 hours' where account_id = $1 and key = $2`,
      [work.account.id, key],
    );
    const next = await post(work.admin, '/column_definitions', column('two'), key);
    expect([first.status, next.status, next.body.name]).toEqual([201, 201, 'two']);
  });
});
