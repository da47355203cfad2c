// Feeds as streams of pages that don't end: the changes of a table, and the events of an account. A
// page is requested when the one before was taken. A program that keeps its cursor with what it
// made of it goes on after any interruption, and loses nothing.
import type { Answer, Call } from './calls.ts';
import { AlmanacError } from './errors.ts';
import type { components } from './generated/schema.ts';
import type { Row } from './records.ts';
import { pause } from './waiting.ts';

/** A change of a table; `RowOf` types its record. */
export type Change<R = Row> = Omit<components['schemas']['Change'], 'record'> & { record: R };
export type Event = components['schemas']['Event'];

/** `cursor`: where to go on, kept with what was made of `data`; `has_more`: whether more waits. */
export type FeedPage<Item, Cursor> = { data: Item[]; cursor: Cursor; has_more: boolean };
export type ChangePage<R = Row> = FeedPage<Change<R>, string>;
export type EventPage = FeedPage<Event, number>;

/** The table of a feed; `versions: 'all'` gives each version instead of the net changes. */
export type ChangesOf = ({ table_definition_id: number } | { table_definition_key: string; branch_id: number }) & {
  versions?: 'net' | 'all';
};
/** Which events: all without `type`; `deployment.*` is each that begins so. */
export type EventsOf = { type?: string | string[] };

export type FeedOptions<Cursor> = {
  /** The cursor of the last page that was taken. */
  after?: Cursor;
  /** The most items of a page; default 1,000. */
  limit?: number;
  /** The pause when nothing more waits; default 5,000 ms. Each page is a counted call. */
  everyMs?: number;
  signal?: AbortSignal;
  /** Called before each repetition of a page that failed. */
  onRetry?: (error: unknown, waitMs: number) => void;
};

export type Feeds = {
  /**
   * The changes of a table, page by page. Without `after` the first page is empty and has the
   * cursor of now; an export's `next_high_water_mark` is a cursor, too. Pages without a change are
   * given as well: their cursor is newer. Throws an AlmanacError for what a repetition does not
   * help, and 410 when the cursor is too old.
   */
  changes<R = Row>(of: ChangesOf, options?: FeedOptions<string>): AsyncGenerator<ChangePage<R>, void, undefined>;
  /** The events of the account, page by page, in the same way; without `after` from the oldest. */
  events(of?: EventsOf, options?: FeedOptions<number>): AsyncGenerator<EventPage, void, undefined>;
};

const pageSize = 1_000;
const firstRetryMs = 1_000;
const maxRetryMs = 60_000;
const longestRetryAfter = 300; // seconds

export function createFeeds({ get }: { get: Call<'get'> }): Feeds {
  return {
    changes: ((of: ChangesOf, options: FeedOptions<string> = {}) =>
      follow<Answer<'/table_data/changes', 'get'>, string>(
        (query, signal) => get('/table_data/changes', { params: { query: { ...of, ...query } }, ...signal }),
        options,
      )) as Feeds['changes'],
    events: (of: EventsOf = {}, options: FeedOptions<number> = {}) => {
      const type = of.type === undefined ? {} : { type: [of.type].flat() };
      return follow<Answer<'/events', 'get'>, number>(
        (query, signal) => get('/events', { params: { query: { ...type, ...query } }, ...signal }),
        options,
      );
    },
  };
}

type Query<Cursor> = { after?: Cursor; limit: number };

async function* follow<Page extends FeedPage<unknown, Cursor>, Cursor>(
  read: (query: Query<Cursor>, signal: { signal?: AbortSignal }) => Promise<Page>,
  { after, limit = pageSize, everyMs = 5_000, signal, onRetry }: FeedOptions<Cursor>,
): AsyncGenerator<Page, void, undefined> {
  const withSignal = signal ? { signal } : {};
  let cursor = after;
  for (;;) {
    const query = { limit, ...(cursor === undefined ? {} : { after: cursor }) };
    const page = await readPatiently(() => read(query, withSignal), { signal, onRetry });
    if (page.data.length > 0 || page.cursor !== cursor) yield page;
    cursor = page.cursor;
    if (!page.has_more) await pause(everyMs, signal);
  }
}

// Each call is repeated a few times (`sending.ts`). A feed outlives longer interruptions.
async function readPatiently<T>(
  read: () => Promise<T>,
  { signal, onRetry }: { signal: AbortSignal | undefined; onRetry: FeedOptions<unknown>['onRetry'] },
): Promise<T> {
  for (let delay = firstRetryMs; ; delay = Math.min(maxRetryMs, delay * 2)) {
    try {
      return await read();
    } catch (error) {
      if (signal?.aborted || !mayPass(error)) throw error;
      const asked = error instanceof AlmanacError ? (error.retryAfter ?? 0) * 1000 : 0;
      const wait = Math.max(asked, delay * (0.5 + Math.random() / 2));
      onRetry?.(error, wait);
      await pause(wait, signal);
    }
  }
}

/** Whether a later call may be answered: there was no answer, or one that says so. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof AlmanacError)) return true;
  if (error.status === 429) return (error.retryAfter ?? 0) <= longestRetryAfter;
  return error.status >= 500;
}
