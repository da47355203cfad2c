// Checks an e-mail and a password. An unknown address and a wrong password look and take the same; guessing is slowed down.

import { networkOf } from '@almanac/service-kit/http/client-address';
import { type AuditAct, auditEntry } from '@almanac/service-kit/messaging/audit';
import type { Request } from 'express';
import type { Client } from '../applications/clients.ts';

import { recordEntries } from '../audit/audit-log.ts';
import type { Origin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import { emailKey } from '../mails/email-address.ts';
import type { ThrottleKey } from '../security/throttle.ts';
import { findKnownDevice, type LoggedIn, type SessionUser } from './sessions.ts';

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
  const { candidates, account_id } = await findCandidates(ctx, attempt);
  const applicationId = attempt.client?.id;
  const facts = { account_id, user_ids: idsOf(candidates), application_id: applicationId, address: origin.address };
  const entryOf = ({ user }: Candidate, act: AuditAct) =>
    auditEntry({ accountId: user?.account_id ?? account_id, userId: user?.id, applicationId, ...origin }, act);

  const { turns, counted } = await takeTurns(ctx, req, candidates, origin.address);
  const waiting = turns.filter(({ waitSeconds }) => waitSeconds > 0);
  // Nobody at all is written down once.
  const told = candidates.some(({ user }) => user) ? turns.filter(({ user }) => user) : turns.slice(0, 1);
  // A flood must not fill the log with itself.
  const worthNoting = await firstInMinute(ctx, waiting, origin.address);
  const notes = told
    .filter((turn) => worthNoting.includes(turn))
    .map((turn) => entryOf(turn, { action: 'login.throttled', result: 'refused' }));
  if (waiting.length === turns.length) {
    ctx.logger.warn(facts, 'log-in throttled');
    await recordEntries(ctx.prisma, notes);
    return { waitSeconds: Math.min(...waiting.map(({ waitSeconds }) => waitSeconds)) };
  }
  const winner = await findOwner(ctx, attempt.password.slice(0, 1_000), turns);
  const user = winner?.user;
  if (user?.status !== 'active') {
    ctx.logger.warn({ ...facts, throttled_user_ids: idsOf(waiting) }, 'log-in failed');
    const failures = told
      .filter(({ waitSeconds }) => waitSeconds === 0)
      .map((turn) => entryOf(turn, { action: 'login.failed', result: 'failed' }));
    await recordEntries(ctx.prisma, [...failures, ...notes]);
    return { waitSeconds: 0 };
  }
  // Of the others it was a wrong try, and stays counted as one: else a log-in of one's own would make up for guesses at them.
  await ctx.throttle.succeeded([...(winner?.keys ?? []), ...counted]);
  ctx.logger.info({ ...facts, account_id: user.account_id, user_id: user.id }, 'logged in');
  const person = { id: user.id, account_id: user.account_id, email: user.email };
  const act = auditEntry(
    { accountId: user.account_id, userId: user.id, applicationId, ...origin },
    { action: 'login.succeeded' },
  );
  return { person, password_hash: user.password_hash, act, notes };
}

/**
 * The one whose password it is; nobody when it is that of several. Who has to wait isn't checked, but as many checks are made as
 * there can be, so that the time tells neither how many there are nor who waits.
 */
async function findOwner(ctx: IdentityContext, password: string, turns: Turn[]): Promise<Turn | undefined> {
  const right = await Promise.all(
    turns.map(({ user, waitSeconds }) =>
      ctx.passwords.verify(password, waitSeconds > 0 ? undefined : user?.password_hash),
    ),
  );
  const owners = turns.filter((_, i) => right[i]);
  return owners.length === 1 ? owners[0] : undefined;
}

type User = SessionUser & { status: string; password_hash: string | null };

/** Somebody who can be meant, or nobody in a place where there can be somebody, which is counted and costs as much. */
type Candidate = {
  user?: User | undefined;
  /** Whose tries are counted together. */
  who: string;
};

type Candidates = {
  /** As many as there can be. */
  candidates: Candidate[];
  /** Where the try is written down if it is nobody's; 0, which is nobody's either, so that it costs as much as any other. */
  account_id: number;
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
    // Counted apart from tries within an account: else they would tell in which account the address is. And each user by himself,
    // wherever the others are: who makes a user with somebody's address must not meddle with what is counted of that one.
    const candidates = Array.from({ length: accountsAtMost }, (_, i) => {
      const user = users[i];
      return { user, who: user ? `any user:${user.id}` : `any:${email_key}|${i}` };
    });
    return { candidates, account_id: 0 };
  }
  const id = client?.account_id ?? readAccountNumber(accountNumber);
  const account = await ctx.prisma.account.findFirst({
    where: { id, status: 'active' },
    select: { id: true, users: { where: { email_key }, select: wanted } },
  });
  return { candidates: [{ user: account?.users[0], who: `${id}:${email_key}` }], account_id: account?.id ?? 0 };
}

// What can't be a number is that of no account.
function readAccountNumber(text = ''): number {
  return /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
}

type Turn = Candidate & {
  keys: ThrottleKey[];
  isKnownDevice: boolean;
  /** 0: the password is checked. */
  waitSeconds: number;
};

/** Counts the try for each candidate who needn't wait, and once for the network. `counted`: what belongs to no candidate. */
async function takeTurns(
  ctx: IdentityContext,
  req: Request,
  candidates: Candidate[],
  address: string,
): Promise<{ turns: Turn[]; counted: ThrottleKey[] }> {
  const { throttle } = ctx;
  const network: ThrottleKey[] = [{ rule: 'logInNetwork', key: networkOf(address) }];
  const places = candidates.map((each) => ({ ...each, ...keysOf(ctx, req, each, address) }));
  const [networkWaits, ...waits] = await Promise.all(
    [network, ...places.map(({ keys }) => keys)].map((keys) => throttle.waitSeconds(keys)),
  );
  const found: Turn[] = places.map((place, i) => ({
    ...place,
    waitSeconds: Math.max(waits[i] ?? 0, place.isKnownDevice ? 0 : (networkWaits ?? 0)),
  }));
  // Counted before the passwords are checked, or many tries at once would all be let through.
  const going = found.filter(({ waitSeconds }) => waitSeconds === 0);
  const counted = going.some(({ isKnownDevice }) => !isKnownDevice) ? network : [];
  const [networkCounts, ...counts] = await Promise.all(
    [counted, ...going.map(({ keys }) => keys)].map((keys) => throttle.count(keys)),
  );
  const turns = found.map((turn) => {
    if (turn.waitSeconds > 0) return turn;
    const own = counts[going.indexOf(turn)] ?? 0;
    return { ...turn, waitSeconds: Math.max(own, turn.isKnownDevice ? 0 : (networkCounts ?? 0)) };
  });
  return { turns, counted };
}

// A device in which this person, and no other with his address, has logged in before is counted by itself: strangers can't shut
// its owner out.
function keysOf(ctx: IdentityContext, req: Request, { user, who }: Candidate, address: string) {
  const device = user && findKnownDevice(ctx, req, user.id);
  const keys: ThrottleKey[] =
    device === undefined
      ? [
          { rule: 'logInFrom', key: `${who}|${address}` },
          { rule: 'logInTo', key: who },
        ]
      : [{ rule: 'logInFrom', key: `${who}|device ${device}` }];
  return { keys, isKnownDevice: device !== undefined };
}

/** Those whose having to wait is worth a note. Asked for nobody too, so that it takes as long. */
async function firstInMinute(ctx: IdentityContext, waiting: Turn[], address: string): Promise<Turn[]> {
  const isFirst = await Promise.all(
    waiting.map(({ who }) => ctx.throttle.isFirstInMinute(`login.throttled|${who}|${networkOf(address)}`)),
  );
  return waiting.filter((_, i) => isFirst[i]);
}

const idsOf = (candidates: Candidate[]) => candidates.flatMap(({ user }) => user?.id ?? []);
