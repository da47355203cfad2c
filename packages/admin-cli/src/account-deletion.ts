// The deletion of an account, for operators: closed at once, erased after a grace, with a receipt.
import { hostname, userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import type { AccountDeletion__Output as AccountDeletion } from '@almanac/protos/generated/almanac/identity/v1/AccountDeletion.ts';
import { readAccountId } from './accounts.ts';
import { type Command, readCount, text } from './arguments.ts';
import { noAccount, type Operator, OperatorError } from './operator.ts';

const defaultGraceDays = 30;

/** The commands that delete an account, undo it, and show the receipt. */
export const accountDeletionCommands = {
  'accounts delete': {
    usage: 'accounts delete ID [--confirm NAME] [--grace DAYS] [--by WHO]',
    about: `Closes the account at once, and erases all that it has after the grace (default ${defaultGraceDays} days; 0: now). NAME is the account's name; without it you are asked. WHO is for the receipt.`,
    options: { confirm: text, grace: text, by: text },
    positionals: 1,
    prepare: (values, [id]) => {
      const accountId = readAccountId(id);
      const grace_days = readCount(values, 'grace', 'days') ?? defaultGraceDays;
      if (grace_days > 3_650) throw new OperatorError('--grace should be at most 3650 days.');
      const requested_by = (values.by as string | undefined)?.trim() || `${userInfo().username}@${hostname()}`;
      return async (operator) => {
        const name = (values.confirm as string | undefined) ?? (await askForName(operator, accountId, grace_days));
        return deleteAccount(operator, accountId, { name, grace_days, requested_by });
      };
    },
    show: (deletion: Deletion) => describeDeletion(deletion),
  },
  'accounts restore': {
    usage: 'accounts restore ID',
    about: 'Opens a closed account again, with all that it had, until its grace ends.',
    options: {},
    positionals: 1,
    prepare: (_values, [id]) => {
      const accountId = readAccountId(id);
      return async (operator) => {
        const { name } = await operator.service('identity').RestoreAccount({ accountId }, {});
        return { id: accountId, name, status: 'active' };
      };
    },
    show: ({ id, name }: { id: number; name: string }) => `Account ${id} "${name}" is open again.`,
  },
  'accounts receipt': {
    usage: 'accounts receipt ID',
    about: 'What was removed of a deleted account, and what is kept.',
    options: {},
    positionals: 1,
    prepare: (_values, [id]) => {
      const accountId = readAccountId(id);
      return (operator) => readReceipt(operator, accountId);
    },
    show: (receipt: object) => JSON.stringify(receipt, null, 2),
  },
} satisfies Record<string, Command>;

type Order = { name: string; grace_days: number; requested_by: string };
type Deletion = ReturnType<typeof shown>;

async function deleteAccount(operator: Operator, accountId: number, order: Order): Promise<Deletion> {
  return shown(await operator.service('identity').DeleteAccount({ accountId }, order));
}

/** The accounts that are being deleted, or were. */
export async function listDeletedAccounts(operator: Operator): Promise<Deletion[]> {
  const { deletions } = await operator.service('identity').ListAccountDeletions(noAccount, {});
  return deletions.map(shown);
}

async function readReceipt(operator: Operator, accountId: number): Promise<object> {
  const { receipt, ...deletion } = await operator.service('identity').GetAccountDeletion({ accountId }, {});
  if (receipt === '')
    throw new OperatorError(`There is no receipt yet. ${describeDeletion(shown({ ...deletion, receipt }))}`);
  return JSON.parse(receipt);
}

// Unset texts of gRPC are null in JSON; the receipt has its own command.
const shown = ({ account_id, erased_at, receipt: _receipt, ...deletion }: AccountDeletion) => ({
  id: account_id,
  ...deletion,
  erased_at: erased_at || null,
});

/** A deletion in a sentence. */
export function describeDeletion({ id, name, status, erase_after, erased_at, waiting_for }: Deletion): string {
  const said: Record<string, string> = {
    closed: `is closed, and is erased after ${erase_after}; until then: accounts restore ${id}`,
    erasing: `is being erased; still by ${waiting_for.join(', ')}`,
    erased: `was erased on ${erased_at}: accounts receipt ${id}`,
  };
  return `Account ${id} "${name}" ${said[status] ?? status}.`;
}

async function askForName(operator: Operator, accountId: number, graceDays: number): Promise<string> {
  if (!process.stdin.isTTY) throw new OperatorError('--confirm is missing: the name of the account.');
  const { name } = await operator.service('identity').GetAccount({ accountId }, {});
  const when = graceDays === 0 ? 'now, for ever' : `in ${graceDays} days`;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const typed = await terminal.question(
      `Account ${accountId} "${name}" is closed at once, and all that it has is erased ${when}.\nType its name to go on: `,
    );
    if (typed !== name) throw new OperatorError('That is not its name. Nothing was changed.');
    return typed;
  } finally {
    terminal.close();
  }
}
