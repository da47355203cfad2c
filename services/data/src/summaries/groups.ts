// Groups of rows by the values of up to three columns, with counts and aggregates.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { labelledTables } from '../pages/filter.ts';
import { GridReader, numberFamilies, type SelectionRequest, type Targets } from '../pages/grid-plan.ts';
import type { Body } from '../pages/page-cache.ts';
import { matchKey } from '../pages/page-sql.ts';
import { answerRows, type PageAccess, type PageRequest, type RowsAnswer } from '../pages/pages.ts';
import { run } from '../postgres/pools.ts';
import type { Field } from '../rows/fields.ts';
import { labelOfValues } from '../rows/labels.ts';
import { withTable } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Family } from '../values/value-types.ts';
import { type Aggregate, type AggregateFunction, type GroupsPlan, groupOrderSql, groupsSql } from './groups-sql.ts';

export type GroupsRequest = SelectionRequest & {
  columns: string[];
  aggregates: { column: string; function: AggregateFunction }[];
  sortModel?: unknown;
  startRow: number;
  endRow: number;
};

/** A page of groups, as the body of the answer. */
export function getGroups(
  access: PageAccess,
  call: CallContext,
  request: PageRequest,
  input: GroupsRequest,
): Promise<Body> {
  return withTable(access, call, { ...request, includeTargets: true }, 'view', (table, targets) => {
    const plan = planGroups(table, input, targets ?? new Map());
    const named = plan.columns.flatMap(({ field, label }) => (label ? [field, label] : [field]));
    const labelled = labelledTables(plan.filter, [...named, ...plan.aggregates.map(({ field }) => field)]);
    return answerRows(access, groups, table, { ...plan, sorts: [] }, { asOf: request.asOf, labelled });
  });
}

const orderedFamilies: ReadonlySet<Family> = new Set([...numberFamilies, 'text', 'date', 'time', 'instant']);

/** The plan, or 400 with every problem. */
export function planGroups(
  table: Pick<DeployedTable, 'structure'>,
  request: GroupsRequest,
  targets: Targets,
): GroupsPlan {
  const reader = new GridReader(table, targets);
  const window = reader.readWindow(request);
  const fields = readColumns(reader, request.columns);
  const aggregates = request.aggregates.flatMap((each, i) => readAggregate(reader, each, i));
  const selection = reader.readSelection(request);
  const order = reader.readSortModel(request.sortModel);
  for (const { field } of order)
    if (!fields.some(({ name }) => name === field.name))
      reader.problem('incompatible', `sortModel: ${field.name} is not among the columns of the groups.`, {
        field: 'sortModel',
        column: field.name,
      });
  reader.refuse();
  const columns = fields.map((field) => {
    const label = labelOfValues(table, field.column, targets);
    return { field, ...(label && { label }) };
  });
  return { ...selection, columns, order, aggregates, ...window };
}

function readColumns(reader: GridReader, names: string[]): Field[] {
  for (const name of new Set(names.filter((each, i) => names.indexOf(each) !== i)))
    reader.problem('given_twice', `columns: ${name.slice(0, 80)} is named twice.`, { field: 'columns' });
  return names.flatMap((name) => reader.findField('columns', name) ?? []);
}

function readAggregate(
  reader: GridReader,
  { column, function: name }: { column: string; function: AggregateFunction },
  i: number,
): Aggregate[] {
  const place = `aggregates.${i}.column`;
  const field = reader.findField(place, column);
  if (!field) return [];
  const takes = {
    count: undefined,
    min: orderedFamilies,
    max: orderedFamilies,
    sum: numberFamilies,
    avg: numberFamilies,
  }[name];
  if (takes?.has(field.type.family) === false)
    reader.problem('incompatible', `${place}: there is no ${name} of ${field.name}.`, {
      field: place,
      column: field.name,
    });
  return [{ field, function: name }];
}

const groups: RowsAnswer<GroupsPlan & { sorts: [] }> = {
  key: (plan) => {
    const { columns, aggregates, offset, limit } = plan;
    const shown = columns.map(({ field, label }) => [field.name, label?.name]);
    const added = aggregates.map(({ field, function: name }) => [field.name, name]);
    return `groups ${offset} ${limit} ${JSON.stringify([shown, added])} ${groupOrderSql(plan)} ${matchKey(plan)}`;
  },
  read: async ({ pools }, table, plan, reading) =>
    (await run<{ answer: string }>(pools.rows, groupsSql(table, plan, reading)))[0]?.answer,
};
