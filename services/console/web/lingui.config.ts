// The languages of the console. `npm run -w services/console texts` collects the texts.
import { defineConfig } from '@lingui/cli';
import { formatter } from '@lingui/format-po';

export default defineConfig({
  sourceLocale: 'en',
  locales: ['en', 'de', 'pseudo'],
  pseudoLocale: 'pseudo',
  fallbackLocales: { default: 'en' },
  catalogs: [{ path: '<rootDir>/src/language/{locale}', include: ['<rootDir>/src'] }],
  // Lines of the source would change the catalogs with every edit.
  format: formatter({ lineNumbers: false }),
});
