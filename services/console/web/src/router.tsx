// The addresses of the console. What a page shows is in its address, so that every view is a link.
import { Trans } from '@lingui/react/macro';
import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  retainSearchParams,
} from '@tanstack/react-router';
import { readBranch, readSearch, readView, writeSearch } from './address/view.ts';
import { adminRoutes } from './admin/routes.ts';
import { branchRoutes } from './branches/routes.ts';
import { readExportsAddress } from './exports/export-address.ts';
import { Frame } from './frame/frame.tsx';
import { HomePage } from './home/home-page.tsx';
import { readImportAddress, readImportsAddress, readWizardAddress } from './imports/import-address.ts';
import { withTexts } from './language/texts.ts';
import { modelRoutes } from './model/routes.ts';
import { Button } from './parts/button.tsx';
import { EmptyState, ErrorState } from './parts/states.tsx';
import { readRequestsView } from './requests/list/requests-view.ts';
import { readReviewView } from './requests/review/review-view.ts';

type BranchSearch = { branch?: number | undefined };

const root = createRootRoute({
  component: Frame,
  validateSearch: (search: Record<string, unknown>): BranchSearch => ({ branch: readBranch(search) }),
  search: { middlewares: [retainSearchParams(['branch'])] },
  notFoundComponent: NotFound,
});

const home = createRoute({ getParentRoute: () => root, path: '/', component: HomePage });
const tables = createRoute({
  getParentRoute: () => root,
  path: '/tables',
  component: lazyRouteComponent(() => withTexts(['model'], import('./tables/tables-page.tsx')), 'TablesPage'),
});
const table = createRoute({
  getParentRoute: () => root,
  path: '/t/$key',
  validateSearch: readView,
  component: lazyRouteComponent(() => withTexts(['table'], import('./table/table-page.tsx')), 'TablePage'),
});
const requests = createRoute({
  getParentRoute: () => root,
  path: '/requests',
  validateSearch: readRequestsView,
  component: lazyRouteComponent(() => withTexts(['review'], import('./requests/requests-page.tsx')), 'RequestsPage'),
});
const request = createRoute({
  getParentRoute: () => root,
  path: '/requests/$id',
  validateSearch: readReviewView,
  component: lazyRouteComponent(() => withTexts(['review'], import('./requests/request-page.tsx')), 'RequestPage'),
});
const importWizard = createRoute({
  getParentRoute: () => root,
  path: '/import',
  validateSearch: readWizardAddress,
  component: lazyRouteComponent(() => withTexts(['files'], import('./imports/wizard/wizard-page.tsx')), 'WizardPage'),
});
const imports = createRoute({
  getParentRoute: () => root,
  path: '/imports',
  validateSearch: readImportsAddress,
  component: lazyRouteComponent(() => withTexts(['files'], import('./imports/list/imports-page.tsx')), 'ImportsPage'),
});
const oneImport = createRoute({
  getParentRoute: () => root,
  path: '/imports/$id',
  validateSearch: readImportAddress,
  component: lazyRouteComponent(() => withTexts(['files'], import('./imports/one/import-page.tsx')), 'ImportPage'),
});
const exports = createRoute({
  getParentRoute: () => root,
  path: '/exports',
  validateSearch: readExportsAddress,
  component: lazyRouteComponent(() => withTexts(['files'], import('./exports/list/exports-page.tsx')), 'ExportsPage'),
});
const me = createRoute({
  getParentRoute: () => root,
  path: '/me',
  component: lazyRouteComponent(() => withTexts(['admin'], import('./me/me-page.tsx')), 'MePage'),
});
const model = modelRoutes(() => root);
const admin = adminRoutes(() => root);

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    tables,
    table,
    ...model,
    requests,
    request,
    importWizard,
    imports,
    oneImport,
    exports,
    ...branchRoutes(() => root),
    me,
    admin,
  ]),
  basepath: '/console',
  parseSearch: readSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  defaultErrorComponent: ({ error }) => <PageError error={error} />,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function NotFound() {
  return (
    <EmptyState
      title={<Trans>There is no such page</Trans>}
      action={
        <Link to="/">
          <Trans>Home</Trans>
        </Link>
      }
    />
  );
}

// After an upgrade a tab that was open asks for files of the release before.
const missingFile = /dynamically imported module|Importing a module script failed|preload CSS/i;

function PageError({ error }: { error: unknown }) {
  const reload = () => window.location.reload();
  if (!(error instanceof Error && missingFile.test(error.message)))
    return <ErrorState error={error} onRetry={reload} />;
  return (
    <EmptyState
      title={<Trans>A new version of the console is here</Trans>}
      action={
        <Button kind="primary" onPress={reload}>
          <Trans>Load it</Trans>
        </Button>
      }
    />
  );
}
