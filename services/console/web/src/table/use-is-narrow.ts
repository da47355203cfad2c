import { useSyncExternalStore } from 'react';

const narrow = window.matchMedia('(max-width: 639px)');

/** Whether the window is as narrow as a phone, where rows are cards instead of a grid. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (notify) => {
      narrow.addEventListener('change', notify);
      return () => narrow.removeEventListener('change', notify);
    },
    () => narrow.matches,
  );
}
