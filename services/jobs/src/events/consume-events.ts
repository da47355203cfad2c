// Feeds the log from the announcements of all services. A message is done when its event is
// committed, and a redelivered one adds nothing, so no event is lost or doubled. While the database
// is away, a message is repeated here: one that the bus repeats comes after those behind it.
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import type { MessageOf } from '@almanac/service-kit/messaging/bus/received-message';
import { retryTransaction } from '@almanac/service-kit/postgres/database';
import { isUnavailable } from '@almanac/service-kit/postgres/errors';
import type { JobsContext } from '../context.ts';
import { type Transaction, transact } from '../transaction.ts';
import type { NewEvent } from './account-event.ts';
import { appendEvent } from './append-events.ts';
import { actorOf, eventOf, eventPayloads } from './event-messages.ts';

type LogContext = Pick<JobsContext, 'prisma'>;

const queue = 'jobs.events';
// At the longest backoff of the bus this is more than a day: an outage of a night loses no event.
const attempts = 2_000;
// Together less than the 30 minutes that a handler has.
const repeated = { attempts: 600, pauseMs: () => 1_000, isRetryable: isUnavailable };

/**
 * Consumes the announcements while the bus runs; one at a time, which keeps their order within an
 * instance. Two instances may swap what is announced at the same moment.
 */
export function consumeEvents(ctx: LogContext, bus: Bus): Promise<void> {
  return bus.consume(queue, eventPayloads, (message) => receive(ctx, message), { attempts });
}

async function receive(ctx: LogContext, message: MessageOf<typeof eventPayloads>): Promise<void> {
  const event = eventOf(message);
  if (!event) return;
  const { account_id: accountId } = message.payload;
  const append = async (tx: Transaction) => appendEvent(tx, accountId, await withOwnFacts(tx, accountId, event));
  await retryTransaction(() => transact(ctx, append), repeated);
}

// The announcement that an import or export has ended names neither its caller nor its place.
async function withOwnFacts(tx: Transaction, accountId: number, event: NewEvent): Promise<NewEvent> {
  const { resource } = event;
  const where = { id: resource.id ?? 0, account_id: accountId };
  const caller = { user_id: true, application_id: true, branch_id: true } as const;
  if (event.type === 'import.finished') {
    const found = await tx.data_import.findFirst({ where, select: caller });
    return found ? { ...event, actor: actorOf(found), resource: { ...resource, branch_id: found.branch_id } } : event;
  }
  if (event.type === 'export.finished') {
    const select = { ...caller, table_definition_id: true, domain_id: true } as const;
    const found = await tx.data_export.findFirst({ where, select });
    if (!found) return event;
    const { branch_id, table_definition_id, domain_id } = found;
    return {
      ...event,
      actor: actorOf(found),
      resource: { ...resource, table_definition_id, domain_id, branch_id },
    };
  }
  return event;
}
