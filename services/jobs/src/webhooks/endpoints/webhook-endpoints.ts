// Webhook endpoints: where an account wants its events to be sent, and which. For administrators.
import {
  type ListQuery,
  type Page,
  page,
  prismaOrderBy,
  prismaWhere,
  window,
} from '@almanac/service-kit/api/list-query';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { notFound, validationFailed } from '@almanac/service-kit/errors';
import { createdAct, deletedAct, updatedAct } from '@almanac/service-kit/messaging/audit';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import { requireRight } from '@almanac/service-kit/rights/rights';
import type { JobsContext } from '../../context.ts';
import type { Prisma, webhook_endpoint } from '../../generated/prisma/client.ts';
import { transactOnce } from '../../idempotency.ts';
import { readPlaces } from '../../table-places.ts';
import { lockAccount, recordAct, type Transaction, transact } from '../../transaction.ts';
import { readEnd } from '../deliveries/fan-out.ts';
import { giveUpWaiting } from '../deliveries/switch-off.ts';
import { findUrlProblem } from '../sending/endpoint-url.ts';

/** Endpoints that an account may have. */
export const endpointsPerAccount = 20;

const resource = 'Webhook endpoint';
const actResource = 'webhook_endpoint';

export const endpointFields = {
  id: 'integer',
  url: 'text',
  description: 'text?',
  enabled: 'boolean',
  created_at: 'time',
  updated_at: 'time',
} as const;

export type EndpointAttributes = {
  url: string;
  description?: string | null | undefined;
  event_types: string[];
  table_definition_ids?: number[] | undefined;
  include_rows?: boolean | undefined;
  enabled?: boolean | undefined;
};

type Changes = { [Name in keyof EndpointAttributes]?: EndpointAttributes[Name] | undefined };

/** An endpoint as shown to a caller; never with its secret. */
export function showEndpoint(row: webhook_endpoint) {
  const { id, url, description, event_types, table_definition_ids, include_rows, enabled } = row;
  const until = row.previous_secret_until;
  return {
    id,
    url,
    description,
    event_types,
    table_definition_ids,
    include_rows,
    enabled,
    disabled_reason: row.disabled_reason,
    failing_since: row.failing_since?.toISOString() ?? null,
    previous_secret_until: until && until.getTime() > Date.now() ? until.toISOString() : null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
export type ShownEndpoint = ReturnType<typeof showEndpoint>;

/** 403 for callers who don't administer the account. */
export const requireAdministrator = ({ rights }: Pick<JobsContext, 'rights'>, call: CallContext): Promise<void> =>
  requireRight(rights, call, 'admin', {});

/** The endpoints of the account. */
export async function listEndpoints(
  ctx: JobsContext,
  call: CallContext,
  list: ListQuery,
): Promise<Page<ShownEndpoint>> {
  await requireAdministrator(ctx, call);
  const where = { account_id: call.accountId, ...prismaWhere(list.conditions) };
  const [rows, count] = await Promise.all([
    ctx.prisma.webhook_endpoint.findMany({ where, orderBy: prismaOrderBy(list), ...window(list) }),
    ctx.prisma.webhook_endpoint.count({ where }),
  ]);
  return page(rows.map(showEndpoint), list, count);
}

/** An endpoint of the account, for its administrators; 404 for one of another account. */
export async function getEndpoint(ctx: JobsContext, call: CallContext, id: number): Promise<webhook_endpoint> {
  const found = await ctx.prisma.webhook_endpoint.findFirst({ where: { id, account_id: call.accountId } });
  await requireAdministrator(ctx, call);
  if (!found) throw notFound(resource);
  return found;
}

/** The endpoint, locked until the transaction ends. */
export async function lockEndpoint(tx: Transaction, call: CallContext, id: number): Promise<webhook_endpoint> {
  await prismaSql(tx)('select true from webhook_endpoint where id = $1::int and account_id = $2::int for update', [
    id,
    call.accountId,
  ]);
  const found = await tx.webhook_endpoint.findFirst({ where: { id, account_id: call.accountId } });
  if (!found) throw notFound(resource);
  return found;
}

export type WithSecret = ShownEndpoint & { secret: string };

/** Creates an endpoint, which gets the events from now on. Its secret is in this answer alone. */
export async function createEndpoint(
  ctx: JobsContext,
  call: CallContext,
  read: () => EndpointAttributes,
): Promise<WithSecret> {
  await requireAdministrator(ctx, call);
  const attributes = read();
  await requireValid(ctx, call, attributes);
  const { secrets } = ctx.webhooks;
  const secret = secrets.create();
  const made = await transactOnce(ctx, call, async (tx) => {
    await lockAccount(tx, call.accountId, 'webhooks');
    await requireRoom(tx, call);
    const position = await readEnd(prismaSql(tx), call.accountId);
    const { id } = await tx.webhook_endpoint.create({
      data: { ...valuesOf(call, attributes), position, secret: Buffer.alloc(0) },
    });
    const data = { secret: secrets.seal(id, secret) };
    const endpoint = await tx.webhook_endpoint.update({ where: { id }, data });
    await recordAct(tx, call, createdAct(actResource, showEndpoint(endpoint)));
    return { id, secret_number: endpoint.secret_number };
  });
  return showWithSecret(ctx, call, made);
}

/** What a transaction keeps for repeats of its request: which of the endpoint's secrets it made. */
export type MadeSecret = { id: number; secret_number: number };

/**
 * The endpoint with the secret that a request has made. A repeat of the request after a later
 * rotation gets none of the new secrets.
 */
export async function showWithSecret(ctx: JobsContext, call: CallContext, made: MadeSecret): Promise<WithSecret> {
  const row = await ctx.prisma.webhook_endpoint.findFirst({ where: { id: made.id, account_id: call.accountId } });
  if (!row) throw notFound(resource);
  const isCurrent = row.secret_number === made.secret_number;
  return { ...showEndpoint(row), secret: isCurrent ? ctx.webhooks.secrets.open(row.id, row.secret) : '' };
}

function valuesOf(call: CallContext, attributes: EndpointAttributes) {
  const { url, description = null, event_types, table_definition_ids = [] } = attributes;
  const { include_rows = true, enabled = true } = attributes;
  return {
    account_id: call.accountId,
    url,
    description,
    event_types,
    table_definition_ids,
    include_rows,
    enabled,
    disabled_reason: enabled ? null : 'request',
    user_id: call.userId ?? null,
    application_id: call.applicationId ?? null,
  };
}

async function requireRoom(tx: Transaction, call: CallContext): Promise<void> {
  const count = await tx.webhook_endpoint.count({ where: { account_id: call.accountId } });
  if (count >= endpointsPerAccount)
    throw validationFailed({
      code: 'limit_reached',
      message: `An account has at most ${endpointsPerAccount} webhook endpoints.`,
      params: { maximum: endpointsPerAccount },
    });
}

// Before the transaction: DNS and metadata may take their time.
async function requireValid(ctx: JobsContext, call: CallContext, changes: Changes): Promise<void> {
  const { url, table_definition_ids: ids = [] } = changes;
  const problem = url === undefined ? undefined : await findUrlProblem(url, ctx.webhooks.reach);
  if (problem) throw validationFailed(problem);
  if (ids.length === 0) return;
  const places = await readPlaces(ctx, call, ids);
  const unknown = ids.filter((id) => places.get(id)?.branchId === undefined);
  if (unknown.length > 0)
    throw validationFailed({
      code: 'invalid_reference',
      message: `There is no table definition ${unknown.join(', ')}.`,
      field: 'table_definition_ids',
    });
}

/**
 * Changes an endpoint. One that is switched off loses what waits for it; switched on again, it gets
 * the events from then on.
 */
export async function updateEndpoint(
  ctx: JobsContext,
  call: CallContext,
  id: number,
  read: () => Changes,
): Promise<ShownEndpoint> {
  await getEndpoint(ctx, call, id);
  const changes = read();
  await requireValid(ctx, call, changes);
  return transact(ctx, async (tx) => {
    const before = await lockEndpoint(tx, call, id);
    const switched = changes.enabled !== undefined && changes.enabled !== before.enabled;
    // Prisma leaves out what is undefined.
    const data = { ...changes } as Prisma.webhook_endpointUpdateInput;
    if (changes.url !== undefined && changes.url !== before.url) {
      data.failing_since = null;
      // What failed at the old address is tried at the new one at once.
      await prismaSql(tx)(
        `update webhook_delivery set next_attempt_at = now() where endpoint_id = $1::int and status = 'pending'`,
        [id],
      );
    }
    if (switched && changes.enabled)
      Object.assign(data, {
        disabled_reason: null,
        failing_since: null,
        position: await readEnd(prismaSql(tx), call.accountId),
      });
    if (switched && !changes.enabled) {
      data.disabled_reason = 'request';
      await giveUpWaiting(prismaSql(tx), id, 'request');
    }
    const after = await tx.webhook_endpoint.update({ where: { id }, data });
    await recordAct(tx, call, updatedAct(actResource, showEndpoint(before), showEndpoint(after)));
    return showEndpoint(after);
  });
}

/** Deletes an endpoint with its deliveries. */
export async function deleteEndpoint(ctx: JobsContext, call: CallContext, id: number): Promise<void> {
  await getEndpoint(ctx, call, id);
  await transact(ctx, async (tx) => {
    const endpoint = await lockEndpoint(tx, call, id);
    await tx.webhook_endpoint.delete({ where: { id } });
    await recordAct(tx, call, deletedAct(actResource, showEndpoint(endpoint)));
  });
}
