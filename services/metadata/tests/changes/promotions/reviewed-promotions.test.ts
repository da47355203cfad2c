// On a protected branch a promotion merges only the revision that approval was requested for or
// that the promoter was shown, like deployments (reviewed-deployments.test.ts), even when either
// branch has changed since.
import { type Answer, type Api, givenUser, keyColumn, type Metadata, startMetadata } from '../../given.ts';
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
  main = await work.table('Countries', [keyColumn]);
  feature = await work.clone(main.id);
  await changeSource();
});

let changes = 0;
const changeSource = () => work.addColumn(feature.id, { name: `source_${++changes}`, data_type: 'text' });
const changeTarget = () => work.addColumn(main.id, { name: `target_${++changes}`, data_type: 'text' });
const propose = async (user: User = work.creator): Promise<number> => (await work.propose(user, feature.id)).id;
const show = (user: Api, id: number) => user.get(`/promotions/${id}`);
const promote = (user: Api, id: number, body?: unknown) => work.act(user, id, 'promote', body);
const givenApprover = () => givenUser(metadata, work.account.id, [['approve', 'branch', work.account.mainId]]);
const unprotect = () => work.admin.send('PATCH', `/branches/${work.account.mainId}`, { is_protected: false });
const isOnMain = async (column: string) => column in (await work.columns(main.id));

const stale = [
  'Countries has changed since the diffs were shown',
  'Look at the diffs as they are now, then promote them.',
];
const refused = { status: 422, body: { error: 'Wrong state', errors: stale } };
const promoted = { status: 200, body: { status: 'promoted', revision: null } };

describe('on a protected branch', () => {
  it.each([
    ['source', changeSource],
    ['target', changeTarget],
  ])('what has changed on the %s is promoted once it was looked at', async (_side, change) => {
    const id = await propose();
    await work.act(work.creator, id, 'send_request');
    await change();
    await show(work.approver, id);
    expect(await promote(work.approver, id)).toMatchObject(promoted);
  });

  it.each([
    ['source', changeSource],
    ['target', changeTarget],
  ])(
    'what was changed on the %s after an approver looked is refused with what would be merged now, then promoted',
    async (_side, change) => {
      const id = await propose();
      await work.act(work.creator, id, 'send_request');
      const seen = await show(work.approver, id);
      await change();
      await show(work.creator, id); // what its creator is shown does not count for the approver
      const answer = await promote(work.approver, id);
      expect(answer).toMatchObject(refused);
      expect(await isOnMain(`source_${changes}`)).toBe(false);
      const { diffs, conflicts, revision, status, actions } = await show(work.creator, id);
      expect({ status, actions }).toEqual({ status: 'requested', actions: seen.actions });
      expect(answer.body).toMatchObject({ diffs, conflicts, revision });
      expect(revision).not.toBe(seen.revision);
      expect(await promote(work.approver, id)).toMatchObject(promoted);
    },
  );

  it('what a user was shown counts, not what was requested later, or shown or refused to another user', async () => {
    const id = await propose();
    const other = givenApprover();
    await show(work.approver, id);
    await show(other, id);
    await changeSource();
    await work.act(work.creator, id, 'send_request');
    expect(await promote(other, id)).toMatchObject(refused);
    expect(await promote(work.approver, id)).toMatchObject(refused);
    await work.act(other, id, 'rehearse'); // shows it as well
    expect(await promote(other, id)).toMatchObject(promoted);
  });

  it('an approver who was shown nothing promotes what approval was requested for, else what was proposed', async () => {
    const proposed = await propose();
    await changeSource();
    const requested = await propose();
    await changeSource();
    await work.act(work.creator, requested, 'send_request');
    expect(await promote(work.approver, proposed)).toMatchObject(refused);
    expect(await promote(givenApprover(), proposed)).toMatchObject(refused);
    expect(await promote(work.approver, requested)).toMatchObject(promoted);
    await changeSource();
    const again = await propose();
    await work.act(work.creator, again, 'send_request');
    await changeSource();
    expect(await promote(work.approver, again)).toMatchObject(refused);
  });

  it('a refused attempt of another user does not count as shown', async () => {
    const blocked = await work.onFeature('Regions', [
      keyColumn,
      { name: 'country', data_type: 'string', length: 10, foreign_key_table_id: (await work.onFeature('Lands')).id },
    ]);
    const { id } = await work.propose(work.creator, blocked.id, feature.id);
    await changeSource();
    await show(work.approver, id);
    expect((await promote(work.approver, id)).body.errors).toEqual([expect.stringMatching(/^Regions: /)]);
    expect(await show(work.creator, id)).toMatchObject({ status: 'failed' });
    expect(await promote(givenApprover(), id)).toMatchObject(refused);
  });

  it('administrators are bound by it for proposals of others, and no user for their own', async () => {
    const { admin } = work;
    const [id, own] = [await propose(), await propose(admin)];
    await show(admin, id);
    await changeSource();
    expect(await promote(admin, id)).toMatchObject(refused);
    expect(await promote(admin, own)).toMatchObject(promoted);
    expect(await isOnMain(`source_${changes}`)).toBe(true);
  });

  it('a refused request may be sent again with its key', async () => {
    const id = await propose();
    await changeSource();
    const again = () =>
      work.approver.send('POST', `/promotions/${id}/promote`, {}, { 'Idempotency-Key': `shown-promotion-${id}` });
    expect(await again()).toMatchObject(refused);
    expect(await again()).toMatchObject(promoted);
    expect((await again()).status).toBe(200);
  });

  it('a `revision` takes precedence over what was shown last, also for the creator', async () => {
    const id = await propose(work.admin);
    const { revision } = await show(work.admin, id);
    await changeTarget();
    const now = await show(work.admin, id);
    expect(await promote(work.admin, id, { revision })).toMatchObject({ status: 422 });
    expect(await promote(work.admin, id, { revision: now.revision })).toMatchObject(promoted);
  });
});

describe('on any other branch', () => {
  beforeEach(unprotect);

  it('a promotion merges its definitions as they are when it is promoted, unless a `revision` says otherwise', async () => {
    const other = givenUser(metadata, work.account.id, [['develop', 'account', work.account.id]]);
    const [id, insisted] = [await propose(), await propose()];
    const { revision } = await show(other, insisted);
    await changeSource();
    expect(await promote(other, insisted, { revision })).toMatchObject(refused);
    expect(await promote(other, id)).toMatchObject(promoted);
    expect(await isOnMain(`source_${changes}`)).toBe(true);
  });
});
