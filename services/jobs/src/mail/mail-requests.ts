// Hears that another service wants mails sent and makes one row and one job for each recipient, once.
import type { Bus, BusMessage } from '@almanac/service-kit/bus/bus';
import { UnreadableMessageError } from '@almanac/service-kit/bus/message';
import { prismaSql } from '@almanac/service-kit/database';
import { receiveOnce } from '@almanac/service-kit/inbox';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { queueJobs } from '../queue/jobs.ts';
import { lockAccount, type Transaction, transact } from '../transaction.ts';
import { findTemplate, urgentTemplates } from './templates.ts';

type MailContext = Pick<Context, 'prisma' | 'work'>;

const queue = 'jobs.mail';
const types = ['identity', 'metadata', 'billing'].map((service) => `${service}.mail.requested`);
// What can't be read is given up at once; any other failure is ours, and tried again every minute for a day.
const attempts = 1_440;

/** In an hour of the clock; what is more waits for the next hour. */
export const mailsPerHour = { ofAccount: 500, ofTemplateToUser: 20 } as const;
/** What finds no room within this time shares its last hour. */
const longestWaitHours = 30 * 24;

const id = z
  .number()
  .int()
  .positive()
  .max(2 ** 31 - 1);
const payloadSchema = z.object({
  account_id: id,
  template: z.string(),
  user_ids: z.array(id).max(10_000),
  values: z.record(z.string(), z.unknown()).default({}),
});

/** Consumes requests of all services for as long as the bus runs. */
export function consumeMailRequests(ctx: MailContext, bus: Bus): Promise<void> {
  return bus.consume(queue, types, (message) => receive(ctx, message), { attempts });
}

type Request = { account_id: number; template: string; user_ids: number[]; values: unknown; isUrgent: boolean };

async function receive(ctx: MailContext, message: BusMessage): Promise<void> {
  const request = read(message);
  await transact(ctx, async (tx) => {
    if (!(await receiveOnce(prismaSql(tx), queue, message.id))) return;
    await lockAccount(tx, request.account_id, 'mails');
    const mails: Queued[] = [];
    for (const user of new Set(request.user_ids)) mails.push(...(await insertMail(tx, message, request, user)));
    await queueJobs(
      tx,
      mails.map((mail) => ({
        kind: 'mail',
        subjectId: mail.id,
        call: {
          accountId: request.account_id,
          ...(message.request_id === undefined ? {} : { requestId: message.request_id }),
        },
        giveUpAfterSeconds: ctx.work.giveUpAfterSeconds,
        notBefore: mail.due_at,
      })),
    );
  });
}

// What makes no sense becomes a dead letter at once: its sender has to be mended first.
function read({ payload }: BusMessage): Request {
  const request = check(payloadSchema, payload);
  const template = findTemplate(request.template);
  if (!template) throw new UnreadableMessageError(`There is no mail template ${request.template.slice(0, 100)}.`);
  return { ...request, values: check(template.values, request.values), isUrgent: template.urgent === true };
}

function check<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value);
  if (!read.success)
    throw new UnreadableMessageError(`A request for mail makes no sense: ${z.prettifyError(read.error)}`);
  return read.data;
}

type Queued = { id: number; due_at: Date };

// Due in the first hour in which the account and this recipient have room. Urgent mails have room of their own: a thousand
// invitations must not keep somebody from a new password.
async function insertMail(tx: Transaction, message: BusMessage, request: Request, userId: number): Promise<Queued[]> {
  const asked = Date.parse(message.occurred_at);
  const { rows } = await prismaSql(tx)(
    `with taken as (
       select date_trunc('hour', due_at) as hour, count(*) as mails,
         count(*) filter (where user_id = $3::int and template = $4) as own
       from mail
       where account_id = $1::int and due_at >= date_trunc('hour', now()) and (template = any($5::text[])) = $6::boolean
       group by 1
     ), slot as (
       select coalesce(min(hour) filter (where coalesce(mails, 0) < $8::int and coalesce(own, 0) < $9::int), max(hour)) as hour
       from generate_series(date_trunc('hour', now()), now() + make_interval(hours => $7::int), interval '1 hour') as hours (hour)
         left join taken using (hour)
     )
     insert into mail (account_id, message_id, user_id, template, values, request_id, created_at, due_at, updated_at)
     select $1::int, $2::uuid, $3::int, $4, $10::jsonb, $11, coalesce($12::timestamptz, now()), greatest(now(), hour), now() from slot
     on conflict (message_id, user_id) do nothing
     returning id, due_at`,
    [
      request.account_id,
      message.id,
      userId,
      request.template,
      urgentTemplates,
      request.isUrgent,
      longestWaitHours,
      mailsPerHour.ofAccount,
      mailsPerHour.ofTemplateToUser,
      JSON.stringify(request.values),
      message.request_id ?? null,
      Number.isNaN(asked) ? null : new Date(asked),
    ],
  );
  return rows as Queued[];
}
