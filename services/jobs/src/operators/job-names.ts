// Names of jobs for operators: the number in the queue (as in the log), or the kind and the
// subject: export-7, import-table-7, mail-7.
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import type { JobsContext } from '../context.ts';
import type { job } from '../generated/prisma/client.ts';

/** The name of a job, made of its kind and subject. */
export const nameOf = ({ kind, subject_id }: Pick<job, 'kind' | 'subject_id'>) =>
  `${kind.replace('_', '-')}-${subject_id}`;

/** Finds a job by its name or number. Operators act for one account or, with account 0, for all. */
export async function findJob(ctx: Pick<JobsContext, 'prisma'>, call: { accountId: number }, id: string): Promise<job> {
  const named = /^(?:(export|import-table|mail)-)?(\d{1,9})$/.exec(id);
  if (!named)
    throw new ServiceError('bad_request', {
      code: 'wrong_format',
      message: 'Give the number of a job, export-NUMBER, import-table-NUMBER or mail-NUMBER.',
    });
  const number = Number(named[2]);
  const kind = named[1]?.replace('-', '_');
  const found = await ctx.prisma.job.findFirst({
    where: {
      ...(kind === undefined ? { id: number } : { kind, subject_id: number }),
      ...(call.accountId === 0 ? {} : { account_id: call.accountId }),
    },
  });
  if (!found) throw notFound('Job');
  return found;
}
