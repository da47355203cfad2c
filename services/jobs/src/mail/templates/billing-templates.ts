// Mails about calls and payment, to the administrators of an account.
import { z } from 'zod';
import { type Template, template } from './template.ts';

const count = z.int().min(0);

const reached = z.object({
  percent: z.union([z.literal(80), z.literal(100)]),
  calls: count,
  allowance: count,
  /** The first day of the month. */
  period_start: z.iso.date(),
  overage_enabled: z.boolean(),
});
const overdue = z.object({ overdue_since: z.iso.datetime(), writes_blocked_from: z.iso.datetime() });

const english = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
const months = english({ month: 'long', year: 'numeric' });
const days = english({ dateStyle: 'long' });
const times = english({ dateStyle: 'long', timeStyle: 'short' });
const numbers = new Intl.NumberFormat('en-GB');

const monthOf = ({ period_start }: z.output<typeof reached>) => months.format(new Date(period_start));

function nextMonth({ period_start }: z.output<typeof reached>): string {
  const start = new Date(period_start);
  return days.format(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1));
}

// What happens once no calls are left.
function consequence(given: z.output<typeof reached>): string {
  if (given.overage_enabled)
    return 'Overage is on: calls beyond the allowance are served and charged at the rate of your plan.';
  return given.percent === 100
    ? `Further calls are refused with 429 until ${nextMonth(given)} (UTC), unless overage is turned on or the plan is changed.`
    : `When it is used up, calls are refused with 429 until ${nextMonth(given)} (UTC), unless overage is turned on or the plan is changed.`;
}

const see = {
  label: 'Where the calls went, over the API',
  path: () => '/api/v1/usage',
  page: { label: 'See the usage', path: () => '/admin/usage' },
};

export const billingTemplates: Record<string, Template> = {
  allowance_reached: template({
    values: reached,
    see,
    write: ({ person, account }, given) => ({
      subject:
        given.percent === 100
          ? `${account} has used up its API calls of ${monthOf(given)}`
          : `${account} has used ${given.percent} % of its API calls of ${monthOf(given)}`,
      before: [
        `Hello ${person},`,
        `${account} has made ${numbers.format(given.calls)} of the ${numbers.format(given.allowance)} API calls that its plan gives for ${monthOf(given)}.`,
        consequence(given),
      ],
    }),
  }),

  payment_overdue: template({
    values: overdue,
    write: ({ person, account }, given) => ({
      subject: `Payment for ${account} on Almanac is overdue`,
      before: [
        `Hello ${person},`,
        `Payment for ${account} on Almanac is overdue since ${times.format(new Date(given.overdue_since))} UTC.`,
        `Until it arrives, changes are refused with 402 from ${times.format(new Date(given.writes_blocked_from))} UTC on; reading goes on. Nothing is deleted.`,
      ],
      after: ['If you have paid in the meantime, you need not do anything.'],
    }),
  }),
};
