// The billing events of an account. Plan and payment follow from all events in the order of
// `occurred_at`, not of arrival, so late and repeated messages do not undo later changes.
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import type { BillingContext } from '../context.ts';
import { type BillingStatus, type PlanName, plans } from './plans.ts';

/** Plan and payment of an account. */
export type BillingState = {
  plan: PlanName;
  allowance: number;
  billing_status: BillingStatus;
  overdue_since: Date | null;
};

/** An event of the payment provider or an operator; null: the event does not change that field. */
export type BillingEvent = {
  source: 'provider' | 'operator';
  billing_status: BillingStatus | null;
  /** The start of an overdue payment, if it differs from `occurred_at`. */
  overdue_since: Date | null;
  plan: PlanName | null;
  allowance: number | null;
  occurred_at: Date;
};

/** The state after the events, which are in the order in which they occurred. */
export function stateAfter(opening: BillingState, events: readonly BillingEvent[]): BillingState {
  return events.reduce((state, event) => ({ ...paymentAfter(state, event), ...planAfter(state, event) }), opening);
}

function paymentAfter(
  state: BillingState,
  event: BillingEvent,
): Pick<BillingState, 'billing_status' | 'overdue_since'> {
  const { billing_status, overdue_since } = state;
  if (event.billing_status === null) return { billing_status, overdue_since };
  if (event.billing_status !== 'overdue') return { billing_status: event.billing_status, overdue_since: null };
  // A failed payment does not reopen a cancelled account; an operator can.
  if (event.source === 'provider' && billing_status === 'cancelled') return { billing_status, overdue_since };
  // A second failure does not restart the seven days.
  const present = billing_status === 'overdue' ? overdue_since : event.occurred_at;
  return { billing_status: 'overdue', overdue_since: event.overdue_since ?? present };
}

// An event with the present plan keeps an allowance that was agreed.
function planAfter(state: BillingState, event: BillingEvent): Pick<BillingState, 'plan' | 'allowance'> {
  const plan = event.plan ?? state.plan;
  const ofPlan = plan === state.plan ? state.allowance : plans[plan].allowance;
  return { plan, allowance: event.allowance ?? ofPlan };
}

export type NewBillingEvent = Omit<BillingEvent, 'occurred_at'> & {
  id: string;
  type: string;
  /** Default: now, after all earlier events. */
  occurred_at?: Date;
};

/**
 * Adds an event to the account's history; false for a repeat. The caller holds the account's lock.
 */
export async function addBillingEvent(sql: Sql, accountId: number, event: NewBillingEvent): Promise<boolean> {
  const { rowCount } = await sql(
    `insert into billing_event (source, event_id, account_id, type, occurred_at, billing_status, overdue_since, plan, allowance)
     select $1, $2, $3::int, $4,
            case when $5::timestamptz is null
              then greatest(now(), max(present.occurred_at) + interval '1 millisecond')
              else least($5::timestamptz, now())
            end,
            $6, $7::timestamptz, $8, $9::bigint
     from (select) once left join billing_event present on present.account_id = $3::int
     on conflict do nothing`,
    [
      event.source,
      event.id,
      accountId,
      event.type,
      event.occurred_at ?? null,
      event.billing_status,
      event.overdue_since,
      event.plan,
      event.allowance,
    ],
  );
  return rowCount === 1;
}

/**
 * The state that follows from the account's history. Without a first plan, `present` is used as it.
 */
export async function readBillingState(sql: Sql, accountId: number, present: BillingState): Promise<BillingState> {
  const opened = await sql('select plan, allowance from plan_change where account_id = $1 order by since, id limit 1', [
    accountId,
  ]);
  const { rows } = await sql(
    `select source, billing_status, overdue_since, plan, allowance, occurred_at from billing_event
     where account_id = $1 order by occurred_at, source, event_id`,
    [accountId],
  );
  const opening = { plan: present.plan, allowance: present.allowance, ...opened.rows[0] };
  return stateAfter({ ...opening, billing_status: 'current', overdue_since: null }, rows as BillingEvent[]);
}

/** The latest events of an account, newest first, for operators. */
export async function listBillingEvents({ pool }: Pick<BillingContext, 'pool'>, { accountId }: { accountId: number }) {
  const { rows } = await pgSql(pool)(
    `select source, event_id, type, occurred_at, received_at, billing_status, overdue_since, plan, allowance
     from billing_event where account_id = $1 order by occurred_at desc, source desc, event_id desc limit 200`,
    [accountId],
  );
  return rows.map((row) => ({
    source: row.source as string,
    event_id: row.event_id as string,
    type: row.type as string,
    occurred_at: (row.occurred_at as Date).toISOString(),
    received_at: (row.received_at as Date).toISOString(),
    billing_status: (row.billing_status as string | null) ?? '',
    overdue_since: (row.overdue_since as Date | null)?.toISOString() ?? '',
    plan: (row.plan as string | null) ?? '',
    ...(row.allowance === null ? {} : { allowance: row.allowance as number }),
  }));
}
