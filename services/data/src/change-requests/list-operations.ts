// The operations of a change request by window, with what they propose, what they are based on and
// what is there now.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { readRowWindow } from '@almanac/service-kit/http/row-input';
import { type Pools, run } from '../postgres/pools.ts';
import { exactForm, repeatWhileStale, stale, type TableAccess } from '../tables/open-table.ts';
import { getChangeRequest } from './change-requests.ts';
import type { Group, OperationGroups } from './operation-groups.ts';
import { showSql, type Wanted, windowSql } from './show-sql.ts';
import { findSeen } from './visibility.ts';

type ListRequest = Wanted & {
  table_definition_id?: number;
  startRow?: number;
  endRow?: number;
  exactNumbers: boolean;
};

export type ListAccess = TableAccess & { pools: Pools; operationGroups: OperationGroups };

/**
 * A window of the operations that the caller sees, as the body of the answer. `rowCount` counts
 * those that match; `counts` all of the table, or of the request.
 */
export async function listOperations(
  access: ListAccess,
  call: CallContext,
  id: number,
  request: ListRequest,
): Promise<string> {
  const { pools, catalogue, operationGroups } = access;
  const { startRow, endRow } = readRowWindow(request);
  const window = { offset: startRow, limit: endRow - startRow };
  const header = await getChangeRequest(pools, call.accountId, id);
  let read: number[] = [];
  const work = async () => {
    const [{ seen: tables }, groups] = await Promise.all([
      findSeen(access, call, header),
      operationGroups.count(header),
    ]);
    const isSeen = ({ table_definition_id }: Group) =>
      tables.has(table_definition_id) &&
      (request.table_definition_id === undefined || request.table_definition_id === table_definition_id);
    const seen = groups.filter(isSeen);
    read = [...tables.keys()];
    const ids = [...new Set(seen.map(({ table_definition_id }) => table_definition_id))];
    const found = await run<{ id: number; table_definition_id: number }>(
      pools.rows,
      windowSql(header, ids, request, window),
    );
    const shown = [...new Set(found.map(({ table_definition_id }) => table_definition_id))].flatMap(
      (definition) => tables.get(definition) ?? [],
    );
    const forms = request.exactNumbers ? shown.map(exactForm) : shown;
    const [row] = await run<{ answer: string }>(
      pools.rows,
      showSql(
        header,
        forms,
        found.map((each) => each.id),
      ),
    );
    if (!row) return stale;
    const matching = seen.filter((group) => matches(group, request));
    return `{"operations":[${row.answer}],"rowCount":${sum(matching)},"counts":${JSON.stringify(countsOf(seen))}}`;
  };
  return repeatWhileStale(work, () => catalogue.readAll(call.accountId, read));
}

const matches = (group: Group, { kind, decision, has_problem }: Wanted) =>
  (kind === undefined || group.kind === kind) &&
  (decision === undefined || group.decision === decision) &&
  (has_problem === undefined || group.has_problem === has_problem);

const sum = (groups: Group[]) => groups.reduce((total, { count }) => total + count, 0);

function countsOf(groups: Group[]) {
  const of = (some: (group: Group) => boolean) => sum(groups.filter(some));
  const kinds = ['create', 'update', 'delete', 'restore'] as const;
  const decisions = ['undecided', 'accepted', 'rejected', 'returned'] as const;
  return {
    kinds: Object.fromEntries(kinds.map((kind) => [kind, of((group) => group.kind === kind)])),
    decisions: Object.fromEntries(decisions.map((decision) => [decision, of((group) => group.decision === decision)])),
    with_problems: of(({ has_problem }) => has_problem),
  };
}
