// The caller as identity knows them: the user or the application of the token, with the account and
// the rights. What other services own is theirs to answer: the plan and its usage (GET /account),
// the branch that the user works on (GET /branches).
import { humanize } from '@almanac/service-kit/api/input';
import { type CallContext, requireUser } from '@almanac/service-kit/caller/call-context';
import { validationFailed } from '@almanac/service-kit/errors';
import { updatedAct } from '@almanac/service-kit/messaging/audit';
import { type Action, type Reach, reachesEverywhere, reachOf, unknownUser } from '@almanac/service-kit/rights/rights';
import { getAccountBasics } from '../accounts/accounts.ts';
import { recordAct } from '../audit/audit-log.ts';
import type { IdentityContext } from '../context.ts';
import { transact } from '../transaction.ts';
import { initialsOf } from '../users/person-name.ts';
import { lockUser, userColumns } from '../users/users.ts';
import { findPreferences } from './preferences.ts';

/** The caller, the account, the rights and the preferences, in one answer. */
export async function getMe(ctx: IdentityContext, call: CallContext) {
  const [account, oauth_application, own] = await Promise.all([
    getAccountBasics(ctx, call.accountId),
    findApplication(ctx, call),
    call.userId === undefined ? ofApplication : getOwn(ctx, call, call.userId),
  ]);
  return {
    ...own,
    oauth_application,
    account: { id: account.id, name: account.name, date_style: account.date_style },
    abilities: { branching: call.branching, storage_bytes: call.storageBytes ?? null },
    scopes: call.scopes,
  };
}

function findApplication(ctx: IdentityContext, { accountId, applicationId }: CallContext) {
  if (applicationId === undefined) return null;
  const where = { id: applicationId, account_id: accountId };
  return ctx.prisma.oauth_application.findFirst({ where, select: { id: true, name: true } });
}

async function getOwn(ctx: IdentityContext, call: CallContext, id: number) {
  const [user, held, preferences] = await Promise.all([
    ctx.prisma.user.findFirst({
      where: { id, account_id: call.accountId },
      select: {
        ...userColumns,
        name: true,
        assignments: { select: { user_group: { select: { id: true, name: true } } }, orderBy: { id: 'asc' } },
      },
    }),
    ctx.rights.get(call),
    findPreferences(ctx, call.accountId, id),
  ]);
  if (!user) throw unknownUser();
  const { assignments, ...facts } = user;
  return {
    user: shown(facts),
    user_groups: assignments.flatMap(({ user_group }) => user_group ?? []),
    rights: mapActions((action) => toRight(reachOf(held, action))),
    preferences,
  };
}

const actions = ['view', 'edit', 'develop', 'admin', 'approve'] as const satisfies Action[];

const mapActions = (change: (action: Action) => ReturnType<typeof toRight>) =>
  Object.fromEntries(actions.map((action) => [action, change(action)]));

// Ids of private branches on which the caller has no right stay out of the answer.
const toRight = ({ everywhere, domainIds, branchIds, tableDefinitionIds }: Reach) => ({
  everywhere,
  domain_ids: domainIds,
  branch_ids: branchIds,
  table_definition_ids: tableDefinitionIds,
});

// An application acts for the whole account within its scopes; deciding takes a person.
const ofApplication = {
  user: null,
  user_groups: [],
  rights: mapActions((action) => toRight({ ...reachesEverywhere, everywhere: action !== 'approve' })),
  preferences: {},
};

type Facts = { name: string | null; first_name: string; last_name: string };
const shown = <T extends Facts>(user: T) => ({ ...user, name: user.name ?? '', initials: initialsOf(user) });

type OwnChange = { first_name?: string; last_name?: string };

/** Changes the caller's own name. */
export async function updateMe(ctx: IdentityContext, call: CallContext, read: () => OwnChange) {
  const id = requireUser(call);
  const change = read();
  return transact(ctx, async (tx) => {
    const { had_password: _had, ...before } = await lockUser(tx, call.accountId, id, unknownUser);
    const after = { ...before, ...change };
    if (before.user_type === 'service' && after.first_name.trim() === '')
      throw validationFailed({
        code: 'blank',
        message: `${humanize('first_name')} can't be blank`,
        field: 'first_name',
      });
    const where = { id, account_id: call.accountId };
    const { name, ...user } = await tx.user.update({ where, data: change, select: { ...userColumns, name: true } });
    await recordAct(tx, call, updatedAct('user', before, user));
    return shown({ ...user, name });
  });
}
