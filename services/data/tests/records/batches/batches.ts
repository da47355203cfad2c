// Batches on a table, and what they leave in it.
import { createHash } from 'node:crypto';
import { create, deploy, type TableInput } from '../../given.ts';
import { nextId } from '../../merges/row-merges.ts';
import type { Op } from '../../operations.ts';
import { net } from '../../running-data.ts';

export type Columns = TableInput['columns'];

export const code: Columns[number] = { name: 'code', length: 5, is_primary_key: true };

/** A table of these columns besides its key, `code`. */
export async function givenTable(columns: Columns = [{ name: 'x', length: 10 }], more: Partial<TableInput> = {}) {
  const { id = nextId() } = more;
  await deploy(net, [{ id, columns: [code, ...columns], ...more }]);
  return id;
}

export async function givenRows(table: number, ...codes: string[]): Promise<number[]> {
  const rows = [];
  for (const each of codes) rows.push(await create(net, table, { code: each }));
  return rows.map((row) => row.svc_sk);
}

export const batch = (table: number, operations: unknown, headers = {}, call = net.call) =>
  call('POST', '/api/v1/table_data/batch', { table_definition_id: table, operations }, headers);

export const rowsOf = async (table: number) =>
  (await net.call('GET', `/api/v1/table_data?table_definition_id=${table}&sort=svc_sk&per_page=1000`)).body.data;

export const codesOf = async (table: number) => (await rowsOf(table)).map((row: { code: string }) => row.code);

/** All rows of a table, deleted ones and old versions too, in a few bytes. */
async function stateOf(table: number): Promise<string> {
  const text = 'string_agg(v::text, chr(10) order by svc_sk, svc_version)';
  const rows = await net.query(
    `select (select ${text} from b_1.t_${table} v), (select ${text} from b_1.h_${table} v) as h`,
  );
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
}

export async function expectRefused(table: number, operations: Op[], status: number, errors: unknown): Promise<void> {
  const before = await stateOf(table);
  const answer = await batch(table, operations);
  expect({ status: answer.status, errors: answer.body.errors }).toEqual({ status, errors });
  expect(await stateOf(table)).toBe(before);
}
