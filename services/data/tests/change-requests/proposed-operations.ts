// Change requests of one table, for the tests of their operations.
import { deploy, type TableInput } from '../given.ts';
import { nextId } from '../merges/row-merges.ts';
import type { Op } from '../operations.ts';
import { net } from '../running-data.ts';

type Columns = TableInput['columns'];

export const code: Columns[number] = { name: 'code', length: 5, is_primary_key: true };

export async function givenTable(columns: Columns = [{ name: 'x', length: 10 }], more: Partial<TableInput> = {}) {
  const id = nextId();
  await deploy(net, [{ id, columns: [code, ...columns], ...more }]);
  return id;
}

export const patch = (table: number, id: number, record: Op) =>
  net.call('PATCH', `/api/v1/table_data/${id}`, { table_definition_id: table, record });

export const codesOf = (problems: { code: string }[]) => problems.map((problem) => problem.code);
