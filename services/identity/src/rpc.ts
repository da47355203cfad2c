// Identity's gRPC server, and which service may call which method.

import type { ServiceRuntime } from '@almanac/service-kit/process/service-runtime';
import type { RpcHandlers } from '@almanac/service-kit/rpc/contract';
import type { RpcServer, RpcServerOptions } from '@almanac/service-kit/rpc/server';
import {
  deleteAccount,
  getAccountDeletion,
  listAccountDeletions,
  restoreAccount,
} from './accounts/account-deletion.ts';
import { createAccount, getAccountBasics, listAccounts } from './accounts/accounts.ts';
import type { IdentityContext } from './context.ts';
import { ensureResourceGroups, listResourceGroups } from './groups/resource-groups.ts';
import { resetPassword } from './passwords/operator-reset.ts';
import { createPasswordLink } from './passwords/password-links.ts';
import { getEffectivePermissions } from './permissions/effective-permissions.ts';
import { getPermissionSources } from './permissions/permission-sources.ts';
import { resolveSession } from './sessions/resolve-session.ts';
import { listRevocations } from './tokens/revocations.ts';
import { findUsers, listAccountUsers, listAdministrators, listApprovers } from './users/contacts.ts';

const callers = {
  ListRevocations: ['gateway'],
  ResolveSession: ['gateway'],
  GetEffectivePermissions: ['metadata', 'data', 'jobs', 'billing'],
  GetPermissionSources: ['metadata'],
  GetAccount: ['gateway', 'metadata', 'data', 'jobs', 'billing', 'operator'],
  ListUsers: ['metadata', 'data', 'jobs'],
  ListApprovers: ['metadata', 'jobs'],
  ListAdministrators: ['jobs'],
  ListResourceGroups: ['metadata'],
  EnsureResourceGroups: ['metadata'],
  CreatePasswordLink: ['jobs'],
  CreateAccount: ['operator'],
  ListAccounts: ['operator'],
  DeleteAccount: ['operator'],
  RestoreAccount: ['operator'],
  GetAccountDeletion: ['operator'],
  ListAccountDeletions: ['operator'],
  ListAccountUsers: ['operator'],
  ResetPassword: ['operator'],
  RotateSigningKey: ['operator'],
} as const satisfies RpcServerOptions<'identity'>['callers'];

/** Builds the gRPC server; it listens only after `start`. */
export function createIdentityRpc(ctx: IdentityContext, runtime: ServiceRuntime): RpcServer {
  return runtime.rpcServer({ service: 'identity', port: ctx.config.rpcPort, callers, handlers: identityHandlers(ctx) });
}

function identityHandlers(ctx: IdentityContext): RpcHandlers<'identity'> {
  return {
    ListRevocations: (_call, request) => listRevocations(ctx.prisma, request),
    ResolveSession: (_call, request) => resolveSession(ctx, request),
    GetEffectivePermissions: (call, { user_id }) => getEffectivePermissions(ctx.prisma, call.accountId, user_id),
    GetPermissionSources: (call, request) => getPermissionSources(ctx, call, request),
    GetAccount: (call) => getAccountBasics(ctx, call.accountId),
    ListUsers: async (call, { ids }) => ({ users: await findUsers(ctx, call.accountId, ids) }),
    ListApprovers: async (call, { branch_id }) => ({ users: await listApprovers(ctx, call.accountId, branch_id) }),
    ListAdministrators: async (call) => ({ users: await listAdministrators(ctx, call.accountId) }),
    ListResourceGroups: async (call, { resource_type, resource_ids }) => ({
      user_groups: await listResourceGroups(ctx, call, resource_type, resource_ids),
    }),
    EnsureResourceGroups: async (call, request) => {
      await ensureResourceGroups(ctx, call, request);
      return { knows_sight: true };
    },
    CreatePasswordLink: (call, request) => createPasswordLink(ctx, call.accountId, request),
    CreateAccount: (call, request) => createAccount(ctx, request, call.requestId),
    ListAccounts: async () => ({ accounts: await listAccounts(ctx) }),
    DeleteAccount: (call, request) => deleteAccount(ctx, call, request),
    RestoreAccount: (call) => restoreAccount(ctx, call),
    GetAccountDeletion: (call) => getAccountDeletion(ctx, call.accountId),
    ListAccountDeletions: async () => ({ deletions: await listAccountDeletions(ctx) }),
    ListAccountUsers: async (call) => ({ users: await listAccountUsers(ctx, call.accountId) }),
    ResetPassword: (call, request) => resetPassword(ctx, call, request),
    RotateSigningKey: async () => ({ kid: await ctx.keys.rotate() }),
  };
}
