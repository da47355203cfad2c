// The rows of a message about changed rows, which data keeps in its history. A message without them
// is complete, too: its marks say what to read.
import type { Logger } from '@almanac/service-kit/observability/logger';
import type { JobsContext } from '../../context.ts';
import type { TakenDelivery } from './take-deliveries.ts';

const most = { rows: 100, bytes: 256 * 1024 };
const deadlineMs = 5_000;

/** Of an event of changed rows, what says which. */
type RowsChanged = {
  resource: { id: number };
  data: Record<'inserted' | 'updated' | 'deleted', number> & Record<'changed_after' | 'changed_until', string>;
};

type Reading = Pick<JobsContext, 'data'> & { logger: Logger };
type Delivery = Pick<TakenDelivery, 'id' | 'account_id' | 'event_type' | 'event' | 'include_rows'>;

/**
 * The net changes that an event of changed rows is about, as a JSON array. Undefined for other
 * events, for too many rows, and when data can't read them (now, or any more).
 */
export async function readRowChanges(
  { data, logger }: Reading,
  { id, account_id: accountId, event_type, event, include_rows }: Delivery,
): Promise<string | undefined> {
  if (!include_rows || event_type !== 'rows.changed' || event === null) return undefined;
  const { resource, data: facts } = JSON.parse(event) as RowsChanged;
  if (facts.inserted + facts.updated + facts.deleted > most.rows) return undefined;
  const request = {
    table_definition_id: resource.id,
    after: facts.changed_after,
    until: facts.changed_until,
    most: most.rows,
    most_bytes: most.bytes,
  };
  try {
    return (await data.ListChanges({ accountId }, request, { deadlineMs })).changes;
  } catch (error) {
    logger.info({ err: error, delivery_id: id }, 'the rows of a webhook message could not be read');
    return undefined;
  }
}
