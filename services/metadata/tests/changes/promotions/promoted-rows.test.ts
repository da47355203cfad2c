// The rows that a promotion would change: their windows, their counts, and the revision that covers
// them.
import { ServiceError } from '@almanac/service-kit/errors';
import { mergeRows } from '../../../src/changes/promotions/rows/merged-rows.ts';
import { noMerges } from '../../fake-merges.ts';
import { type Answer, givenUser, keyColumn, type Metadata, startMetadata } from '../../given.ts';
import { givenWork, type User, type Work } from '../../promotion-given.ts';

let metadata: Metadata;
let work: Work;
let main: Answer['body'];
let feature: Answer['body'];

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  work = await givenWork(metadata);
  [main, feature] = await givenPair('Countries');
});
afterEach(() => {
  Object.assign(data(), { before: {}, after: {}, ...noMerges() });
});

const data = () => metadata.neighbours.data;
const deploy = async (branch_id: number, id: number) => {
  const made = await work.admin.post('/deployments', { branch_id, table_definition_ids: [id] });
  await work.admin.post(`/deployments/${made.id}/deploy`);
};

/** A table in service on `main`, and its clone with rows in service on the feature branch. */
async function givenPair(name: string): Promise<[Answer['body'], Answer['body']]> {
  const table = await work.table(name, [keyColumn]);
  await deploy(work.account.mainId, table.id);
  const body = { target_branch_id: work.featureId, include_data: true };
  const copy = await work.admin.post(`/table_definitions/${table.id}/clone`, body);
  await deploy(work.featureId, copy.id);
  return [table, copy];
}

const propose = (ids: number[] = [feature.id], include_data = true) =>
  work.admin.post('/promotions', {
    from_branch_id: work.featureId,
    to_branch_id: work.account.mainId,
    table_definition_ids: ids,
    include_data,
  });
const rowsOf = (user: User, id: number, query = '') => user.send('GET', `/promotions/${id}/rows${query}`);
const changeRows = (id: number = feature.id) => data().rowRevisions.set(id, `changed-${id}-${Math.random()}`);
const away = () => {
  throw new ServiceError('unavailable', 'data is away');
};

describe('the window of rows', () => {
  it('asks data for the tables in service on both branches, with the filters', async () => {
    const draft = await work.onFeature('Drafts', [keyColumn]);
    const { id } = await propose([feature.id, draft.id]);
    expect(
      await rowsOf(work.admin, id, '?kind=update&conflict=true&startRow=5&endRow=7&exact_numbers=true'),
    ).toMatchObject({
      status: 200,
      body: {
        rows: [{ id: feature.id, kind: 'update' }],
        rowCount: 1,
        counts: { kinds: { create: 0, update: 1, delete: 0 }, with_conflict: 0 },
      },
    });
    const pairs = [{ source_table_id: feature.id, target_table_id: main.id }];
    expect(data().windows).toMatchObject([
      { pairs, kind: 'update', conflict: true, start_row: 5, end_row: 7, exact_numbers: true },
    ]);
    await rowsOf(work.admin, id);
    expect(data().windows[1]).toMatchObject({ pairs, kind: '', start_row: 0, end_row: 100, exact_numbers: false });
    expect(data().windows[1]?.conflict).toBeUndefined();
  });

  it('is of one table of the promotion, and empty of any other and without rows', async () => {
    const [, other] = await givenPair('Cities');
    const { id } = await propose([feature.id, other.id]);
    const idsOf = async (query: string, promotion = id) =>
      (await rowsOf(work.admin, promotion, query)).body.rows.map((row: { id: number }) => row.id);
    expect(await idsOf('')).toEqual([feature.id, other.id]);
    expect(await idsOf(`?table_definition_id=${other.id}`)).toEqual([other.id]);
    expect(await idsOf(`?table_definition_id=${main.id}`)).toEqual([]);
    expect(await idsOf('', (await propose([feature.id], false)).id)).toEqual([]);
  });

  it.each([
    'startRow=-1',
    'endRow=x',
    'startRow=5&endRow=4',
    'endRow=1001',
    'kind=created',
    'conflict=1',
    'table_definition_id=x',
  ])('is 400 for %s', async (query) => {
    const { id } = await propose();
    expect((await rowsOf(work.admin, id, `?${query}`)).status).toBe(400);
    expect(data().windows).toEqual([]);
  });

  it('is 422 once the promotion has ended', async () => {
    const { id } = await propose();
    await work.act(work.admin, id, 'cancel');
    expect(await rowsOf(work.admin, id)).toMatchObject({ status: 422, body: { error: 'Wrong state' } });
  });

  it('is for approvers of the target, and for those who may view rows on both branches', async () => {
    const [otherMain, other] = await givenPair('Cities');
    const { id } = await propose([feature.id, other.id]);
    const { mainId, id: accountId } = work.account;
    const seenBy = async (...permissions: [string, string, number][]) => {
      const { status, body } = await rowsOf(givenUser(metadata, accountId, permissions), id);
      return status === 200 ? body.rows.map((row: { id: number }) => row.id) : status;
    };
    const onMain: [string, string, number] = ['view', 'branch', mainId];
    expect(await seenBy(['approve', 'branch', mainId])).toEqual([feature.id, other.id]);
    expect(await seenBy(['view', 'account', accountId])).toEqual([feature.id, other.id]);
    expect(await seenBy(onMain, ['view', 'branch', work.featureId])).toEqual([feature.id, other.id]);
    expect(await seenBy(onMain, ['view', 'table_definition', other.id])).toEqual([other.id]);
    expect(await seenBy(onMain)).toBe(403);
    expect(await seenBy(['view', 'table_definition', otherMain.id])).toBe(403);
    const domain = await work.admin.post('/domains', { name: 'Elsewhere', abbreviation: 'E' });
    for (const { id: draft } of [feature, main, other, otherMain])
      expect(
        await work.admin.send('PATCH', `/table_definitions/${draft}`, { table_definition: { domain_id: domain.id } }),
      ).toMatchObject({ status: 200 });
    expect(await seenBy(['view', 'domain', domain.id])).toBe(403);
  });
});

describe('decisions on rows', () => {
  const decide = (user: User, id: number, ...decisions: object[]) => work.act(user, id, 'decisions', { decisions });
  const reject = { filter: {}, decision: 'reject' };

  it('are sent to data for the tables in service on both branches, and merged by', async () => {
    const { id } = await propose();
    const rows = [{ table_definition_id: feature.id, key: { code: 'B', size: 7 } }];
    const filter = { table_definition_id: feature.id, kind: 'delete', conflict: false, decision: 'undecided' };
    const given = [{ rows, decision: 'reject', comment: 'Too early' }, { filter, decision: 'accept' }, reject];
    expect(await decide(work.approver, id, ...given)).toMatchObject({ status: 200, body: { decided_count: 3 } });
    expect(data().rowDecisions).toMatchObject([
      {
        promotion_id: id,
        pairs: [{ source_table_id: feature.id, target_table_id: main.id }],
        decisions: [
          {
            rows: [{ source_table_id: feature.id, key: { code: 'B', size: '7' } }],
            ...{ decision: 'rejected', comment: 'Too early' },
          },
          {
            filter: { source_table_id: feature.id, kind: 'delete', conflict: false, decision: 'undecided' },
            decision: 'accepted',
          },
          { filter: { source_table_id: 0, kind: '', decision: '' }, decision: 'rejected' },
        ],
      },
    ]);
    await rowsOf(work.admin, id, '?decision=rejected');
    expect(data().windows.at(-1)).toMatchObject({ promotion_id: id, decision: 'rejected' });
    await work.act(work.approver, id, 'rehearse', {});
    await work.act(work.approver, id, 'promote', {});
    expect(data().merges.map(({ promotion_id }) => promotion_id)).toEqual([id, id]);
  });

  it('are for those who may promote, until it has ended', async () => {
    const { mainId, id: accountId } = work.account;
    await work.admin.send('PATCH', `/branches/${mainId}`, { is_protected: true });
    const { id } = await work.creator.post('/promotions', {
      ...{ from_branch_id: work.featureId, to_branch_id: mainId },
      ...{ table_definition_ids: [feature.id], include_data: true },
    });
    const viewer = givenUser(metadata, accountId, [['view', 'account', accountId]]);
    expect((await decide(viewer, id, reject)).status).toBe(403);
    expect((await decide(work.creator, id, reject)).status).toBe(403);
    expect((await decide(work.approver, id, reject)).status).toBe(200);
    await work.act(work.approver, id, 'promote', {});
    expect(await decide(work.approver, id, reject)).toMatchObject({ status: 422, body: { error: 'Wrong state' } });
    expect(data().rowDecisions).toHaveLength(1);
  });

  it('are 422 of a promotion without rows', async () => {
    const { id } = await propose([feature.id], false);
    expect((await decide(work.admin, id, reject)).status).toBe(422);
  });

  it.each<[string, object]>([
    ['neither rows nor a filter', { decision: 'reject' }],
    ['both', { ...reject, rows: [{ table_definition_id: 1, key: { code: 'A' } }] }],
    ['no rows', { rows: [], decision: 'reject' }],
    ['an unknown verb', { filter: {}, decision: 'return' }],
    ['an unknown kind', { filter: { kind: 'created' }, decision: 'reject' }],
    ['a key of objects', { rows: [{ table_definition_id: 1, key: { code: {} } }], decision: 'reject' }],
    ['a long comment', { ...reject, comment: 'x'.repeat(10_001) }],
  ])('are 400 with %s', async (_, decision) => {
    const { id } = await propose();
    expect((await decide(work.admin, id, decision)).status).toBe(400);
    expect(data().rowDecisions).toEqual([]);
  });

  it('on tables that are not promoted are 404', async () => {
    const [, other] = await givenPair('Cities');
    const { id } = await propose();
    for (const table_definition_id of [other.id, main.id, 999_999]) {
      const rows = [{ table_definition_id, key: { code: 'A' } }];
      expect((await decide(work.admin, id, reject, { rows, decision: 'reject' })).status).toBe(404);
      expect((await decide(work.admin, id, { ...reject, filter: { table_definition_id } })).status).toBe(404);
    }
    expect(data().rowDecisions).toEqual([]);
  });

  it('can be read after it has ended, as far as one may view its rows', async () => {
    const [, other] = await givenPair('Cities');
    const { id } = await propose([feature.id, other.id]);
    await work.act(work.admin, id, 'cancel');
    const read = (user: User, query = '') => user.send('GET', `/promotions/${id}/decisions${query}`);
    expect((await read(work.approver, '?decision=rejected&startRow=2&endRow=5')).status).toBe(200);
    const tables = [feature.id, other.id];
    expect(data().decisionWindows).toEqual([
      { promotion_id: id, source_table_ids: tables, decision: 'rejected', start_row: 2, end_row: 5 },
    ]);
    const { mainId, id: accountId } = work.account;
    const onMain: [string, string, number] = ['view', 'branch', mainId];
    const seenBy = async (...permissions: [string, string, number][]) => {
      expect((await read(givenUser(metadata, accountId, permissions))).status).toBe(200);
      return data().decisionWindows.at(-1)?.source_table_ids;
    };
    expect(await seenBy(['view', 'account', accountId])).toEqual(tables);
    expect(await seenBy(onMain, ['view', 'table_definition', other.id])).toEqual([other.id]);
    expect(await seenBy(onMain)).toEqual([]);
    for (const query of ['?decision=undecided', '?startRow=3&endRow=2', '?endRow=1001'])
      expect((await read(work.admin, query)).status).toBe(400);
  });
});

describe('the counts of rows', () => {
  it('are those of the last rehearsal, in the list too, and null before it', async () => {
    const { id } = await propose();
    const shown = async () => [
      (await work.admin.get(`/promotions/${id}`)).row_counts,
      (await work.admin.get('/promotions')).data.find((each: { id: number }) => each.id === id).row_counts,
    ];
    expect(await shown()).toEqual([null, null]);
    const { updated_at } = await work.admin.get(`/promotions/${id}`);
    const { body } = await work.act(work.admin, id, 'rehearse', {});
    const counts = { created: 1, updated: 2, deleted: 3, conflicts: 4, rehearsed_at: expect.any(String) };
    expect(body.row_counts).toEqual(counts);
    expect(await shown()).toEqual([body.row_counts, body.row_counts]);
    expect((await work.admin.get(`/promotions/${id}`)).updated_at).toBe(updated_at);
    const calls = data().calls.length;
    await work.admin.get('/promotions');
    expect(data().calls.length).toBe(calls);
    const plain = await propose([feature.id], false);
    expect((await work.act(work.admin, plain.id, 'rehearse', {})).body.row_counts).toBeNull();
  });
});

describe('the revision', () => {
  const promote = (id: number, body: object, user: User = work.approver) => work.act(user, id, 'promote', body);
  const others = 'Countries: the rows that would change are not those that were shown';

  it.each([true, false])(
    'covers the rows: others are refused by name, and merged once seen (protected: %s)',
    async (is_protected) => {
      await work.admin.send('PATCH', `/branches/${work.account.mainId}`, { is_protected });
      const { id } = await propose();
      const user = is_protected ? work.approver : work.admin;
      const { revision } = await user.get(`/promotions/${id}`);
      changeRows();
      const refused = await promote(id, { revision }, user);
      expect(refused).toMatchObject({
        status: 422,
        body: { error: 'Wrong state', errors: [others, 'Look at the diffs as they are now, then promote them.'] },
      });
      expect(refused.body.revision).not.toBe(revision);
      expect(data().merges).toEqual([]);
      expect((await user.get(`/promotions/${id}`)).status).toBe('created');
      const promoted = await promote(id, { revision: refused.body.revision }, user);
      expect(promoted).toMatchObject({ status: 200, body: { status: 'promoted' } });
      expect(data().merges.at(-1)?.revisions).toEqual([
        { source_table_id: feature.id, revision: data().rowRevisions.get(feature.id) },
      ]);
    },
  );

  it('of a rehearsal is the one of the promotion', async () => {
    const { id } = await propose();
    const { body } = await work.act(work.approver, id, 'rehearse', {});
    expect(body.revision).toBe((await work.approver.get(`/promotions/${id}`)).revision);
    expect(await promote(id, { revision: body.revision })).toMatchObject({ status: 200 });
  });

  it('is compared once more where the rows are merged; the promotion then returns to its state', async () => {
    const { id } = await propose();
    const { revision } = await work.approver.get(`/promotions/${id}`);
    data().before.MergeRows = () => changeRows();
    expect(await promote(id, { revision })).toMatchObject({
      status: 422,
      body: { errors: [others, 'Look at the diffs as they are now, then promote them.'] },
    });
    data().before = {};
    expect(await work.admin.get(`/promotions/${id}`)).toMatchObject({ status: 'created', promoted_by: null });
    const now = await work.approver.get(`/promotions/${id}`);
    expect(now.actions.map(({ action }: { action: string }) => action)).toEqual(['create']);
    expect(await promote(id, { revision: now.revision })).toMatchObject({ status: 200 });
  });

  it('that had no rows merges none that have come since', async () => {
    const pairs = [{ sourceId: feature.id, targetId: main.id, name: 'Countries' }];
    const request = { mergeId: 'later', promotionId: 0, pairs, resolutions: [], rehearsal: false, revisions: [] };
    const caller = { accountId: work.account.id, userId: 1 };
    const refused = { status: 'refused', changedTables: ['Countries'] };
    expect(await mergeRows(metadata.context, caller, request)).toMatchObject(refused);
    expect(data().merges).toMatchObject([{ has_revisions: true, revisions: [] }]);
  });

  it('that is left out leaves the rows as they are, as before', async () => {
    const { id } = await propose();
    await work.approver.get(`/promotions/${id}`);
    changeRows();
    expect(await promote(id, {})).toMatchObject({ status: 200, body: { status: 'promoted' } });
    expect(data().merges.at(-1)).toMatchObject({ has_revisions: false, revisions: [] });
  });

  it('is null while the rows can’t be read, and promoting by one waits for data', async () => {
    const { id } = await propose();
    const { revision } = await work.approver.get(`/promotions/${id}`);
    data().before.SummarizeMerge = away;
    expect(await work.approver.get(`/promotions/${id}`)).toMatchObject({
      revision: null,
      status: 'created',
      diffs: [{}],
    });
    expect((await promote(id, { revision })).status).toBe(503);
    expect((await work.admin.get(`/promotions/${id}`)).status).toBe('created');
    data().before = {};
    expect(await promote(id, { revision })).toMatchObject({ status: 200 });
  });
});
