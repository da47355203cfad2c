import type { DeployedTable } from '../tables/table.ts';
import { type Cursor, cursorText, firstPosition, readCursor, refuseOtherFeed } from './cursor.ts';

const table = {
  table_definition_id: 7,
  name: 'Countries',
  structure: { columns: [{ lineage_id: 11, is_primary_key: true }] },
} as DeployedTable;
const own = { id: 7, key: '11' };
const mark = '2026-01-31T12:00:00.500Z';
const end = '2026-01-31T12:00:01.000Z';
const position = { part: 1, at: end, id: 9, version: 3 };
const refusal = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    const { status, problems } = error as { status: number; problems: { code: string }[] };
    return [status, problems[0]?.code];
  }
  return undefined;
};

describe('a cursor', () => {
  it.each<Cursor>([
    { mark },
    { mark, window: { end, form: 'net', position: firstPosition } },
    { mark, window: { end, form: 'all', position } },
  ])('is read as it was written: %j', (cursor) => {
    const text = cursorText(table, cursor);
    expect(text).toMatch(/^[\w-]+$/);
    expect(readCursor(text)).toEqual({ ...cursor, table: own });
  });

  it('is the mark of an export, too, in any form of the instant', () => {
    for (const text of [mark, '2026-01-31T13:00:00.5+01:00', '20260131T120000,5Z'])
      expect(readCursor(text)).toEqual({ mark });
  });

  it.each([
    '',
    'x',
    'WyJ4Il0',
    ...[
      null,
      [],
      [7, '11', 'x'],
      [7, '11', '2026-13-31T12:00:00.500Z'],
      [7, '11', mark, mark, 'net', 0, mark, 0, 0],
      [7, '11', mark, end, 'some', 0, mark, 0, 0],
      [7, '11', mark, end, 'net', 2, mark, 0, 0],
      [7, '11', mark, end, 'net', 0, "' or 1", 0, 0],
      [7, '11', mark, end, 'net', 0, mark, -1, 0],
      [7, '11', mark, end, 'net', 0, mark, 0, 0.5],
      [7, '11', mark, end, 'net', 0, mark, 2 ** 60, 0],
      [7, '11', mark, end, 'net', 0, mark, 0, 2 ** 40],
    ].map((parts) => Buffer.from(JSON.stringify(parts)).toString('base64url')),
  ])('is no other text: %s', (text) => {
    expect(refusal(() => readCursor(text))).toEqual([400, 'wrong_format']);
  });

  it('is of one table with one key, and amid a window of one form', () => {
    const window = { end, form: 'net' as const, position };
    expect(refusal(() => refuseOtherFeed({ mark }, table, 'net'))).toBeUndefined();
    expect(refusal(() => refuseOtherFeed({ mark, table: own, window }, table, 'net'))).toBeUndefined();
    expect(refusal(() => refuseOtherFeed({ mark, table: own, window }, table, 'all'))).toEqual([400, 'incompatible']);
    expect(refusal(() => refuseOtherFeed({ mark, table: { ...own, id: 8 } }, table, 'net'))).toEqual([
      400,
      'incompatible',
    ]);
    expect(refusal(() => refuseOtherFeed({ mark, table: { ...own, key: '12' } }, table, 'net'))).toEqual([
      410,
      'cursor_expired',
    ]);
  });
});
