// How rows of a table change: its policy, and what the policy refuses.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import type { DeployedTable, RowPolicy } from './table.ts';

/** Reads how rows change, as metadata names it; 400 for a word of a later release. */
export function readRowChanges(text: string): RowPolicy['row_changes'] {
  if (text === 'direct' || text === 'request') return text;
  throw new ServiceError('bad_request', {
    code: 'not_in_list',
    message: 'row_changes must be direct or request.',
    field: 'row_changes',
  });
}

/** Whether rows of the table change by change requests alone. */
export const isProposedOnly = ({ row_changes }: RowPolicy): boolean => row_changes === 'request';

/** The 422 of a write to such a table. */
export const proposalsOnly = (): ServiceError =>
  validationFailed({
    code: 'proposals_only',
    message: 'Changes to this table are proposed: create a change request (POST /change_requests).',
  });

/** 422 for a load that the policy refuses: of a person, or of any caller if it says so. */
export function requireLoadable(table: DeployedTable, { userId }: Pick<CallContext, 'userId'>): void {
  if (isProposedOnly(table) && !(userId === undefined && table.machine_imports)) throw proposalsOnly();
}
