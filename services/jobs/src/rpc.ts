// Jobs over gRPC: what operators may ask of the queue.
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import type { RpcHandlers } from '@almanac/service-kit/rpc/contract';
import type { RpcServer, RpcServerOptions } from '@almanac/service-kit/rpc/server';
import type { JobsContext } from './context.ts';
import { deadLetters, redeliver } from './operators/dead-letters.ts';
import { getJob, listJobs } from './operators/job-list.ts';
import { retryJob } from './operators/retry.ts';

const callers = {
  RetryJob: ['operator'],
  ListJobs: ['operator'],
  GetJob: ['operator'],
} as const satisfies RpcServerOptions<'jobs'>['callers'];

/** Builds the gRPC server; it listens only after `start`. */
export function createJobsRpc(ctx: JobsContext, runtime: ServiceRuntime, port: number): RpcServer {
  return runtime.rpcServer({ service: 'jobs', port, callers, handlers: jobsHandlers(ctx, runtime) });
}

function jobsHandlers(ctx: JobsContext, { bus }: Pick<ServiceRuntime, 'bus'>): RpcHandlers<'jobs'> {
  return {
    RetryJob: async (call, { id }) => ({
      status: id === deadLetters ? await redeliver(bus) : await retryJob(ctx, call, id),
    }),
    ListJobs: (call, request) => listJobs(ctx, bus, call, request),
    GetJob: (call, { id }) => getJob(ctx, call, id),
  };
}
