// Mails to the administrators of an account, one of each kind a month. They are requested in the
// transaction of their cause.
import { announce } from '@almanac/service-kit/messaging/outbox';
import type { Sql } from '@almanac/service-kit/postgres/database';

type Notice = {
  accountId: number;
  /** The month it belongs to. */
  periodStart: string;
  kind: 'allowance_80' | 'allowance_100' | 'overdue';
  values: Record<string, unknown>;
  requestId?: string;
};

const templates = {
  allowance_80: 'allowance_reached',
  allowance_100: 'allowance_reached',
  overdue: 'payment_overdue',
} as const satisfies Record<Notice['kind'], string>;

/**
 * Requests the mail, unless it was requested this month. Jobs finds the administrators when it
 * sends the mail.
 */
export async function notifyOnce(sql: Sql, { accountId, periodStart, kind, values, requestId }: Notice): Promise<void> {
  const { rowCount } = await sql(
    'insert into notice (account_id, period_start, kind) values ($1, $2, $3) on conflict do nothing',
    [accountId, periodStart, kind],
  );
  if (rowCount === 0) return;
  await announce(sql, {
    type: 'billing.mail.requested',
    payload: { account_id: accountId, template: templates[kind], to: 'administrators', values },
    ...(requestId === undefined ? {} : { requestId }),
  });
}
