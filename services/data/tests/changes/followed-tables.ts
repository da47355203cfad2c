// Tables whose change feed is read, and the reading.
import { create, deploy, type TableInput } from '../given.ts';
import { codeColumn, nextId } from '../merges/row-merges.ts';
import { net } from '../running-data.ts';
import { marksPassed } from '../versions.ts';
import { cursorOf, follow, lineOf } from './feed.ts';

export const columns = [codeColumn, { name: 'name', length: 20 }, { name: 'size', data_type: 'integer' }];

export async function givenTable(
  rows: Record<string, string> = {},
): Promise<{ table: TableInput; id: number; ids: Record<string, number> }> {
  const table: TableInput = { id: nextId(), columns };
  await deploy(net, [table]);
  const ids: Record<string, number> = {};
  for (const [code, name] of Object.entries(rows)) ids[code] = (await create(net, table.id, { code, name })).svc_sk;
  return { table, id: table.id, ids };
}

/** The cursor after all that has happened so far. */
export async function begin(table: number): Promise<string> {
  await marksPassed(net);
  return cursorOf(net.call, table);
}

/** The lines of the changes after a cursor. */
export async function next(table: number, cursor: string, query = {}): Promise<string[]> {
  await marksPassed(net);
  return (await follow(net.call, table, cursor, query)).changes.map(lineOf);
}
