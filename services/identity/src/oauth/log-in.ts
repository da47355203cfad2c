// Checks an e-mail and a password. An unknown address and a wrong password look and take the same; guessing is slowed down.
import { readClientAddress } from '@almanac/service-kit/client-address';
import type { Request } from 'express';
import type { Client } from '../applications.ts';
import type { IdentityContext } from '../context.ts';
import { emailKey } from '../names.ts';
import { networkOf, type ThrottleKey } from '../throttle.ts';
import { findDevice, type Person } from './sessions.ts';

type Outcome = { person: Person } | { problem: string; waitSeconds: number };

/** The account is the application's: an address may belong to different people in different accounts. */
export async function logIn(
  ctx: IdentityContext,
  req: Request,
  client: Client,
  email: string,
  password: string,
): Promise<Outcome> {
  const email_key = emailKey(email).slice(0, 300);
  const account_id = client.account_id;
  const user = email.includes('\0')
    ? null
    : await ctx.prisma.user.findUnique({
        where: { account_id_email_key: { account_id, email_key } },
        select: { id: true, account_id: true, email: true, status: true, password_hash: true },
      });
  const address = readClientAddress(req);
  const facts = { account_id, user_id: user?.id, application_id: client.id, address };

  const keys = throttleKeys(ctx, req, `${account_id}:${email_key}`, address, user?.id);
  // Counted before the password is checked, or many tries at once would all be let through.
  const waitSeconds = (await ctx.throttle.waitSeconds(keys)) || (await ctx.throttle.count(keys));
  if (waitSeconds > 0) {
    ctx.logger.warn(facts, 'log-in throttled');
    return { problem: 'Too many tries. Wait a moment and try again.', waitSeconds };
  }
  const right = await ctx.passwords.verify(password.slice(0, 1_000), user?.password_hash);
  if (!user || !right || user.status !== 'active') {
    ctx.logger.warn(facts, 'log-in failed');
    return { problem: 'The e-mail or the password is wrong.', waitSeconds: 0 };
  }
  await ctx.throttle.succeeded(keys);
  ctx.logger.info(facts, 'logged in');
  return { person: { id: user.id, account_id: user.account_id, email: user.email } };
}

// A device in which this person has logged in before is counted by itself: strangers can't shut its owner out.
function throttleKeys(
  ctx: IdentityContext,
  req: Request,
  who: string,
  address: string,
  userId?: number,
): ThrottleKey[] {
  const device = userId === undefined ? undefined : findDevice(ctx, req, userId);
  if (device !== undefined) return [{ rule: 'logInFrom', key: `${who}|device ${device}` }];
  return [
    { rule: 'logInFrom', key: `${who}|${address}` },
    { rule: 'logInTo', key: who },
    { rule: 'logInNetwork', key: networkOf(address) },
  ];
}
