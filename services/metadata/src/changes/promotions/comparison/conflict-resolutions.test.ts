import { decideBy, type GivenResolution, requireResolved } from './conflict-resolutions.ts';

const open = { base: 1, source: 2, target: 3, resolution: null };

/** A list that counts how often it is scanned from its beginning. */
function counted<T>(items: T[]): { list: T[]; scans: () => number } {
  let scans = 0;
  const list = new Proxy(items, {
    get: (target, name, receiver) => {
      if (name === 'length') scans += 1;
      return Reflect.get(target, name, receiver);
    },
  });
  return { list, scans: () => scans };
}

const given = (count: number): GivenResolution[] =>
  Array.from({ length: count }, (_, place) => ({
    table: `t${place}`,
    column: null,
    attribute: 'name',
    resolution: place % 2 === 0 ? 'source' : 'target',
  }));

describe('resolutions', () => {
  it('are matched by name, the first of two for the same, without a scan of all for each conflict', () => {
    const { list, scans } = counted([
      ...given(1_000),
      ...given(1).map((same) => ({ ...same, resolution: 'target' as const })),
    ]);
    const decide = decideBy(list);
    const once = scans();
    const decided = given(1_001).map(({ resolution: _, ...name }) => decide(name));
    expect(decided).toEqual([...given(1_000).map(({ resolution }) => resolution), undefined]);
    expect(scans()).toBe(once);
  });

  it('that match no conflict are refused without a scan of all conflicts for each', () => {
    const conflicts = counted(given(500).map((name) => ({ ...name, ...open, resolution: 'source' as const })));
    expect(() => requireResolved(conflicts.list, given(501))).toThrow('There is no conflict about name of t500');
    expect(conflicts.scans()).toBeLessThan(10);
  });
});
