import type { Operation } from '../queries.ts';
import type { OperationPages } from '../review/next-start.ts';
import { changesWhatIsApplied, decidePages } from './decide-pages.ts';

const operation = (id: number, decision: Operation['decision'] = 'undecided') =>
  ({ id, table_definition_id: 7, kind: 'update', decision, problems: [], comment: null }) as never as Operation;
const pagesOf = (...pages: Operation[][]) =>
  ({ pages: pages.map((operations) => ({ operations })), pageParams: [] }) as never as OperationPages;
const decisions = (pages: OperationPages | undefined) =>
  pages?.pages.flatMap(({ operations }) => operations.map(({ id, decision }) => `${id} ${decision}`));

describe('a decision', () => {
  const pages = pagesOf([operation(1), operation(2)], [operation(3, 'accepted')]);
  const rejected = { verb: 'reject' as const, comment: 'Old', userId: 4 };

  it('changes the operations that it names, and keeps the other pages as they are', () => {
    const after = decidePages(pages, { ids: [2] }, rejected);
    expect(decisions(after)).toEqual(['1 undecided', '2 rejected', '3 accepted']);
    expect(after?.pages[0]?.operations[1]).toMatchObject({ comment: 'Old', decided_by: 4 });
    expect(after?.pages[1]).toBe(pages.pages[1]);
    expect(decidePages(pages, { ids: [9] }, rejected)).toBe(pages);
  });

  it('changes all of the table that the filter finds', () => {
    const meant = { tableId: 7, filter: { decision: 'undecided' as const } };
    expect(decisions(decidePages(pages, meant, rejected))).toEqual(['1 rejected', '2 rejected', '3 accepted']);
    expect(decisions(decidePages(pages, { ...meant, tableId: 8 }, rejected))).toEqual(decisions(pages));
  });

  it('is taken back', () => {
    const back = { verb: 'undecided' as const, comment: null, userId: 4 };
    const after = decidePages(pages, { ids: [3] }, back);
    expect(after?.pages[1]?.operations[0]).toMatchObject({ decision: 'undecided', decided_by: null });
  });
});

describe('what would be applied', () => {
  it('stays the same when undecided operations are accepted', () => {
    expect(changesWhatIsApplied([operation(1)], { ids: [1] }, 'accept')).toBe(false);
  });

  it('changes with what is rejected, or was', () => {
    expect(changesWhatIsApplied([operation(1)], { ids: [1] }, 'reject')).toBe(true);
    expect(changesWhatIsApplied([operation(1, 'returned')], { ids: [1] }, 'accept')).toBe(true);
    expect(changesWhatIsApplied([operation(1, 'returned')], { ids: [2] }, 'accept')).toBe(false);
  });
});
