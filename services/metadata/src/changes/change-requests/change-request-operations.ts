// The operations of change requests, which are data's: their counts, their tables and the phase,
// which says whether they can be changed, decided, or neither.
import type { ChangeRequestSummary__Output } from '@almanac/protos/generated/almanac/data/v1/ChangeRequestSummary.ts';
import { ServiceError } from '@almanac/service-kit/errors';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../../context.ts';
import type { Transaction } from '../../transaction.ts';
import type { MailContents } from '../approval-mails.ts';
import { maxTables } from '../approval-mails.ts';
import {
  type ChangeRequestState,
  changeRequestMachine,
  changeRequestStates,
  type Phase,
  phases,
} from './change-request-states.ts';

/** What data counts of a change request. */
export type Summary = ChangeRequestSummary__Output;

/** The revision of 100,000 operations takes longer than an ordinary answer. */
const revisionDeadlineMs = 15_000;

/** The summaries by id; data knows none of the others. */
export async function summarize(
  ctx: Pick<MetadataContext, 'data'>,
  caller: RpcCaller,
  ids: number[],
): Promise<Map<number, Summary>> {
  if (ids.length === 0) return new Map();
  const request = { change_request_ids: ids, with_revision: false };
  const { summaries } = await ctx.data.SummarizeChangeRequests(caller, request);
  return new Map(summaries.map((summary) => [summary.change_request_id, summary]));
}

/** The summary of one change request, with the revision of what would be applied. */
export async function summarizeWithRevision(
  ctx: Pick<MetadataContext, 'data'>,
  caller: RpcCaller,
  id: number,
): Promise<Summary | undefined> {
  const request = { change_request_ids: [id], with_revision: true };
  const { summaries } = await ctx.data.SummarizeChangeRequests(caller, request, { deadlineMs: revisionDeadlineMs });
  return summaries[0];
}

type StoredTable = {
  table_definition_id: number;
  domain_id: number;
  key: string;
  name: string;
  created: number;
  updated: number;
  deleted: number;
};

/** The tables of a summary, as they are stored: lists are filtered by them. */
export const storedTables = ({ tables }: Pick<Summary, 'tables'>): StoredTable[] =>
  tables.map(({ table_definition_id, domain_id, key, name, created, updated, deleted }) => ({
    ...{ table_definition_id, domain_id, key, name, created, updated, deleted },
  }));

/** Stores the tables of a request as data counts them now. */
export async function storeTables(tx: Transaction, id: number, tables: StoredTable[]): Promise<void> {
  await tx.change_request_table.deleteMany({ where: { change_request_id: id } });
  await tx.change_request_table.createMany({
    data: tables.map((table) => ({ ...table, change_request_id: id })),
    skipDuplicates: true,
  });
}

/** The contents of a mail about a change request. */
export function operationContents(title: string, tables: StoredTable[]): MailContents {
  const sum = (kind: 'created' | 'updated' | 'deleted') => tables.reduce((total, table) => total + table[kind], 0);
  return {
    title,
    changes: { created: sum('created'), updated: sum('updated'), deleted: sum('deleted') },
    tables: tables
      .slice(0, maxTables)
      .map(({ name, created, updated, deleted }) => ({ name, created, updated, deleted })),
    table_count: tables.length,
  };
}

/**
 * Notes that the phase in data is about to change. Should the process end before the state has
 * followed, the reconciler sets the phase that belongs to the state.
 */
export async function notePhaseChange(ctx: MetadataContext, { accountId }: RpcCaller, id: number): Promise<void> {
  await prismaSql(ctx.prisma)(
    'update change_request set phase_pending_at = now() where id = $1::int and account_id = $2::int',
    [id, accountId],
  );
}

/**
 * Has data set the phase. `acceptUndecidedBy`: the user whose approval accepts what is undecided.
 * Data refuses to review an empty request, or one whose operations have problems (422).
 */
export function setPhase(
  ctx: Pick<MetadataContext, 'data'>,
  caller: RpcCaller,
  id: number,
  phase: Phase,
  acceptUndecidedBy?: number,
): Promise<Summary> {
  return ctx.data.SetChangeRequestPhase(caller, {
    change_request_id: id,
    phase,
    ...(acceptUndecidedBy === undefined ? {} : { accept_undecided_by: acceptUndecidedBy }),
  });
}

/** The requests whose phase was to change more than a lease ago, and may not fit the state. */
export async function listPendingPhases(ctx: MetadataContext, limit: number): Promise<number[]> {
  const { rows } = await prismaSql(ctx.prisma)(
    `select id from change_request where phase_pending_at < now() - make_interval(secs => $1::float8)
     order by phase_pending_at limit $2::int`,
    [ctx.timing.leaseMs / 1000, limit],
  );
  return rows.map(({ id }) => id);
}

/** Sets the phase that belongs to the state of a request. */
export async function reconcilePhase(ctx: MetadataContext, id: number): Promise<void> {
  await ctx.prisma.$transaction(async (tx) => {
    const { rows } = await prismaSql(tx)(
      'select account_id, status from change_request where id = $1::int for no key update',
      [id],
    );
    const [found] = rows as { account_id: number; status: ChangeRequestState }[];
    if (!found) return;
    await setPhase(ctx, { accountId: found.account_id }, id, phases[found.status]).catch(unlessRefused);
    await tx.change_request.update({ where: { id }, data: { phase_pending_at: null } });
  });
}

// Data refuses a phase for good only when it has no such request any more.
function unlessRefused(error: unknown): void {
  if (!(error instanceof ServiceError) || error.status >= 500) throw error;
}

/** True once no step can be taken any more. */
export const hasEnded = (status: string): boolean =>
  !Object.values(changeRequestMachine.transitions).some(({ from }) => (from as readonly string[]).includes(status));

/** The states in which a step can be taken. */
export const openStates = changeRequestStates.filter((status) => !hasEnded(status));

/**
 * How many requests of the account that have not ended concern each table; of drafts their tables
 * as they were last read.
 */
export async function countOpenByTable(
  ctx: Pick<MetadataContext, 'prisma'>,
  { accountId }: RpcCaller,
  tableIds: number[],
): Promise<Map<number, number>> {
  const { rows } = await prismaSql(ctx.prisma)(
    `select t.table_definition_id as id, count(*)::int as open from change_request_table t join change_request r on r.id = t.change_request_id
     where r.account_id = $1::int and t.table_definition_id = any($2::int[]) and r.status = any($3::text[]) group by 1`,
    [accountId, tableIds, openStates],
  );
  return new Map((rows as { id: number; open: number }[]).map(({ id, open }) => [id, open]));
}
