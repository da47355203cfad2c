// The values that cells of an exported table may have, for workbooks made for editing: valid values
// of columns, and keys of referenced tables.
import type { DeployedColumn__Output } from '@almanac/protos/generated/almanac/data/v1/DeployedColumn.ts';
import type { DeployedTable__Output } from '@almanac/protos/generated/almanac/data/v1/DeployedTable.ts';
import { ServiceError } from '@almanac/service-kit/errors';
import type { JobsContext } from '../context.ts';
import { copiedRows } from '../formats/table-file/copied-rows.ts';
import { type EditedColumn, editingExtras } from '../formats/xlsx/editing-sheets.ts';
import type { SheetExtras } from '../formats/xlsx/xlsx-writer.ts';
import type { JobCaller } from '../queue/jobs.ts';

/** A longer list does not help people choose. */
const maxChoices = 10_000;
/** The limit for all lists of a workbook, which are held in memory. */
const maxChoicesPerWorkbook = 100_000;
/** Longer texts do not fit into a drop-down. */
const maxChoiceLength = 255;

/** The extra sheets of a workbook for editing. Tables that the caller may not view give no list. */
export async function readEditingExtras(
  ctx: JobsContext,
  caller: JobCaller,
  table: DeployedTable__Output,
  signal: AbortSignal,
): Promise<SheetExtras> {
  const columns: EditedColumn[] = [];
  let room = maxChoicesPerWorkbook;
  for (const column of table.columns) {
    const { choices, refersTo } = await readChoices(ctx, caller, column, signal);
    const isUsable = choices && choices.length <= room && choices.every((each) => each.length <= maxChoiceLength);
    if (isUsable) room -= choices.length;
    const { name, data_type: dataType, is_required: isRequired, is_primary_key: isKey, description } = column;
    columns.push({
      ...{ name, dataType, isRequired, isKey, description, refersTo },
      choices: isUsable ? choices : undefined,
    });
  }
  return editingExtras(table.key, columns);
}

type Choices = Pick<EditedColumn, 'choices' | 'refersTo'>;

async function readChoices(
  ctx: JobsContext,
  caller: JobCaller,
  { valid_values, foreign_key_table_id }: DeployedColumn__Output,
  signal: AbortSignal,
): Promise<Choices> {
  if (valid_values.length > 0) return { choices: valid_values.length > maxChoices ? undefined : valid_values };
  if (foreign_key_table_id === undefined) return {};
  try {
    return await readKeys(ctx, caller, foreign_key_table_id, signal);
  } catch (error) {
    if (error instanceof ServiceError && (error.kind === 'forbidden' || error.kind === 'not_found')) return {};
    throw error;
  }
}

async function readKeys(
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
    if (choices.length > maxChoices) return { refersTo: key };
  }
  return { refersTo: key, choices };
}
