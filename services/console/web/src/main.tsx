// Starts the console.
import { i18n } from '@lingui/core';
import { I18nProvider, useLingui } from '@lingui/react';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { I18nProvider as AriaLocale } from 'react-aria-components/I18nProvider';
import { createRoot } from 'react-dom/client';
import { isSignedOut, signIn } from './api/client.ts';
import { activateLanguage, localeOf, preferredLanguage } from './language/language.ts';
import { router } from './router.tsx';
import { applyTheme, currentTheme } from './styles/theme.ts';
import './styles/tokens.css';
import './styles/base.css';

// Without a session the console leads to the log-in. Where something was shown already, the page
// says that the session has ended, and what was being done stays on it.
const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      const hasShown = queries
        .getQueryCache()
        .getAll()
        .some(({ state }) => state.data !== undefined);
      if (isSignedOut(error) && !hasShown) signIn();
    },
  }),
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: 'always' } },
});

applyTheme(currentTheme());
await activateLanguage(preferredLanguage());
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <Localized />
    </I18nProvider>
  </StrictMode>,
);

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
