// Which operation is the current one, and how keys move from one to another.
import { useEffect, useState } from 'react';
import type { Operation } from '../queries.ts';

type Windows = { operations: Operation[]; fetchMore: () => Promise<Operation[]> };

/**
 * `fetchMore`: loads the next window and answers all operations; the same ones when there is none.
 */
export function useRowMovement({ operations, fetchMore }: Windows) {
  const [chosen, setCurrent] = useState<number>();
  const current = operations.some(({ id }) => id === chosen) ? chosen : operations[0]?.id;
  // A row gets the focus once it is drawn.
  const [awaited, setAwaited] = useState<number>();
  useEffect(() => {
    if (awaited === undefined) return;
    const row = document.querySelector<HTMLElement>(`[data-operation="${awaited}"]`);
    if (!row) return;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: 'nearest' });
    setAwaited(undefined);
  });
  const goTo = (id: number) => {
    setCurrent(id);
    setAwaited(id);
  };
  const isUndecided = ({ decision }: Operation) => decision === 'undecided';
  const next = async (from: number | undefined, isWanted: (operation: Operation) => boolean) => {
    const found = after(operations, from).find(isWanted) ?? after(await fetchMore(), from).find(isWanted);
    if (found) goTo(found.id);
  };
  const previous = (isWanted: (operation: Operation) => boolean) => {
    const found = before(operations, current).findLast(isWanted);
    if (found) goTo(found.id);
  };
  return {
    current,
    setCurrent,
    goTo,
    toNext: () => void next(current, () => true),
    toPrevious: () => previous(() => true),
    // Before one has moved, the first row may be the one.
    toNextUndecided: () => void next(chosen, isUndecided),
    toPreviousUndecided: () => previous(isUndecided),
  };
}

const placeOf = (operations: readonly Operation[], current: number | undefined) =>
  operations.findIndex(({ id }) => id === current);

/** All of them when none is the current one. */
function after(operations: readonly Operation[], current: number | undefined): Operation[] {
  return operations.slice(placeOf(operations, current) + 1);
}

function before(operations: readonly Operation[], current: number | undefined): Operation[] {
  return operations.slice(0, Math.max(placeOf(operations, current), 0));
}
