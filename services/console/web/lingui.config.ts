// The languages of the console. `npm run -w services/console texts` collects the texts.
import { defineConfig } from '@lingui/cli';
import { formatter } from '@lingui/format-po';
import { type Area, areas, placesWithin } from './src/language/areas.ts';

const inSource = (place: string) => `<rootDir>/src/${place}`;

export default defineConfig({
  sourceLocale: 'en',
  locales: ['en', 'de', 'pseudo'],
  pseudoLocale: 'pseudo',
  fallbackLocales: { default: 'en' },
  catalogs: (Object.keys(areas) as Area[]).map((area) => ({
    path: `<rootDir>/src/language/${area}/{locale}`,
    include: areas[area].map(inSource),
    exclude: placesWithin(area).map(inSource),
  })),
  // Lines of the source would change the catalogs with every edit.
  format: formatter({ lineNumbers: false }),
});
