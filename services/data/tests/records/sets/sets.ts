// What the tests of writes of sets begin with: a table of items that refer to kinds, and calls.
import { createHash } from 'node:crypto';
import type { Call } from '@almanac/testkit/calls/call';
import { type ColumnInput, type DataNet, deploy } from '../../given.ts';

let last = 0;

const code: ColumnInput = { name: 'code', length: 5, is_primary_key: true };

export type Pair = { items: number; kinds: number };

/** Items of two kinds, K and L; `more`: further columns of items. */
export async function givenItems(net: DataNet, codes: string[], more: ColumnInput[] = []): Promise<Pair> {
  last += 10;
  const kinds = last;
  const items = kinds + 1;
  await deploy(net, [
    { id: kinds, name: 'Kinds', columns: [code, { name: 'label', length: 20 }] },
    {
      id: items,
      name: 'Items',
      columns: [
        code,
        { name: 'x', length: 10 },
        { name: 'n', data_type: 'integer', valid_values: ['0', '1', '2', '3'] },
        { name: 'kind', length: 5, foreign_key_table_id: kinds },
        ...more,
      ],
    },
  ]);
  await given(net, kinds, [{ code: 'K' }, { code: 'L' }]);
  await given(
    net,
    items,
    codes.map((each, i) => ({ code: each, x: each.toLowerCase(), n: i % 4, kind: 'K' })),
  );
  return { items, kinds };
}

/** Creates rows; answers their ids. */
export async function given(net: DataNet, table: number, records: object[], headers = {}): Promise<number[]> {
  if (records.length === 0) return [];
  const operations = records.map((record) => ({ operation: 'create', record }));
  const answer = await batch(net.call, table, operations, headers);
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.created.map((row: { svc_sk: number }) => row.svc_sk);
}

export const batch = (call: Call, table: number, operations: object[], headers = {}) =>
  call('POST', '/api/v1/table_data/batch', { table_definition_id: table, operations }, headers);

/** A call of one of the writes of sets. */
export const write = (call: Call, name: string, table: number, body: object, headers = {}) =>
  call('POST', `/api/v1/table_data/${name}`, { table_definition_id: table, ...body }, headers);

/** A filter model of one text condition. */
export const equals = (column: string, filter: string) => ({
  [column]: { filterType: 'text', type: 'equals', filter },
});
/** That of a number. */
export const isNumber = (column: string, filter: number) => ({
  [column]: { filterType: 'number', type: 'equals', filter },
});

/** The rows of a table in the order of their creation; deleted ones on demand. */
export async function rowsOf(net: DataNet, table: number, includeDeleted = false) {
  const path = `/api/v1/table_data?table_definition_id=${table}&sort=svc_sk&per_page=1000&include_deleted=${includeDeleted}`;
  return (await net.call('GET', path)).body.data;
}

/** All rows of a table, deleted ones and old versions too, in a few bytes. */
export async function stateOf(net: DataNet, table: number): Promise<string> {
  const text = 'string_agg(v::text, chr(10) order by svc_sk, svc_version)';
  const rows = await net.query(
    `select (select ${text} from b_1.t_${table} v), (select ${text} from b_1.h_${table} v) as h`,
  );
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
}
