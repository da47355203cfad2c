// Limits the mails sent in an hour (epoch hours, by the database's clock). Mails beyond the limit
// are not dropped but due in the next hour with capacity. Urgent mails have capacity of their own:
// a thousand invitations must not delay a password reset.
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { Transaction } from '../transaction.ts';
import { urgentTemplates } from './templates/templates.ts';

export const mailsPerHour = { ofAccount: 500, ofTemplateToUser: 60 } as const;
/** Mails that find no capacity within this time share its last hour. */
const maxWaitHours = 30 * 24;

/**
 * Mails that are due already: those of the account by hour, and those of the template by hour and
 * user.
 */
export type DueMails = { now: number; ofAccount: Map<number, number>; ofTemplateToUser: Map<string, number> };

/**
 * The hour for each user, in their order: the first in which the account and the user have
 * capacity.
 */
export function planHours({ now, ofAccount, ofTemplateToUser }: DueMails, users: number[]): number[] {
  const last = now + maxWaitHours;
  const [all, own] = [new Map(ofAccount), new Map(ofTemplateToUser)];
  let firstFree = now;
  return users.map((user) => {
    while (firstFree < last && (all.get(firstFree) ?? 0) >= mailsPerHour.ofAccount) firstFree += 1;
    let hour = firstFree;
    const isFull = () =>
      (all.get(hour) ?? 0) >= mailsPerHour.ofAccount ||
      (own.get(`${hour} ${user}`) ?? 0) >= mailsPerHour.ofTemplateToUser;
    while (hour < last && isFull()) hour += 1;
    all.set(hour, (all.get(hour) ?? 0) + 1);
    own.set(`${hour} ${user}`, (own.get(`${hour} ${user}`) ?? 0) + 1);
    return hour;
  });
}

type DueQuery = { account_id: number; template: string; isUrgent: boolean; users: number[] };

/** Reads the mails due already; the caller holds the account's lock. */
export async function readDueMails(
  tx: Transaction,
  { account_id, template, isUrgent, users }: DueQuery,
): Promise<DueMails> {
  const { rows } = await prismaSql(tx)(
    `with clock as (select floor(extract(epoch from now()) / 3600)::int as now), due as (
       select floor(extract(epoch from due_at) / 3600)::int as hour, user_id, template from mail, clock
       where account_id = $1::int and due_at >= to_timestamp(now * 3600::bigint) and (template = any($2::text[])) = $3::boolean
     )
     select now as hour, null::int as user_id, 0 as mails from clock
     union all select hour, null, count(*)::int from due group by hour
     union all select hour, user_id, count(*)::int from due
       where template = $4 and user_id = any($5::int[]) group by hour, user_id`,
    [account_id, urgentTemplates, isUrgent, template, users],
  );
  const [clock, ...counts] = rows as { hour: number; user_id: number | null; mails: number }[];
  const taken: DueMails = { now: clock?.hour as number, ofAccount: new Map(), ofTemplateToUser: new Map() };
  for (const { hour, user_id, mails } of counts) {
    if (user_id === null) taken.ofAccount.set(hour, mails);
    else taken.ofTemplateToUser.set(`${hour} ${user_id}`, mails);
  }
  return taken;
}
