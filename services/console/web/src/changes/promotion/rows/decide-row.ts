// What a decision changes in the rows that are shown. Pure.
import type { Schemas } from '../../../api/client.ts';
import { decisionOf } from '../../../parts/review/verb.ts';
import type { RowPages } from './promoted-rows-query.ts';

type Decision = Pick<Schemas['PromotedRowDecision'], 'rows' | 'decision' | 'comment'>;

/** The pages with the rows of these keys decided, and counted so. */
export function decideRow(
  pages: RowPages | undefined,
  { rows = [], decision, comment }: Decision,
): RowPages | undefined {
  if (!pages) return pages;
  const names = new Set(rows.map(nameOf));
  const after = decisionOf[decision];
  const counts = { undecided: 0, accepted: 0, rejected: 0 };
  const decided = pages.pages.map((page) => ({
    ...page,
    rows: page.rows.map((row) => {
      if (!names.has(nameOf(row)) || row.decision === after) return row;
      counts[row.decision] -= 1;
      counts[after] += 1;
      return { ...row, decision: after, comment: comment ?? null };
    }),
  }));
  return {
    ...pages,
    pages: decided.map((page) => ({
      ...page,
      counts: { ...page.counts, decisions: sum(page.counts.decisions, counts) },
    })),
  };
}

type Counts = Schemas['PromotedRowPage']['counts']['decisions'];

const sum = (one: Counts, other: Counts): Counts => ({
  undecided: one.undecided + other.undecided,
  accepted: one.accepted + other.accepted,
  rejected: one.rejected + other.rejected,
});

const nameOf = ({ table_definition_id, key }: { table_definition_id: number; key: Record<string, unknown> }) =>
  JSON.stringify([table_definition_id, ...Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1))]);
