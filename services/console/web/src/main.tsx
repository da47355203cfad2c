// Starts the console.
import { i18n } from '@lingui/core';
import { I18nProvider, useLingui } from '@lingui/react';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { I18nProvider as AriaLocale } from 'react-aria-components/I18nProvider';
import { createRoot } from 'react-dom/client';
import { readBranch, readSearch } from './address/view.ts';
import { branchesQuery, inboxQuery, meQuery, tablesQuery } from './api/queries.ts';
import { createQueryClient } from './api/query-client.ts';
import { activateLanguage, preferredLanguage } from './language/language.ts';
import { localeOf } from './language/locale.ts';
import { router } from './router.tsx';
import { applyTheme, currentTheme } from './styles/theme.ts';
import './styles/tokens.css';
import './styles/base.css';

const queries = createQueryClient();
askAtOnce();

applyTheme(currentTheme());
await activateLanguage(preferredLanguage());
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <Localized />
    </I18nProvider>
  </StrictMode>,
);

// What all pages show is asked for while their code and texts are being loaded.
function askAtOnce(): void {
  void queries.prefetchQuery(meQuery);
  void queries.prefetchQuery(branchesQuery);
  void queries.prefetchQuery(inboxQuery);
  void queries.prefetchQuery(tablesQuery(readBranch(readSearch(window.location.search)) ?? 'default'));
}

function Localized() {
  const { i18n } = useLingui();
  return (
    <AriaLocale locale={localeOf(i18n.locale)}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </AriaLocale>
  );
}
