import { createLogger } from '@almanac/service-kit/observability/logger';
import { createPool } from '@almanac/service-kit/postgres/database';
import { eventually } from '@almanac/testkit/eventually';
import type { TestDatabase } from '@almanac/testkit/postgres/postgres';
import { createServiceDatabase } from '@almanac/testkit/postgres/service-database';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { PrismaClient } from '../../src/generated/prisma/client.ts';
import { endRun, type JobKind, LeaseLost, queueJob, queueJobs, renewLease, takeJobs } from '../../src/queue/jobs.ts';
import { createWorker, type JobHandler } from '../../src/queue/worker.ts';
import { transact } from '../../src/transaction.ts';

const logger = createLogger('test', 'silent');
const work = { lane: 'files', leaseMs: 60_000, concurrencyPerAccount: 2, giveUpAfterSeconds: 60 } as const;
let database: TestDatabase;
let pool: pg.Pool;
let prisma: PrismaClient;

beforeAll(async () => {
  database = await createServiceDatabase('jobs');
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

const room = (free: number, spare = 0) => ({ free, spare });
const accountsOf = (jobs: { account_id: number }[]) => jobs.map(({ account_id }) => account_id).toSorted();

describe('the work queue', () => {
  it('lets accounts take turns, whatever their order and amount of work', async () => {
    await queue(1, 20);
    await queue(2, 3);
    await queue(3, 1);
    expect(accountsOf(await takeJobs(pool, room(3), work))).toEqual([1, 2, 3]);
    expect(accountsOf(await takeJobs(pool, room(10), work))).toEqual([1, 2]);
    expect(await takeJobs(pool, room(10), work)).toEqual([]);
  });

  it('gives each job to one of many competing instances, and no account more than its share', async () => {
    await queue(1, 5);
    await queue(2, 5);
    const taken = (await Promise.all(Array.from({ length: 10 }, () => takeJobs(pool, room(1), work)))).flat();
    expect(accountsOf(taken)).toEqual([1, 1, 2, 2]);
    expect(new Set(taken.map(({ id }) => id)).size).toBe(4);
  });

  it('has spare slots for accounts without a running job, and for no others', async () => {
    await queue(1, 5);
    await queue(2, 5);
    expect(accountsOf(await takeJobs(pool, room(4, 2), work))).toEqual([1, 1, 2, 2]);
    for (const account of [1, 3, 3, 4, 5]) await queue(account, 1);
    expect(accountsOf(await takeJobs(pool, room(0, 2), work))).toEqual([3, 4]);
    expect(await takeJobs(pool, room(0, 0), work)).toEqual([]);
  });

  it('keeps the order of a group', async () => {
    await queue(1, 3, 77);
    const [first, ...others] = await takeJobs(pool, room(10), work);
    expect(others).toEqual([]);
    if (!first) throw new Error('nothing was taken');
    await transact({ prisma }, (tx) =>
      endRun(tx, first, { state: 'queued', error: 'later', afterMs: 60_000, counted: true }),
    );
    expect(await takeJobs(pool, room(10), work)).toEqual([]);
    await prisma.job.update({ where: { id: first.id }, data: { state: 'done' } });
    expect((await takeJobs(pool, room(10), work)).map(({ subject_id }) => subject_id)).toEqual([first.subject_id + 1]);
  });

  it('gives a job with an expired lease to another run, and the first can no longer end it', async () => {
    await queue(1, 1);
    const [first] = await takeJobs(pool, room(1), work);
    if (!first) throw new Error('nothing was taken');
    expect(await takeJobs(pool, room(1), work)).toEqual([]);
    expect(await renewLease(pool, first, 60_000)).toBe(true);
    await prisma.job.update({ where: { id: first.id }, data: { lease_until: new Date(0) } });
    const [second] = await takeJobs(pool, room(1), work);
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

  it("separates lanes: neither their order nor an account's share in one affects another", async () => {
    await queue(1, 5);
    await queue(1, 3, undefined, 'mail');
    const mail = { ...work, lane: 'mail' as const };
    expect((await takeJobs(pool, room(10), work)).map(({ kind }) => kind)).toEqual(['export', 'export']);
    expect((await takeJobs(pool, room(10), mail)).map(({ kind }) => kind)).toEqual(['mail', 'mail']);
    expect(await takeJobs(pool, room(10), work)).toEqual([]);
    expect(await takeJobs(pool, room(10), mail)).toEqual([]);
  });

  it('counts the time limit of a job from its first attempt', async () => {
    await queue(1, 1);
    await prisma.job.updateMany({ data: { give_up_at: new Date(0) } });
    const [first] = await takeJobs(pool, room(1), work);
    if (!first) throw new Error('nothing was taken');
    expect(first.give_up_at.getTime()).toBeGreaterThan(Date.now());
    await transact({ prisma }, (tx) =>
      endRun(tx, first, { state: 'queued', error: 'away', afterMs: 0, counted: false }),
    );
    await prisma.job.updateMany({ data: { give_up_at: new Date(1) } });
    expect((await takeJobs(pool, room(1), work))[0]?.give_up_at).toEqual(new Date(1));
  });

  it('does not start a job before its time', async () => {
    const subjects = [{ id: 1_000_000, notBefore: new Date(Date.now() + 60_000) }, { id: 1_000_001 }];
    const jobs = { kind: 'mail' as const, subjects, call: { accountId: 1 }, giveUpAfterSeconds: 60 };
    await transact({ prisma }, (tx) => queueJobs(tx, jobs));
    const mail = { ...work, lane: 'mail' as const };
    expect((await takeJobs(pool, room(9), mail)).map(({ subject_id }) => subject_id)).toEqual([1_000_001]);
    await prisma.job.updateMany({ data: { run_at: new Date(0) } });
    expect((await takeJobs(pool, room(9), mail)).map(({ subject_id }) => subject_id)).toEqual([1_000_000]);
  });

  it('does not restart queued jobs, but resets ended ones', async () => {
    await queue(1, 1);
    subjects -= 1;
    const [job] = await takeJobs(pool, room(1), work);
    await queue(1, 1);
    expect((await prisma.job.findFirstOrThrow()).state).toBe('running');
    if (job) await transact({ prisma }, (tx) => endRun(tx, job, { state: 'failed', error: 'x', by: 'caller' }));
    subjects -= 1;
    await queue(1, 1);
    expect(await prisma.job.findFirstOrThrow()).toMatchObject({ state: 'queued', attempts: 0, error: null });
    expect(await prisma.job.count()).toBe(1);
  });
});

describe('several workers', () => {
  const settings = {
    concurrency: 2,
    spare: 0,
    concurrencyPerAccount: 2,
    leaseMs: 60_000,
    pollMs: 50,
    retryMs: 10,
    attempts: 3,
    giveUpAfterSeconds: 60,
    sweepMs: 60_000,
  };

  function startWorkers(run: JobHandler['run'], count = 3) {
    const fail = async () => {};
    const handler = { run, fail, wait: fail };
    const lane = { name: 'files' as const, ...settings, maxPauseMs: 100 };
    const workers = Array.from({ length: count }, () =>
      createWorker(
        { prisma, pool, logger, work: settings },
        { ...lane, handlers: { import_table: handler, export: handler } },
      ),
    );
    for (const worker of workers) worker.start();
    return { stop: () => Promise.all(workers.map((worker) => worker.stop())) };
  }

  async function queueMany(accountId: number, count: number): Promise<void> {
    const ids = Array.from({ length: count }, (_, n) => ({ id: subjects + n + 1 }));
    subjects += count;
    const jobs = { kind: 'import_table' as const, subjects: ids, call: { accountId }, giveUpAfterSeconds: 60 };
    await transact({ prisma }, (tx) => queueJobs(tx, jobs));
  }

  it('start the only import of an account beside five hundred of another, which never exceeds its share', async () => {
    const running = new Map<number, number>();
    const most = new Map<number, number>();
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const workers = startWorkers(async (job) => {
      const now = (running.get(job.account_id) ?? 0) + 1;
      running.set(job.account_id, now);
      most.set(job.account_id, Math.max(now, most.get(job.account_id) ?? 0));
      await held;
      running.set(job.account_id, (running.get(job.account_id) ?? 0) - 1);
      await transact({ prisma }, (tx) => endRun(tx, job, { state: 'done' }));
    });
    try {
      await queueMany(1, 500);
      await eventually(() => expect(running.get(1)).toBe(2));
      await queueMany(2, 1);
      await eventually(() => expect(running.get(2)).toBe(1));
      letGo();
      await eventually(async () => expect(await prisma.job.count({ where: { state: 'done' } })).toBe(501));
      expect([most.get(1), most.get(2)]).toEqual([2, 1]);
    } finally {
      letGo();
      await workers.stop();
    }
  });

  it('give up a job that keeps failing, with growing pauses, while others continue', async () => {
    const begun = new Map<number, number[]>();
    const workers = startWorkers(async (job) => {
      begun.set(job.account_id, [...(begun.get(job.account_id) ?? []), Date.now()]);
      if (job.account_id === 1) throw new Error('This never works.');
      await transact({ prisma }, (tx) => endRun(tx, job, { state: 'done' }));
    }, 1);
    try {
      await queueMany(1, 1);
      await queueMany(2, 5);
      await eventually(async () => {
        expect(await prisma.job.count({ where: { account_id: 2, state: 'done' } })).toBe(5);
        const [poison] = await prisma.job.findMany({ where: { account_id: 1 } });
        expect(poison).toMatchObject({
          state: 'failed',
          failed_by: 'system',
          attempts: settings.attempts,
        });
        expect(poison?.error).not.toBeNull();
      });
      const [first = 0, second = 0, third = 0, ...more] = begun.get(1) ?? [];
      expect(more).toEqual([]);
      expect([second - first, third - second].map((pause, n) => pause >= settings.retryMs * 2 ** n)).toEqual([
        true,
        true,
      ]);
    } finally {
      await workers.stop();
    }
  });
});
