// The keys that act everywhere. Keys without Ctrl never act in a field, and can be switched off.
import { useEffect, useEffectEvent } from 'react';

export type Act = 'palette' | 'help' | 'home' | 'tables' | 'requests' | 'search' | 'panel';

const storageKey = 'almanac.single-keys';
// The second key of `g t` must follow within this time.
const sequenceMs = 1_200;

const single: Record<string, Act> = { '?': 'help', '/': 'search', ']': 'panel' };
const afterG: Record<string, Act> = { h: 'home', t: 'tables', r: 'requests' };

export function singleKeysAreOn(): boolean {
  return localStorage.getItem(storageKey) !== 'off';
}

export function switchSingleKeys(on: boolean): void {
  localStorage.setItem(storageKey, on ? 'on' : 'off');
}

/** Calls `act` for the keys of the page, but for those that a part of the page has acted on. */
export function useShortcuts(act: (what: Act) => void): void {
  const onAct = useEffectEvent(act);
  useEffect(() => {
    let pressedG = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      const found = readKey(event, event.timeStamp - pressedG < sequenceMs);
      pressedG = found === 'g' ? event.timeStamp : 0;
      if (found === undefined || found === 'g') return;
      event.preventDefault();
      onAct(found);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

function readKey(event: KeyboardEvent, isAfterG: boolean): Act | 'g' | undefined {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k') return 'palette';
  if (ctrlKey || metaKey || altKey || !singleKeysAreOn() || isField(target)) return undefined;
  if (isAfterG && afterG[key]) return afterG[key];
  return key === 'g' ? 'g' : single[key];
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
}
