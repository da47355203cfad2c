// Data over gRPC: deployments for metadata, whole tables for jobs, and who may ask what.
import type { Frame } from '@almanac/service-kit/frame';
import type { RpcHandlers } from '@almanac/service-kit/rpc-contract';
import { createRpcServer, type RpcServer, type RpcServerOptions } from '@almanac/service-kit/rpc-server';
import type { DataContext } from './context.ts';
import { applyDeployment, findAppliedDeployment, planDeployment } from './deploy/deployment.ts';
import { dropBranch, dropTable } from './deploy/removal.ts';
import { readWantedTable } from './deploy/wanted.ts';
import { countRows, getDeployedTable } from './deployed-tables.ts';
import { bulkLoad } from './load/bulk-load.ts';
import { readRejectedRows } from './load/rejected-rows.ts';
import { bulkRead } from './read/bulk-read.ts';

const callers = {
  PlanDeployment: ['metadata'],
  ApplyDeployment: ['metadata'],
  GetAppliedDeployment: ['metadata'],
  DropTable: ['metadata'],
  DropBranch: ['metadata'],
  GetDeployedTable: ['metadata', 'jobs', 'operator'],
  CountRows: ['metadata', 'jobs', 'operator'],
  BulkLoad: ['jobs', 'operator'],
  ReadRejectedRows: ['jobs', 'operator'],
  BulkRead: ['jobs', 'operator'],
} as const satisfies RpcServerOptions<'data'>['callers'];

export function createDataRpc(ctx: DataContext, frame: Frame, port: number): RpcServer {
  const { logger, metrics, verifyContext } = frame;
  const options = { service: 'data', host: frame.config.host, port, logger, metrics, verifyContext } as const;
  return createRpcServer({ ...options, callers, handlers: dataHandlers(ctx) });
}

export function dataHandlers(ctx: DataContext): RpcHandlers<'data'> {
  return {
    PlanDeployment: (call, { branch_id, tables }) =>
      planDeployment(ctx, call, { branchId: branch_id, tables: tables.map(readWantedTable) }),
    ApplyDeployment: (call, { branch_id, tables, deployment_id }) =>
      applyDeployment(ctx, call, {
        branchId: branch_id,
        tables: tables.map(readWantedTable),
        deploymentId: deployment_id,
      }),
    GetAppliedDeployment: async (call, { deployment_id }) => {
      const plan = await findAppliedDeployment(ctx, call, deployment_id);
      return plan ? { applied: true, plan } : { applied: false };
    },
    DropTable: async (call, { table_definition_id }) => ({ dropped: await dropTable(ctx, call, table_definition_id) }),
    DropBranch: async (call, { branch_id }) => ({ dropped: await dropBranch(ctx, call, branch_id) }),
    GetDeployedTable: (call, request) => getDeployedTable(ctx, call, request),
    CountRows: async (call, { table_definition_ids }) => ({ counts: await countRows(ctx, call, table_definition_ids) }),
    BulkLoad: (call, requests, signal) => bulkLoad(ctx, call, requests, signal),
    ReadRejectedRows: async function* (call, { load_id }, signal) {
      for await (const chunk of readRejectedRows(ctx, call, load_id, signal)) yield { chunk };
    },
    BulkRead: (call, request, signal) =>
      bulkRead(
        ctx,
        call,
        {
          tableDefinitionId: request.table_definition_id,
          pattern: request.pattern,
          highWaterMark: request.high_water_mark,
        },
        signal,
      ),
  };
}
