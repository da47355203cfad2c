// Tables of one column besides their key, filled with values: what tests of changed columns begin
// with.
import { caller, create, type DataNet, deploy, type TableInput, wanted } from './given.ts';

type ColumnInput = TableInput['columns'][number];

let last = 100;

/** An id that no other table of the file has. */
export function nextId(): number {
  last += 1;
  return last;
}

/** The live rows of a table, oldest first. */
export async function list(net: DataNet, table: number) {
  return (await net.call('GET', `/api/v1/table_data?table_definition_id=${table}&sort=svc_sk`)).body.data;
}

/** What deploying these tables would do. */
export function plan(net: DataNet, tables: TableInput[]) {
  return net.metadata.PlanDeployment(caller, { branch_id: tables[0]?.branch_id ?? 1, tables: tables.map(wanted) });
}

/** A deployed table with a column `x` besides its key, filled with values. */
export async function givenColumn(net: DataNet, column: Partial<ColumnInput>, values: unknown[]): Promise<TableInput> {
  const id = nextId();
  const key: ColumnInput = { name: 'id', data_type: 'integer', is_primary_key: true };
  const table: TableInput = { id, columns: [key, { name: 'x', ...column }] };
  await deploy(net, [table]);
  for (const [i, x] of values.entries()) await create(net, id, { id: i, x });
  return table;
}

/** The same table with another kind of `x`. */
export function changed(table: TableInput, column: Partial<ColumnInput>): TableInput {
  return { ...table, version: 2, columns: [table.columns[0] as ColumnInput, { name: 'x', ...column }] };
}
