import { readRequestsView } from './requests-view.ts';

describe('the view of the list of change requests', () => {
  it('is read from the address', () => {
    const view = { tab: 'all' as const, status: 'applied' as const, q: 'shops', page: 3 };
    expect(readRequestsView({ ...view, page: '3' })).toEqual(view);
  });

  it('leaves out what cannot be read, and the first page', () => {
    expect(readRequestsView({ tab: 'mine', status: 'eaten', q: ' ', page: '1' })).toEqual({ tab: 'mine' });
  });

  it('has neither states nor pages of what waits for the person', () => {
    expect(readRequestsView({ tab: 'other', status: 'draft', page: '2', q: 'a' })).toEqual({ q: 'a' });
  });
});
