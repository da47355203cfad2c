// Records what became of an attempt, if this run still holds the delivery.
import { pgSql, type Sql, withTransaction } from '@almanac/service-kit/postgres/database';
import type pg from 'pg';
import { isAccepted, type Outcome } from '../sending/send-message.ts';
import { pauseAfter, triedForDays } from './retry-times.ts';
import { switchOff } from './switch-off.ts';
import type { TakenDelivery } from './take-deliveries.ts';

type Attempt = Pick<TakenDelivery, 'id' | 'run_id' | 'attempts' | 'endpoint_id' | 'is_failing'>;

/** What became of an attempt, for the metrics. */
export type AttemptResult = 'delivered' | 'retried' | 'failed';

/**
 * Records the outcome. A message that was not taken is sent again after a pause, until its time is
 * over; an endpoint that has taken nothing for three days is switched off.
 */
export async function recordAttempt(
  pool: pg.Pool,
  attempt: Attempt,
  outcome: Outcome,
  retryMs: number,
): Promise<AttemptResult | undefined> {
  if (isAccepted(outcome)) return recordDelivered(pgSql(pool), attempt, outcome);
  return withTransaction(pool, (sql) => recordFailure(sql, attempt, outcome, retryMs));
}

const answerOf = ({ status, answer, error, durationMs }: Outcome) => [
  status ?? null,
  answer ?? null,
  error ?? null,
  durationMs,
];

// The endpoint first: a process that dies in between sends again, and leaves no endpoint marked.
async function recordDelivered(sql: Sql, attempt: Attempt, outcome: Outcome): Promise<AttemptResult | undefined> {
  if (attempt.is_failing)
    await sql(
      `update webhook_endpoint set failing_since = null
       where id = $1::int and exists (select from webhook_delivery where id = $2::bigint and run_id = $3::uuid)`,
      [attempt.endpoint_id, attempt.id, attempt.run_id],
    );
  const { rowCount } = await sql(
    `update webhook_delivery set status = 'delivered', finished_at = now(), run_id = null, lease_until = null,
       response_status = $3::int, response_body = $4, error = $5, duration_ms = $6::int
     where id = $1::bigint and run_id = $2::uuid`,
    [attempt.id, attempt.run_id, ...answerOf(outcome)],
  );
  return rowCount === 1 ? 'delivered' : undefined;
}

async function recordFailure(
  sql: Sql,
  attempt: Attempt,
  outcome: Outcome,
  retryMs: number,
): Promise<AttemptResult | undefined> {
  // Endpoints are locked before their deliveries, as where they are deleted.
  await sql('select true from webhook_endpoint where id = $1::int for no key update', [attempt.endpoint_id]);
  const { rows } = await sql(
    `update webhook_delivery set run_id = null, lease_until = null,
       status = case when give_up_at <= now() then 'failed' else 'pending' end,
       finished_at = case when give_up_at <= now() then now() end,
       next_attempt_at = now() + make_interval(secs => $7::float8 / 1000),
       response_status = $3::int, response_body = $4, error = $5, duration_ms = $6::int
     where id = $1::bigint and run_id = $2::uuid returning status`,
    [attempt.id, attempt.run_id, ...answerOf(outcome), pauseAfter(attempt.attempts, retryMs, outcome.retryAfterMs)],
  );
  if (rows.length === 0) return undefined;
  const { rows: endpoints } = await sql(
    `update webhook_endpoint set failing_since = coalesce(failing_since, now()) where id = $1::int
     returning id, account_id, url, failing_since,
       failing_since <= now() - make_interval(days => $2::int) as is_over`,
    [attempt.endpoint_id, triedForDays],
  );
  const [endpoint] = endpoints;
  if (endpoint?.is_over) await switchOff(sql, endpoint as Parameters<typeof switchOff>[1]);
  return endpoint?.is_over || rows[0]?.status === 'failed' ? 'failed' : 'retried';
}
