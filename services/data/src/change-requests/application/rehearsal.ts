// Rehearses a change request for a caller who sees it; the answer has the tables that they see.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { TableAccess } from '../../tables/open-table.ts';
import { getChangeRequest } from '../change-requests.ts';
import { findSeen } from '../visibility.ts';
import { type ApplicationParts, rehearseChangeRequest } from './application.ts';
import type { Rehearsed } from './application-run.ts';

/** 404 and 403 as for reading the request; waits for the account's turn. */
export async function rehearse(
  parts: ApplicationParts & TableAccess,
  call: CallContext,
  id: number,
  signal: AbortSignal,
): Promise<Rehearsed> {
  const header = await getChangeRequest(parts.pools, call.accountId, id);
  const { all, seen } = await findSeen(parts, call, header);
  const hidden = [...all.keys()].filter((definition) => !seen.has(definition));
  return parts.limiters.work.run(call.accountId, signal, () => rehearseChangeRequest(parts, call, id, hidden));
}
