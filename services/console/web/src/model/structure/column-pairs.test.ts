import type { Column } from '../../api/queries.ts';
import type { DraftColumn } from '../definition/queries.ts';
import { isReordered, pairColumns } from './column-pairs.ts';

const plain = { data_type: 'string', length: 10, scale: null, is_primary_key: false, valid_values: null } as const;
const column = (id: number, name: string, more = {}) => ({ ...plain, id, name, ...more });
const draft = (...columns: object[]) => columns as DraftColumn[];
const deployed = (...columns: object[]) => columns as Column[];
const shown = (...given: Parameters<typeof pairColumns>) =>
  pairColumns(...given).map(({ draft, deployed, change, changed }) => [draft?.name, deployed?.name, change, changed]);

it('a column is the same one under another name, and says what has changed', () => {
  expect(
    shown(
      draft(column(1, 'code'), column(2, 'title', { length: 40 }), column(3, 'area')),
      deployed(column(1, 'code'), column(2, 'name')),
    ),
  ).toEqual([
    ['code', 'code', undefined, []],
    ['title', 'name', 'update', ['name', 'length']],
    ['area', undefined, 'create', []],
  ]);
});

it('columns that were taken out stand where they were', () => {
  const service = deployed(column(1, 'a'), column(2, 'b'), column(3, 'c'), column(4, 'd'));
  const names = (...ids: number[]) =>
    pairColumns(draft(...ids.map((id) => column(id, `${id}`))), service).map(({ id }) => id);
  expect(names(2, 4)).toEqual([1, 2, 3, 4]);
  expect(names(4, 3)).toEqual([1, 2, 4, 3]);
});

it('another order is seen among the columns that both have', () => {
  const service = deployed(column(1, 'a'), column(2, 'b'), column(3, 'c'));
  expect(isReordered(draft(column(9, 'new'), column(1, 'a'), column(3, 'c')), service)).toBe(false);
  expect(isReordered(draft(column(2, 'b'), column(1, 'a')), service)).toBe(true);
});
