// Which calls the page of usage shows, as its address has it.

export const channels = ['api', 'console'] as const;
export type Channel = (typeof channels)[number];

const groupings = { api: ['application', 'resource', 'method'], console: ['person', 'resource'] } as const;
export type Grouping = (typeof groupings)[Channel][number];

export type UsageView = {
  channel?: Channel | undefined;
  /** Absent for the first of its channel. */
  by?: Grouping | undefined;
  from?: string | undefined;
  to?: string | undefined;
  /** Whether the numbers by day are shown as a table, too. */
  days?: 'table' | undefined;
};

const longestDays = 92;
const dayMs = 86_400_000;

export function readUsageView(search: Record<string, unknown>): UsageView {
  const channel = channels.find((channel) => channel === search.channel && channel !== 'api');
  return {
    channel,
    by: groupingsOf(channel ?? 'api').find((by, place) => by === search.by && place > 0),
    from: readDay(search.from),
    to: readDay(search.to),
    days: search.days === 'table' ? 'table' : undefined,
  };
}

/** What the calls of a channel can be summed by; the first unless another is chosen. */
export function groupingsOf(channel: Channel): readonly Grouping[] {
  return groupings[channel];
}

export type Period = { from: string; to: string };

/** The period of the address: this month in UTC unless it says another, and never too long. */
export function periodOf({ from, to }: UsageView, now: Date): Period {
  const today = now.toISOString().slice(0, 10);
  const last = to ?? (from && from > today ? from : today);
  const first = from ?? `${last.slice(0, 7)}-01`;
  if (first > last) return { from: last, to: last };
  const earliest = addDays(last, 1 - longestDays);
  // Days are texts that sort as they come.
  return { from: [first, earliest].toSorted().at(-1) as string, to: last };
}

/** Every day of a period. */
export function daysOf({ from, to }: Period): string[] {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1;
  return Array.from({ length: count }, (_, index) => addDays(from, index));
}

function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * dayMs).toISOString().slice(0, 10);
}

function readDay(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== value ? undefined : value;
}
