// Light, dark, or as the system has it.
import { useSyncExternalStore } from 'react';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const storageKey = 'almanac.theme';
const changed = new EventTarget();

export function currentTheme(): Theme {
  const kept = localStorage.getItem(storageKey);
  return themes.find((theme) => theme === kept) ?? 'system';
}

/** Sets the scheme of the page; all colours follow it. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Sets the scheme for now and for later visits. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(storageKey, theme);
  applyTheme(theme);
  changed.dispatchEvent(new Event('change'));
}

export function useTheme(): Theme {
  return useSyncExternalStore((notify) => {
    changed.addEventListener('change', notify);
    return () => changed.removeEventListener('change', notify);
  }, currentTheme);
}
