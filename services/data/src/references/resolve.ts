// Finds the records that labels mean: those to which a column refers, or those of the table itself.
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { ServiceError, shorten } from '@almanac/service-kit/errors';
import type { CountCache } from '../pages/count-cache.ts';
import type { PageLimiter } from '../pages/page-limiter.ts';
import { type Pools, run } from '../postgres/pools.ts';
import { requireKey } from '../records/preconditions.ts';
import { displayColumn } from '../rows/lookups-sql.ts';
import { notDeployed } from '../tables/catalogue.ts';
import { stale, type TableAccess, type TableRequest, withTable } from '../tables/open-table.ts';
import { type Column, type DeployedTable, getColumn } from '../tables/table.ts';
import { requireRightOn } from '../tables/table-rights.ts';
import { type LabelMatch, type LabelPlan, resolveSql } from './resolve-sql.ts';

/** What resolving labels takes. */
export type ResolveAccess = TableAccess & {
  pools: Pools;
  pages: { counts: Pick<CountCache, 'isLarge'>; limiter: PageLimiter };
};

/** `column`: the reference whose records are meant; without it those of the table. */
export type LabelsInput = { column?: string | undefined; labels: string[] };

/**
 * The body of the answer: for each label the record that has it in the display column, or those
 * that may be meant. 400 for a column that refers to no table, 403 without `view` on the
 * referenced one.
 */
export function resolveLabels(
  access: ResolveAccess,
  call: CallContext,
  request: TableRequest,
  { column, labels }: LabelsInput,
): Promise<string> {
  return withTable(access, call, request, 'view', async (table) => {
    const plan = await planLabels(access, call, table, column);
    const unique = [...new Set(labels)];
    const { counts, limiter } = access.pages;
    const leave = counts.isLarge(plan.target) ? await limiter.enter() : undefined;
    try {
      const found = await run<LabelMatch | { place: null }>(access.pools.rows, resolveSql(table, plan, unique));
      if (found.length === 0) return stale;
      return answerText(
        unique,
        found.filter((row): row is LabelMatch => row.place !== null),
        column !== undefined,
      );
    } finally {
      leave?.();
    }
  });
}

async function planLabels(
  access: ResolveAccess,
  call: CallContext,
  table: DeployedTable,
  name: string | undefined,
): Promise<LabelPlan> {
  if (name === undefined) {
    const key = requireKey(table).map((column) => ({ column }));
    return { target: table, shown: displayColumn(table.structure) as Column, key };
  }
  const { structure } = table;
  const column = structure.columns.find((each) => each.name === name);
  if (!column) throw refused('unknown_property', `${shorten(name)} is not a column of this table.`, shorten(name));
  const foreignKey = structure.foreign_keys.find(({ columns }) => columns.includes(column.lineage_id));
  if (!foreignKey) throw refused('incompatible', `${column.name} refers to no table.`, column.name);
  // As the database has it now: an outdated entry would not be read again.
  const target = await access.catalogue.read(call.accountId, { id: foreignKey.target_table_id });
  if (!target) throw notDeployed();
  await requireRightOn(access, call, 'view', target);
  const key = foreignKey.target_columns.map((lineage, i) => ({
    column: getColumn(target.structure, lineage),
    referring: getColumn(structure, foreignKey.columns[i] as number).name,
  }));
  return { target, shown: displayColumn(target.structure) as Column, key };
}

const refused = (code: 'unknown_property' | 'incompatible', message: string, column: string) =>
  new ServiceError('bad_request', { code, message, field: 'column', column });

function answerText(labels: string[], found: LabelMatch[], isReference: boolean): string {
  const byPlace = Map.groupBy(found, ({ place }) => Number(place));
  const resolved: string[] = [];
  const ambiguous: string[] = [];
  const unknown: string[] = [];
  const show = ({ id, key, values, display }: LabelMatch) =>
    `"id":${id},"key":${key},${isReference ? `"values":${values},` : ''}"display":${JSON.stringify(display)}`;
  for (const [i, label] of labels.entries()) {
    const matches = byPlace.get(i + 1);
    const own = `"label":${JSON.stringify(label)}`;
    if (!matches) unknown.push(JSON.stringify(label));
    else if (matches[0]?.total === 1) resolved.push(`{${own},${show(matches[0])}}`);
    else
      ambiguous.push(`{${own},"count":${matches[0]?.total},"matches":[${matches.map((match) => `{${show(match)}}`)}]}`);
  }
  return `{"resolved":[${resolved}],"ambiguous":[${ambiguous}],"unknown":[${unknown}]}`;
}
