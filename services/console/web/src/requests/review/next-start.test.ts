import { nextStart, type OperationPage } from './next-start.ts';

const page = (count: number, decision: string) =>
  ({
    operations: Array.from({ length: count }, () => ({ kind: 'update', decision, problems: [] })),
  }) as never as OperationPage;

describe('the next window of operations', () => {
  it('starts after those that are shown', () => {
    const pages = [page(200, 'undecided'), page(200, 'undecided')];
    expect(nextStart(pages[1] as OperationPage, pages, {})).toBe(400);
  });

  it('starts earlier when some that are shown match the filter no longer', () => {
    const pages = [page(200, 'accepted'), page(200, 'undecided')];
    expect(nextStart(pages[1] as OperationPage, pages, { decision: 'undecided' })).toBe(200);
  });

  it('is none after a window that is not full', () => {
    const pages = [page(200, 'undecided'), page(3, 'undecided')];
    expect(nextStart(pages[1] as OperationPage, pages, {})).toBeUndefined();
  });
});
