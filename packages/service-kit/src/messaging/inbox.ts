// Messages come at least once. The inbox makes their effect happen once: the receiver records the
// message in the transaction of the effect.
//
// Every service database has this table:
//
//   model inbox {
//     consumer    String
//     message_id  String   @db.Uuid
//     received_at DateTime @default(now()) @db.Timestamptz(3)
//
//     @@id([consumer, message_id])
//     @@index([received_at])
//   }
//
//   create table inbox (
//     consumer text not null, message_id uuid not null,
//     received_at timestamptz(3) not null default now(), primary key (consumer, message_id)
//   );
//   create index inbox_received_at_idx on inbox (received_at);
import type { Sql } from '../postgres/database.ts';

/** Records a message in the caller's transaction; false when it was received before. */
export async function receiveOnce(sql: Sql, consumer: string, messageId: string): Promise<boolean> {
  const { rows } = await sql(
    `insert into inbox (consumer, message_id) values ($1, $2::uuid) on conflict do nothing returning consumer`,
    [consumer, messageId],
  );
  return rows.length === 1;
}

/** Deletes records older than `days`; by then no bus delivers their messages again. */
export async function sweepInbox(sql: Sql, days: number): Promise<void> {
  await sql('delete from inbox where received_at < now() - make_interval(days => $1::int)', [days]);
}
