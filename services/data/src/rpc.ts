// Data over gRPC: deployments for metadata, whole tables for jobs, and the callers of each RPC.
import type { BulkReadRequest__Output } from '@almanac/protos/generated/almanac/data/v1/BulkReadRequest.ts';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import type { RpcHandlers } from '@almanac/service-kit/rpc/contract';
import type { RpcServer, RpcServerOptions } from '@almanac/service-kit/rpc/server';
import { applyChangeRequest, getAppliedChangeRequest } from './change-requests/application/application.ts';
import { appliedMessage } from './change-requests/application/application-result.ts';
import {
  dropChangeRequest,
  openChangeRequest,
  setPhase,
  summarizeChangeRequests,
} from './change-requests/change-requests.ts';
import { openProposedLoad } from './change-requests/proposing/proposed-load.ts';
import { readChangesBetween } from './changes/change-feed.ts';
import type { Clusters } from './clusters/clusters.ts';
import { moveAccount } from './clusters/move-account.ts';
import type { DataContext } from './context.ts';
import { applyDeployment, findAppliedDeployment, planDeployment } from './deployments/deployment.ts';
import { dropBranch, dropTable } from './deployments/removal.ts';
import { restoreTable } from './deployments/restoration.ts';
import { setRowPolicies } from './deployments/row-policies.ts';
import { readTables } from './deployments/wanted-tables.ts';
import { bulkRead, checkBulkRead } from './exports/bulk-read.ts';
import type { ReadRequest } from './exports/read-request.ts';
import { bulkLoad } from './imports/bulk-load.ts';
import { cancelLoad } from './imports/cancel-load.ts';
import { checkColumnSources } from './imports/check-sources.ts';
import { readLoadChanges } from './imports/dry-run-changes.ts';
import { listRejectedRows, readRejectedRows } from './imports/rejected-rows.ts';
import { decideMergedRows, listRowDecisions } from './merges/decide-rows.ts';
import { mergeRows } from './merges/merge-rows.ts';
import { readMergedRows, summarizeMerge } from './merges/read-merge.ts';
import { listTableStatistics } from './summaries/table-statistics.ts';
import { countRows, getDeployedTable } from './tables/deployed-tables.ts';

const callers = {
  PlanDeployment: ['metadata'],
  ApplyDeployment: ['metadata'],
  GetAppliedDeployment: ['metadata'],
  DropTable: ['metadata'],
  RestoreTable: ['metadata'],
  DropBranch: ['metadata'],
  GetDeployedTable: ['metadata', 'jobs', 'operator'],
  CountRows: ['metadata', 'jobs', 'operator'],
  ListTableStatistics: ['metadata'],
  ListChanges: ['jobs'],
  BulkLoad: ['jobs', 'operator'],
  CheckColumnSources: ['jobs'],
  CancelLoad: ['jobs', 'operator'],
  ReadRejectedRows: ['jobs', 'operator'],
  ListRejectedRows: ['jobs', 'operator'],
  ReadLoadChanges: ['jobs', 'operator'],
  BulkRead: ['jobs', 'operator'],
  CheckBulkRead: ['jobs', 'operator'],
  MergeRows: ['metadata'],
  SummarizeMerge: ['metadata'],
  ReadMergedRows: ['metadata'],
  DecideMergedRows: ['metadata'],
  ListRowDecisions: ['metadata'],
  OpenChangeRequest: ['metadata'],
  SetChangeRequestPhase: ['metadata'],
  SummarizeChangeRequests: ['metadata'],
  ApplyChangeRequest: ['metadata'],
  GetAppliedChangeRequest: ['metadata'],
  DropChangeRequest: ['metadata'],
  SetRowPolicies: ['metadata'],
  PlaceAccount: ['operator'],
} as const satisfies RpcServerOptions<'data'>['callers'];

/** Serves each call on the cluster of its account. */
export function createDataRpc(clusters: Clusters, runtime: ServiceRuntime, port: number): RpcServer {
  return runtime.rpcServer({ service: 'data', port, callers, handlers: dataHandlers(clusters) });
}

function dataHandlers(clusters: Clusters): RpcHandlers<'data'> {
  // The cluster is looked up in the databases: these calls are rare, and some return an empty list
  // instead of an error on another cluster.
  const at = async <T>(call: CallContext, work: (ctx: DataContext) => Promise<T>): Promise<T> => {
    await clusters.locate(call.accountId);
    return clusters.run(call.accountId, ({ context }) => work(context));
  };
  return {
    PlanDeployment: (call, { branch_id, tables }) =>
      at(call, (ctx) => planDeployment(ctx, call, { branchId: branch_id, ...readTables(tables) })),
    ApplyDeployment: async (call, { branch_id, tables, deployment_id }) => {
      await clusters.placeNew(call.accountId);
      const request = { branchId: branch_id, ...readTables(tables), deploymentId: deployment_id };
      return at(call, (ctx) => applyDeployment(ctx, call, request));
    },
    GetAppliedDeployment: async (call, { deployment_id }) => {
      const plan = await at(call, (ctx) => findAppliedDeployment(ctx, call, deployment_id));
      return plan ? { applied: true, plan } : { applied: false };
    },
    DropTable: async (call, { table_definition_id }) => ({
      dropped: await at(call, (ctx) => dropTable(ctx, call, table_definition_id)),
    }),
    RestoreTable: async (call, { table_definition_id, policy }) => ({
      restored: await at(call, (ctx) => restoreTable(ctx, call, table_definition_id, policy ?? undefined)),
    }),
    DropBranch: async (call, { branch_id }) => ({
      dropped: await at(call, (ctx) => dropBranch(ctx, call, branch_id)),
    }),
    GetDeployedTable: (call, request) => at(call, (ctx) => getDeployedTable(ctx, call, request)),
    CountRows: async (call, { table_definition_ids }) => ({
      counts: await at(call, (ctx) => countRows(ctx, call, table_definition_ids)),
    }),
    ListTableStatistics: async (call, { table_definition_ids }) => ({
      tables: await at(call, (ctx) => listTableStatistics(ctx, call, table_definition_ids)),
    }),
    ListChanges: async (call, { table_definition_id: id, most_bytes: mostBytes, ...window }, signal) => {
      const request = { id, signal };
      const changes = await at(call, (ctx) => readChangesBetween(ctx, call, request, { ...window, mostBytes }));
      return changes === undefined ? {} : { changes };
    },
    // A stream can be read once only, so a load is not repeated on another cluster; jobs repeats
    // it.
    BulkLoad: async (call, requests, signal) =>
      bulkLoad((await clusters.locate(call.accountId)).context, call, requests, signal),
    CheckColumnSources: (call, request) =>
      at(call, async (ctx) => ({ problems: await checkColumnSources(ctx.pools.rows, request) })),
    CancelLoad: async (call, { load_id: loadId, table_definition_id: tableDefinitionId }) =>
      cancelLoad((await clusters.locate(call.accountId)).context, call, { loadId, tableDefinitionId }),
    ReadRejectedRows: async function* (call, { load_id }, signal) {
      const { context } = await clusters.locate(call.accountId);
      for await (const chunk of readRejectedRows(context, call, load_id, signal)) yield { chunk };
    },
    ListRejectedRows: async function* (call, { load_id: loadId, rows, start_row: startRow, end_row: endRow }) {
      const { context } = await clusters.locate(call.accountId);
      for (const chunk of await listRejectedRows(context, call, { loadId, rows, startRow, endRow })) yield { chunk };
    },
    ReadLoadChanges: async function* (call, { load_id: loadId, kind, start_row: startRow, end_row: endRow }) {
      const { context } = await clusters.locate(call.accountId);
      for (const chunk of await readLoadChanges(context, call, { loadId, kind, startRow, endRow })) yield { chunk };
    },
    BulkRead: async function* (call, request, signal) {
      const { context } = await clusters.locate(call.accountId);
      const leave = await context.limiters.quiet.enter(call.accountId, signal);
      try {
        yield* bulkRead(context, call, readRequestOf(request), signal);
      } finally {
        leave();
      }
    },
    CheckBulkRead: (call, { read }) =>
      at(call, async (ctx) => {
        await checkBulkRead(ctx, call, readRequestOf(read));
        return {};
      }),
    MergeRows: async (call, request, signal) => {
      await clusters.placeNew(call.accountId);
      const merge = (ctx: DataContext) =>
        ctx.limiters.work.run(call.accountId, signal, () => mergeRows(ctx, call, request));
      return at(call, merge);
    },
    SummarizeMerge: async (call, request, signal) => ({
      summaries: await at(call, (ctx) => summarizeMerge(ctx, call, request, signal)),
    }),
    ReadMergedRows: async function* (call, request, signal) {
      const { context } = await clusters.locate(call.accountId);
      for (const chunk of await readMergedRows(context, call, request, signal)) yield { chunk };
    },
    DecideMergedRows: (call, request, signal) => at(call, (ctx) => decideMergedRows(ctx, call, request, signal)),
    ListRowDecisions: async function* (call, request) {
      for (const chunk of await at(call, (ctx) => listRowDecisions(ctx, call, request))) yield { chunk };
    },
    OpenChangeRequest: async (call, { load_id, ...request }, signal) => {
      await clusters.placeNew(call.accountId);
      if (load_id === undefined) return at(call, (ctx) => openChangeRequest(ctx, call, request));
      const open = (ctx: DataContext) => openProposedLoad(ctx, call, { ...request, load_id }, signal);
      return at(call, (ctx) => ctx.limiters.work.run(call.accountId, signal, () => open(ctx)));
    },
    SetChangeRequestPhase: (call, request) => at(call, (ctx) => setPhase(ctx, call, request)),
    SummarizeChangeRequests: async (call, request) => ({
      summaries: await at(call, (ctx) => summarizeChangeRequests(ctx, call, request)),
    }),
    ApplyChangeRequest: (call, request, signal) => {
      const application = {
        applyId: request.apply_id,
        changeRequestId: request.change_request_id,
        revision: request.revision,
        requestedBy: request.requested_by,
        approvedBy: request.approved_by,
        restRequestId: request.rest_request_id,
      };
      return at(call, (ctx) =>
        ctx.limiters.work.run(call.accountId, signal, () => applyChangeRequest(ctx, call, application)),
      ).then(appliedMessage);
    },
    GetAppliedChangeRequest: async (call, { apply_id }) =>
      appliedMessage(await at(call, (ctx) => getAppliedChangeRequest(ctx, call, apply_id))),
    DropChangeRequest: async (call, request) => ({
      dropped: await at(call, (ctx) => dropChangeRequest(ctx, call, request)),
    }),
    SetRowPolicies: async (call, { policies }) => ({
      set: await at(call, (ctx) => setRowPolicies(ctx, call, policies)),
    }),
    PlaceAccount: (call, { cluster }, signal) => moveAccount(clusters, call.accountId, cluster, signal),
  };
}

function readRequestOf(request: BulkReadRequest__Output | null | undefined): ReadRequest {
  if (!request) throw new ServiceError('bad_request', { code: 'blank', message: 'read is required.', field: 'read' });
  return {
    tableDefinitionId: request.table_definition_id,
    pattern: request.pattern,
    highWaterMark: request.high_water_mark,
    asOf: request.as_of,
    forEditing: request.for_editing,
    criteria: request.criteria,
  };
}
