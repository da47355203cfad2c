// Rows of every type that refer to records of another table and of their own, in a service and in
// memory, for comparisons with a plain model.

import fc from 'fast-check';
import { type DataNet, deploy, type TableInput } from '../given.ts';
import { columns, filterModelWith, kinds, makeRecords } from '../pages/grid-models.ts';
import { type Kind, lower, type Model, reference } from '../pages/grid-reference.ts';

// biome-ignore lint/suspicious/noExplicitAny: records of any table
export type Row = Record<string, any>;

const owners: TableInput = {
  id: 2,
  domain_id: 2,
  columns: [
    { name: 'code', length: 2, is_primary_key: true },
    { name: 'name', length: 50 },
  ],
};
export const things: TableInput = {
  id: 1,
  columns: [
    ...columns,
    { name: 'owner', length: 2, foreign_key_table_id: 2 },
    { name: 'twin', data_type: 'integer', foreign_key_table_id: 1 },
  ],
};

/** The kinds of all columns and labels. */
export const kindsOfAll: Record<string, Kind> = {
  ...kinds,
  owner: 'text',
  twin: 'number',
  'owner.$label': 'text',
  'twin.$label': 'text',
};

const ownerNames = ['Alpha', 'alpha', 'Ärger', '', null, 'beta 100%', '😀'];
const codeOf = (i: number) => `o${i}`;

export type Given = { shown: Row; typed: Row };
export type Selection = { filterModel?: Model['filterModel']; or?: Model['filterModel'][]; q?: string };

/** A column and a direction. */
export const anySort = fc.record({
  colId: fc.constantFrom(...Object.keys(kindsOfAll)),
  sort: fc.constantFrom('asc' as const, 'desc' as const),
});

/** Which rows a request may be about. */
export const anySelection: fc.Arbitrary<Selection> = fc.record(
  {
    filterModel: filterModelWith(['owner', 'owner.$label', 'twin.$label']),
    or: fc.array(filterModelWith(['owner.$label']), { minLength: 1, maxLength: 3 }),
    q: fc.constantFrom('a', 'AL', ' alpha  a', 'ä', '%', '_', 'o1', 'beta 100%', '😀', ' ', 'zz'),
  },
  { requiredKeys: ['filterModel'] },
);

/** Which rows those are, in order, by a plain reading of the rules. */
export function selected(
  rows: Given[],
  { filterModel = {}, or, q = '' }: Selection,
  sortModel: Model['sortModel'] = [],
): Given[] {
  const byTyped = new Map(rows.map((row) => [row.typed, row]));
  const find = (model: Model['filterModel'], sorts: Model['sortModel'] = []) =>
    reference([...byTyped.keys()], kindsOfAll, { filterModel: model, sortModel: sorts });
  const any = or && new Set(or.flatMap((model) => find(model)));
  const words = q.split(' ').filter((word) => word !== '');
  const texts = ['name', 'note', 'owner', 'owner.$label', 'twin.$label'];
  return find(filterModel, sortModel)
    .filter((row) => any?.has(row) !== false)
    .filter((row) => words.every((word) => texts.some((name) => row[name] !== null && has(row[name], word))))
    .map((row) => byTyped.get(row) as Given);
}

/** As `contains`. */
export const has = (text: unknown, word: string): boolean => lower(text).includes(lower(word));

async function createAll(net: DataNet, table: number, records: Row[]): Promise<void> {
  const operations = records.map((record) => ({ operation: 'create', record }));
  const answer = await net.call('POST', '/api/v1/table_data/batch', { table_definition_id: table, operations });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}

/**
 * Deploys both tables and fills them. The rows in the order of `svc_sk`: `shown` as records show
 * them with exact numbers, and their labels by name; `typed` as a model compares them.
 */
export async function givenRows(net: DataNet, count: number): Promise<Given[]> {
  await deploy(net, [owners, things]);
  await createAll(
    net,
    2,
    ownerNames.map((name, i) => ({ code: codeOf(i), name })),
  );
  const records = makeRecords(count);
  await createAll(
    net,
    1,
    records.map((record, i) => ({
      ...record,
      owner: i % 5 === 0 ? null : codeOf((i >> 1) % ownerNames.length),
      twin: i % 3 === 0 ? null : records[(i * 11) % count]?.id,
    })),
  );
  const body = { table_definition_id: 1, startRow: 0, endRow: 1000, include_lookups: true };
  const { rows } = (await net.call('POST', '/api/v1/table_data/grid?exact_numbers=true', body)).body;
  return rows.map(({ svc_lookups, ...record }: Row) => {
    const labels = { 'owner.$label': svc_lookups.owner, 'twin.$label': svc_lookups.twin };
    const shown = { ...record, ...labels };
    const amount = record.amount === null ? null : Number(record.amount);
    return { shown, typed: { ...shown, amount, big: record.big === null ? null : BigInt(record.big) } };
  });
}

/** Deploys table 5 of titles by code, and table 6 that refers to it and shows them as labels. */
export const deployTitles = (net: DataNet) =>
  deploy(net, [
    {
      id: 5,
      columns: [
        { name: 'code', length: 2, is_primary_key: true },
        { name: 'title', length: 9 },
      ],
    },
    { id: 6, columns: [{ name: 'ref', length: 2, foreign_key_table_id: 5 }] },
  ]);
