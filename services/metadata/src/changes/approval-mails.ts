// The mails about a change (design 3.5). All approvers of the branch get one when approval is
// requested or a change is abandoned, even the one who did it; the creator gets one when another
// user decided. Jobs writes and sends them, and limits floods.
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../context.ts';
import { announce, type Transaction } from '../transaction.ts';
import type { Noun } from './approval-states.ts';
import type { TableDiff } from './table-diff.ts';

type Occasion = 'requested' | 'decided' | 'abandoned';

/** What a decision came to. */
type Verdict = 'deployed' | 'promoted' | 'applied' | 'failed' | 'approved' | 'rejected' | 'returned';

/** The mail about a step. `outcome`: of a decision. */
export type MailedStep = { occasion: Occasion; outcome?: Verdict };

/** What a change is made of, in the form that the templates of its kind take. */
export type MailContents = Record<string, unknown>;

/** The content of a mail. */
export type MailFacts = {
  noun: Noun;
  id: number;
  branch: string;
  from_branch?: string;
  comment: string | null;
  contents: MailContents;
  outcome?: Verdict;
  reasons?: string[];
};

/** The steps of deployments and promotions that send mails. */
export const definitionMails: Record<string, MailedStep> = {
  send_request: { occasion: 'requested' },
  reject: { occasion: 'decided', outcome: 'rejected' },
  abandon: { occasion: 'abandoned' },
};

/** `by`: the name of the user who took the step. */
export type Recipients = { occasion: Occasion; userIds: number[]; by: string };

/**
 * Asks identity for the recipients, before the transaction: no lock is held while identity answers.
 */
export async function findRecipients(
  ctx: MetadataContext,
  caller: RpcCaller,
  occasion: Occasion,
  subject: { branchId: number; creatorId: number | null },
): Promise<Recipients> {
  const userIds =
    occasion === 'decided'
      ? creatorUnlessCaller(caller, subject.creatorId)
      : await listApprovers(ctx, caller, subject.branchId);
  return { occasion, userIds, by: userIds.length === 0 ? '' : await nameOf(ctx, caller) };
}

const creatorUnlessCaller = ({ userId }: RpcCaller, id: number | null) => (id === null || id === userId ? [] : [id]);

// The contract promises the mail to all approvers: where one approver does everything, their mails
// are the record of it.
async function listApprovers(ctx: MetadataContext, caller: RpcCaller, branchId: number): Promise<number[]> {
  const { users } = await ctx.identity.ListApprovers(caller, { branch_id: branchId });
  return users.map(({ id }) => id);
}

// A missing name must not keep a deployment from being finished.
async function nameOf(ctx: MetadataContext, caller: RpcCaller): Promise<string> {
  if (caller.userId === undefined) return '';
  const { users } = await ctx.identity.ListUsers(caller, { ids: [caller.userId] }).catch((error) => {
    ctx.logger.warn({ err: error }, 'a mail is sent without the name of the user who acted');
    return { users: [] };
  });
  const [user] = users;
  return user ? `${user.first_name} ${user.last_name}`.trim() || user.email : '';
}

/** Requests the mails of jobs, when the transaction commits. */
export async function requestMails(
  tx: Transaction,
  caller: RpcCaller,
  { occasion, userIds, by }: Recipients,
  { noun, contents, ...facts }: MailFacts,
): Promise<void> {
  if (userIds.length === 0) return;
  const values = { ...facts, by, ...contents };
  await announce(tx, caller, 'mail.requested', { template: `${noun}_${occasion}`, user_ids: userIds, values });
}

type MailedDiff = Pick<TableDiff, 'name' | 'change' | 'columns'>;

/** The contents of a mail about definitions. */
export function diffContents(diffs: MailedDiff[]): MailContents {
  const count = (change: string) => diffs.filter((diff) => diff.change === change).length;
  const changes = { new: count('new'), modified: count('modified'), deleted: count('deleted') };
  return { changes, tables: summarize(diffs) };
}

/** A mail lists the first tables, with the first of their columns. */
export const maxTables = 20;
const maxColumns = 20;

const isChanged = ({ change }: { change: string }) => change !== 'unchanged';

function summarize(diffs: MailedDiff[]) {
  return diffs
    .filter(isChanged)
    .slice(0, maxTables)
    .map(({ name, change, columns }) => ({
      name,
      change,
      columns: columns
        .filter(isChanged)
        .slice(0, maxColumns)
        .map((column) => ({
          name: column.name,
          change: column.change,
          attributes: column.change === 'modified' ? column.attributes.map((attribute) => attribute.name) : [],
        })),
    }));
}
