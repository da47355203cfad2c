import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '@almanac/testkit/eventually';
import { mailsPerHour } from '../../src/mail/throttle.ts';
import { ended, givenImport, givenJobs, type Jobs } from '../given.ts';
import { mailsOf } from './given.ts';

let jobs: Jobs;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almanac-mail-'));
  jobs = await givenJobs();
});
afterAll(async () => {
  await jobs.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await jobs.context.prisma.mail.deleteMany();
  await jobs.context.prisma.job.deleteMany();
});

const mails = mailsOf(() => jobs);
const hourOf = (time: Date) => Math.floor(time.getTime() / 3_600_000);
const some = (count: number, from: number) => Array.from({ length: count }, (_, at) => ({ id: from + at }));
const rows = (where = {}) => jobs.context.prisma.mail.findMany({ where, orderBy: { id: 'asc' } });
const untilThereAre = (count: number, where = {}) =>
  eventually(async () => {
    const found = await rows(where);
    expect(found).toHaveLength(count);
    return found;
  });
/** How many mails are due in this hour, in the next, and so on. */
const byHour = (found: { due_at: Date }[]) => {
  const hours = Map.groupBy(found, ({ due_at }) => hourOf(due_at));
  return [...hours.keys()].toSorted((a, b) => a - b).map((hour) => hours.get(hour)?.length);
};
// Mails are counted by clock hour, so a test must not start in one hour and end in the next.
const awayFromTheHour = () =>
  eventually(() => expect(Date.now() % 3_600_000).toBeLessThan(3_600_000 - 60_000), { withinMs: 70_000, everyMs: 500 });

describe('requests for mail', () => {
  it('wait in their rows without a mail server, and are sent when there is one', async () => {
    const person = mails.person();
    await mails.ask('invitation', [person]);
    await untilThereAre(1);
    expect(await mails.row(person)).toMatchObject({ status: 'queued', attempts: 0, error: null });
    const other = await jobs.another({ smtpUrl: pathToFileURL(folder).href });
    try {
      await mails.reaches(person, 'sent');
    } finally {
      await other.stop();
    }
  });

  it('go to the administrators of the account', async () => {
    const [ada, bob] = [mails.person(), mails.person()];
    const elsewhere = mails.person({ account_id: 2 });
    mails.person(); // no administrator
    for (const { id } of [ada, bob, elsewhere]) jobs.neighbours.administrators.add(id);
    const values = { overdue_since: '2026-03-01T08:00:00.000Z', writes_blocked_from: '2026-03-08T08:00:00.000Z' };
    const payload = { account_id: 1, template: 'payment_overdue', to: 'administrators', values };
    await jobs.announce('billing.mail.requested', payload);
    const found = await untilThereAre(2);
    expect(found.map(({ user_id }) => user_id).toSorted((a, b) => a - b)).toEqual([ada.id, bob.id]);
    expect(found[0]).toMatchObject({ template: 'payment_overdue', values });
  });

  it.each([
    ['people and administrators', { to: 'administrators' }],
    ['an unknown group', { user_ids: undefined, to: 'everyone' }],
    ['an unknown template', { template: 'lottery' }],
    ['a template called like a member of every object', { template: 'constructor' }],
    ['no account', { account_id: undefined }],
    ['an account that is no number', { account_id: '1' }],
    ['no users', { user_ids: undefined }],
    ['a user beyond all', { user_ids: [2 ** 31] }],
    ['values that are none', { values: 'x' }],
  ])('become dead letters at once when they have %s', async (_what, changes) => {
    const before = await jobs.deadLetters('jobs.mail');
    await mails.ask('invitation', some(1, 5_000), changes);
    await eventually(async () => expect(await jobs.deadLetters('jobs.mail')).toBe(before + 1));
    expect(await rows()).toEqual([]);
  });

  it('of one account fill its hours in turn, without delaying urgent ones', async () => {
    await awayFromTheHour();
    await mails.ask('invitation', some(mailsPerHour.ofAccount - 1, 10_000));
    await mails.ask('invitation', some(mailsPerHour.ofAccount + 2, 20_000));
    const invitations = await untilThereAre(2 * mailsPerHour.ofAccount + 1);
    expect(byHour(invitations)).toEqual([mailsPerHour.ofAccount, mailsPerHour.ofAccount, 1]);
    const due = await jobs.context.prisma.job.findMany({ where: { kind: 'mail' } });
    const times = new Map(due.map(({ subject_id, run_at }) => [subject_id, run_at.getTime()]));
    expect(invitations.filter(({ id, due_at }) => times.get(id) !== due_at.getTime())).toEqual([]);
    await mails.ask('password_reset', some(1, 30_000));
    await mails.ask('invitation', some(1, 30_000), { account_id: 2 });
    const others = await untilThereAre(2, { user_id: 30_000 });
    const now = hourOf(new Date());
    expect(others.map(({ due_at }) => hourOf(due_at))).toEqual([now, now]);
  });

  it('of one kind to one user are spread likewise, without delaying other users', async () => {
    await awayFromTheHour();
    const flooded = { id: 40_000 };
    for (let i = 0; i < 2 * mailsPerHour.ofTemplateToUser + 1; i += 1) await mails.ask('invitation', [flooded]);
    const found = await untilThereAre(2 * mailsPerHour.ofTemplateToUser + 1);
    expect(byHour(found)).toEqual([mailsPerHour.ofTemplateToUser, mailsPerHour.ofTemplateToUser, 1]);
    await mails.ask('invitation', some(1, 50_000));
    const [other] = await untilThereAre(1, { user_id: 50_000 });
    expect(hourOf(other?.due_at as Date)).toBe(hourOf(new Date()));
  });

  it('are processed while imports use all slots, and vice versa', async () => {
    jobs.neighbours.addTable({ key: 'countries' });
    const sender = await jobs.another({ smtpUrl: pathToFileURL(folder).href, work: { concurrency: 1 } });
    jobs.neighbours.hold();
    try {
      const { id } = await givenImport(jobs, { countries: 'code,name\nA,x\n' });
      const second = await givenImport(jobs, { countries: 'code,name\nB,y\n' });
      for (const each of [id, second.id]) await jobs.call('POST', `/api/v1/imports/${each}/upload_complete`);
      await eventually(() => expect(jobs.neighbours.running).toBe(2));
      const person = mails.person();
      await mails.ask('invitation', [person]);
      await mails.reaches(person, 'sent');
      expect(jobs.neighbours.running).toBe(2);
      jobs.neighbours.release();
      for (const each of [id, second.id])
        expect(await ended(jobs, `/imports/${each}`)).toMatchObject({ status: 'completed' });
    } finally {
      jobs.neighbours.release();
      await sender.stop();
    }
  });
});
