// A table so large that deployments must not read it while others wait, with the table that it will
// refer to; and a deployment that only adds to it.
import type { ColumnInput, TableInput } from '../given.ts';

export const large = 10;
export const rows = 100_000;
const colours = 20;

const id: ColumnInput = { name: 'id', data_type: 'integer', is_primary_key: true };
const name: ColumnInput = { name: 'name', length: 40, is_required: true, valid_values: ['old', 'new'] };
const note: ColumnInput = { name: 'note', length: 100 };
const target: TableInput = { id: colours, columns: [{ name: 'code', length: 5, is_primary_key: true }] };

export const before: TableInput[] = [{ id: large, columns: [id, name, note] }, target];

/**
 * Longer texts, a longer list, a new list, a new reference; the key of the target gets longer too.
 */
export const after: TableInput[] = [
  {
    id: large,
    version: 2,
    columns: [
      id,
      { ...name, length: 80, valid_values: ['old', 'new', 'newer'] },
      { ...note, length: 1000 },
      { name: 'size', valid_values: ['small', 'big'] },
      { name: 'colour', length: 5, foreign_key_table_id: colours },
    ],
  },
  { ...target, version: 2, columns: [{ name: 'code', length: 9, is_primary_key: true }] },
];

type Query = (text: string, values?: unknown[]) => Promise<unknown>;

/** Fills both, directly in the database. */
export async function fill(query: Query): Promise<void> {
  const times = 'svc_created_at, svc_updated_at';
  await query(
    `insert into b_1.t_${large} (${times}, c_${large}001, c_${large}002, c_${large}003)
     select clock_timestamp(), clock_timestamp(), n, 'old', md5(n::text) from generate_series(1, $1::int) n`,
    [rows],
  );
  await query(`insert into b_1.t_${colours} (${times}, c_${colours}001) values (now(), now(), 'red')`);
}

/** The constraints and indexes of the large table that are still pending. */
export const pendingSql = `
  select conname as name from pg_constraint where conrelid = 'b_1.t_${large}'::regclass and not convalidated
  union all
  select 'i_${large}_${large}005' where not exists (
    select from pg_index where indexrelid = to_regclass('b_1.i_${large}_${large}005') and indisvalid)
  order by 1`;

/** True while its index is being made and waits for a session with an older snapshot. */
export const isBuildingSql = `
  select exists (select from pg_index where indexrelid = to_regclass('b_1.i_${large}_${large}005') and not indisvalid) as building`;
