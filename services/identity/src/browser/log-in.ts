// Checks an e-mail address and a password. Unknown addresses and wrong passwords get the same
// response after the same time, and guessing is throttled.

import { networkOf } from '@almanac/service-kit/http/client-address';
import { type AuditAct, auditEntry } from '@almanac/service-kit/messaging/audit';
import type { Request } from 'express';
import type { Client } from '../applications/clients.ts';
import { recordEntries } from '../audit/audit-log.ts';
import type { Origin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { emailKey } from '../mails/email-address.ts';
import { anyAccountKey, ownAccountKey, unknownDeviceKeys } from '../security/log-in-keys.ts';
import type { ThrottleKey } from '../security/throttle.ts';
import { findKnownDevice, type LoggedIn, type SessionUser } from './sessions.ts';

type Attempt = {
  email: string;
  password: string;
  /** The application that the user logs in for; it determines the account. */
  client?: Client;
  /** Without an application: the account number that the user entered. */
  accountNumber?: string;
};

type Outcome = LoggedIn | { waitSeconds: number };

/**
 * Returns the user, for a session to start with; else the seconds to wait before the next try, 0
 * for none.
 */
export async function logIn(ctx: IdentityContext, req: Request, origin: Origin, attempt: Attempt): Promise<Outcome> {
  const { candidates, account_id } = await findCandidates(ctx, attempt);
  const applicationId = attempt.client?.id;
  const facts = { account_id, user_ids: idsOf(candidates), application_id: applicationId, address: origin.address };
  const entryOf = ({ user }: Candidate, act: AuditAct) =>
    auditEntry({ accountId: user?.account_id ?? account_id, userId: user?.id, applicationId, ...origin }, act);

  const { tries, networkKeys } = await countTries(ctx, req, candidates, origin.address);
  const throttled = tries.filter(({ waitSeconds }) => waitSeconds > 0);
  // Entries are for users; without any there is one entry for the address.
  const recorded = candidates.some(({ user }) => user) ? tries.filter(({ user }) => user) : tries.slice(0, 1);
  // Many throttled tries must not fill the audit log.
  const firstThrottled = await firstInMinute(ctx, throttled, origin.address);
  const throttledEntries = recorded
    .filter((each) => firstThrottled.includes(each))
    .map((each) => entryOf(each, { action: 'login.throttled', result: 'refused' }));
  if (throttled.length === tries.length) {
    ctx.logger.warn(facts, 'log-in throttled');
    await recordEntries(ctx.prisma, throttledEntries);
    return { waitSeconds: Math.min(...throttled.map(({ waitSeconds }) => waitSeconds)) };
  }
  const match = await findMatch(ctx, attempt.password.slice(0, 1_000), tries);
  const user = match?.user;
  if (user?.status !== 'active') {
    ctx.logger.warn({ ...facts, throttled_user_ids: idsOf(throttled) }, 'log-in failed');
    const failures = recorded
      .filter(({ waitSeconds }) => waitSeconds === 0)
      .map((each) => entryOf(each, { action: 'login.failed', result: 'failed' }));
    await recordEntries(ctx.prisma, [...failures, ...throttledEntries]);
    return { waitSeconds: 0 };
  }
  // For the other users it stays a wrong try: clearing it would let log-ins of one user hide
  // guesses at others.
  await ctx.throttle.clear([...(match?.keys ?? []), ...networkKeys]);
  ctx.logger.info({ ...facts, account_id: user.account_id, user_id: user.id }, 'logged in');
  const act = auditEntry(
    { accountId: user.account_id, userId: user.id, applicationId, ...origin },
    { action: 'login.succeeded' },
  );
  const sessionUser = { id: user.id, account_id: user.account_id, email: user.email };
  return { user: sessionUser, password_hash: user.password_hash, act, others: throttledEntries };
}

/**
 * The only candidate whose password it is; undefined when it is that of none or of several.
 * Throttled candidates aren't checked, but cost a check, so the time reveals neither how many users
 * there are nor who is throttled.
 */
async function findMatch(ctx: IdentityContext, password: string, tries: Try[]): Promise<Try | undefined> {
  const isRight = await Promise.all(
    tries.map(({ user, waitSeconds }) =>
      ctx.passwords.verify(password, waitSeconds > 0 ? undefined : user?.password_hash),
    ),
  );
  const matches = tries.filter((_, i) => isRight[i]);
  return matches.length === 1 ? matches[0] : undefined;
}

type User = SessionUser & { status: string; password_hash: string | null };

/** A user who may be logging in, or an empty place that is counted and costs as much. */
type Candidate = {
  user?: User | undefined;
  /** The key under which tries are counted. */
  throttleKey: string;
};

type Candidates = {
  /** Always the same number, with or without users. */
  candidates: Candidate[];
  /**
   * The account of entries without a user; 0 when there is none, so that an entry is always
   * written.
   */
  account_id: number;
};

const userColumns = { id: true, account_id: true, email: true, status: true, password_hash: true } as const;

/** Without an account number, users of at most this many accounts are tried. */
const maxAccounts = 3;

/**
 * Finds the users that an attempt may be for. An address may belong to users of several accounts,
 * and any administrator can create a user with it. That must neither reveal other users with the
 * address, nor lock them out.
 */
async function findCandidates(ctx: IdentityContext, { client, accountNumber, email }: Attempt): Promise<Candidates> {
  // PostgreSQL's text can't hold U+0000, and no address does.
  const email_key = emailKey(email.replaceAll('\0', '\ufffd')).slice(0, 300);
  if (client === undefined && accountNumber === undefined) {
    const users = await ctx.prisma.user.findMany({
      where: { email_key, user_type: 'person', status: 'active', account: { status: 'active' } },
      select: userColumns,
      orderBy: { id: 'asc' },
      take: maxAccounts,
    });
    // Keys differ from those of tries within an account, which would reveal the address's account.
    // Each user has their own key: creating a user with the same address must not affect the
    // others' counters.
    const candidates = Array.from({ length: maxAccounts }, (_, i) => {
      const user = users[i];
      return { user, throttleKey: user ? anyAccountKey(user.id) : `any:${email_key}|${i}` };
    });
    return { candidates, account_id: 0 };
  }
  const id = client?.account_id ?? readAccountNumber(accountNumber);
  const account = await ctx.prisma.account.findFirst({
    where: { id, status: 'active' },
    select: { id: true, users: { where: { email_key, user_type: 'person' }, select: userColumns } },
  });
  const candidates = [{ user: account?.users[0], throttleKey: ownAccountKey(id, email_key) }];
  return { candidates, account_id: account?.id ?? 0 };
}

// A malformed number becomes 0, the id of no account.
function readAccountNumber(text = ''): number {
  return /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
}

type Try = Candidate & {
  keys: ThrottleKey[];
  isKnownDevice: boolean;
  /** 0: the password is checked. */
  waitSeconds: number;
};

/**
 * Counts the try for each candidate that isn't throttled, and once for the network (`networkKeys`).
 */
async function countTries(
  ctx: IdentityContext,
  req: Request,
  candidates: Candidate[],
  address: string,
): Promise<{ tries: Try[]; networkKeys: ThrottleKey[] }> {
  const { throttle } = ctx;
  const network: ThrottleKey[] = [{ rule: 'logInNetwork', key: networkOf(address) }];
  const keyed = candidates.map((candidate) => ({ ...candidate, ...keysOf(ctx, req, candidate, address) }));
  const [networkWait, ...waits] = await Promise.all(
    [network, ...keyed.map(({ keys }) => keys)].map((keys) => throttle.waitSeconds(keys)),
  );
  const found: Try[] = keyed.map((each, i) => ({
    ...each,
    waitSeconds: Math.max(waits[i] ?? 0, each.isKnownDevice ? 0 : (networkWait ?? 0)),
  }));
  // Counted before the passwords are checked; otherwise concurrent tries would all pass.
  const admitted = found.filter(({ waitSeconds }) => waitSeconds === 0);
  const networkKeys = admitted.some(({ isKnownDevice }) => !isKnownDevice) ? network : [];
  const [networkCount, ...counts] = await Promise.all(
    [networkKeys, ...admitted.map(({ keys }) => keys)].map((keys) => throttle.count(keys)),
  );
  const tries = found.map((each) => {
    if (each.waitSeconds > 0) return each;
    const own = counts[admitted.indexOf(each)] ?? 0;
    return { ...each, waitSeconds: Math.max(own, each.isKnownDevice ? 0 : (networkCount ?? 0)) };
  });
  return { tries, networkKeys };
}

// A known device has a counter of its own for each user, so that tries from elsewhere can't lock
// the user out.
function keysOf(ctx: IdentityContext, req: Request, { user, throttleKey }: Candidate, address: string) {
  const device = user && findKnownDevice(ctx, req, user.id);
  const keys: ThrottleKey[] =
    device === undefined
      ? unknownDeviceKeys(throttleKey, address)
      : [{ rule: 'logInFrom', key: `${throttleKey}|device ${device}` }];
  return { keys, isKnownDevice: device !== undefined };
}

/**
 * The throttled tries that are the first of their kind within a minute. Empty places are asked for,
 * too.
 */
async function firstInMinute(ctx: IdentityContext, throttled: Try[], address: string): Promise<Try[]> {
  const isFirst = await Promise.all(
    throttled.map(({ throttleKey }) =>
      ctx.throttle.isFirstInMinute(`login.throttled|${throttleKey}|${networkOf(address)}`),
    ),
  );
  return throttled.filter((_, i) => isFirst[i]);
}

const idsOf = (candidates: Candidate[]) => candidates.flatMap(({ user }) => user?.id ?? []);
