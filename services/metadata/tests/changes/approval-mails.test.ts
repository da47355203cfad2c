// Mails about deployments and promotions: their recipients and what is requested of jobs.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { eventually } from '@almanac/testkit/eventually';
import { collectMessages, startBus } from '@almanac/testkit/messaging/bus';
import { givenUser, type Metadata, outboxEmpty, startMetadata } from '../given.ts';
import { givenWork, type Work } from '../promotion-given.ts';

type Mail = { account_id: number; template: string; user_ids: number[]; values: Record<string, unknown> };

let metadata: Metadata;
let work: Work;
let requested: Mail[];
let bus: Bus;

beforeAll(async () => {
  metadata = await startMetadata();
  const { databaseUrl } = metadata.config.secrets;
  bus = await startBus(databaseUrl, 'post');
  requested = await collectMessages(bus, 'post.mails', ['metadata.mail.requested'], ({ payload }) => payload as Mail);
});
afterAll(async () => {
  await bus.stop();
  await metadata.stop();
});
beforeEach(async () => {
  work = await givenWork(metadata);
});
afterEach(() => metadata.neighbours.data.blockers.clear());

/** Waits for this many mails of the account. */
async function mails(count: number): Promise<Mail[]> {
  const mine = () => requested.filter(({ account_id }) => account_id === work.account.id);
  await eventually(() => expect(mine().length).toBeGreaterThanOrEqual(count));
  await outboxEmpty(metadata);
  expect(mine()).toHaveLength(count);
  return mine();
}
const colleague = () => givenUser(metadata, work.account.id, [['approve', 'branch', work.account.mainId]]);
const noChanges = { new: 0, modified: 0, deleted: 0 };

describe('mails about a deployment', () => {
  const proposeAs = (user: Work['admin'], ...ids: number[]) =>
    user.post('/deployments', { branch_id: work.account.mainId, table_definition_ids: ids });
  const propose = async (...ids: number[]) => (await proposeAs(work.creator, ...ids)).id;
  const act = (user: Work['admin'], id: number, action: string, body?: object) =>
    user.post(`/deployments/${id}/${action}`, body);

  it('go to the approvers when it is requested, and to its creator when it is deployed', async () => {
    const other = colleague();
    const id = await propose((await work.table('Codes')).id);
    await act(work.creator, id, 'send_request', { comment: 'please' });
    await act(work.approver, id, 'deploy');
    const changes = { ...noChanges, new: 1 };
    const tables = [{ name: 'Codes', change: 'new', columns: [{ name: 'code', change: 'new', attributes: [] }] }];
    expect(await mails(2)).toEqual([
      {
        account_id: work.account.id,
        template: 'deployment_requested',
        user_ids: [work.approver.id, other.id],
        values: { id, by: `User ${work.creator.id}`, branch: 'main', comment: 'please', changes, tables },
      },
      {
        account_id: work.account.id,
        template: 'deployment_decided',
        user_ids: [work.creator.id],
        values: {
          id,
          by: `User ${work.approver.id}`,
          branch: 'main',
          comment: null,
          changes,
          tables,
          outcome: 'deployed',
          reasons: [],
        },
      },
    ]);
  });

  it('name the first twenty tables', async () => {
    const tables = await Promise.all(Array.from({ length: 21 }, (_, at) => work.table(`Codes ${at}`)));
    await act(work.creator, await propose(...tables.map(({ id }) => id)), 'send_request');
    const [{ values }] = (await mails(1)) as [Mail];
    expect(values).toMatchObject({ changes: { ...noChanges, new: 21 } });
    expect(values.tables).toHaveLength(20);
  });

  it('tell its creator that another user rejected it or that it failed, but nothing that they did themselves', async () => {
    const table = await work.table('Codes');
    await act(work.approver, await propose(table.id), 'reject', { comment: 'no' });
    metadata.neighbours.data.blockers.set(table.id, [{ message: 'code holds NULL', rows: 3 }]);
    const failing = await propose(table.id);
    expect((await work.admin.send('POST', `/deployments/${failing}/deploy`)).status).toBe(422);
    expect(await mails(2)).toMatchObject([
      { user_ids: [work.creator.id], values: { outcome: 'rejected', comment: 'no' } },
      { user_ids: [work.creator.id], values: { outcome: 'failed', reasons: ['Codes: code holds NULL (3 rows)'] } },
    ]);
    await act(work.creator, failing, 'abandon');
    expect(await mails(3)).toMatchObject([{}, {}, { template: 'deployment_abandoned', user_ids: [work.approver.id] }]);
    await act(work.creator, await propose(table.id), 'cancel');
    await mails(3);
    metadata.neighbours.data.blockers.clear();
    await act(work.admin, (await proposeAs(work.admin, table.id)).id, 'deploy');
    await mails(3);
  });

  it('go to every approver, also to the one who requests or abandons', async () => {
    const { mainId } = work.account;
    const both = givenUser(metadata, work.account.id, [
      ['develop', 'branch', mainId],
      ['approve', 'branch', mainId],
    ]);
    const { id } = await proposeAs(both, (await work.table('Codes')).id);
    await act(both, id, 'send_request');
    await act(both, id, 'abandon');
    const facts = { user_ids: [work.approver.id, both.id], values: { by: `User ${both.id}` } };
    expect(await mails(2)).toMatchObject([
      { template: 'deployment_requested', ...facts },
      { template: 'deployment_abandoned', ...facts },
    ]);
  });

  it('are requested once for every step, however often it is tried concurrently', async () => {
    const id = await propose((await work.table('Codes')).id);
    await Promise.all(Array.from({ length: 8 }, () => work.creator.send('POST', `/deployments/${id}/abandon`)));
    expect(await mails(1)).toMatchObject([{ template: 'deployment_abandoned', user_ids: [work.approver.id] }]);
  });
});

describe('mails about a promotion', () => {
  it('go to the approvers of the target, then to its creator', async () => {
    const { id } = await work.propose(work.creator, (await work.onFeature('Codes')).id);
    await work.act(work.creator, id, 'send_request', { comment: 'please' });
    await work.act(work.approver, id, 'promote');
    const values = { id, branch: 'main', from_branch: 'feature', changes: { ...noChanges, new: 1 } };
    expect(await mails(2)).toMatchObject([
      { template: 'promotion_requested', user_ids: [work.approver.id], values: { ...values, comment: 'please' } },
      { template: 'promotion_decided', user_ids: [work.creator.id], values: { ...values, outcome: 'promoted' } },
    ]);
  });

  it('list the changes of existing columns', async () => {
    const main = await work.table('Codes');
    const { id } = await work.admin.post(`/table_definitions/${main.id}/clone`, { target_branch_id: work.featureId });
    const { code } = (await work.columns(id)) as Record<string, { id: number }>;
    await work.changeColumn(code?.id as number, { description: 'the code', length: 12 });
    await work.addColumn(id, { name: 'more', data_type: 'text' });
    await work.act(work.creator, (await work.propose(work.creator, id)).id, 'send_request');
    const columns = [
      { name: 'code', change: 'modified', attributes: ['length', 'description'] },
      { name: 'more', change: 'new', attributes: [] },
    ];
    expect(await mails(1)).toMatchObject([{ values: { tables: [{ name: 'Codes', change: 'modified', columns }] } }]);
  });

  it('are about rejections, failures and abandonment, but not about refused requests', async () => {
    const table = await work.onFeature('Codes');
    const propose = async () => (await work.propose(work.creator, table.id)).id;
    await work.act(work.approver, await propose(), 'reject', { comment: 'no' });
    const id = await propose();
    await work.addColumn(table.id, { name: 'more', data_type: 'text' });
    expect((await work.act(work.admin, id, 'promote')).status).toBe(422); // it has changed
    await work.table('Codes');
    expect((await work.act(work.admin, id, 'promote')).status).toBe(422);
    await work.act(work.admin, id, 'abandon');
    expect(await mails(3)).toMatchObject([
      { template: 'promotion_decided', user_ids: [work.creator.id], values: { outcome: 'rejected', comment: 'no' } },
      { template: 'promotion_decided', user_ids: [work.creator.id], values: { outcome: 'failed' } },
      { template: 'promotion_abandoned', user_ids: [work.approver.id] },
    ]);
  });
});
