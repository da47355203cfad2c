// Receives requests for mails from other services, and creates one row and one job for each
// recipient, once.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { UnreadableMessageError } from '@almanac/service-kit/messaging/bus/message';
import { type MessageOf, messageId, samePayload } from '@almanac/service-kit/messaging/bus/received-message';
import { receiveOnce } from '@almanac/service-kit/messaging/inbox';
import { prismaSql } from '@almanac/service-kit/postgres/database';
import { z } from 'zod';
import type { JobsContext } from '../context.ts';
import { queueJobs } from '../queue/jobs.ts';
import { lockAccount, type Transaction, transact } from '../transaction.ts';
import { findTemplate } from './templates/templates.ts';
import { planHours, readDueMails } from './throttle.ts';

type MailContext = Pick<JobsContext, 'prisma' | 'work' | 'identity'>;

const queue = 'jobs.mail';
// An unreadable message becomes a dead letter at once; any other failure is ours, and retried every
// minute for a day.
const attempts = 1_440;

// Recipients are user ids or, where the requesting service knows no users, the current
// administrators of the account.
const payloads = samePayload(
  ['identity', 'metadata', 'billing', 'jobs'].map((service) => `${service}.mail.requested`),
  z.object({
    account_id: messageId,
    template: z.string(),
    user_ids: z.array(messageId).max(10_000).optional(),
    to: z.literal('administrators').optional(),
    values: z.record(z.string(), z.unknown()).default({}),
  }),
);
type MailMessage = MessageOf<typeof payloads>;

/** Consumes requests of all services for as long as the bus runs. */
export function consumeMailRequests(ctx: MailContext, bus: Bus): Promise<void> {
  return bus.consume(queue, payloads, (message) => receive(ctx, message), { attempts });
}

type Request = { account_id: number; template: string; users: number[]; values: unknown; isUrgent: boolean };

async function receive(ctx: MailContext, message: MailMessage): Promise<void> {
  const { toAdministrators, ...read } = readRequest(message);
  // Read before the transaction, so that no lock is held while identity answers.
  const request = toAdministrators ? { ...read, users: await listAdministrators(ctx, message, read) } : read;
  await transact(ctx, async (tx) => {
    if (!(await receiveOnce(prismaSql(tx), queue, message.id))) return;
    await lockAccount(tx, request.account_id, 'mails');
    const mails = await insertMails(tx, message, request);
    await queueJobs(tx, {
      kind: 'mail',
      subjects: mails.map(({ id, due_at }) => ({ id, notBefore: due_at })),
      call: {
        accountId: request.account_id,
        ...(message.request_id === undefined ? {} : { requestId: message.request_id }),
      },
      giveUpAfterSeconds: ctx.work.giveUpAfterSeconds,
    });
  });
}

// An invalid request becomes a dead letter at once, until its sender is fixed.
function readRequest({ payload }: MailMessage): Request & { toAdministrators: boolean } {
  const { user_ids, to, ...request } = payload;
  if ((user_ids === undefined) === (to === undefined))
    throw new UnreadableMessageError('A request for mail names either people or administrators.');
  const template = findTemplate(request.template);
  if (!template) throw new UnreadableMessageError(`There is no mail template ${request.template.slice(0, 100)}.`);
  return {
    ...request,
    users: [...new Set(user_ids)],
    toAdministrators: to !== undefined,
    values: readValues(template.values, request.values),
    isUrgent: template.urgent === true,
  };
}

async function listAdministrators(
  { identity }: MailContext,
  message: MailMessage,
  request: Request,
): Promise<number[]> {
  const caller = {
    accountId: request.account_id,
    ...(message.request_id === undefined ? {} : { requestId: message.request_id }),
  };
  const { users = [] } = await identity.ListAdministrators(caller, {});
  return users.map(({ id }) => id);
}

function readValues<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value);
  if (!read.success) throw new UnreadableMessageError(`A request for mail is invalid: ${z.prettifyError(read.error)}`);
  return read.data;
}

async function insertMails(
  tx: Transaction,
  message: MailMessage,
  request: Request,
): Promise<{ id: number; due_at: Date }[]> {
  const { account_id, template, values, users } = request;
  const hours = planHours(await readDueMails(tx, request), users);
  const { rows } = await prismaSql(tx)(
    `insert into mail (account_id, message_id, user_id, template, values, request_id, created_at, due_at, updated_at)
     select $1::int, $2::uuid, user_id, $3, $4::jsonb, $5, $6::timestamptz,
       greatest(now(), to_timestamp(hour * 3600::bigint)), now()
     from unnest($7::int[], $8::int[]) as due (user_id, hour)
     on conflict (message_id, user_id) do nothing
     returning id, due_at`,
    [
      account_id,
      message.id,
      template,
      JSON.stringify(values),
      message.request_id ?? null,
      message.occurred_at,
      users,
      hours,
    ],
  );
  return rows as { id: number; due_at: Date }[];
}
