// Appends to the log of an account, and removes what is older than the log is kept.
import { prismaSql, type Sql } from '@almanac/service-kit/postgres/database';
import { lockAccount, type Transaction } from '../transaction.ts';
import { apiVersion, type NewEvent } from './account-event.ts';

/** PostgreSQL notifies on it of every append, with the account's id. */
export const eventsChannel = 'almanac_account_events';

/** For how many days an event is kept. */
export const keptDays = 30;

/** Larger details are left out, so that a page of events stays a page. */
const maxDataBytes = 64 * 1024;

const sweptAtOnce = 10_000;

/**
 * Appends the event; a message that was appended before adds nothing. The id is drawn under the
 * account's lock, which ends with the commit: so ids of one account ascend as they become visible.
 */
export async function appendEvent(tx: Transaction, accountId: number, event: NewEvent): Promise<void> {
  await lockAccount(tx, accountId, 'events');
  await prismaSql(tx)(
    `with added as (
       insert into account_event (account_id, message_id, type, occurred_at, actor, resource, data, api_version)
       values ($1::int, $2::uuid, $3, $4::timestamptz, $5::jsonb, $6::jsonb, $7::jsonb, $8)
       on conflict (account_id, message_id) do nothing returning account_id
     )
     select pg_notify('${eventsChannel}', account_id::text)::text from added`,
    [
      accountId,
      event.messageId,
      event.type,
      event.occurredAt,
      JSON.stringify(event.actor),
      JSON.stringify(event.resource),
      dataText(event.data),
      apiVersion,
    ],
  );
}

function dataText(data: Record<string, unknown>): string {
  const text = JSON.stringify(data);
  return Buffer.byteLength(text) <= maxDataBytes ? text : JSON.stringify({ left_out: 'too_large' });
}

/** Removes events older than the log is kept, and notes where the log of each account begins. */
export async function sweepEvents(db: Sql): Promise<void> {
  for (let removed = sweptAtOnce; removed === sweptAtOnce; ) {
    const { rows } = await db(
      `with old as (
         delete from account_event where id in (
           select id from account_event where recorded_at < now() - make_interval(days => $1::int)
           order by recorded_at limit $2::int for update skip locked)
         returning account_id, id
       ), noted as (
         insert into account_event_start (account_id, removed_id)
         select account_id, max(id) from old group by account_id
         on conflict (account_id) do update set removed_id = greatest(account_event_start.removed_id, excluded.removed_id)
       )
       select count(*)::int as removed from old`,
      [keptDays, sweptAtOnce],
    );
    removed = rows[0]?.removed as number;
  }
}
