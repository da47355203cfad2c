import { viewedIn, withViewed } from './viewed-tables.ts';

const seen = { userId: 2, requestId: 85, revision: 'a' };

describe('the marks of viewed tables', () => {
  it('are kept by person and request', () => {
    const text = withViewed(withViewed(null, seen, [7, 8]), { ...seen, userId: 3 }, [9]);
    expect(viewedIn(text, seen)).toEqual([7, 8]);
    expect(viewedIn(text, { ...seen, userId: 3 })).toEqual([9]);
    expect(viewedIn(text, { ...seen, requestId: 86 })).toEqual([]);
  });

  it('are of one revision: a later one replaces them', () => {
    const text = withViewed(null, seen, [7]);
    expect(viewedIn(text, { ...seen, revision: 'b' })).toEqual([]);
    expect(viewedIn(withViewed(text, { ...seen, revision: 'b' }, []), seen)).toEqual([]);
  });

  it('are bounded, and none when the text cannot be read', () => {
    let text: string | null = null;
    for (let requestId = 1; requestId <= 51; requestId += 1) text = withViewed(text, { ...seen, requestId }, [1]);
    expect(viewedIn(text, { ...seen, requestId: 1 })).toEqual([]);
    expect(viewedIn(text, { ...seen, requestId: 2 })).toEqual([1]);
    expect(viewedIn('{', seen)).toEqual([]);
    expect(viewedIn('[null, 3]', seen)).toEqual([]);
  });
});
