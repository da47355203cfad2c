// How many mails go out in an hour of the clock (epoch hours, by the database's clock). What is more is not dropped but due in the
// next hour with room. Mails that somebody waits for have room of their own: a thousand invitations must not keep somebody from a
// new password.
import { prismaSql } from '@almanac/service-kit/postgres/database';
import type { Transaction } from '../transaction.ts';
import { urgentTemplates } from './templates/templates.ts';

export const mailsPerHour = { ofAccount: 500, ofTemplateToUser: 60 } as const;
/** What finds no room within this time shares its last hour. */
const longestWaitHours = 30 * 24;

/** What is due already: mails of the account by hour, and those of the template by hour and user. */
export type Taken = { now: number; ofAccount: Map<number, number>; ofTemplateToUser: Map<string, number> };

/** The hour for each user, in their order: the first in which the account and the user have room. */
export function planHours({ now, ofAccount, ofTemplateToUser }: Taken, users: number[]): number[] {
  const last = now + longestWaitHours;
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

type Asked = { account_id: number; template: string; isUrgent: boolean; users: number[] };

/** Reads what is due already; the caller holds the account's lock. */
export async function readTaken(tx: Transaction, { account_id, template, isUrgent, users }: Asked): Promise<Taken> {
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
  const taken: Taken = { now: clock?.hour as number, ofAccount: new Map(), ofTemplateToUser: new Map() };
  for (const { hour, user_id, mails } of counts) {
    if (user_id === null) taken.ofAccount.set(hour, mails);
    else taken.ofTemplateToUser.set(`${hour} ${user_id}`, mails);
  }
  return taken;
}
