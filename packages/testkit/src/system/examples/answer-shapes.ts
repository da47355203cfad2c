// The shapes of answers, by which two records of one operation are compared. Pure.

/**
 * The shape of a value: names and types of members, times apart from other texts. Items of a list
 * are merged, and null goes with anything.
 */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf).reduce(mergeShapes, undefined) ?? null;
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
  if (value === null) return null;
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? 'time' : typeof value;
}

type Shape = Record<string, unknown>;
const isShape = (value: unknown): value is Shape => typeof value === 'object' && value !== null;

function mergeShapes(one: unknown, other: unknown): unknown {
  if (!isShape(one) || !isShape(other)) return one ?? other;
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => [name, mergeShapes(one[name], other[name])]));
}

/** Where two shapes differ, each a path of names. */
export function shapeDifferences(one: unknown, other: unknown, path = ''): string[] {
  if (one === null || other === null || one === undefined || other === undefined) return [];
  if (!isShape(one) || !isShape(other)) return one === other ? [] : [`${path}: ${one}, ${other}`];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((name) =>
    name in one && name in other
      ? shapeDifferences(one[name], other[name], `${path}/${name}`)
      : [`${path}/${name} is in one only`],
  );
}
