// Who is written to about a deployment or promotion (design 3.5): all approvers of the branch when one waits for them or is given up, also
// the one who did it; its creator when somebody else has decided it. Jobs writes and sends the mails, and holds back floods.
import type { RpcCaller } from '@almanac/service-kit/rpc/contract';
import type { MetadataContext } from '../context.ts';
import { announce, type Transaction } from '../transaction.ts';
import type { TableDiff } from './table-diff.ts';

type Occasion = 'requested' | 'decided' | 'abandoned';

type DiffInShort = Pick<TableDiff, 'name' | 'change' | 'columns'>;

/** What the mail speaks of; names of people are no one's business here but the mail's. */
export type MailFacts = {
  noun: 'deployment' | 'promotion';
  id: number;
  branch: string;
  from_branch?: string;
  comment: string | null;
  diffs: DiffInShort[];
  outcome?: 'deployed' | 'promoted' | 'failed' | 'rejected';
  reasons?: string[];
};

/** Which step is told to whom; a step that isn't here is nobody's news. */
export const mailOccasions = { send_request: 'requested', reject: 'decided', abandon: 'abandoned' } as const;

export type Recipients = { occasion: Occasion; userIds: number[]; by: string };

/** Finds out whom to write to. Asked before the transaction: nobody holds locks while identity is asked. */
export async function findRecipients(
  ctx: MetadataContext,
  caller: RpcCaller,
  occasion: Occasion,
  subject: { branchId: number; creatorId: number | null },
): Promise<Recipients> {
  const userIds =
    occasion === 'decided' ? listOthers(caller, subject.creatorId) : await listApprovers(ctx, caller, subject.branchId);
  return { occasion, userIds, by: userIds.length === 0 ? '' : await nameOf(ctx, caller) };
}

const listOthers = ({ userId }: RpcCaller, id: number | null) => (id === null || id === userId ? [] : [id]);

// The contract promises the approvers a mail, whoever acts: an account whose one approver does all himself has his mails to show for it.

async function listApprovers(ctx: MetadataContext, caller: RpcCaller, branchId: number): Promise<number[]> {
  const { users } = await ctx.identity.ListApprovers(caller, { branch_id: branchId });
  return users.map(({ id }) => id);
}

// The mail does without the name rather than the deployment without its end.
async function nameOf(ctx: MetadataContext, caller: RpcCaller): Promise<string> {
  if (caller.userId === undefined) return '';
  const { users } = await ctx.identity.ListUsers(caller, { ids: [caller.userId] }).catch((error) => {
    ctx.logger.warn({ err: error }, 'a mail goes without the name of who acted');
    return { users: [] };
  });
  const [user] = users;
  return user ? `${user.first_name} ${user.last_name}`.trim() || user.email : '';
}

/** Asks jobs for the mails, if the transaction commits. */
export async function requestMails(
  tx: Transaction,
  caller: RpcCaller,
  { occasion, userIds, by }: Recipients,
  { noun, diffs, ...facts }: MailFacts,
): Promise<void> {
  if (userIds.length === 0) return;
  const count = (change: string) => diffs.filter((diff) => diff.change === change).length;
  const changes = { new: count('new'), modified: count('modified'), deleted: count('deleted') };
  const values = { ...facts, by, changes, tables: inShort(diffs) };
  await announce(tx, caller, 'mail.requested', { template: `${noun}_${occasion}`, user_ids: userIds, values });
}

// A mail is a glance at it: the first tables, with the first of their columns.
const maxTables = 20;
const maxColumns = 20;

const isChanged = ({ change }: { change: string }) => change !== 'unchanged';

function inShort(diffs: DiffInShort[]) {
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
