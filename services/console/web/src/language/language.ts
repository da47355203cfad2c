// The language of the console: the one chosen here, else the browser's, else English.
import { i18n } from '@lingui/core';
import { localeOf } from './locale.ts';
import { loadTexts } from './texts.ts';

/** The languages by their own names. The pseudo-locale shows texts that are not translated. */
export const languages = { en: 'English', de: 'Deutsch', pseudo: 'Ƥŝēũďō' } as const;
export type Language = keyof typeof languages;

const storageKey = 'almanac.language';

/** Loads the texts that are in use, and sets the language of the page. */
export async function activateLanguage(language: Language): Promise<void> {
  const messages = await loadTexts(language);
  i18n.loadAndActivate({ locale: language, locales: localeOf(language), messages });
  document.documentElement.lang = localeOf(language);
}

/** Sets the language for now and for later visits. */
export async function chooseLanguage(language: Language): Promise<void> {
  localStorage.setItem(storageKey, language);
  await activateLanguage(language);
}

export function preferredLanguage(): Language {
  const wanted = [localStorage.getItem(storageKey) ?? '', ...navigator.languages.map((tag) => tag.slice(0, 2))];
  return wanted.find((tag): tag is Language => tag in languages) ?? 'en';
}
