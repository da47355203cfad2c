// The queue as operators see it: jobs by state, dead letters, and figures for the metrics.
import type { Job } from '@almanac/protos/generated/almanac/jobs/v1/Job.ts';
import type { ListJobsResponse } from '@almanac/protos/generated/almanac/jobs/v1/ListJobsResponse.ts';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { pgSql } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import type { JobsContext } from '../context.ts';
import type { job } from '../generated/prisma/client.ts';
import { countDeadLetters } from './dead-letters.ts';
import { findJob, nameOf } from './job-names.ts';

const states = ['queued', 'running', 'done', 'failed', 'cancelled'];
const defaultLimit = 100;
const maxLimit = 1_000;

type ListOptions = { state: string; limit: number };

/**
 * Jobs of the account (0: of all accounts) in a state, by default all that are neither done nor
 * cancelled; the latest change first.
 */
export async function listJobs(
  ctx: Pick<JobsContext, 'prisma'>,
  bus: Bus,
  call: { accountId: number },
  { state, limit }: ListOptions,
): Promise<ListJobsResponse> {
  if (state !== '' && !states.includes(state))
    throw new ServiceError('bad_request', {
      code: 'not_in_list',
      message: `State must be one of ${states.join(', ')}.`,
      field: 'state',
      params: { allowed: states },
    });
  if (limit < 0 || limit > maxLimit)
    throw new ServiceError('bad_request', {
      code: 'out_of_range',
      message: `Limit must be from 1 to ${maxLimit}.`,
      field: 'limit',
      params: { minimum: 1, maximum: maxLimit },
    });
  const where = {
    ...(call.accountId === 0 ? {} : { account_id: call.accountId }),
    state: { in: state === '' ? ['queued', 'running', 'failed'] : [state] },
  };
  const orderBy = [{ updated_at: 'desc' as const }, { id: 'desc' as const }];
  const [jobs, total, dead_letters] = await Promise.all([
    ctx.prisma.job.findMany({ where, orderBy, take: limit || defaultLimit }),
    ctx.prisma.job.count({ where }),
    countDeadLetters(bus),
  ]);
  return { jobs: jobs.map(showJob), total, dead_letters };
}

/** One job by its name or number. */
export async function getJob(ctx: Pick<JobsContext, 'prisma'>, call: { accountId: number }, id: string): Promise<Job> {
  return showJob(await findJob(ctx, call, id));
}

const showJob = (row: job): Job => ({
  id: row.id,
  name: nameOf(row),
  account_id: row.account_id,
  state: row.state,
  attempts: row.attempts,
  deferrals: row.deferrals,
  error: row.error ?? '',
  run_at: row.run_at.toISOString(),
  lease_until: row.lease_until?.toISOString() ?? '',
  give_up_at: row.give_up_at.toISOString(),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  request_id: row.request_id ?? '',
  import_id: row.group_id ?? 0,
});

/** The number of jobs in a state, for the metrics. */
export async function countJobs(pool: pg.Pool, state: 'queued' | 'running'): Promise<number> {
  const { rows } = await pgSql(pool)('select count(*)::int as jobs from job where state = $1', [state]);
  return rows[0]?.jobs as number;
}

/** How many jobs have failed, by whose fault; those of a release without this column by ours. */
export async function countFailedJobs(pool: pg.Pool): Promise<Record<'caller' | 'system', number>> {
  const { rows } = await pgSql(pool)(
    `select count(*) filter (where failed_by = 'caller')::int as caller,
       count(*) filter (where failed_by is distinct from 'caller')::int as system
     from job where state = 'failed'`,
  );
  return rows[0] as Record<'caller' | 'system', number>;
}

/** When the latest backup was taken, in seconds since 1970; 0 when there is none. */
export async function readLastBackup(pool: pg.Pool): Promise<number> {
  const { rows } = await pgSql(pool)(
    'select coalesce(extract(epoch from max(taken_at)), 0)::float8 as seconds from finished_backup',
  );
  return rows[0]?.seconds as number;
}

/** Seconds that the longest waiting job could have been running already; 0 when none waits. */
export async function readLongestWait(pool: pg.Pool): Promise<number> {
  const { rows } = await pgSql(pool)(
    `select coalesce(extract(epoch from now() - min(coalesce(lease_until, run_at))), 0)::float8 as seconds from job
     where (state = 'queued' and run_at <= now()) or (state = 'running' and lease_until < now())`,
  );
  return rows[0]?.seconds as number;
}
