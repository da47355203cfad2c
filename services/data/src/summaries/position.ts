// The place of a row in the list that a grid query pages through.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { labelledTables } from '../pages/filter.ts';
import { orderSql } from '../pages/filter-sql.ts';
import { GridReader, namesLabels, type SelectionRequest, type Targets } from '../pages/grid-plan.ts';
import type { Body } from '../pages/page-cache.ts';
import { matchKey } from '../pages/page-sql.ts';
import { answerRows, type PageAccess, type PageRequest, type RowsAnswer } from '../pages/pages.ts';
import { run } from '../postgres/pools.ts';
import { withTable } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import { type PositionPlan, positionSql } from './position-sql.ts';

export type PositionRequest = SelectionRequest & { sortModel?: unknown; id: string };

/** `index`, counted from 0, as the body of the answer; null when the row is not in the list. */
export function getPosition(
  access: PageAccess,
  call: CallContext,
  request: PageRequest,
  input: PositionRequest,
): Promise<Body> {
  const named = { ...request, includeTargets: namesLabels(input) };
  return withTable(access, call, named, 'view', (table, targets) => {
    const plan = planPosition(table, input, targets ?? new Map());
    const labelled = labelledTables(
      plan.filter,
      plan.sorts.map(({ field }) => field),
    );
    return answerRows(access, position, table, plan, { asOf: request.asOf, labelled });
  });
}

/** The plan, or 400 with every problem. */
export function planPosition(
  table: Pick<DeployedTable, 'structure'>,
  { id, sortModel, ...selection }: PositionRequest,
  targets: Targets,
): PositionPlan {
  const reader = new GridReader(table, targets);
  const rows = reader.readSelection(selection);
  const sorts = reader.readSortModel(sortModel);
  reader.refuse();
  return { ...rows, sorts, id };
}

const position: RowsAnswer<PositionPlan> = {
  key: (plan) => `position ${plan.id} ${orderSql(plan)} ${matchKey(plan)}`,
  read: async ({ pools }, table, plan, reading) =>
    (await run<{ answer: string }>(pools.rows, positionSql(table, plan, reading)))[0]?.answer,
};
