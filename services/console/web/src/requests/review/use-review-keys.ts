import { useEffect, useEffectEvent } from 'react';
import { singleKeysAreOn } from '../../keys/shortcuts.ts';
import { type ReviewKey, readReviewKey } from './review-keys.ts';

// After `g` a letter goes to a page: it is no key of the review within this time.
const sequenceMs = 1_200;

const elsewhere = 'input:not([type="checkbox"]), textarea, select, [role="dialog"], [role="menu"], [role="listbox"]';

/** Acts on the keys of a review that have an act here. */
export function useReviewKeys(acts: Partial<Record<ReviewKey, () => void>>): void {
  const onKey = useEffectEvent((event: KeyboardEvent, isAfterG: boolean) => {
    const { target } = event;
    if (event.defaultPrevented || isAfterG || (target instanceof HTMLElement && target.closest(elsewhere))) return;
    const isOnRow = target instanceof HTMLElement && target.matches('[data-operation]');
    const key = readReviewKey(event, { areSingleOn: singleKeysAreOn(), isOnRow });
    const act = key && acts[key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  useEffect(() => {
    let pressedG = Number.NEGATIVE_INFINITY;
    const listen = (event: KeyboardEvent) => {
      onKey(event, event.timeStamp - pressedG < sequenceMs);
      pressedG = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY;
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
