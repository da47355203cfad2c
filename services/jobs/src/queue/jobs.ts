// The queue of long-running work, as rows. Taking a job, renewing its lease and ending it are
// single conditional statements, so instances can share the queue and may fail at any point.

import { announce } from '@almanac/service-kit/messaging/outbox';
import { tracing } from '@almanac/service-kit/observability/tracing/tracing';
import { pgSql, prismaSql, withTransaction } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import type { Transaction } from '../transaction.ts';

export type JobKind = 'import_table' | 'export' | 'mail';

/**
 * Jobs of one lane never wait for those of another: mails and long imports don't block each other.
 */
export const laneOf = { import_table: 'files', export: 'files', mail: 'mail' } as const satisfies Record<
  JobKind,
  string
>;
export type LaneName = (typeof laneOf)[JobKind];

export type Job = {
  id: number;
  account_id: number;
  kind: JobKind;
  subject_id: number;
  attempts: number;
  deferrals: number;
  run_id: string;
  give_up_at: Date;
  request_id: string | null;
  user_id: number | null;
  application_id: number | null;
  traceparent: string | null;
};

export type JobCaller = { accountId: number; userId?: number; applicationId?: number; requestId?: string };

/** The caller on whose behalf a job works. */
export function callerOf(job: Job): JobCaller {
  return {
    accountId: job.account_id,
    ...(job.user_id === null ? {} : { userId: job.user_id }),
    ...(job.application_id === null ? {} : { applicationId: job.application_id }),
    ...(job.request_id === null ? {} : { requestId: job.request_id }),
  };
}

/** The only message of the queue: it wakes the workers. */
export const workRequested = 'jobs.work.requested';

/**
 * Another instance has taken the job, or the job was ended. The transaction of this run must roll
 * back.
 */
export class LeaseLost extends Error {
  constructor() {
    super('The lease of the job was lost.');
    this.name = 'LeaseLost';
  }
}

type NewJob = {
  kind: JobKind;
  groupId?: number;
  call: { accountId: number; userId?: number; applicationId?: number; requestId?: string };
  giveUpAfterSeconds: number;
};

/** The subject of a job, and the earliest time at which it may run. */
type NewSubject = { id: number; notBefore?: Date };

/**
 * Queues a job in the caller's transaction. A job of the same subject that has ended is reset; it
 * works for this caller, or for the one before when the call has none.
 */
export async function queueJob(tx: Transaction, { subjectId, ...work }: NewJob & { subjectId: number }): Promise<void> {
  await queueJobs(tx, { ...work, subjects: [{ id: subjectId }] });
}

/** Queues one job for each subject. */
export async function queueJobs(tx: Transaction, work: NewJob & { subjects: NewSubject[] }): Promise<void> {
  const sql = prismaSql(tx);
  await sql(
    // An operator who repeats a job is no caller of the account.
    `insert into job (account_id, kind, subject_id, group_id, request_id, user_id, application_id, give_up_at, run_at, traceparent, updated_at)
     select $1::int, $2, subject_id, $3::int, $4, $5::int, $6::int, now() + make_interval(secs => $7::int),
       coalesce(not_before, now()), $10, now()
     from unnest($8::int[], $9::timestamptz[]) as subject (subject_id, not_before)
     on conflict (kind, subject_id) do update set state = 'queued', attempts = 0, deferrals = 0, run_at = excluded.run_at,
       run_id = null, lease_until = null, error = null, give_up_at = excluded.give_up_at,
       traceparent = excluded.traceparent, updated_at = now(), request_id = coalesce(excluded.request_id, job.request_id),
       user_id = case when $11 then excluded.user_id else job.user_id end,
       application_id = case when $11 then excluded.application_id else job.application_id end
     where job.state not in ('queued', 'running')`,
    [
      work.call.accountId,
      work.kind,
      work.groupId ?? null,
      work.call.requestId ?? null,
      work.call.userId ?? null,
      work.call.applicationId ?? null,
      work.giveUpAfterSeconds,
      work.subjects.map(({ id }) => id),
      work.subjects.map(({ notBefore }) => notBefore?.toISOString() ?? null),
      tracing?.here()?.traceparent ?? null,
      work.call.userId !== undefined || work.call.applicationId !== undefined,
    ],
  );
  await announce(sql, { type: workRequested, payload: { account_id: work.call.accountId } });
}

/**
 * Returns the jobs of a group to the queue, to run at once, because their subjects have changed.
 * Running ones lose their lease.
 */
export async function restartJobs(
  tx: Transaction,
  { kind, groupId, accountId }: { kind: JobKind; groupId: number; accountId: number },
): Promise<void> {
  const sql = prismaSql(tx);
  await sql(
    `update job set state = 'queued', attempts = least(attempts, 1), run_at = now(), run_id = null, lease_until = null, updated_at = now()
     where account_id = $1::int and group_id = $2::int and kind = $3 and state in ('queued', 'running')`,
    [accountId, groupId, kind],
  );
  await announce(sql, { type: workRequested, payload: { account_id: accountId } });
}

/** Cancels the job of a subject, even while it runs. */
export async function cancelJob(
  tx: Transaction,
  { kind, subjectId, accountId }: { kind: JobKind; subjectId: number; accountId: number },
): Promise<void> {
  await prismaSql(tx)(
    `update job set state = 'cancelled', run_id = null, lease_until = null, updated_at = now()
     where account_id = $1::int and subject_id = $2::int and kind = $3 and state in ('queued', 'running')`,
    [accountId, subjectId, kind],
  );
}

type TakeOptions = { lane: LaneName; leaseMs: number; concurrencyPerAccount: number; giveUpAfterSeconds: number };

/** How many jobs may be taken, and how many more of accounts that have no running job. */
type Capacity = { free: number; spare: number };

/**
 * Takes jobs of a lane: queued ones that are due, and running ones whose lease has expired.
 * Accounts take turns: each gets its first job before any gets its second, and none gets more than
 * its share of the lane. Jobs of a group run in order. The time limit of a job counts from its
 * first attempt at the earliest, however long it was queued.
 */
export async function takeJobs(pool: pg.Pool, { free, spare }: Capacity, taking: TakeOptions): Promise<Job[]> {
  const kinds = Object.entries(laneOf).flatMap(([kind, lane]) => (lane === taking.lane ? [kind] : []));
  return withTransaction(pool, async (sql) => {
    await sql(`select pg_advisory_xact_lock(hashtext('jobs.take'))::text`);
    const { rows } = await sql(
      `with running as (
         select account_id, count(*) as jobs from job
         where state = 'running' and lease_until >= now() and kind = any($4::text[]) group by account_id
       ), waiting as (
         select j.id, j.run_at, row_number() over (partition by j.account_id order by j.run_at, j.id) + coalesce(r.jobs, 0) as turn
         from job j left join running r on r.account_id = j.account_id
         where j.kind = any($4::text[])
           and ((j.state = 'queued' and j.run_at <= now()) or (j.state = 'running' and j.lease_until < now()))
           and not exists (
             select from job e
             where e.group_id = j.group_id and e.kind = j.kind and e.id < j.id and e.state in ('queued', 'running')
           )
       ), next as (
         select id, turn, row_number() over (order by turn, run_at, id) as place from waiting where turn <= $3::int
       )
       update job set state = 'running', run_id = gen_random_uuid(), attempts = attempts + 1, heartbeat_at = now(),
         lease_until = now() + make_interval(secs => $2::float8 / 1000), updated_at = now(),
         give_up_at = case when attempts + deferrals = 0 then greatest(give_up_at, now() + make_interval(secs => $5::int))
           else give_up_at end
       where id in (select id from next where place <= $1::int or (turn = 1 and place <= $1::int + $6::int))
       returning id, account_id, kind, subject_id, attempts, deferrals, run_id, give_up_at, request_id, user_id, application_id, traceparent`,
      [free, taking.leaseMs, taking.concurrencyPerAccount, kinds, taking.giveUpAfterSeconds, spare],
    );
    return rows as Job[];
  });
}

/** Renews the lease; false: this run no longer holds the job. */
export async function renewLease(pool: pg.Pool, job: Job, leaseMs: number): Promise<boolean> {
  const { rowCount } = await pgSql(pool)(
    `update job set heartbeat_at = now(), lease_until = now() + make_interval(secs => $3::float8 / 1000)
     where id = $1 and run_id = $2::uuid and state = 'running'`,
    [job.id, job.run_id, leaseMs],
  );
  return rowCount === 1;
}

type RunEnd =
  | { state: 'done' }
  /** `by`: the caller, whose request or file can't succeed, or the system. */
  | { state: 'failed'; error: string; by: 'caller' | 'system' }
  /**
   * The job runs again after the pause. `counted` is false when the attempt was interrupted or
   * blocked.
   */
  | { state: 'queued'; error: string; afterMs: number; counted: boolean };

/**
 * Ends this run of the job in the caller's transaction. Throws LeaseLost, which rolls it back, when
 * this run no longer holds the job.
 */
export async function endRun(tx: Transaction, job: Job, ending: RunEnd): Promise<void> {
  const again = ending.state === 'queued';
  const { rowCount } = await prismaSql(tx)(
    `update job set state = $3, error = $4, failed_by = $7, run_id = null, lease_until = null, updated_at = now(),
       run_at = now() + make_interval(secs => $5::float8 / 1000),
       attempts = attempts - $6::int, deferrals = deferrals + $6::int
     where id = $1::int and run_id = $2::uuid and state = 'running'`,
    [
      job.id,
      job.run_id,
      ending.state,
      ending.state === 'done' ? null : ending.error.slice(0, 2000),
      again ? ending.afterMs : 0,
      again && !ending.counted ? 1 : 0,
      ending.state === 'failed' ? ending.by : null,
    ],
  );
  if (rowCount !== 1) throw new LeaseLost();
}
