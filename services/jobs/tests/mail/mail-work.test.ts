// One run of a mail's job, step by step: its process stops, stalls or dies while the server has the
// mail.
import { ServiceError } from '@almanac/service-kit/errors';
import { eventually } from '@almanac/testkit/eventually';
import { mailLane } from '../../src/mail/mail-work.ts';
import { createMailer, type Mailer } from '../../src/mail/mailer.ts';
import { type Job, LeaseLost, takeJobs } from '../../src/queue/jobs.ts';
import { givenJobs, type Jobs } from '../given.ts';
import { mailsOf } from './given.ts';
import { MailServer } from './mail-server.ts';

let server: MailServer;
let jobs: Jobs; // its worker sends no mails
let mailer: Mailer;

beforeAll(async () => {
  server = await new MailServer().start();
  jobs = await givenJobs();
  mailer = createMailer({
    smtpUrl: `smtp://127.0.0.1:${server.port}?tls=none`,
    from: { name: 'Almanac', address: 'almanac@example.test' },
    publicUrl: jobs.neighbours.publicUrl,
    consoleUrl: `${jobs.neighbours.publicUrl}/console`,
  });
});
afterAll(async () => {
  mailer.transport.stop();
  await jobs.close();
  await server.stop();
});
beforeEach(() => {
  server.arrived = [];
  server.accepted = [];
});

const mails = mailsOf(() => jobs);
const run = (job: Job, signal: AbortSignal) => mailLane(jobs.context, mailer).handlers.mail.run(job, signal);
const take = () =>
  eventually(async () => {
    const taking = { lane: 'mail', leaseMs: 60_000, concurrencyPerAccount: 9, giveUpAfterSeconds: 60 } as const;
    const [job] = await takeJobs(jobs.context.pool, { free: 1, spare: 0 }, taking);
    if (!job) throw new Error('there is no job');
    return job;
  });

/** A mail that the server has received and not answered yet. */
async function givenMailOnItsWay(template = 'invitation') {
  const person = mails.person();
  await mails.ask(template, [person]);
  const job = await take();
  server.hold();
  const leaving = new AbortController();
  const running = run(job, leaving.signal);
  running.catch(() => {}); // looked at later
  await eventually(() => expect(server.arrived).toHaveLength(1));
  return { person, job, leaving, running };
}

describe('a mail in flight', () => {
  it('arrives and is recorded when its service stops', async () => {
    const { person, leaving, running } = await givenMailOnItsWay();
    leaving.abort(new ServiceError('unavailable', 'The service stops.'));
    server.release();
    await running;
    expect(await mails.row(person)).toMatchObject({ status: 'sent', attempts: 1 });
    expect((await mails.job(person)).state).toBe('done');
    expect(server.accepted).toHaveLength(1);
  });

  it('is aborted at once when another instance has its job', async () => {
    const { person, leaving, running } = await givenMailOnItsWay();
    leaving.abort(new LeaseLost());
    await expect(running).rejects.toThrow();
    server.release();
    expect(await mails.row(person)).toMatchObject({ status: 'queued' });
  });

  it('is recorded by the run that sent it, so that the next holder of the job does not send it again', async () => {
    const { person, job, running } = await givenMailOnItsWay();
    const { prisma } = jobs.context;
    await prisma.job.update({ where: { id: job.id }, data: { lease_until: new Date(0) } });
    const second = await take();
    expect(second.id).toBe(job.id);
    server.release();
    await expect(running).rejects.toBeInstanceOf(LeaseLost);
    expect(await mails.row(person)).toMatchObject({ status: 'sent' });
    await run(second, new AbortController().signal);
    expect((await mails.job(person)).state).toBe('done');
    expect(server.arrived).toHaveLength(1);
  });

  it('is sent again under the same Message-ID when its process dies before recording it', async () => {
    const { person, job, running } = await givenMailOnItsWay();
    server.release();
    await running;
    // The state when nothing was written after the server's answer.
    const { prisma } = jobs.context;
    await prisma.mail.updateMany({ where: { user_id: person.id }, data: { status: 'queued', sent_at: null } });
    await prisma.job.update({ where: { id: job.id }, data: { state: 'running', lease_until: new Date(0) } });
    await run(await take(), new AbortController().signal);
    expect(await mails.row(person)).toMatchObject({ status: 'sent', attempts: 2 });
    expect(server.accepted).toHaveLength(2);
    expect(new Set(server.accepted.map(({ mail }) => mail.messageId)).size).toBe(1);
  });
});
