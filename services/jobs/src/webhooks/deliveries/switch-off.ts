// Switches an endpoint off: what waits for it is given up, and nothing new is queued.
import { announceAct } from '@almanac/service-kit/messaging/audit';
import { announce } from '@almanac/service-kit/messaging/outbox';
import type { Sql } from '@almanac/service-kit/postgres/database';

const reasons = {
  request: 'The endpoint was switched off.',
  failures: 'The endpoint was switched off, because it failed for three days.',
} as const;

/** Gives up what waits for an endpoint that was switched off. */
export async function giveUpWaiting(sql: Sql, endpointId: number, why: keyof typeof reasons): Promise<void> {
  await sql(
    `update webhook_delivery set status = 'failed', finished_at = now(), run_id = null, lease_until = null,
       error = coalesce(error || ' ', '') || $2
     where endpoint_id = $1::int and status = 'pending'`,
    [endpointId, reasons[why]],
  );
}

type Failing = { id: number; account_id: number; url: string; failing_since: Date };

/** Switches an endpoint off that has failed for too long, once, and mails the administrators. */
export async function switchOff(sql: Sql, { id, account_id, url, failing_since }: Failing): Promise<void> {
  const { rowCount } = await sql(
    `update webhook_endpoint set enabled = false, disabled_reason = 'failures', updated_at = now()
     where id = $1::int and enabled`,
    [id],
  );
  if (rowCount === 0) return;
  await giveUpWaiting(sql, id, 'failures');
  // Paths and parameters of URLs may contain secrets of the receiver.
  const values = { host: new URL(url).host, failing_since: failing_since.toISOString() };
  await announce(sql, {
    type: 'jobs.mail.requested',
    payload: { account_id, template: 'webhook_switched_off', to: 'administrators', values },
  });
  await announceAct(
    sql,
    'jobs',
    { accountId: account_id },
    {
      action: 'webhook_endpoint.switched_off',
      resource_type: 'webhook_endpoint',
      resource_id: id,
      before: { enabled: true },
      after: { enabled: false, disabled_reason: 'failures', failing_since: failing_since.toISOString() },
    },
  );
}
