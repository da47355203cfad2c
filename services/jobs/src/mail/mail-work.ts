// Sends one mail: looks up its recipient, renders it, sends it, and records it as sent as soon as
// the server has accepted it. Only a process that dies in between sends it again, under the same
// Message-ID.
import { ServiceError } from '@almanac/service-kit/errors';
import type { JobsContext } from '../context.ts';
import type { mail, Prisma } from '../generated/prisma/client.ts';
import { endRun, type Job, LeaseLost } from '../queue/jobs.ts';
import type { JobHandler, Lane } from '../queue/worker.ts';
import { type MailStatus, mailMachine } from '../states/mail-states.ts';
import { statesAllowing } from '../states/state-machine.ts';
import { type Transaction, transact } from '../transaction.ts';
import { concurrentMails, type Mailer } from './mailer.ts';
import { type MailContent, renderMail } from './templates/render-mail.ts';
import { findTemplate } from './templates/templates.ts';
import { isMailAddress, type MailAddress, shownName } from './transports/addresses.ts';
import { mailFileNameOf } from './transports/folder-transport.ts';
import type { OutgoingMail } from './transports/transport.ts';

type MailContext = Pick<JobsContext, 'prisma' | 'identity' | 'logger'>;
type Caller = { accountId: number; requestId?: string };

/**
 * The lane of mails. The pause before an unavailable server is tried again grows to fifteen
 * minutes.
 */
export function mailLane(ctx: MailContext, mailer: Mailer): Lane<'mail'> {
  return {
    name: 'mail',
    concurrency: concurrentMails,
    spare: 0,
    concurrencyPerAccount: concurrentMails / 2,
    maxPauseMs: 15 * 60_000,
    handlers: { mail: mailHandler(ctx, mailer) },
  };
}

/** The number of mails in a status, for the metrics. */
export function countMails(ctx: Pick<JobsContext, 'prisma'>, status: MailStatus): Promise<number> {
  return ctx.prisma.mail.count({ where: { status } });
}

function mailHandler(ctx: MailContext, mailer: Mailer): JobHandler {
  return {
    run: (job, signal) => deliver(ctx, mailer, job, signal),
    fail: async (tx, job, reasons) => void (await applyEvent(tx, job, 'fail', { error: reasons.join(' ') })),
    wait: async (tx, job, reason) => {
      await tx.mail.updateMany({ where: { ...subject(job), status: 'queued' }, data: { error: reason } });
    },
  };
}

const subject = (job: Job) => ({ id: job.subject_id, account_id: job.account_id });

async function deliver(ctx: MailContext, mailer: Mailer, job: Job, signal: AbortSignal): Promise<void> {
  const mail = await ctx.prisma.mail.findFirst({
    where: { ...subject(job), status: { in: statesAllowing(mailMachine, 'send') } },
  });
  if (mail) {
    const outgoing = await compose(ctx, mailer, mail);
    if (typeof outgoing === 'string') await applyEvent(ctx.prisma, job, 'skip', { error: outgoing });
    else {
      await ctx.prisma.mail.updateMany({ where: subject(job), data: { attempts: { increment: 1 } } });
      await mailer.transport.send(outgoing, withGracePeriod(signal));
      // The mail was sent, even if the lease is lost by now.
      await applyEvent(ctx.prisma, job, 'send', { error: null, sent_at: new Date() });
    }
  }
  await transact(ctx, (tx) => endRun(tx, job, { state: 'done' }));
}

type Changes = Pick<Prisma.mailUpdateManyMutationInput, 'error' | 'sent_at'>;
type MailEvent = (typeof mailMachine)[number][1];

async function applyEvent(db: Pick<Transaction, 'mail'>, job: Job, event: MailEvent, changes: Changes): Promise<void> {
  const [, , status] = mailMachine.find(([, name]) => name === event) as readonly [string, string, MailStatus];
  await db.mail.updateMany({
    where: { ...subject(job), status: { in: statesAllowing(mailMachine, event) } },
    data: { ...changes, status },
  });
}

// A stopping service lets a mail in flight finish instead of having it sent twice.
const graceMs = 10_000;

function withGracePeriod(signal: AbortSignal): AbortSignal {
  const late = new AbortController();
  const abort = () => {
    if (signal.reason instanceof LeaseLost) late.abort(signal.reason);
    else setTimeout(() => late.abort(signal.reason), graceMs).unref();
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return late.signal;
}

// The mail as it should be sent now, or the reason why it should not.
async function compose(ctx: MailContext, mailer: Mailer, mail: mail): Promise<OutgoingMail | string> {
  const caller: Caller = {
    accountId: mail.account_id,
    ...(mail.request_id === null ? {} : { requestId: mail.request_id }),
  };
  const [account, user] = await Promise.all([
    unlessNotFound(ctx.identity.GetAccount(caller, {})),
    findUser(ctx, caller, mail.user_id),
  ]);
  if (!account || account.status === 'closed') return 'The account is closed.';
  if (!user) return 'The user no longer exists.';
  if (user.status === 'suspended') return 'The user is suspended.';
  if (user.email === '') return 'The user is a service user, which has no address.';
  const person = nameOf(user) || user.email;
  const content = await render(ctx, mailer, mail, caller, { person, account: shownName(account.name) });
  if (typeof content === 'string') return content;
  // Looked up again after the link was made: a changed address ends all earlier links, and this
  // link must not go to the old mailbox.
  const recipient = await findUser(ctx, caller, mail.user_id);
  if (!recipient) return 'The user no longer exists.';
  if (recipient.status === 'suspended') return 'The user is suspended.';
  if (!isMailAddress(recipient.email))
    throw new ServiceError('validation_failed', {
      code: 'invalid',
      message: 'The user has an address that no mail can be sent to.',
    });
  const to: MailAddress = { name: nameOf(recipient), address: recipient.email };
  const [, host] = mailer.from.address.split('@');
  return {
    ...content,
    messageId: `${mail.message_id}.${mail.user_id}@${host}`,
    fileName: mailFileNameOf(mail),
    from: mailer.from,
    to,
  };
}

async function findUser({ identity }: MailContext, caller: Caller, id: number) {
  const { users = [] } = await identity.ListUsers(caller, { ids: [id] });
  return users[0];
}

const nameOf = (user: { first_name: string; last_name: string }) => shownName(`${user.first_name} ${user.last_name}`);

type Names = { person: string; account: string };

async function render(
  { identity }: MailContext,
  { publicUrl, consoleUrl }: Mailer,
  mail: mail,
  caller: Caller,
  names: Names,
): Promise<MailContent | string> {
  const template = findTemplate(mail.template);
  if (!template)
    throw new ServiceError('validation_failed', { code: 'invalid', message: `There is no template ${mail.template}.` });
  const { values } = mail;
  if (!template.button) return renderMail({ template, facts: { ...names, until: '' }, values, publicUrl, consoleUrl });
  const { purpose } = template.button;
  const link = await unlessNotFound(identity.CreatePasswordLink(caller, { user_id: mail.user_id, purpose }));
  if (!link) return 'The user no longer needs the link.';
  if (!link.url.startsWith(`${publicUrl}/`))
    throw new ServiceError('unavailable', 'Identity and jobs have different settings of ALMANAC_PUBLIC_URL.');
  const facts = { ...names, until: formatTime(new Date(link.expires_at)) };
  return renderMail({ template, facts, values, link: link.url, publicUrl, consoleUrl });
}

async function unlessNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'not_found') return undefined;
    throw error;
  }
}

const words = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
const formatTime = (time: Date) => `${words.format(time)} UTC`;
