// Which operations are selected, to decide many at once. Pure.

/** Some operations by their ids, or all that the filter finds. */
export type Selection = { kind: 'some'; ids: ReadonlySet<number>; last?: number | undefined } | { kind: 'all' };

export const nothing: Selection = { kind: 'some', ids: new Set() };

/**
 * The selection with an operation taken in or out; with `isRange` all from the one before it on.
 * `order`: the ids as they are shown.
 */
export function toggle(
  selection: Selection,
  id: number,
  { order, isRange }: { order: readonly number[]; isRange: boolean },
): Selection {
  const ids = new Set(selection.kind === 'all' ? order : selection.ids);
  const last = selection.kind === 'some' ? selection.last : undefined;
  const isTaken = !ids.has(id);
  for (const each of isRange && last !== undefined ? between(order, last, id) : [id])
    if (isTaken) ids.add(each);
    else ids.delete(each);
  return { kind: 'some', ids, last: id };
}

/** All that are shown, or none when they are selected already. */
export function toggleShown(selection: Selection, order: readonly number[]): Selection {
  return selection.kind === 'all' || isWhole(selection, order) ? nothing : { kind: 'some', ids: new Set(order) };
}

export function isSelected(selection: Selection, id: number): boolean {
  return selection.kind === 'all' || selection.ids.has(id);
}

/** Whether all that are shown are selected. */
export function isWhole(selection: Selection, order: readonly number[]): boolean {
  return order.length > 0 && order.every((id) => isSelected(selection, id));
}

function between(order: readonly number[], a: number, b: number): readonly number[] {
  const places = [order.indexOf(a), order.indexOf(b)].toSorted((left, right) => left - right);
  const [from = -1, to = -1] = places;
  return from < 0 ? [b] : order.slice(from, to + 1);
}
