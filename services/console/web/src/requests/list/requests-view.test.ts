import { readRequestsView } from './requests-view.ts';

describe('the view of the list of requests', () => {
  it('is read from the address', () => {
    const view = { tab: 'all' as const, kind: 'promotion' as const, state: 'done' as const, q: 'shops' };
    expect(readRequestsView(view)).toEqual(view);
  });

  it('leaves out what cannot be read', () => {
    expect(readRequestsView({ tab: 'mine', state: 'eaten', kind: 'import', q: ' ' })).toEqual({ tab: 'mine' });
  });

  it('has neither kinds nor states of what waits for the person', () => {
    expect(readRequestsView({ tab: 'other', state: 'draft', kind: 'deployment', q: 'a' })).toEqual({ q: 'a' });
  });
});
