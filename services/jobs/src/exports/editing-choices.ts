// The values that cells of an exported table may have, for workbooks that are made for editing: valid values of
// columns, and keys of the tables that they refer to.
import type { DeployedColumn__Output } from '@almanac/protos/generated/almanac/data/v1/DeployedColumn.ts';
import type { DeployedTable__Output } from '@almanac/protos/generated/almanac/data/v1/DeployedTable.ts';
import { ServiceError } from '@almanac/service-kit/errors';
import type { JobsContext } from '../context.ts';
import { copiedRows } from '../formats/table-file/copied-rows.ts';
import { besideEditedRows, type EditedColumn } from '../formats/xlsx/editing-sheets.ts';
import type { BesideRows } from '../formats/xlsx/xlsx-writer.ts';
import type { JobCaller } from '../queue/jobs.ts';

/** Longer lists are of no help to whoever chooses. */
const mostChoices = 10_000;
/** Of all lists of a workbook together, which are held in memory. */
const mostOfAll = 100_000;
/** More than a drop-down shows. */
const longestChoice = 255;

/** What a workbook of this table has beside its rows. Tables that the caller may not see give no list. */
export async function besideRows(
  ctx: JobsContext,
  caller: JobCaller,
  table: DeployedTable__Output,
  signal: AbortSignal,
): Promise<BesideRows> {
  const columns: EditedColumn[] = [];
  let room = mostOfAll;
  for (const column of table.columns) {
    const { choices, refersTo } = await choicesOf(ctx, caller, column, signal);
    const isUsable = choices && choices.length <= room && choices.every((each) => each.length <= longestChoice);
    if (isUsable) room -= choices.length;
    const { name, data_type: dataType, is_required: isRequired, is_primary_key: isKey, description } = column;
    columns.push({
      ...{ name, dataType, isRequired, isKey, description, refersTo },
      choices: isUsable ? choices : undefined,
    });
  }
  return besideEditedRows(table.key, columns);
}

type Choices = Pick<EditedColumn, 'choices' | 'refersTo'>;

async function choicesOf(
  ctx: JobsContext,
  caller: JobCaller,
  { valid_values, foreign_key_table_id }: DeployedColumn__Output,
  signal: AbortSignal,
): Promise<Choices> {
  if (valid_values.length > 0) return { choices: valid_values.length > mostChoices ? undefined : valid_values };
  if (foreign_key_table_id === undefined) return {};
  try {
    return await keysOf(ctx, caller, foreign_key_table_id, signal);
  } catch (error) {
    if (error instanceof ServiceError && (error.kind === 'forbidden' || error.kind === 'not_found')) return {};
    throw error;
  }
}

async function keysOf(
  ctx: JobsContext,
  caller: JobCaller,
  table_definition_id: number,
  signal: AbortSignal,
): Promise<Choices> {
  const { key, columns } = await ctx.data.GetDeployedTable(caller, { table_definition_id });
  const keys = columns.filter(({ is_primary_key }) => is_primary_key);
  if (keys.length !== 1) return { refersTo: key };
  const request = { table_definition_id, pattern: 'full', high_water_mark: '', as_of: '' };
  const parts = ctx.data.BulkRead(caller, request, { signal });
  let place = -1;
  async function* rows() {
    for await (const { start, chunk } of parts) {
      if (start) place = start.columns.indexOf(keys[0]?.name ?? '');
      if (chunk) yield chunk as Uint8Array;
    }
  }
  const choices: string[] = [];
  for await (const batch of copiedRows(rows())) {
    for (const cells of batch) choices.push(cells[place] ?? '');
    if (choices.length > mostChoices) return { refersTo: key };
  }
  return { refersTo: key, choices };
}
