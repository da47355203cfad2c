// Checks a mapping before there is a file, and before its columns are deployed: by the readings and
// rules that a load applies, in one statement.
import type { CheckColumnSourcesRequest__Output } from '@almanac/protos/generated/almanac/data/v1/CheckColumnSourcesRequest.ts';
import { ServiceError } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type pg from 'pg';
import { readWantedColumn } from '../deployments/wanted-tables.ts';
import { run } from '../postgres/pools.ts';
import { Values } from '../sql/statement.ts';
import { sentence, valueChecks } from '../tables/column-rules.ts';
import type { Column } from '../tables/table.ts';
import { dataTypes } from '../values/value-types.ts';
import { type CellReading, messageOf, readCell } from './plan/cell-reading.ts';

/** Every problem, each a sentence. */
export async function checkColumnSources(
  rows: pg.Pool,
  { columns, sources, ...style }: CheckColumnSourcesRequest__Output,
): Promise<string[]> {
  if (columns.length > limits.columnsPerTable || sources.length > limits.columnsPerTable)
    throw new ServiceError('bad_request', {
      code: 'too_many',
      message: `At most ${limits.columnsPerTable} columns.`,
      params: { maximum: limits.columnsPerTable },
    });
  const byName = new Map(columns.map((column) => [column.name, readWantedColumn(column)]));
  const problems: string[] = [];
  const defaults: { column: Column; reading: CellReading }[] = [];
  for (const source of sources) {
    const column = byName.get(source.target_column);
    if (!column || !dataTypes.includes(column.data_type)) continue;
    // A looked-up cell holds a text, whatever the type of the column is.
    const holds = source.lookup === undefined ? column : ({ data_type: 'text' } as const);
    const reading =
      source.lookup !== undefined && source.date_format !== ''
        ? undefined
        : readCell(holds, column.name, source, style);
    if (typeof reading === 'string') problems.push(reading);
    else if (reading && source.default_value !== undefined && source.lookup === undefined)
      defaults.push({ column, reading });
  }
  return [...problems, ...(await brokenDefaults(rows, defaults))];
}

async function brokenDefaults(rows: pg.Pool, defaults: { column: Column; reading: CellReading }[]): Promise<string[]> {
  if (defaults.length === 0) return [];
  const values = new Values();
  const problems = defaults.map(({ column, reading }) => {
    const cell = reading.sql('b.cell');
    const checks = valueChecks(column).map(
      (check) =>
        `when ${check.brokenSql(cell, values.bind)} then ${values.bind(`The default for ${sentence(column, messageOf(check, reading))}`, 'text')}`,
    );
    return `case ${checks.join(' ')} end`;
  });
  // One row with a blank cell from `unnest`, whose value the planner doesn't know: it would
  // evaluate casts of constants in advance, though an earlier branch of the `case` excludes them.
  const blank = 'unnest(array[null::text]) b(cell)';
  const text = `select array_remove(array[${problems.join(', ')}]::text[], null) as problems from ${blank}`;
  const [found] = await run<{ problems: string[] }>(rows, { text, values: values.list });
  return found?.problems ?? [];
}
