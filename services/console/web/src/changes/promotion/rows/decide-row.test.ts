import { decideRow } from './decide-row.ts';
import type { RowPages } from './promoted-rows-query.ts';

const row = (code: string, decision = 'undecided') => ({ table_definition_id: 7, key: { code, at: 1 }, decision });
const counts = { decisions: { undecided: 2, accepted: 0, rejected: 1 } };
const pages = {
  pages: [
    { rows: [row('A'), row('B', 'rejected')], counts },
    { rows: [row('C')], counts },
  ],
  pageParams: [0, 100],
} as never as RowPages;
const shown = (decided: RowPages | undefined) =>
  decided?.pages.flatMap(({ rows }) => rows.map(({ key, decision }) => `${key.code} ${decision}`));
const named = (code: string) => [{ table_definition_id: 7, key: { at: 1, code } }];

it('a decision changes the row of its key, and the counts of all pages', () => {
  const decided = decideRow(pages, { rows: named('C'), decision: 'reject', comment: 'Old' });
  expect(shown(decided)).toEqual(['A undecided', 'B rejected', 'C rejected']);
  expect(decided?.pages[1]?.rows[0]).toMatchObject({ comment: 'Old' });
  for (const page of decided?.pages ?? [])
    expect(page.counts.decisions).toEqual({ undecided: 1, accepted: 0, rejected: 2 });
});

it('one that is taken back leaves no reason', () => {
  const decided = decideRow(pages, { rows: named('B'), decision: 'undecided' });
  expect(decided?.pages[0]?.rows[1]).toMatchObject({ decision: 'undecided', comment: null });
});

it('on rows of other tables changes nothing', () => {
  const elsewhere = [{ table_definition_id: 8, key: { code: 'A', at: 1 } }];
  expect(shown(decideRow(pages, { rows: elsewhere, decision: 'reject' }))).toEqual(shown(pages));
});
