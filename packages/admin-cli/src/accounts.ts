// Accounts for operators: create one that is ready for its first call, change plan and state, list
// all.
import { noAccount, type Operator, OperatorError } from './operator.ts';

export const plans = ['free', 'plus', 'business', 'enterprise'] as const;
export const billingStatuses = ['current', 'overdue', 'cancelled'] as const;

/** The members of `.almanac/credentials.json`, with the account's id under both its names. */
export type NewAccount = {
  id: number;
  base_url?: string;
  account_id: number;
  name: string;
  plan: string;
  admin: { email: string; password: string };
  application: { client_id: string; client_secret: string; redirect_uri: string };
};

/**
 * Creates an account. Its billing and its branch are opened here, not by the event: it is ready at
 * once.
 */
export async function createAccount(
  operator: Operator,
  wanted: { name: string; plan: string; adminEmail: string; redirectUri?: string },
): Promise<NewAccount> {
  const made = await operator
    .service('identity')
    .CreateAccount(
      noAccount,
      { name: wanted.name, admin_email: wanted.adminEmail, redirect_uri: wanted.redirectUri ?? '', plan: wanted.plan },
      { deadlineMs: 15_000 },
    );
  const caller = { accountId: made.account_id };
  await operator.service('billing').OpenAccount(caller, { plan: wanted.plan });
  await operator.service('metadata').OpenAccount(caller, {});
  return {
    id: made.account_id,
    ...(operator.baseUrl ? { base_url: operator.baseUrl } : {}),
    account_id: made.account_id,
    name: wanted.name,
    plan: wanted.plan,
    admin: { email: made.admin_email, password: made.admin_password },
    application: {
      client_id: made.client_id,
      client_secret: made.client_secret,
      redirect_uri: made.redirect_uri,
    },
  };
}

export type AccountChanges = {
  plan?: string;
  billing_status?: string;
  overdue_since?: string;
  overage_enabled?: boolean;
  allowance?: number;
  storage_bytes?: number;
};

/** Changes the given settings, and returns the account's billing. */
export async function updateAccount(operator: Operator, accountId: number, changes: AccountChanges) {
  const caller = { accountId };
  await operator.service('identity').GetAccount(caller, {}); // throws for an unknown account
  const books = await operator.service('billing').UpdateAccountBilling(caller, changes);
  return { id: accountId, ...shown(books) };
}

// An unset time is an empty text in gRPC, and null in JSON.
const shown = <T extends { overdue_since: string }>(books: T) => ({
  ...books,
  overdue_since: books.overdue_since || null,
});

/** All open accounts with plan, state and this month's usage. */
export async function listAccounts(operator: Operator) {
  const { accounts } = await operator.service('identity').ListAccounts(noAccount, {});
  const billing = operator.service('billing');
  const listed = [];
  for (const { id, name, status, created_at } of accounts.filter((account) => account.status === 'active')) {
    const books = await billing.GetAccountBilling({ accountId: id }, {});
    listed.push({ id, name, status, created_at, ...shown(books) });
  }
  return listed;
}

/** Reads an account's id from the command line. */
export function readAccountId(text: string | undefined): number {
  const id = Number(text);
  if (!text || !Number.isSafeInteger(id) || id < 1) throw new OperatorError('Which account? Give its id.');
  return id;
}

/** Moves an account to a cluster, and reports each copied table on stderr. */
export async function placeAccount(
  operator: Operator,
  id: number,
  cluster: string,
): Promise<{ id: number; cluster: string; moved: boolean; tables: number; rows: number }> {
  const placed = { id, cluster, moved: false, tables: 0, rows: 0 };
  const steps = operator.service('data').PlaceAccount({ accountId: id }, { cluster }, { deadlineMs: longestMoveMs });
  for await (const { stage, table, rows } of steps) {
    placed.moved ||= stage === 'moved';
    if (stage !== 'copied') continue;
    placed.tables += 1;
    placed.rows += rows;
    console.error(`copied ${table} (${rows} rows)`);
  }
  return placed;
}

const longestMoveMs = 24 * 3_600_000;
