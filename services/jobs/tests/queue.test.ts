import { join } from 'node:path';
import { createPool } from '@almanac/service-kit/database';
import { createLogger } from '@almanac/service-kit/logger';
import { migrate } from '@almanac/service-kit/migrate';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { PrismaClient } from '../src/generated/prisma/client.ts';
import { endRun, type JobKind, LeaseLost, queueJob, queueJobs, renewLease, takeJobs } from '../src/queue/jobs.ts';
import { transact } from '../src/transaction.ts';

const logger = createLogger('test', 'silent');
const work = { lane: 'files', leaseMs: 60_000, concurrencyPerAccount: 2, giveUpAfterSeconds: 60 } as const;
let database: TestDatabase;
let pool: pg.Pool;
let prisma: PrismaClient;

beforeAll(async () => {
  database = await createTestDatabase('queue');
  await migrate({ databaseUrl: database.url, directory: join(import.meta.dirname, '../prisma/migrations'), logger });
  pool = createPool({ url: database.url, name: 'test', logger });
  prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
});
afterAll(async () => {
  await prisma.$disconnect();
  if (!pool.ended) await pool.end();
  await database.drop();
});
beforeEach(async () => {
  await prisma.job.deleteMany();
});

let subjects = 0;
async function queue(accountId: number, count: number, groupId?: number, kind: JobKind = 'export'): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    subjects += 1;
    const group = groupId === undefined ? {} : { groupId };
    const job = { kind, subjectId: subjects, call: { accountId }, giveUpAfterSeconds: 60, ...group };
    await transact({ prisma }, (tx) => queueJob(tx, job));
  }
}

const accountsOf = (jobs: { account_id: number }[]) => jobs.map(({ account_id }) => account_id).toSorted();

describe('the work queue', () => {
  it('lets accounts take turns, whoever came first and with how much', async () => {
    await queue(1, 20);
    await queue(2, 3);
    await queue(3, 1);
    expect(accountsOf(await takeJobs(pool, 3, work))).toEqual([1, 2, 3]);
    expect(accountsOf(await takeJobs(pool, 10, work))).toEqual([1, 2]);
    expect(await takeJobs(pool, 10, work)).toEqual([]);
  });

  it('gives each job to one of many who ask at once, and no account more than its share', async () => {
    await queue(1, 5);
    await queue(2, 5);
    const taken = (await Promise.all(Array.from({ length: 10 }, () => takeJobs(pool, 1, work)))).flat();
    expect(accountsOf(taken)).toEqual([1, 1, 2, 2]);
    expect(new Set(taken.map(({ id }) => id)).size).toBe(4);
  });

  it('keeps the order of a group', async () => {
    await queue(1, 3, 77);
    const [first, ...others] = await takeJobs(pool, 10, work);
    expect(others).toEqual([]);
    if (!first) throw new Error('nothing was taken');
    await transact({ prisma }, (tx) =>
      endRun(tx, first, { state: 'queued', error: 'later', afterMs: 60_000, counted: true }),
    );
    expect(await takeJobs(pool, 10, work)).toEqual([]);
    await prisma.job.update({ where: { id: first.id }, data: { state: 'done' } });
    expect((await takeJobs(pool, 10, work)).map(({ subject_id }) => subject_id)).toEqual([first.subject_id + 1]);
  });

  it('gives a job whose lease ran out to another, and the first can end it no more', async () => {
    await queue(1, 1);
    const [first] = await takeJobs(pool, 1, work);
    if (!first) throw new Error('nothing was taken');
    expect(await takeJobs(pool, 1, work)).toEqual([]);
    expect(await renewLease(pool, first, 60_000)).toBe(true);
    await prisma.job.update({ where: { id: first.id }, data: { lease_until: new Date(0) } });
    const [second] = await takeJobs(pool, 1, work);
    expect(second).toMatchObject({ id: first.id, attempts: 2 });
    expect(await renewLease(pool, first, 60_000)).toBe(false);
    const ending = transact({ prisma }, async (tx) => {
      await tx.job.updateMany({ data: { error: 'written by the first' } });
      await endRun(tx, first, { state: 'done' });
    });
    await expect(ending).rejects.toBeInstanceOf(LeaseLost);
    expect((await prisma.job.findFirstOrThrow()).error).toBeNull();
    if (second) await transact({ prisma }, (tx) => endRun(tx, second, { state: 'done' }));
    expect((await prisma.job.findFirstOrThrow()).state).toBe('done');
  });

  it("keeps lanes apart: neither their order nor an account's share in one counts in another", async () => {
    await queue(1, 5);
    await queue(1, 3, undefined, 'mail');
    const mail = { ...work, lane: 'mail' as const };
    expect((await takeJobs(pool, 10, work)).map(({ kind }) => kind)).toEqual(['export', 'export']);
    expect((await takeJobs(pool, 10, mail)).map(({ kind }) => kind)).toEqual(['mail', 'mail']);
    expect(await takeJobs(pool, 10, work)).toEqual([]);
    expect(await takeJobs(pool, 10, mail)).toEqual([]);
  });

  it('counts the time until a job is given up from its first attempt', async () => {
    await queue(1, 1);
    await prisma.job.updateMany({ data: { give_up_at: new Date(0) } });
    const [first] = await takeJobs(pool, 1, work);
    if (!first) throw new Error('nothing was taken');
    expect(first.give_up_at.getTime()).toBeGreaterThan(Date.now());
    await transact({ prisma }, (tx) =>
      endRun(tx, first, { state: 'queued', error: 'away', afterMs: 0, counted: false }),
    );
    await prisma.job.updateMany({ data: { give_up_at: new Date(1) } });
    expect((await takeJobs(pool, 1, work))[0]?.give_up_at).toEqual(new Date(1));
  });

  it('does not start a job before its time', async () => {
    const subjects = [{ id: 1_000_000, notBefore: new Date(Date.now() + 60_000) }, { id: 1_000_001 }];
    const jobs = { kind: 'mail' as const, subjects, call: { accountId: 1 }, giveUpAfterSeconds: 60 };
    await transact({ prisma }, (tx) => queueJobs(tx, jobs));
    const mail = { ...work, lane: 'mail' as const };
    expect((await takeJobs(pool, 9, mail)).map(({ subject_id }) => subject_id)).toEqual([1_000_001]);
    await prisma.job.updateMany({ data: { run_at: new Date(0) } });
    expect((await takeJobs(pool, 9, mail)).map(({ subject_id }) => subject_id)).toEqual([1_000_000]);
  });

  it('does not start what is queued already anew, but does what has ended', async () => {
    await queue(1, 1);
    subjects -= 1;
    const [job] = await takeJobs(pool, 1, work);
    await queue(1, 1);
    expect((await prisma.job.findFirstOrThrow()).state).toBe('running');
    if (job) await transact({ prisma }, (tx) => endRun(tx, job, { state: 'failed', error: 'x' }));
    subjects -= 1;
    await queue(1, 1);
    expect(await prisma.job.findFirstOrThrow()).toMatchObject({ state: 'queued', attempts: 0, error: null });
    expect(await prisma.job.count()).toBe(1);
  });
});
