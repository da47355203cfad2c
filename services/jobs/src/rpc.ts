// What operators ask jobs over gRPC.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import type { RpcHandlers } from '@almanac/service-kit/rpc/contract';
import type { RpcServerOptions } from '@almanac/service-kit/rpc/server';
import type { Context } from './context.ts';
import { deadLetters, redeliver } from './queue/dead-letters.ts';
import { getJob, listJobs } from './queue/job-list.ts';
import { retryJob } from './queue/retry.ts';

export function createHandlers(ctx: Context, bus: Bus): RpcHandlers<'jobs'> {
  return {
    RetryJob: async (call, { id }) => ({
      status: id === deadLetters ? await redeliver(bus) : await retryJob(ctx, call, id),
    }),
    ListJobs: (call, request) => listJobs(ctx, bus, call, request),
    GetJob: (call, { id }) => getJob(ctx, call, id),
  };
}

export const callers: RpcServerOptions<'jobs'>['callers'] = {
  RetryJob: ['operator'],
  ListJobs: ['operator'],
  GetJob: ['operator'],
};
