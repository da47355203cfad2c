// Compares two states of a thing, attribute by attribute. Parts are matched by their lineage, which
// outlives their names: a renamed part is modified, not deleted and new. Pure.

type Values = Record<string, unknown>;
type Part = { lineage: number; name: string; values: Values };

/** One state. Values are compared as JSON; a missing one counts as null. */
export type State = { values: Values; parts: Part[] };

export type Change = 'new' | 'modified' | 'deleted' | 'unchanged';
export type ValueChange = { name: string; from: unknown; to: unknown };
export type PartDifference = { name: string; change: Change; values: ValueChange[] };
export type Difference = { change: Change; values: ValueChange[]; parts: PartDifference[] };

/**
 * The difference of two states; undefined means that the thing doesn't exist. A new thing shows
 * only its set values. `order` is the name of a change in the order of the parts that both have.
 * Parts come in the order of `to`, deleted ones last.
 */
export function differenceOf(from: State | undefined, to: State | undefined, order: string): Difference {
  if (!to) return { change: from ? 'deleted' : 'unchanged', values: [], parts: [] };
  const values = changesOf(from?.values, to.values);
  const parts = partsOf(from?.parts ?? [], to.parts);
  if (!from) return { change: 'new', values, parts };
  values.push(...changesOf({ [order]: sharedOrder(from, to) }, { [order]: sharedOrder(to, from) }));
  const isChanged = values.length > 0 || parts.some(({ change }) => change !== 'unchanged');
  return { change: isChanged ? 'modified' : 'unchanged', values, parts };
}

function partsOf(from: Part[], to: Part[]): PartDifference[] {
  const before = new Map(from.map((part) => [part.lineage, part]));
  const kept = new Set(to.map(({ lineage }) => lineage));
  const present = to.map(({ lineage, name, values }): PartDifference => {
    const was = before.get(lineage);
    const changes = changesOf(was?.values, values);
    return { name, change: was ? (changes.length > 0 ? 'modified' : 'unchanged') : 'new', values: changes };
  });
  const deleted = from.filter(({ lineage }) => !kept.has(lineage));
  return [...present, ...deleted.map(({ name }): PartDifference => ({ name, change: 'deleted', values: [] }))];
}

// Uses one name for a part on both sides, so that a new name alone changes no order.
function sharedOrder({ parts }: State, other: State): string[] {
  const names = new Map(other.parts.map(({ lineage, name }) => [lineage, name]));
  return parts
    .filter(({ lineage }) => names.has(lineage))
    .map(({ lineage, name }) => [name, names.get(lineage) as string].toSorted()[0] as string);
}

const isUnset = (value: unknown) =>
  value === null || value === false || value === '' || (Array.isArray(value) && value.length === 0);

function changesOf(from: Values | undefined, to: Values): ValueChange[] {
  return Object.keys(to).flatMap((name) => {
    const [before, after] = [from?.[name] ?? null, to[name] ?? null];
    const isSame = from ? JSON.stringify(before) === JSON.stringify(after) : isUnset(after);
    return isSame ? [] : [{ name, from: before, to: after }];
  });
}
