// Checks an e-mail and a password. An unknown address and a wrong password look and take the same; guessing is slowed down.
import { auditEntry } from '@almanac/service-kit/audit';
import { networkOf } from '@almanac/service-kit/client-address';
import type { Request } from 'express';
import type { Client } from '../applications.ts';
import { recordAct } from '../audit.ts';
import type { IdentityContext } from '../context.ts';
import { emailKey } from '../names.ts';
import type { Origin } from '../oauth/origin.ts';
import type { ThrottleKey } from '../throttle.ts';
import { findDevice, type LoggedIn, type Person } from './sessions.ts';

type Attempt = {
  email: string;
  password: string;
  /** The application that the person wants to log in for; it settles the account. */
  client?: Client;
  /** Without an application: the account, as the person gave it. */
  accountNumber?: string;
};

type Outcome = LoggedIn | { waitSeconds: number };

/** Answers who it is, for a session to begin with, or how long to wait before the next try (0: not at all). */
export async function logIn(ctx: IdentityContext, req: Request, origin: Origin, attempt: Attempt): Promise<Outcome> {
  const { users, most, account_id, who } = await findCandidates(ctx, attempt);
  const named = users.length === 1 ? users[0] : undefined;
  const facts = { account_id, user_id: named?.id, application_id: attempt.client?.id, address: origin.address };
  const actor = { accountId: account_id, userId: named?.id, applicationId: attempt.client?.id, ...origin };

  const keys = throttleKeys(ctx, req, who, origin.address, users);
  // Counted before the password is checked, or many tries at once would all be let through.
  const waitSeconds = (await ctx.throttle.waitSeconds(keys)) || (await ctx.throttle.count(keys));
  if (waitSeconds > 0) {
    ctx.logger.warn(facts, 'log-in throttled');
    // A flood must not fill the log with itself.
    if (await ctx.throttle.isFirstInMinute(`login.throttled|${who}|${networkOf(origin.address)}`))
      await recordAct(ctx.prisma, auditEntry(actor, { action: 'login.throttled', result: 'refused' }));
    return { waitSeconds };
  }
  const user = await findOwner(ctx, attempt.password.slice(0, 1_000), users, most);
  if (user?.status !== 'active') {
    ctx.logger.warn(facts, 'log-in failed');
    await recordAct(ctx.prisma, auditEntry(actor, { action: 'login.failed', result: 'failed' }));
    return { waitSeconds: 0 };
  }
  await ctx.throttle.succeeded(keys);
  ctx.logger.info({ ...facts, account_id: user.account_id, user_id: user.id }, 'logged in');
  const person = { id: user.id, account_id: user.account_id, email: user.email };
  const self = { ...actor, accountId: user.account_id, userId: user.id };
  return { person, password_hash: user.password_hash, act: auditEntry(self, { action: 'login.succeeded' }) };
}

/** The one whose password it is. As many are checked as there can be, so that the time doesn't tell how many there are. */
async function findOwner(ctx: IdentityContext, password: string, users: User[], most: number) {
  const checks = Array.from({ length: most }, (_, i) => ctx.passwords.verify(password, users[i]?.password_hash));
  const right = await Promise.all(checks);
  const owners = users.filter((_, i) => right[i]);
  return owners.length === 1 ? owners[0] : undefined;
}

type User = Person & { status: string; password_hash: string | null };

type Candidates = {
  users: User[];
  /** How many of them there can be. */
  most: number;
  /** Where the try is written down; 0, which is nobody's, when it names no account, so that it costs as much as any other. */
  account_id: number;
  /** Whose tries are counted together. */
  who: string;
};

const wanted = { id: true, account_id: true, email: true, status: true, password_hash: true } as const;

/** In so many accounts an address is looked for when none is named; who is in more gives the number. */
const accountsAtMost = 3;

/**
 * Who can be meant. An address may belong to different people in different accounts, and any administrator can make a user with it:
 * that must neither tell him whether there are others, nor keep them out.
 */
async function findCandidates(ctx: IdentityContext, { client, accountNumber, email }: Attempt): Promise<Candidates> {
  // PostgreSQL has no text with U+0000, nor has anybody an address with it.
  const email_key = emailKey(email.replaceAll('\0', '\ufffd')).slice(0, 300);
  if (client === undefined && accountNumber === undefined) {
    const users = await ctx.prisma.user.findMany({
      where: { email_key, status: 'active', account: { status: 'active' } },
      select: wanted,
      orderBy: { id: 'asc' },
      take: accountsAtMost,
    });
    const account_id = users.length === 1 ? (users[0]?.account_id ?? 0) : 0;
    // Counted apart from tries within an account: else they would tell in which account the address is.
    return { users, most: accountsAtMost, account_id, who: `any:${email_key}` };
  }
  const id = client?.account_id ?? readAccountNumber(accountNumber);
  const account = await ctx.prisma.account.findFirst({
    where: { id, status: 'active' },
    select: { id: true, users: { where: { email_key }, select: wanted } },
  });
  return { users: account?.users ?? [], most: 1, account_id: account?.id ?? 0, who: `${id}:${email_key}` };
}

// What can't be a number is that of no account.
function readAccountNumber(text = ''): number {
  return /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
}

// A device in which this person has logged in before is counted by itself: strangers can't shut its owner out.
function throttleKeys(ctx: IdentityContext, req: Request, who: string, address: string, users: User[]): ThrottleKey[] {
  const device = users.map(({ id }) => findDevice(ctx, req, id)).find((each) => each !== undefined);
  if (device !== undefined) return [{ rule: 'logInFrom', key: `${who}|device ${device}` }];
  return [
    { rule: 'logInFrom', key: `${who}|${address}` },
    { rule: 'logInTo', key: who },
    { rule: 'logInNetwork', key: networkOf(address) },
  ];
}
