// The gRPC API for operators.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import type { RpcHandlers } from '@almanac/service-kit/rpc/contract';
import type { RpcServerOptions } from '@almanac/service-kit/rpc/server';
import type { JobsContext } from './context.ts';
import { deadLetters, redeliver } from './operators/dead-letters.ts';
import { getJob, listJobs } from './operators/job-list.ts';
import { retryJob } from './operators/retry.ts';

export function jobsHandlers(ctx: JobsContext, bus: Bus): RpcHandlers<'jobs'> {
  return {
    RetryJob: async (call, { id }) => ({
      status: id === deadLetters ? await redeliver(bus) : await retryJob(ctx, call, id),
    }),
    ListJobs: (call, request) => listJobs(ctx, bus, call, request),
    GetJob: (call, { id }) => getJob(ctx, call, id),
  };
}

export const jobsCallers: RpcServerOptions<'jobs'>['callers'] = {
  RetryJob: ['operator'],
  ListJobs: ['operator'],
  GetJob: ['operator'],
};
