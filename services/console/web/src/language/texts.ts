// Loads the texts of areas in the language of the page.
import { i18n, type Messages } from '@lingui/core';
import type { Area } from './areas.ts';

const catalogs = import.meta.glob<{ messages: Messages }>('./*/*.po');

const inUse = new Set<Area>(['shell']);

/** The texts of all areas that are in use, in a language. */
export async function loadTexts(language: string): Promise<Messages> {
  const texts = new Map<Area, Messages>();
  // An area may come into use while others are loaded.
  const missing = () => [...inUse].filter((area) => !texts.has(area));
  for (let areas = missing(); areas.length > 0; areas = missing())
    await Promise.all(areas.map(async (area) => texts.set(area, await readCatalog(area, language))));
  return Object.assign({}, ...texts.values());
}

/** A module that is being loaded, once the texts of its areas are there. */
export async function withTexts<Module>(areas: Area[], module: Promise<Module>): Promise<Module> {
  const [loaded] = await Promise.all([module, ...areas.map(loadArea)]);
  return loaded;
}

async function loadArea(area: Area): Promise<void> {
  inUse.add(area); // first, for a choice of another language while the texts are on their way
  const { locale } = i18n;
  i18n.load(locale, await readCatalog(area, locale));
}

async function readCatalog(area: Area, language: string): Promise<Messages> {
  const load = catalogs[`./${area}/${language}.po`];
  if (!load) throw new Error(`there are no texts of ${area} in ${language}`);
  return (await load()).messages;
}
