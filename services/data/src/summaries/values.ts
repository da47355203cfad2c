// The distinct values of a column among the rows of a filter, with their counts.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type Filter, labelledTables } from '../pages/filter.ts';
import { GridReader, type SelectionRequest, type Targets } from '../pages/grid-plan.ts';
import type { Body } from '../pages/page-cache.ts';
import { matchKey } from '../pages/page-sql.ts';
import { answerRows, type PageAccess, type PageRequest, type RowsAnswer } from '../pages/pages.ts';
import { run } from '../postgres/pools.ts';
import type { Field } from '../rows/fields.ts';
import { labelOfValues } from '../rows/labels.ts';
import { withTable } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import { type ValuesPlan, valuesSql } from './values-sql.ts';

export type ValuesRequest = SelectionRequest & { column: string; search?: string; limit: number };

/** The values, as the body of the answer. */
export function getValues(
  access: PageAccess,
  call: CallContext,
  request: PageRequest,
  input: ValuesRequest,
): Promise<Body> {
  return withTable(access, call, { ...request, includeTargets: true }, 'view', (table, targets) => {
    const plan = planValues(table, input, targets ?? new Map());
    const labelled = labelledTables(plan.filter, [plan.field, ...(plan.label ? [plan.label] : [])]);
    return answerRows(access, values, table, { ...plan, sorts: [] }, { asOf: request.asOf, labelled });
  });
}

/**
 * The plan, or 400 with every problem. The filter of the column itself is left out: a set filter
 * offers the values that it excludes, too.
 */
export function planValues(
  table: Pick<DeployedTable, 'structure'>,
  { column, search = '', limit, ...selection }: ValuesRequest,
  targets: Targets,
): ValuesPlan {
  const reader = new GridReader(table, targets);
  const found = reader.findField('column', column);
  const { filter, includeDeleted } = reader.readSelection(selection, column);
  reader.refuse();
  const field = found as Field;
  const label = labelOfValues(table, field.column, targets);
  const contains = (searched: Field): Filter => ({
    field: searched,
    test: { kind: 'text', operator: 'contains', value: search },
  });
  const searched = search === '' ? [] : [{ any: [contains(field), ...(label ? [contains(label)] : [])] }];
  return { filter: { all: [...filter.all, ...searched] }, includeDeleted, field, ...(label && { label }), limit };
}

const values: RowsAnswer<ValuesPlan & { sorts: [] }> = {
  key: (plan) => `values ${plan.limit} ${JSON.stringify([plan.field.name, plan.label?.name])} ${matchKey(plan)}`,
  read: async ({ pools }, table, plan, reading) =>
    (await run<{ answer: string }>(pools.rows, valuesSql(table, plan, reading)))[0]?.answer,
};
