// Metadata over gRPC: what other services may ask. Identity calls OpenAccount, so that calls
// identity for nothing: the groups of `main` follow by event.
import type { GetTableDefinitionRequest__Output } from '@almanac/protos/generated/almanac/metadata/v1/GetTableDefinitionRequest.ts';
import { notFound } from '@almanac/service-kit/errors';
import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import type { RpcHandlers } from '@almanac/service-kit/rpc/contract';
import type { RpcServer, RpcServerOptions } from '@almanac/service-kit/rpc/server';
import { openMainBranch, requireBranch } from './branches/branches.ts';
import { proposeLoad } from './changes/change-requests/change-request-proposal.ts';
import { type ColumnDefinition, columnFields, inOrder } from './columns/column-fields.ts';
import { columnMessage } from './columns/column-message.ts';
import type { MetadataContext } from './context.ts';
import { readTableHandle } from './table-definitions/table-handle.ts';

const callers = {
  GetBranch: ['jobs', 'data', 'identity', 'operator'],
  GetTableDefinition: ['jobs', 'data', 'identity', 'operator'],
  ListTablePlaces: ['jobs'],
  CreateChangeRequest: ['jobs'],
  OpenAccount: ['operator', 'identity'],
} as const satisfies RpcServerOptions<'metadata'>['callers'];

export function createMetadataRpc(ctx: MetadataContext, runtime: ServiceRuntime, port: number): RpcServer {
  return runtime.rpcServer({ service: 'metadata', port, callers, handlers: metadataHandlers(ctx) });
}

function metadataHandlers(ctx: MetadataContext): RpcHandlers<'metadata'> {
  return {
    GetBranch: async (call, request) => {
      const { id, name, is_default, is_protected } = await requireBranch(ctx, call, request.id);
      return { id, name, is_default, is_protected };
    },
    GetTableDefinition: async (call, request) => {
      const definition = await ctx.prisma.table_definition.findFirst({
        where: { ...handleOf(request), account_id: call.accountId },
        include: { columns: { select: columnFields, orderBy: inOrder } },
      });
      if (!definition) throw notFound('Table definition');
      const { id, uuid, key, name, branch_id, domain_id, columns } = definition;
      return {
        ...{ id, uuid, key, name, branch_id, domain_id },
        columns: columns.map(columnOf),
        ...lookupColumnOf(definition),
      };
    },
    ListTablePlaces: async (call, { ids }) => ({ places: await listTablePlaces(ctx, call.accountId, ids) }),
    CreateChangeRequest: async (call, request) => ({ id: await proposeLoad(ctx, call, request) }),
    OpenAccount: async (call) => ({ main_branch_id: await openMainBranch(ctx, call) }),
  };
}

function handleOf({ id, handle, key, branch_id }: GetTableDefinitionRequest__Output) {
  if (key !== '' && branch_id !== undefined) return { key, branch_id };
  return handle === '' ? { id } : readTableHandle(handle, branch_id);
}

const lookupColumnOf = ({ lookup_display_column_id: id }: { lookup_display_column_id: number | null }) =>
  id === null ? {} : { lookup_display_column_id: id };

const columnOf = (column: ColumnDefinition) => ({ id: column.id, ...columnMessage(column) });

async function listTablePlaces(ctx: MetadataContext, accountId: number, ids: number[]) {
  const where = { account_id: accountId, id: { in: ids } };
  const select = { id: true, domain_id: true, branch_id: true };
  const [drafted, deployed] = await Promise.all([
    ctx.prisma.table_definition.findMany({ where, select }),
    ctx.prisma.deployed_table_definition.findMany({ where, select }),
  ]);
  const tables = new Map([...deployed, ...drafted].map((table) => [table.id, table]));
  return [...tables.values()].map(({ id, ...place }) => ({ table_definition_id: id, ...place }));
}
