// Mails about change requests and their entries in the audit log.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { eventually } from '@almanac/testkit/eventually';
import { collectMessages, startBus } from '@almanac/testkit/messaging/bus';
import { type Metadata, outboxEmpty, startMetadata } from '../../given.ts';
import { givenWorld, type World } from './change-request-given.ts';

type Mail = { account_id: number; template: string; user_ids: number[]; values: Record<string, unknown> };

let metadata: Metadata;
let world: World;
let requested: Mail[];
let bus: Bus;

beforeAll(async () => {
  metadata = await startMetadata();
  bus = await startBus(metadata.config.secrets.databaseUrl, 'post');
  requested = await collectMessages(bus, 'post.mails', ['metadata.mail.requested'], ({ payload }) => payload as Mail);
});
afterAll(async () => {
  await bus.stop();
  await metadata.stop();
});
beforeEach(async () => {
  world = await givenWorld(metadata);
});

const isAboutRows = ({ account_id, template }: Mail) =>
  account_id === world.account.id && template.startsWith('change_request');

/** Waits for this many mails about change requests of the account. */
async function mails(count: number): Promise<Mail[]> {
  await eventually(() => expect(requested.filter(isAboutRows).length).toBeGreaterThanOrEqual(count));
  await outboxEmpty(metadata);
  expect(requested.filter(isAboutRows)).toHaveLength(count);
  return requested.filter(isAboutRows);
}

describe('mails about a change request', () => {
  it('go to the approvers when it is sent, and to its creator when it is approved and applied', async () => {
    const { steward, approver, second, decide } = world;
    const id = await world.sent(['create', 'create', 'update']);
    await decide(approver, id, 'approve', { comment: 'checked' });
    await decide(approver, id, 'apply');
    const changes = { created: 2, updated: 1, deleted: 0 };
    const contents = { title: 'Corrections', changes, tables: [{ name: 'Codes', ...changes }], table_count: 1 };
    const decided = { template: 'change_request_decided', user_ids: [steward.id] };
    expect(await mails(3)).toMatchObject([
      {
        template: 'change_request_requested',
        user_ids: [approver.id, second.id],
        values: { id, by: `User ${steward.id}`, branch: 'main', comment: 'please', ...contents },
      },
      { ...decided, values: { id, by: `User ${approver.id}`, comment: 'checked', outcome: 'approved', ...contents } },
      { ...decided, values: { id, outcome: 'applied', reasons: [], ...contents } },
    ]);
  });

  it('are about what comes back, but not about what the creator does', async () => {
    const { steward, approver, act } = world;
    const [first, second, third] = [await world.sent(), await world.sent(), await world.sent()];
    await act(approver, first, 'request_changes', { comment: 'typos' });
    await act(approver, second, 'reject', { comment: 'no' });
    await act(steward, third, 'withdraw');
    await act(steward, third, 'cancel');
    expect((await mails(5)).slice(3)).toMatchObject([
      { user_ids: [steward.id], values: { id: first, outcome: 'returned', comment: 'typos' } },
      { user_ids: [steward.id], values: { id: second, outcome: 'rejected', comment: 'no' } },
    ]);
  });
});

it('every step of a change request is in the audit log', async () => {
  const { approver, decide } = world;
  const id = await world.sent();
  await decide(approver, id, 'apply');
  await outboxEmpty(metadata);
  const mine = () =>
    metadata.acts.filter(({ resource_type, resource_id }) => resource_type === 'change_request' && resource_id === id);
  const expected = ['created', 'submitted', 'approved', 'begun', 'applied'].map((name) => `change_request.${name}`);
  await eventually(() => expect(mine().map(({ action }) => action)).toEqual(expected));
  expect(mine().at(-1)).toMatchObject({ before: { status: 'applying' }, after: { status: 'applied' } });
});
