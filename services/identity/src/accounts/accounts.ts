// Accounts: operators create them with groups, an administrator and an application; the API shows
// them with their plan and usage, which billing owns.

import { type CallContext, requireScope } from '@almanac/service-kit/caller/call-context';
import { notFound, ServiceError } from '@almanac/service-kit/errors';
import { auditEntry, createdAct, updatedAct } from '@almanac/service-kit/messaging/audit';
import type { Problem } from '@almanac/service-kit/problems';
import { insertApplication } from '../applications/applications.ts';
import { outOfBandUri, readRedirectUris } from '../applications/redirect-uris.ts';
import { recordAct, recordEntry } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import { ensureGroups } from '../groups/resource-groups.ts';
import { emailKey, emailSchema } from '../mails/email-address.ts';
import { newReadablePassword } from '../passwords/passwords.ts';
import { lockAccount } from '../permissions/administrators.ts';
import { requireAdministrator } from '../permissions/effective-permissions.ts';
import { announce, transact } from '../transaction.ts';

import { userColumns } from '../users/users.ts';

export const plans = ['free', 'plus', 'business', 'enterprise'] as const;
export const dateStyles = ['MDY', 'DMY', 'ISO'] as const;

type NewAccount = { name: string; admin_email: string; redirect_uri: string; plan: string };

/**
 * Creates an account with its groups, first administrator and first application in one transaction.
 * The password and the secret are returned once and stored only as hashes.
 */
export async function createAccount(ctx: IdentityContext, input: NewAccount, requestId: string) {
  const { name, email, plan, redirectUri } = checkNewAccount(input);
  const password = newReadablePassword();
  const password_hash = await ctx.passwords.hash(password);
  return transact(ctx, async (tx) => {
    const account = await tx.account.create({ data: { name } });
    const resource = { account_id: account.id, resource_type: 'account', resource_id: account.id } as const;
    await ensureGroups(tx, resource, {});
    const user = await tx.user.create({
      data: { account_id: account.id, email, email_key: emailKey(email), status: 'active', password_hash },
      select: userColumns,
    });
    const administrators = await tx.user_group.findFirstOrThrow({
      where: { account_id: account.id, permissions: { some: { action: 'admin', resource_type: 'account' } } },
    });
    const assignment = await tx.user_group_assignment.create({
      data: { account_id: account.id, user_id: user.id, user_group_id: administrators.id },
      select: { id: true, user_id: true, user_group_id: true },
    });
    const acts = [
      createdAct('account', { id: account.id, name, plan }),
      createdAct('user', user),
      createdAct('user_group_assignment', assignment),
    ];
    // An operator acts, who is not a user of the account: the entries have no user.
    for (const act of acts) await recordEntry(tx, auditEntry({ accountId: account.id, requestId }, act));
    const application = await insertApplication(
      tx,
      { accountId: account.id, requestId },
      {
        name: 'First application',
        redirect_uri: redirectUri,
        confidential: true,
        scopes: 'api',
      },
    );
    await announce(tx, { accountId: account.id, requestId }, 'account.created', { name, plan });
    return {
      account_id: account.id,
      admin_user_id: user.id,
      admin_email: email,
      admin_password: password,
      client_id: application.client_id,
      client_secret: application.client_secret as string,
      redirect_uri: application.redirect_uri,
    };
  });
}

function checkNewAccount(input: NewAccount) {
  const problems: Problem[] = [];
  const name = input.name.trim();
  if (name === '' || [...name].length > 255)
    problems.push({
      code: name === '' ? 'blank' : 'too_long',
      message: 'Name must have 1 to 255 characters.',
      field: 'name',
    });
  const email = emailSchema.safeParse(input.admin_email);
  if (!email.success) problems.push({ code: 'wrong_format', message: 'Admin email is invalid.', field: 'admin_email' });
  const plan = input.plan === '' ? 'free' : input.plan;
  if (!plans.some((known) => known === plan))
    problems.push({
      code: 'not_in_list',
      message: `Plan must be one of ${plans.join(', ')}.`,
      field: 'plan',
      params: { allowed: plans },
    });
  const uris = readRedirectUris(input.redirect_uri === '' ? outOfBandUri : input.redirect_uri);
  problems.push(...uris.problems);
  if (problems.length > 0) throw new ServiceError('validation_failed', problems);
  return { name, email: email.data as string, plan, redirectUri: uris.text };
}

const basicColumns = { id: true, name: true, date_style: true, status: true, created_at: true } as const;

/** The account's name, settings and status, for other services. */
export async function getAccountBasics(ctx: IdentityContext, accountId: number) {
  const account = await ctx.prisma.account.findUnique({ where: { id: accountId }, select: basicColumns });
  if (!account) throw notFound('Account');
  return { ...account, created_at: account.created_at.toISOString() };
}

/** All accounts, for operators. */
export async function listAccounts(ctx: IdentityContext) {
  const accounts = await ctx.prisma.account.findMany({ select: basicColumns, orderBy: { id: 'asc' } });
  return accounts.map((account) => ({ ...account, created_at: account.created_at.toISOString() }));
}

type Billing = Awaited<ReturnType<IdentityContext['billing']['GetAccountBilling']>>;

function present(account: { id: number; name: string; date_style: string }, billing: Billing) {
  return {
    id: account.id,
    name: account.name,
    plan: billing.plan,
    billing_status: billing.billing_status,
    overdue_since: billing.overdue_since || null,
    overage_enabled: billing.overage_enabled,
    branching_enabled: billing.branching_enabled,
    date_style: account.date_style,
    usage: {
      period_start: billing.period_start,
      period_end: billing.period_end,
      calls: billing.calls,
      allowance: billing.allowance,
      overage_calls: billing.overage_calls,
    },
  };
}

/** The account with its plan and usage (contract, GET /account). */
export async function getAccount(ctx: IdentityContext, call: CallContext) {
  const [account, billing] = await Promise.all([
    getAccountBasics(ctx, call.accountId),
    ctx.billing.GetAccountBilling(call, {}),
  ]);
  return present(account, billing);
}

type AccountChange = { name?: string; date_style?: string; overage_enabled?: boolean };

/**
 * Changes settings, for administrators. Overage belongs to billing and needs the scope api:admin.
 */
export async function updateAccount(ctx: IdentityContext, call: CallContext, read: () => AccountChange) {
  await requireAdministrator(ctx, call);
  const { name, date_style, overage_enabled } = read();
  if (overage_enabled !== undefined) requireScope(call, 'api:admin');
  // Billing first: if it is unavailable nothing has changed, and a repeated request does the rest.
  const billing =
    overage_enabled === undefined
      ? await ctx.billing.GetAccountBilling(call, {})
      : await ctx.billing.UpdateAccountBilling(call, { overage_enabled });
  const account = await transact(ctx, async (tx) => {
    await lockAccount(tx, call.accountId);
    const where = { id: call.accountId };
    const before = await tx.account.findUniqueOrThrow({ where, select: basicColumns });
    const after = await tx.account.update({ where, data: { name, date_style }, select: basicColumns });
    await recordAct(tx, call, updatedAct('account', before, after));
    return after;
  });
  return present(account, billing);
}
