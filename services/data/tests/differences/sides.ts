// Tables to compare with what is proposed or tried of them.
import { load } from '../files.ts';
import { create, deploy } from '../given.ts';
import { codeColumn, nextId } from '../merges/row-merges.ts';
import { net } from '../running-data.ts';
import type { compare, Difference } from './comparing.ts';

let importTables = 0;

export const columns = ['name', 'size'];

export const file_columns = ['code', ...columns];

export type Row = Record<string, unknown>;

/** A table with the rows a, b and c. */
export async function givenTable(): Promise<{ table: number; ids: Record<string, number> }> {
  const table = nextId();
  const [name, size] = [{ name: 'name', length: 20 }, { name: 'size', data_type: 'integer' } as const];
  await deploy(net, [{ id: table, columns: [codeColumn, name, size] }]);
  const ids: Record<string, number> = {};
  for (const code of ['a', 'b', 'c']) ids[code] = (await create(net, table, { code, name: code, size: 1 })).svc_sk;
  return { table, ids };
}

/** Tries a file; answers the id of its import table. */
export async function tried(table: number, file: string, options = {}): Promise<number> {
  importTables += 1;
  const dry = { file_columns, dry_run: true, import_table_id: importTables, pattern: 'full', allow_mass_delete: true };
  await load(net, table, file, { ...dry, ...options });
  return importTables;
}

/** Of a row that would be created the id is not known yet. */
export const withoutNewIds = (rows: Difference[]) =>
  rows.map((row) => (row.kind === 'created' ? { ...row, id_right: null } : row));

export const statusOf = async (answer: ReturnType<typeof compare>) => {
  const { status, body } = await answer;
  return [status, body.problems?.[0]?.field, body.problems?.[0]?.message];
};

/** An instant after which the last rows of the table came. */
export async function beforeLoad(table: number): Promise<string> {
  const [row] = await net.query(
    `select to_char((max(svc_updated_at) - interval '1 millisecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from b_1.t_${table}`,
  );
  return row?.at as string;
}

export async function clock(): Promise<string> {
  const [row] = await net.query(
    `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`,
  );
  return row?.at as string;
}
