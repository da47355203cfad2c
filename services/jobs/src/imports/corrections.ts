// Rejected rows that people correct in place: the cells are kept with the import table, and replace
// those of the stored file when it is loaded again.
import type { RowCorrection } from '@almanac/protos/generated/almanac/data/v1/RowCorrection.ts';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { Problem } from '@almanac/service-kit/problems';
import type { JobsContext } from '../context.ts';
import type { import_table } from '../generated/prisma/client.ts';
import { findEarlierResult } from '../idempotency.ts';
import { importTableMachine } from '../states/import-states.ts';
import { statesAllowing } from '../states/state-machine.ts';
import { loadAgain } from './further-load.ts';
import { authorizeMassDeletion } from './import-tables.ts';
import { openImportTable, wrongState } from './imports.ts';
import { type RejectedRows, readRejectedRows } from './rejected-rows.ts';
import { requireLoadable } from './row-policy.ts';

/** Cells by the names that the columns have in the file; as they are kept, by their positions. */
type Correction = { row: number; cells: Record<string, string | null> };

/**
 * Corrects rejected rows and queues the load of the file; answers its table. 422 for a table that
 * has loaded rows, or rejected none, for rows that it has not rejected, and for cells that it has
 * not.
 */
export async function correctRows(
  ctx: JobsContext,
  call: CallContext,
  ids: { importId: number; tableId: number },
  read: () => { rows: Correction[] },
): Promise<import_table> {
  const { found, table } = await openImportTable(ctx, call, ids, 'edit');
  const { rows } = read();
  if ((await findEarlierResult(ctx, call)) === undefined) {
    requireCorrectable(table);
    const { table_definition_id, load_id } = table;
    if (!table.dry_run) await requireLoadable(ctx, call, table_definition_id);
    const mass_delete_by = await authorizeMassDeletion(ctx, call, found.branch_id, table);
    const window = { start_row: 0, end_row: limits.gridRows, rows: rows.map(({ row }) => row) };
    const corrections = merge(table, rows, await readRejectedRows(ctx, call, table, window));
    const isQueued = await loadAgain(ctx, call, table, {
      event: 'correct',
      where: { load_id, OR: [{ applied_as: null }, { applied_as: 'rows' }] },
      data: { corrections, mass_delete_by },
    });
    if (!isQueued) throw wrongState('The import table has changed; look at its rejected rows again.');
  }
  return ctx.prisma.import_table.findFirstOrThrow({ where: { id: table.id, account_id: call.accountId } });
}

function requireCorrectable({ status, dry_run, applied_as, rows_rejected }: import_table): void {
  const hasEnded = statesAllowing(importTableMachine, 'correct').some((state) => state === status);
  if (!hasEnded || !rows_rejected)
    throw wrongState('Rows are corrected of an import table that has ended and rejected some.', { state: status });
  if (applied_as === 'change_request')
    throw wrongState('The dry run is proposed already; correct its rows in the change request.', { applied_as });
  if (!dry_run && status !== 'failed')
    throw wrongState('The accepted rows are loaded already; import a file with the rejected ones, corrected.');
}

// Earlier corrections stay. Cells are those of columns that are loaded, of rows that were rejected.
function merge({ corrections }: import_table, rows: Correction[], rejected: RejectedRows): Correction[] {
  const positions = new Map(
    rejected.columns.flatMap(({ name, target }, position) => (target === null ? [] : [[name, position] as const])),
  );
  const numbers = new Set(rejected.rows.map(({ row }) => row));
  const merged = new Map((corrections as Correction[]).map((each) => [each.row, each]));
  const problems: Problem[] = [];
  for (const [at, { row, cells }] of rows.entries()) {
    const given = Object.entries(cells);
    const invalid = (message: string) => problems.push({ code: 'invalid', message, field: 'rows', row: at });
    if (!numbers.has(row)) invalid(`Row ${row} of the file is not among the rejected ones`);
    if (given.length === 0) invalid(`Row ${row} has no cells`);
    for (const [name] of given)
      if (!positions.has(name)) invalid(`The file has no column ${name} that fills a column of the table`);
    const corrected = Object.fromEntries(given.map(([name, value]) => [positions.get(name), value]));
    merged.set(row, { row, cells: { ...merged.get(row)?.cells, ...corrected } });
  }
  const all = [...merged.values()];
  const most = limits.correctedRowsPerImportTable;
  if (all.length > most || JSON.stringify(all).length > limits.jsonBodyBytes)
    problems.push({
      code: 'limit_reached',
      message: `At most ${most} rows of a file can be corrected in place, with 1 MB of text; correct the file itself`,
      field: 'rows',
      params: { maximum: most },
    });
  if (problems.length > 0) throw validationFailed(problems);
  return all;
}

/** The corrections as data takes them. `targets`: the column of the table by position. */
export const correctionsOf = (table: import_table, targets: ReadonlyMap<number, string>): RowCorrection[] =>
  (table.corrections as Correction[]).map(({ row, cells }) => ({
    row,
    cells: Object.entries(cells).map(([position, value]) => ({
      position: Number(position),
      target_column: targets.get(Number(position)) ?? '',
      ...(value === null ? {} : { value }),
    })),
  }));
