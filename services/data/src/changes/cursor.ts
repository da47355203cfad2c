// The cursors of a change feed. A cursor is a high-water mark: all changes up to it were answered.
// Between the pages of a window it has the end of the window and the position in it, too. Callers
// see an opaque text. The mark of an export is a cursor as well. Pure.
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import { rule } from '@almanac/service-kit/problems';
import { readInstant } from '@almanac/service-kit/text/instants';
import { z } from 'zod';
import type { DeployedTable } from '../tables/table.ts';
import { keyColumns } from '../tables/table.ts';

/** What is answered of a window: the net changes, or each version. */
export const feedForms = ['net', 'all'] as const;
export type FeedForm = (typeof feedForms)[number];

/** The part of a window that is being read: the last answered row of it. */
export type Position = { part: number; at: string; id: number; version: number };

/** The changes later than one mark up to another, and how far they were answered. */
export type OpenWindow = { end: string; form: FeedForm; position: Position };

/** `table`: the table of the feed and its key; unknown of the mark of an export. */
export type Cursor = { mark: string; table?: CursorTable; window?: OpenWindow };
type CursorTable = { id: number; key: string };

/** The start of a window. */
export const firstPosition: Position = { part: 0, at: '0001-01-01T00:00:00.000Z', id: 0, version: 0 };

const instant = z.iso
  .datetime({ precision: 3 })
  .refine((text) => readInstant(text) !== undefined, rule('wrong_format', 'must be an instant'));
const number = z.int().min(0);
const markSchema = z.tuple([number, z.string().max(400), instant]);
const windowSchema = z.tuple([
  ...markSchema.def.items,
  instant,
  z.enum(feedForms),
  z.int().min(0).max(1),
  instant,
  number,
  number.max(limits.int4),
]);

/** The table of a cursor as it is deployed now. */
const tableOf = (table: DeployedTable): CursorTable => ({
  id: table.table_definition_id,
  key: keyColumns(table.structure)
    .map(({ lineage_id }) => lineage_id)
    .join('.'),
});

/** The cursor as callers get it. */
export function cursorText(table: DeployedTable, { mark, window }: Cursor): string {
  const { id, key } = tableOf(table);
  const parts: unknown[] = [id, key, mark];
  if (window) {
    const { end, form, position } = window;
    parts.push(end, form, position.part, position.at, position.id, position.version);
  }
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** The cursor of a request, of this feed or the mark of an export; 400 for another text. */
export function readCursor(text: string): Cursor {
  const mark = readInstant(text);
  if (mark) return { mark: mark.toISOString() };
  const parts = decode(text);
  const short = markSchema.safeParse(parts);
  if (short.success) {
    const [id, key, at] = short.data;
    return { mark: at, table: { id, key } };
  }
  const long = windowSchema.safeParse(parts);
  if (!long.success || long.data[2] >= long.data[3]) throw invalidCursor();
  const [id, key, from, end, form, part, at, row, version] = long.data;
  return { mark: from, table: { id, key }, window: { end, form, position: { part, at, id: row, version } } };
}

function decode(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
}

const invalidCursor = () =>
  new ServiceError('bad_request', {
    code: 'wrong_format',
    message: 'after must be a cursor of this feed, or the next_high_water_mark of an export.',
    field: 'after',
  });

/**
 * 400 for a cursor of another table, or in the middle of pages of another form; 410 when the table
 * has another primary key now: the old keys have no meaning.
 */
export function refuseOtherFeed(cursor: Cursor, table: DeployedTable, form: FeedForm): void {
  if (!cursor.table) return;
  const { id, key } = tableOf(table);
  const other = (message: string) => new ServiceError('bad_request', { code: 'incompatible', message, field: 'after' });
  if (cursor.table.id !== id) throw other('The cursor is of another table.');
  if (cursor.table.key !== key) throw expired(`The primary key of ${table.name} has changed since the cursor.`);
  if (cursor.window && cursor.window.form !== form)
    throw other(`Read on with versions=${cursor.window.form} until has_more is false.`);
}

/** 410 with what to do. */
export const expired = (reason: string, params?: Record<string, unknown>): ServiceError =>
  new ServiceError('expired', {
    code: 'cursor_expired',
    message: `${reason} Make a full export and go on from its next_high_water_mark.`,
    field: 'after',
    ...(params && { params }),
  });
