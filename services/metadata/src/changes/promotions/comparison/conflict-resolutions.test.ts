import { decideBy, type GivenResolution, requireResolved } from './conflict-resolutions.ts';

const open = { base: 1, source: 2, target: 3, resolution: null };

/** A list that counts how often it is walked through from its beginning. */
function counted<T>(items: T[]): { list: T[]; walks: () => number } {
  let walks = 0;
  const list = new Proxy(items, {
    get: (target, name, receiver) => {
      if (name === 'length') walks += 1;
      return Reflect.get(target, name, receiver);
    },
  });
  return { list, walks: () => walks };
}

const given = (count: number): GivenResolution[] =>
  Array.from({ length: count }, (_, place) => ({
    table: `t${place}`,
    column: null,
    attribute: 'name',
    resolution: place % 2 === 0 ? 'source' : 'target',
  }));

describe('resolutions', () => {
  it('decide by name, the first of two for the same, and are not looked through for each conflict', () => {
    const { list, walks } = counted([
      ...given(1_000),
      ...given(1).map((same) => ({ ...same, resolution: 'target' as const })),
    ]);
    const decide = decideBy(list);
    const once = walks();
    const decided = given(1_001).map(({ resolution: _, ...name }) => decide(name));
    expect(decided).toEqual([...given(1_000).map(({ resolution }) => resolution), undefined]);
    expect(walks()).toBe(once);
  });

  it('of no conflict are refused without looking through all conflicts for each', () => {
    const conflicts = counted(given(500).map((name) => ({ ...name, ...open, resolution: 'source' as const })));
    expect(() => requireResolved(conflicts.list, given(501))).toThrow('There is no conflict about name of t500');
    expect(conflicts.walks()).toBeLessThan(10);
  });
});
