// Plan and payment follow from everything that was said about them, in the order in which it happened and not in which it came:
// a message that is late or comes twice changes nothing that a later one has settled.
import { pgSql, type Sql } from '@almanac/service-kit/postgres/database';
import type { BillingContext } from '../context.ts';
import { type BillingStatus, type PlanName, plans } from '../plans.ts';

/** How an account stands. */
export type Standing = {
  plan: PlanName;
  allowance: number;
  billing_status: BillingStatus;
  overdue_since: Date | null;
};

/** One thing that was said; null: nothing about that. */
export type Said = {
  source: 'provider' | 'operator';
  billing_status: BillingStatus | null;
  /** Since when, if the sender knows better than `occurred_at`. */
  overdue_since: Date | null;
  plan: PlanName | null;
  allowance: number | null;
  occurred_at: Date;
};

/** How the account stands after all that, given in the order in which it happened. */
export function standingAfter(opening: Standing, said: readonly Said[]): Standing {
  return said.reduce((standing, word) => ({ ...paymentAfter(standing, word), ...planAfter(standing, word) }), opening);
}

function paymentAfter(standing: Standing, word: Said): Pick<Standing, 'billing_status' | 'overdue_since'> {
  const { billing_status, overdue_since } = standing;
  if (word.billing_status === null) return { billing_status, overdue_since };
  if (word.billing_status !== 'overdue') return { billing_status: word.billing_status, overdue_since: null };
  // Who has cancelled owes nothing more; that a last payment fails doesn't open the account again. An operator may.
  if (word.source === 'provider' && billing_status === 'cancelled') return { billing_status, overdue_since };
  // A second failure doesn't begin the seven days anew.
  const present = billing_status === 'overdue' ? overdue_since : word.occurred_at;
  return { billing_status: 'overdue', overdue_since: word.overdue_since ?? present };
}

// The same plan once more leaves an allowance that was agreed.
function planAfter(standing: Standing, word: Said): Pick<Standing, 'plan' | 'allowance'> {
  const plan = word.plan ?? standing.plan;
  const ofPlan = plan === standing.plan ? standing.allowance : plans[plan].allowance;
  return { plan, allowance: word.allowance ?? ofPlan };
}

export type NewWord = Omit<Said, 'occurred_at'> & {
  id: string;
  type: string;
  /** Left out: now, after everything that was said before. */
  occurred_at?: Date;
};

/** Adds it to the account's history; false when it is there already. The caller holds the account's lock. */
export async function record(sql: Sql, accountId: number, word: NewWord): Promise<boolean> {
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
      word.source,
      word.id,
      accountId,
      word.type,
      word.occurred_at ?? null,
      word.billing_status,
      word.overdue_since,
      word.plan,
      word.allowance,
    ],
  );
  return rowCount === 1;
}

/** How the account stands by its history; `present` is taken for its opening where none is known. */
export async function readStanding(sql: Sql, accountId: number, present: Standing): Promise<Standing> {
  const opened = await sql('select plan, allowance from plan_change where account_id = $1 order by since, id limit 1', [
    accountId,
  ]);
  const { rows } = await sql(
    `select source, billing_status, overdue_since, plan, allowance, occurred_at from billing_event
     where account_id = $1 order by occurred_at, source, event_id`,
    [accountId],
  );
  const opening = { plan: present.plan, allowance: present.allowance, ...opened.rows[0] };
  return standingAfter({ ...opening, billing_status: 'current', overdue_since: null }, rows as Said[]);
}

/** The latest of an account's history, the last first, for operators. */
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
