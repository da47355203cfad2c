// What operators ask jobs over gRPC.
import type { RpcHandlers } from '@almanac/service-kit/rpc-contract';
import type { RpcServerOptions } from '@almanac/service-kit/rpc-server';
import type { Context } from './context.ts';
import { retryJob } from './queue/retry.ts';

export function createHandlers(ctx: Context): RpcHandlers<'jobs'> {
  return {
    RetryJob: async (call, { id }) => ({ status: await retryJob(ctx, call, id) }),
  };
}

export const callers: RpcServerOptions<'jobs'>['callers'] = { RetryJob: ['operator'] };
