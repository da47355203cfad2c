// Fixtures of the tests of change requests: requests over tables of branch 1, and calls on them.
import type { Call } from '@almanac/testkit/calls/call';
import { caller, type DataNet } from '../given.ts';

let last = 0;

/** Opens a request on branch 1 by an application, or by a user. */
export async function openRequest(
  net: DataNet,
  options: { branchId?: number; createdBy?: number; accountId?: number } = {},
): Promise<number> {
  last += 1;
  await net.metadata.OpenChangeRequest(
    { ...caller, accountId: options.accountId ?? 1 },
    { change_request_id: last, branch_id: options.branchId ?? 1, created_by: options.createdBy },
  );
  return last;
}

export const setPhase = (net: DataNet, id: number, phase: string, acceptUndecidedBy?: number) =>
  net.metadata.SetChangeRequestPhase(caller, {
    change_request_id: id,
    phase,
    accept_undecided_by: acceptUndecidedBy,
  });

export async function summaryOf(net: DataNet, id: number) {
  const { summaries } = await net.metadata.SummarizeChangeRequests(caller, {
    change_request_ids: [id],
    with_revision: true,
  });
  return summaries?.[0];
}

const path = (request: number) => `/api/v1/change_requests/${request}/operations`;

export const propose = (call: Call, request: number, table: number, operations: unknown, headers = {}) =>
  call('POST', path(request), { table_definition_id: table, operations }, headers);

export const listed = (call: Call, request: number, query = '') => call('GET', `${path(request)}${query}`);

export const takeOut = (call: Call, request: number, ids: unknown) => call('POST', `${path(request)}/remove`, { ids });

/** The operations of a request, as a list shows them; the counts beside them are compared. */
export async function operationsOf(call: Call, request: number, query = '') {
  const answer = await listed(call, request, query);
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  const { operations, counts, rowCount } = answer.body;
  if (query === '' && operations.length === rowCount) expect(counts).toEqual(countsOf(operations));
  return operations;
}

type Shown = { kind: string; decision: string; problems: unknown[] };

function countsOf(operations: Shown[]) {
  const of = (some: (operation: Shown) => boolean) => operations.filter(some).length;
  const by = (member: 'kind' | 'decision', values: string[]) =>
    Object.fromEntries(values.map((value) => [value, of((operation) => operation[member] === value)]));
  return {
    kinds: by('kind', ['create', 'update', 'delete', 'restore']),
    decisions: by('decision', ['undecided', 'accepted', 'rejected', 'returned']),
    with_problems: of(({ problems }) => problems.length > 0),
  };
}
