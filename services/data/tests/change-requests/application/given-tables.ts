// Tables of which rows are proposed, and what an application leaves in them.
import { type ColumnInput, create, deploy, type TableInput } from '../../given.ts';
import { nextId } from '../../merges/row-merges.ts';
import { net } from '../../running-data.ts';
import { apply, givenRequest, nextRequest, problemsOf, type TestOperation } from './applied-requests.ts';

export type Given = { table: TableInput; ids: Record<string, number> };

export const usual: ColumnInput[] = [
  { name: 'code', length: 10, is_primary_key: true },
  { name: 'name', length: 10, is_required: true },
  { name: 'size', data_type: 'integer' },
  { name: 'color', valid_values: ['red', 'blue'] },
];

/** A table with the rows A, B and C, or with these. */
export async function given(
  columns = usual,
  records: Record<string, unknown>[] = ['A', 'B', 'C'].map((code) => ({ code, name: `n${code}`, size: 1 })),
): Promise<Given> {
  const table = { id: nextId(), columns };
  await deploy(net, [table]);
  const ids: Record<string, number> = {};
  for (const record of records) ids[String(record.code)] = (await create(net, table.id, record)).svc_sk;
  return { table, ids };
}

export type Row = { code: string } & Record<string, unknown>;

export async function rowsOf({ table }: Given): Promise<Record<string, unknown[]>> {
  const { body } = await net.call(
    'GET',
    `/api/v1/table_data?table_definition_id=${table.id}&sort=svc_sk&per_page=1000`,
  );
  return Object.fromEntries(
    body.data.map((row: Row) => [row.code, table.columns.slice(1).map(({ name }) => row[name])]),
  );
}

/** Opens a request and expects that rehearsal and application find the same problems. */
export async function expectProblems(
  operations: TestOperation[],
  expected: [number, string, string][],
): Promise<number> {
  const id = nextRequest();
  const ids = await givenRequest(net, id, operations);
  expect(await problemsOf(net, id, ids)).toEqual(expected);
  const refused = await apply(net, id);
  expect([refused.status, refused.problem_count]).toEqual(['refused', expected.length]);
  expect(
    refused.problems.map(({ operation_id, code, message }) => [ids.indexOf(Number(operation_id)), code, message]),
  ).toEqual(expected);
  return id;
}
