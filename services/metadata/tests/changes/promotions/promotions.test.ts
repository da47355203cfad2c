// Promotions over HTTP: who may take which step in which state, and what is stored.
// promotion-merges.test.ts tests what they merge.
import { eventually } from '@almanac/testkit/eventually';
import {
  type PromotionState,
  promotionStates,
  promotionTransitions,
} from '../../../src/changes/promotions/promotion-states.ts';
import { givenAccount, givenTable, givenUser } from '../../given.ts';
import { metadata, renewWork, type User, useWork, work } from '../../promotion-given.ts';

useWork();

describe('a promotion', () => {
  it('goes from created to promoted, with its diffs, history and audit entries', async () => {
    const { account, featureId, admin, creator, approver, propose, act } = work;
    const table = await work.table('Countries', [
      { name: 'code', data_type: 'string', length: 10, is_primary_key: true },
    ]);
    const copy = await work.clone(table.id);
    await work.addColumn(copy.id, { name: 'area', data_type: 'integer' });
    const created = await propose(creator, copy.id);
    expect(created).toMatchObject({
      status: 'created',
      from_branch_id: featureId,
      to_branch_id: account.mainId,
      from_branch: { name: 'feature' },
      to_branch: { name: 'main', is_protected: true },
      created_by: creator.id,
      table_definitions: [
        { id: copy.id, key: 'countries', version: 2, target_table_definition_id: table.id, target_version: 2 },
      ],
      actions: [{ action: 'create', user: creator.id }],
      diffs: [
        {
          table_definition_id: copy.id,
          target_table_definition_id: table.id,
          change: 'modified',
          attributes: [],
          columns: [
            { name: 'code', change: 'unchanged' },
            { name: 'area', change: 'new' },
          ],
          blockers: [],
        },
      ],
      conflicts: [],
      revision: expect.any(String),
    });
    expect(await creator.get(`/promotions/${created.id}`)).toEqual(created);
    await act(creator, created.id, 'send_request', { comment: 'please' });
    const { status, body: promoted } = await act(approver, created.id, 'promote');
    expect(status).toBe(200);
    expect(promoted).toMatchObject({
      status: 'promoted',
      comment: 'please',
      approved_by: approver.id,
      promoted_by: approver.id,
      promoted_at: expect.any(String),
      diffs: [{ change: 'modified' }],
      revision: null,
    });
    expect(JSON.stringify(promoted.diffs)).toBe(JSON.stringify(created.diffs));
    expect(promoted.actions.map(({ action }: { action: string }) => action)).toEqual([
      'create',
      'send_request',
      'promote',
      'succeed',
    ]);
    expect(Object.keys(await work.columns(table.id))).toEqual(['code', 'area']);
    expect(await admin.get(`/table_definitions/${table.id}`)).toMatchObject({ version: 3, needs_deployment: true });
    const acts = () =>
      metadata.acts.filter((each) => each.account_id === account.id && each.resource_type === 'promotion');
    await eventually(() => expect(acts()).toHaveLength(3));
    expect(acts()).toMatchObject([
      { action: 'promotion.created', user_id: creator.id, after: { table_definition_ids: [copy.id] } },
      {
        action: 'promotion.submitted',
        before: { status: 'created' },
        after: { status: 'requested', comment: 'please' },
      },
      { action: 'promotion.promoted', user_id: approver.id, result: 'succeeded' },
    ]);
  });

  it('is listed with filters, and keeps the id of a deleted source branch', async () => {
    const { account, featureId, admin, propose, act } = work;
    const table = await work.onFeature('Codes');
    const first = await propose(admin, table.id);
    const second = await propose(admin, table.id);
    await act(admin, second.id, 'abandon', { comment: 'not needed' });
    const ids = async (query: string) =>
      (await admin.get(`/promotions?${query}`)).data.map(({ id }: { id: number }) => id);
    expect(await ids('sort=-id')).toEqual([second.id, first.id]);
    expect(await ids('q=status:eq:created')).toEqual([first.id]);
    expect(await ids('q=needed')).toEqual([second.id]);
    expect(await ids(`from_branch_id=${featureId}&to_branch_id=${account.mainId}`)).toHaveLength(2);
    expect(await ids(`from_branch_id=${account.mainId}`)).toEqual([]);
    expect((await admin.send('GET', '/promotions?q=diffs:contains:x')).status).toBe(400);
    await admin.send('DELETE', `/branches/${featureId}`);
    expect(await admin.get(`/promotions/${first.id}`)).toMatchObject({ from_branch_id: featureId, from_branch: null });
    expect((await act(admin, first.id, 'promote')).status).toBe(422);
  });

  it('reads its parameters strictly', async () => {
    const { account, featureId, admin } = work;
    const table = await work.onFeature('Codes');
    const foreign = await givenTable(await givenAccount(metadata), 'Foreign');
    const onMain = await work.table('Main');
    const on = (from_branch_id: unknown, to_branch_id: unknown, table_definition_ids: unknown) =>
      admin.send('POST', '/promotions', { from_branch_id, to_branch_id, table_definition_ids });
    for (const ids of [[], undefined, 'x', [1.5], ['1'], Array.from({ length: 1001 }, (_, i) => i + 1)])
      expect((await on(featureId, account.mainId, ids)).status).toBe(400);
    expect((await on(undefined, account.mainId, [table.id])).status).toBe(400);
    expect((await on(featureId, 999_999, [table.id])).body.errors).toEqual(['Branch not found']);
    const unknown = await on(featureId, account.mainId, [table.id, 999_999]);
    expect(unknown.status).toBe(404);
    expect(await on(featureId, account.mainId, [table.id, foreign.id])).toEqual(unknown);
    expect((await on(featureId, account.mainId, [table.id, onMain.id])).body.errors).toEqual([
      `Table definition ${onMain.id} is not on the branch feature`,
    ]);
    expect((await on(featureId, featureId, [table.id])).status).toBe(422);
    expect((await admin.get('/promotions')).data).toEqual([]);
    const { id } = await work.propose(admin, table.id);
    for (const action of ['promote', 'rehearse', 'cancel', 'reject', 'abandon', 'send_request'])
      expect((await work.act(admin, id, action, { colour: 'red' })).status).toBe(400);
    for (const resolutions of ['x', [{}], [{ table: 'codes', column: null, attribute: 'name', resolution: 'mine' }]])
      expect((await work.act(admin, id, 'promote', { resolutions })).status).toBe(400);
    expect((await admin.get(`/promotions/${id}`)).status).toBe('created');
  });

  it('needs a user and a plan with branching, everywhere', async () => {
    const { account, admin } = work;
    const { id } = await work.propose(admin, (await work.onFeature('Codes')).id);
    const onPlus = givenUser(metadata, account.id, [['admin', 'account', account.id]], { branching: false });
    const actions = ['promote', 'rehearse', 'cancel', 'reject', 'abandon', 'send_request'];
    for (const [method, path] of [
      ['GET', '/promotions'],
      ['GET', `/promotions/${id}`],
      ['POST', '/promotions'],
      ...actions.map((action) => ['POST', `/promotions/${id}/${action}`] as const),
    ] as const) {
      expect((await account.api.send(method, path)).status).toBe(401);
      expect((await onPlus.send(method, path)).status).toBe(403);
    }
  });
});

describe('who may', () => {
  const outcomes = async (action: string, users: User[], isProtected = true) => {
    const { account, admin, creator, propose, act } = work;
    await admin.send('PATCH', `/branches/${account.mainId}`, { is_protected: isProtected });
    const statuses = [];
    for (const user of users) {
      const { id } = await propose(creator, (await work.onFeature(`Codes ${statuses.length}`)).id);
      statuses.push((await act(user, id, action)).status);
    }
    return statuses;
  };
  const developer = () => givenUser(metadata, work.account.id, [['develop', 'domain', work.account.domainId]]);

  it('promote to a protected branch: approvers other than the creator, and administrators', async () => {
    const { creator, outsider, approver, admin } = work;
    expect(await outcomes('promote', [creator, outsider, developer(), approver, admin])).toEqual([
      403, 403, 403, 200, 200,
    ]);
  });

  it('promote elsewhere: those who develop the tables there', async () => {
    const { account, creator, outsider, approver, featureId } = work;
    const here = givenUser(metadata, account.id, [['develop', 'branch', featureId]]);
    expect(await outcomes('promote', [creator, developer(), outsider, approver, here], false)).toEqual([
      200, 200, 403, 403, 403,
    ]);
  });

  it('reject: approvers; cancel: the creator; abandon: creator and approvers; request: creator and developers', async () => {
    const { creator, outsider, approver, admin } = work;
    const all = [creator, outsider, approver, admin];
    expect(await outcomes('reject', all)).toEqual([403, 403, 200, 200]);
    await renewWork();
    expect(await outcomes('cancel', [work.creator, work.outsider, work.approver, work.admin])).toEqual([
      200, 403, 403, 403,
    ]);
    await renewWork();
    expect(await outcomes('abandon', [work.creator, work.outsider, work.approver, work.admin])).toEqual([
      200, 403, 200, 200,
    ]);
    await renewWork();
    expect(await outcomes('send_request', [work.creator, work.outsider, work.approver, work.admin])).toEqual([
      200, 403, 403, 200,
    ]);
  });

  it('propose: those who develop every table on one of the branches and see it on both', async () => {
    const { account, featureId } = work;
    const table = await work.table('Codes');
    const copy = await work.clone(table.id);
    const body = { from_branch_id: featureId, to_branch_id: account.mainId, table_definition_ids: [copy.id] };
    const statusOf = async (...grants: [string, string, number][]) =>
      (await givenUser(metadata, account.id, grants).send('POST', '/promotions', body)).status;
    expect(await statusOf(['develop', 'domain', account.domainId])).toBe(201);
    expect(await statusOf(['develop', 'branch', featureId])).toBe(403);
    expect(await statusOf(['develop', 'branch', featureId], ['view', 'table_definition', table.id])).toBe(201);
    expect(await statusOf(['develop', 'branch', account.mainId])).toBe(403);
    expect(await statusOf(['develop', 'branch', account.mainId], ['view', 'branch', featureId])).toBe(201);
    expect(await statusOf(['view', 'account', account.id])).toBe(403);
  });

  it('see one: those who see its tables on the target, and approvers there', async () => {
    const { account, featureId, creator } = work;
    const table = await work.table('Codes');
    const { id } = await work.propose(creator, (await work.clone(table.id)).id);
    const seen = async (...grants: [string, string, number][]) => {
      const user = givenUser(metadata, account.id, grants);
      const { status } = await user.send('GET', `/promotions/${id}`);
      expect((await user.get('/promotions')).meta.total_count).toBe(status === 200 ? 1 : 0);
      expect((await user.send('POST', `/promotions/${id}/rehearse`)).status).toBe(status);
      return status;
    };
    expect(await seen(['view', 'table_definition', table.id])).toBe(200);
    expect(await seen(['approve', 'branch', account.mainId])).toBe(200);
    expect(await seen(['view', 'domain', account.domainId])).toBe(200);
    expect(await seen(['develop', 'branch', featureId])).toBe(403);
    expect(await seen()).toBe(403);
  });

  it('is read at the moment of use, not cached', async () => {
    const { creator, approver, act } = work;
    const { id } = await work.propose(creator, (await work.onFeature('Codes')).id);
    expect((await approver.send('GET', `/promotions/${id}`)).status).toBe(200);
    metadata.neighbours.identity.users.set(approver.id, { license_type: 'developer', permissions: [] });
    expect((await act(approver, id, 'promote')).status).toBe(403);
  });
});

describe('every state and every action', () => {
  // Brings a promotion into each state, through the API alone.
  const into: Record<PromotionState, (id: number) => Promise<unknown>> = {
    created: async () => {},
    requested: (id) => work.act(work.creator, id, 'send_request'),
    promoting: async () => {},
    promoted: (id) => work.act(work.admin, id, 'promote'),
    failed: async (id) => {
      const taken = await work.table('Codes');
      await work.act(work.admin, id, 'promote');
      await work.admin.send('DELETE', `/table_definitions/${taken.id}`);
    },
    rejected: (id) => work.act(work.approver, id, 'reject', { comment: 'no' }),
    cancelled: (id) => work.act(work.creator, id, 'cancel'),
    abandoned: (id) => work.act(work.creator, id, 'abandon'),
  };
  const actors: Record<string, () => User> = {
    send_request: () => work.creator,
    promote: () => work.admin,
    reject: () => work.approver,
    cancel: () => work.creator,
    abandon: () => work.admin,
  };
  // `promoting` is never visible: it begins and ends in one transaction.
  const states = promotionStates.filter((state) => state !== 'promoting');
  const pairs = states.flatMap((state) => Object.keys(actors).map((action) => [state, action] as const));

  it.each(pairs)('%s, %s', async (state, action) => {
    const { creator, act, propose } = work;
    const { id } = await propose(creator, (await work.onFeature('Codes')).id);
    await into[state](id);
    expect((await creator.get(`/promotions/${id}`)).status).toBe(state);
    const { from, to } = promotionTransitions[action as keyof typeof promotionTransitions];
    const answer = await act((actors[action] as () => User)(), id, action);
    const after = (await creator.get(`/promotions/${id}`)).status;
    if ((from as readonly string[]).includes(state)) {
      expect(answer.status).toBe(200);
      expect(after).toBe(action === 'promote' ? 'promoted' : to);
    } else {
      expect(answer.status).toBe(422);
      expect(answer.body.errors[0]).toContain(`is ${state}`);
      expect(after).toBe(state);
    }
  });

  it('of many concurrent ones, one wins', async () => {
    const { admin, act, propose } = work;
    const { id } = await propose(admin, (await work.onFeature('Codes')).id);
    const steps = ['promote', 'cancel', 'promote', 'abandon', 'promote', 'reject'];
    const answers = await Promise.all(steps.map((action) => act(admin, id, action)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(5);
    const { status, actions } = await admin.get(`/promotions/${id}`);
    expect(actions).toHaveLength(status === 'promoted' ? 3 : 2);
  });
});
