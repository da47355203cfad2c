// Pages of rows, for the grid and as a list: open the table, plan, write the statement, run it; the
// answer is the body that PostgreSQL wrote.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import type { DataContext } from '../context.ts';
import { type ReadingRequest, readTable } from '../rows/read-table.ts';
import type { TableRequest } from '../tables/open-table.ts';
import { type GridRequest, planGrid } from './grid-plan.ts';
import { type ListRequest, planList } from './list-plan.ts';
import type { Body } from './page-cache.ts';
import { gridSql, listSql } from './page-sql.ts';
import { readPage } from './read-page.ts';

/** A page of the grid: the body of the answer, as PostgreSQL wrote it. */
export function getGrid(
  ctx: DataContext,
  call: CallContext,
  reference: TableRequest,
  request: GridRequest,
  how: ReadingRequest = {},
): Promise<Body> {
  return readTable(ctx, call, reference, how, (table, reading) => {
    const plan = planGrid(table, request);
    return readPage(ctx, table, plan, reading, {
      name: 'grid',
      write: (served, counting) => gridSql(table, served, reading, counting),
    });
  });
}
/** A page of the list, the same way. */
export function listRecords(
  ctx: DataContext,
  call: CallContext,
  reference: TableRequest,
  request: ListRequest,
  how: ReadingRequest = {},
): Promise<Body> {
  return readTable(ctx, call, reference, how, (table, reading) => {
    const { plan, ...page } = planList(table, request);
    return readPage(ctx, table, plan, reading, {
      name: 'list',
      write: (served, counting) => listSql(table, served, page, reading, counting),
    });
  });
}
