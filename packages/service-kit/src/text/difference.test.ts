import fc from 'fast-check';
import { type Difference, differenceOf, type State } from './difference.ts';

const table = (values: object, ...parts: [lineage: number, name: string, values?: object][]): State => ({
  values: { ...values },
  parts: parts.map(([lineage, name, more]) => ({ lineage, name, values: { name, ...more } })),
});
const difference = (from: State | undefined, to: State | undefined) => differenceOf(from, to, 'order');

it('shows a new name as a change of the part, not as a deleted part and a new one', () => {
  const from = table({ name: 'T' }, [1, 'code'], [2, 'title']);
  const to = table({ name: 'T' }, [1, 'code'], [2, 'name']);
  expect(difference(from, to)).toEqual({
    change: 'modified',
    values: [],
    parts: [
      { name: 'code', change: 'unchanged', values: [] },
      { name: 'name', change: 'modified', values: [{ name: 'name', from: 'title', to: 'name' }] },
    ],
  });
});

it('tells two parts apart that have taken each other’s names', () => {
  const { values, parts } = difference(table({}, [1, 'a'], [2, 'b']), table({}, [1, 'b'], [2, 'a']));
  expect(values).toEqual([]);
  expect(parts.map(({ change }) => change)).toEqual(['modified', 'modified']);
});

it('shows another order of the parts that both have, regardless of new and deleted ones', () => {
  const from = table({}, [1, 'a'], [2, 'b'], [3, 'c']);
  expect(difference(from, table({}, [4, 'new'], [1, 'a'], [3, 'c'])).values).toEqual([]);
  expect(difference(from, table({}, [2, 'b'], [1, 'a'], [3, 'c'])).values).toEqual([
    { name: 'order', from: ['a', 'b', 'c'], to: ['b', 'a', 'c'] },
  ]);
});

it('shows of what is new only what it has', () => {
  const made = table({ name: 'T', description: '', note: null }, [1, 'a', { length: null, key: false, list: [] }]);
  expect(difference(undefined, made)).toEqual({
    change: 'new',
    values: [{ name: 'name', from: null, to: 'T' }],
    parts: [{ name: 'a', change: 'new', values: [{ name: 'name', from: null, to: 'a' }] }],
  });
});

it('knows a deleted thing, and that nothing became of nothing', () => {
  expect(difference(table({}), undefined)).toEqual({ change: 'deleted', values: [], parts: [] });
  expect(difference(undefined, undefined).change).toBe('unchanged');
});

describe('for any two states', () => {
  const value = fc.oneof(fc.constant(null), fc.boolean(), fc.integer({ max: 3 }), fc.constantFrom('', 'x', 'y'));
  const values = fc.record({ length: value, required: value });
  const state: fc.Arbitrary<State> = fc
    .tuple(
      values,
      fc.uniqueArray(fc.integer({ min: 1, max: 5 })),
      fc.array(values, { minLength: 5, maxLength: 5 }),
      fc.shuffledSubarray(['a', 'b', 'c', 'd', 'e'], { minLength: 5 }),
    )
    .map(([own, lineages, each, names]) => ({
      values: own,
      parts: lineages.map((lineage, i) => {
        const name = names[i] as string;
        return { lineage, name, values: { name, ...each[i] } };
      }),
    }));

  it('what it shows, done to the first, makes the second', () => {
    fc.assert(
      fc.property(state, state, (from, to) => {
        const { values, parts } = difference(from, to);
        expect(applied(from.values, values)).toEqual(to.values);
        const present = parts.filter(({ change }) => change !== 'deleted');
        const before = new Map(from.parts.map((part) => [part.lineage, part.values]));
        expect(
          present.map((part, i) => applied(before.get(to.parts[i]?.lineage as number) ?? {}, part.values)),
        ).toEqual(to.parts.map((part) => withoutUnset(part.values, before.has(part.lineage))));
        const deleted = from.parts.filter(({ lineage }) => !to.parts.some((part) => part.lineage === lineage));
        expect(parts.slice(present.length).map(({ name }) => name)).toEqual(deleted.map(({ name }) => name));
      }),
    );
  });

  it('nothing differs from itself', () => {
    fc.assert(fc.property(state, (one) => expect(difference(one, structuredClone(one)).change).toBe('unchanged')));
  });

  const applied = (from: object, changes: Difference['values']) => {
    const outcome: Record<string, unknown> = { ...from };
    for (const { name, from: was, to } of changes) {
      if (name === 'order') continue;
      expect(outcome[name] ?? null).toEqual(was);
      outcome[name] = to;
    }
    return outcome;
  };
  // What is new shows no more than what it has.
  const withoutUnset = (all: object, isKept: boolean) =>
    Object.fromEntries(
      Object.entries(all).filter(([, each]) => isKept || (each !== null && each !== false && each !== '')),
    );
});
