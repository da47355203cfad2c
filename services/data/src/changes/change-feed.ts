// The change feed of a table: what changed since a cursor, page by page, complete while writers go
// on. The changes of a window between two high-water marks never change any more
// (`window-sql.ts`), so pages of it fit together, whatever is written or started again in between.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { limits } from '@almanac/service-kit/limits';
import { pgSql } from '@almanac/service-kit/postgres/database';
import { inTurn, type PageState } from '../pages/pages.ts';
import { runCancellable } from '../postgres/cancellable.ts';
import { readHighWaterMark, refuseFutureMark } from '../postgres/high-water-mark.ts';
import type { Pools } from '../postgres/pools.ts';
import { findAnswerability } from '../rows/as-of.ts';
import type { Statement } from '../sql/statement.ts';
import { stale, type TableAccess, type TableRequest, withTable } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { PagePart } from './change-sql.ts';
import {
  type Cursor,
  cursorText,
  expired,
  type FeedForm,
  firstPosition,
  type OpenWindow,
  type Position,
  readCursor,
  refuseOtherFeed,
} from './cursor.ts';
import { changedRowsSql, lostKeysSql } from './net-changes-sql.ts';
import { versionsSql } from './versions-sql.ts';
import { anyChangeSql, cutSql, type Window } from './window-sql.ts';

type Access = TableAccess & { pools: Pools; pages: PageState };
/** `signal`: aborted when the caller no longer waits. */
type Request = TableRequest & { signal: AbortSignal };
type Opened = { access: Access; table: DeployedTable; signal: AbortSignal };

export type FeedRequest = { after?: string | undefined; form: FeedForm; limit: number };

/** The changes as JSON texts, in pieces. */
type Page = { pieces: string[]; next: Cursor; hasMore: boolean };

/**
 * A page of the changes after a cursor: the body of the answer. Without a cursor an empty page with
 * that of now. 400 for a bad cursor, 410 when the history doesn't go back to it.
 */
export function listChanges(
  access: Access,
  call: CallContext,
  { signal, ...request }: Request,
  { after, form, limit }: FeedRequest,
): Promise<string> {
  const cursor = after === undefined ? undefined : readCursor(after);
  return withTable(access, call, request, 'view', async (table) => {
    const opened = { access, table, signal };
    const page = cursor ? await readPage(opened, cursor, form, limit) : await beginFeed(access);
    if (page === stale) return stale;
    const { pieces, next, hasMore } = page;
    return `{"data":[${pieces.join(',')}],"cursor":${JSON.stringify(cursorText(table, next))},"has_more":${hasMore}}`;
  });
}

export type ChangesBetween = { after: string; until: string; most: number; mostBytes: number };

/**
 * The net changes between two high-water marks, as a JSON array; undefined when there are more than
 * `most`, or they take more than `mostBytes`. 400 for other texts, 410 when the history doesn't go
 * back so far.
 */
export async function readChangesBetween(
  access: Access,
  call: CallContext,
  { signal, ...request }: Request,
  { after, until, most, mostBytes }: ChangesBetween,
): Promise<string | undefined> {
  const { mark } = readCursor(after);
  const window: OpenWindow = { end: readCursor(until).mark, form: 'net', position: firstPosition };
  const text = await withTable(access, call, request, 'view', async (table) => {
    const read = () => readNet({ access, table, signal }, mark, window, most);
    const page = await inTurn(access.pages, table, read);
    if (page === stale) return stale;
    return page.position ? undefined : `[${page.pieces.join(',')}]`;
  });
  return text !== undefined && Buffer.byteLength(text) <= mostBytes ? text : undefined;
}

async function beginFeed({ pools }: Access): Promise<Page> {
  return { pieces: [], next: { mark: await readHighWaterMark(pgSql(pools.rows)) }, hasMore: false };
}

async function readPage(opened: Opened, cursor: Cursor, form: FeedForm, limit: number): Promise<Page | typeof stale> {
  const { access, table } = opened;
  refuseOtherFeed(cursor, table, form);
  const sql = pgSql(access.pools.rows);
  await refuseFutureMark(sql, cursor.window?.end ?? cursor.mark, 'after');
  // Read before the statements over rows take their snapshots.
  const mark = await readHighWaterMark(sql);
  let { window } = cursor;
  if (!window) {
    // Marks may go back a little; a cursor does not.
    if (mark <= cursor.mark) return { pieces: [], next: { mark: cursor.mark }, hasMore: false };
    const end = await findEnd(opened, { mark: cursor.mark, end: mark });
    if (end === stale) return stale;
    window = { end, form, position: firstPosition };
  }
  const read = form === 'net' ? readNet : readVersions;
  const page = await inTurn(access.pages, table, () => read(opened, cursor.mark, window, limit));
  if (page === stale) return stale;
  const { pieces, position } = page;
  if (position) return { pieces, next: { mark: cursor.mark, window: { ...window, position } }, hasMore: true };
  return {
    pieces,
    next: { mark: window.end },
    hasMore: window.end < mark && !(await isOver(opened, window.end, mark)),
  };
}

/** The end of the window after a mark: the present mark, or earlier if it would have too much. */
async function findEnd(opened: Opened, window: Window): Promise<string | typeof stale> {
  const found = await run<{ cut: string | null }>(
    opened,
    window,
    cutSql(opened.table, window, limits.changesPerWindow),
  );
  return found === stale ? stale : (found.cut ?? window.end);
}

/** Whether a table has no version later than a mark, up to another. */
async function isOver(opened: Opened, mark: string, end: string): Promise<boolean> {
  const found = await run<{ any: boolean }>(opened, { mark, end }, anyChangeSql(opened.table, { mark, end }));
  return found !== stale && !found.any;
}

/** `position`: that of the last change, while the window has more. */
type WindowPage = { pieces: string[]; position?: Position };

async function readVersions(
  opened: Opened,
  mark: string,
  { end, position }: OpenWindow,
  most: number,
): Promise<WindowPage | typeof stale> {
  const window = { mark, end };
  const part = await run<PagePart>(opened, window, versionsSql(opened.table, { window, position, most }));
  return part === stale ? stale : pageOf(part, most);
}

// The lost keys, then the rows that changed: a page may have the end of the first and the beginning
// of the second.
async function readNet(
  opened: Opened,
  mark: string,
  { end, position }: OpenWindow,
  most: number,
): Promise<WindowPage | typeof stale> {
  const { table } = opened;
  const window = { mark, end };
  let lost: WindowPage = { pieces: [] };
  let left = most;
  if (position.part === 0) {
    const part = await run<PagePart>(opened, window, lostKeysSql(table, { window, position, most }));
    if (part === stale) return stale;
    lost = pageOf(part, most);
    if (lost.position) return lost;
    left -= part.found;
  }
  const from = position.part === 0 ? rowsBegin : position;
  const part = await run<PagePart>(opened, window, changedRowsSql(table, { window, position: from, most: left }));
  if (part === stale) return stale;
  const changed = pageOf(part, left);
  const isFull = sizeOf(lost) > 0 && sizeOf(lost) + sizeOf(changed) > limits.answerBytes;
  if (isFull || (left === 0 && part.found > 0)) return { ...lost, position: from };
  return { ...changed, pieces: [...lost.pieces, ...changed.pieces] };
}

const rowsBegin: Position = { ...firstPosition, part: 1 };
const sizeOf = ({ pieces }: WindowPage) => pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);

function pageOf({ items, found, part, at, id, version }: PagePart, most: number): WindowPage {
  const pieces = items === '' ? [] : [items];
  if (found <= most || part === null || at === null || id === null || version === null) return { pieces };
  return { pieces, position: { part, at, id, version } };
}

// The row of a statement over a window. A statement without one was for another revision of the
// table, or from before the history.
async function run<T>(
  { access, table, signal }: Opened,
  { mark }: Window,
  statement: Statement,
): Promise<T | typeof stale> {
  const [row] = await runCancellable<T>(access.pools, statement, signal);
  if (row) return row;
  const found = await findAnswerability(pgSql(access.pools.rows), table, mark);
  if (!found?.lost) return stale;
  const since = found.since.toISOString();
  throw expired(`What changed in ${table.name} is known since ${since} only.`, { minimum: since });
}
