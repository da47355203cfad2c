// How the queue of jobs reads for operators.
import type { Job__Output } from '@almanac/protos/generated/almanac/jobs/v1/Job.ts';
import type { ListJobsResponse__Output } from '@almanac/protos/generated/almanac/jobs/v1/ListJobsResponse.ts';

export const jobStates = ['queued', 'running', 'done', 'failed', 'cancelled'] as const;

/** A line for each job, and how many there are besides; then the dead letters. */
export function showJobs({ jobs, total, dead_letters }: ListJobsResponse__Output): string {
  const lines = jobs.map((job) =>
    [job.name, job.state, `account ${job.account_id}`, job.updated_at, tries(job), job.error]
      .filter(Boolean)
      .join('\t'),
  );
  const more = total > jobs.length ? [`${total - jobs.length} more: --limit`] : [];
  const dead = dead_letters.map(
    ({ queue, messages }) => `${messages} dead letters of ${queue}: jobs retry dead-letters`,
  );
  return [...lines, ...more, ...dead].join('\n') || 'No such jobs.';
}

const tries = ({ attempts, deferrals }: Job__Output) => `${attempts} attempts, put off ${deferrals} times`;

/** All that is known of one job. */
export function showJob(job: Job__Output): string {
  const facts = {
    job: job.id,
    account: job.account_id,
    import: job.import_id,
    tried: tries(job),
    error: job.error,
    'not before': job.state === 'queued' ? job.run_at : '',
    'leased until': job.lease_until,
    'given up after': job.state === 'queued' || job.state === 'running' ? job.give_up_at : '',
    'asked for by request': job.request_id,
    created: job.created_at,
    changed: job.updated_at,
  };
  const lines = Object.entries(facts).flatMap(([name, value]) => (value ? [`  ${name.padEnd(20)}  ${value}`] : []));
  return [`${job.name} is ${job.state}`, ...lines].join('\n');
}
