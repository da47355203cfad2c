// What operators do with calls and money: look at an account's usage, statement and payments, and set what overage costs. Plan,
// allowance, overage and billing status are changed by `accounts update`.
import { plans, readAccountId } from './accounts.ts';
import { type Command, missing, oneOf, readTime, require, text } from './arguments.ts';
import { noAccount, type Operator, OperatorError } from './operator.ts';

type Answer<Method extends 'GetUsage' | 'GetStatement' | 'ListBillingEvents' | 'ListOverageRates' | 'AddOverageRate'> =
  Awaited<ReturnType<ReturnType<typeof billingOf>[Method]>>;

const billingOf = (operator: Operator) => operator.service('billing');

/** An unknown account is said to be unknown. */
async function known(operator: Operator, accountId: number) {
  const caller = { accountId };
  await operator.service('identity').GetAccount(caller, {});
  return caller;
}

export const billingCommands = {
  'billing usage': {
    usage: 'billing usage ID [--month YYYY-MM]',
    about: 'Calls of a month per day, method and resource; the present month when none is named.',
    options: { month: text },
    positionals: 1,
    prepare: (values, [id]) => {
      const accountId = readAccountId(id);
      const month = readMonth(values.month as string | undefined);
      return async (operator) => billingOf(operator).GetUsage(await known(operator, accountId), { month });
    },
    show: ({ month, calls }: Answer<'GetUsage'>) =>
      calls.map(({ day, method, resource, calls }) => [day, method, resource, calls].join('\t')).join('\n') ||
      `No calls in ${month}.`,
  },
  'billing statement': {
    usage: 'billing statement ID [--month YYYY-MM]',
    about: 'The statement of a month as CSV: plan, usage, calls beyond the allowance with their amounts, totals.',
    options: { month: text },
    positionals: 1,
    prepare: (values, [id]) => {
      const accountId = readAccountId(id);
      const month = readMonth(values.month as string | undefined);
      return async (operator) => billingOf(operator).GetStatement(await known(operator, accountId), { month });
    },
    show: ({ csv }: Answer<'GetStatement'>) => csv.trimEnd(),
  },
  'billing payments': {
    usage: 'billing payments ID',
    about: 'What the payment provider and operators said of an account, the last first.',
    options: {},
    positionals: 1,
    prepare: (_values, [id]) => {
      const accountId = readAccountId(id);
      return async (operator) => {
        const { events } = await billingOf(operator).ListBillingEvents(await known(operator, accountId), {});
        return events;
      };
    },
    show: (events: Answer<'ListBillingEvents'>['events']) =>
      events
        .map(({ occurred_at, source, type, event_id, billing_status, overdue_since, plan, allowance }) => {
          const since = overdue_since ? `since ${overdue_since}` : '';
          const said = [billing_status, since, plan, allowance === undefined ? '' : `${allowance} calls`];
          return [occurred_at, source, type, event_id, said.filter(Boolean).join(' ')].join('\t');
        })
        .join('\n') || 'Nothing was said of this account.',
  },
  'billing rates': {
    usage: 'billing rates',
    about: 'What 1,000 calls beyond the allowance cost, by plan, the newest rate first.',
    options: {},
    positionals: 0,
    prepare: () => async (operator) => {
      const { rates } = await billingOf(operator).ListOverageRates(noAccount, {});
      return rates;
    },
    show: (rates: Answer<'ListOverageRates'>['rates']) => rates.map(describeRate).join('\n') || 'No rates.',
  },
  'billing add-rate': {
    usage: 'billing add-rate --plan PLAN --currency CODE --price-per-1000 PRICE [--from TIME]',
    about: 'Adds a rate; calls reserved from TIME on (now when left out) are charged at it. Rates are never changed.',
    options: { plan: text, currency: text, 'price-per-1000': text, from: text },
    positionals: 0,
    prepare: (values) => {
      const rate = {
        plan: oneOf(values, 'plan', plans) ?? missing('plan'),
        currency: require(values, 'currency'),
        price_per_1000: require(values, 'price-per-1000'),
        valid_from: readTime(values, 'from') ?? '',
      };
      if (!/^\d+(\.\d+)?$/.test(rate.price_per_1000))
        throw new OperatorError(`--price-per-1000 should be a decimal number, not "${rate.price_per_1000}".`);
      return (operator) => billingOf(operator).AddOverageRate(noAccount, rate);
    },
    show: (rate: Answer<'AddOverageRate'>) => describeRate(rate),
  },
} satisfies Record<string, Command>;

function describeRate(rate: Answer<'AddOverageRate'>): string {
  return [rate.plan, `${rate.price_per_1000} ${rate.currency} per 1,000 calls`, `from ${rate.valid_from}`].join('\t');
}

// Empty: billing takes the present one.
function readMonth(month: string | undefined): string {
  if (month !== undefined && !/^20\d\d-(0[1-9]|1[0-2])$/.test(month))
    throw new OperatorError(`--month should be a month such as 2026-01, not "${month}".`);
  return month ?? '';
}
