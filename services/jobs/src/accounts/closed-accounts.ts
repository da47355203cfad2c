// Cancels the work of an account that was closed for its deletion. A restored account has it as
// cancelled.

import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError } from '@almanac/service-kit/errors';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { type MessageOf, messageId } from '@almanac/service-kit/messaging/bus/received-message';
import { z } from 'zod';
import type { JobsContext } from '../context.ts';
import { cancelExport } from '../exports/exports.ts';
import { cancelImport } from '../imports/imports.ts';
import { openExportStates } from '../states/export-states.ts';
import { openImportStates } from '../states/import-states.ts';

const payloads = {
  'identity.account.closed': z.object({ account_id: messageId, closed_at: z.iso.datetime({ offset: true }) }),
};

/** Consumes the events while the bus runs. */
export function consumeClosedAccounts(ctx: JobsContext, bus: Bus): Promise<void> {
  return bus.consume('jobs.accounts', payloads, (message) => receive(ctx, message));
}

async function receive(ctx: JobsContext, { id, payload, request_id }: MessageOf<typeof payloads>): Promise<void> {
  const { account_id: accountId, closed_at } = payload;
  const requestId = request_id ?? id;
  const call: CallContext = { issuer: 'jobs', accountId, scopes: [], branching: false, requestId };
  // The event may arrive after the account was restored: later work goes on.
  const where = { account_id: accountId, created_at: { lte: new Date(closed_at) } };
  const [imports, exports] = await Promise.all([
    ctx.prisma.data_import.findMany({ where: { ...where, status: { in: openImportStates } }, select: { id: true } }),
    ctx.prisma.data_export.findMany({ where: { ...where, status: { in: openExportStates } }, select: { id: true } }),
  ]);
  for (const { id } of imports) await unlessEnded(cancelImport(ctx, call, id));
  for (const { id } of exports) await unlessEnded(cancelExport(ctx, call, id));
}

async function unlessEnded(cancelling: Promise<unknown>): Promise<void> {
  await cancelling.catch((error: unknown) => {
    if (!(error instanceof ServiceError && error.kind === 'wrong_state')) throw error;
  });
}
