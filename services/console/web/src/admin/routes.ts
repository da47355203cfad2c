// The addresses of administration, below the root of the console.
import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readText } from '../address/view.ts';
import { withTexts } from '../language/texts.ts';
import { readAuditView } from './audit/audit-view.ts';
import { readPeopleView } from './people/people-view.ts';
import { readExplainView } from './person/explain-view.ts';
import { readUsageView } from './usage/usage-view.ts';

const readTyped = (search: Record<string, unknown>): { q?: string | undefined } => ({ q: readText(search.q) });

export function adminRoutes<Root extends AnyRoute>(root: () => Root) {
  const admin = createRoute({
    getParentRoute: root,
    path: '/admin',
    component: lazyRouteComponent(() => withTexts(['admin'], import('./admin-layout.tsx')), 'AdminLayout'),
  });
  const home = createRoute({
    getParentRoute: () => admin,
    path: '/',
    component: lazyRouteComponent(() => import('./admin-home.tsx'), 'AdminHome'),
  });
  const people = createRoute({
    getParentRoute: () => admin,
    path: '/people',
    validateSearch: readPeopleView,
    component: lazyRouteComponent(() => withTexts(['admin'], import('./people/people-page.tsx')), 'PeoplePage'),
  });
  const person = createRoute({
    getParentRoute: () => admin,
    path: '/people/$id',
    validateSearch: readExplainView,
    component: lazyRouteComponent(() => withTexts(['admin'], import('./person/person-page.tsx')), 'PersonPage'),
  });
  const groups = createRoute({
    getParentRoute: () => admin,
    path: '/groups',
    validateSearch: readTyped,
    component: lazyRouteComponent(() => withTexts(['admin'], import('./groups/groups-page.tsx')), 'GroupsPage'),
  });
  const group = createRoute({
    getParentRoute: () => admin,
    path: '/groups/$id',
    component: lazyRouteComponent(() => withTexts(['admin'], import('./groups/group-page.tsx')), 'GroupPage'),
  });
  const applications = createRoute({
    getParentRoute: () => admin,
    path: '/applications',
    validateSearch: readTyped,
    component: lazyRouteComponent(
      () => withTexts(['admin'], import('./applications/applications-page.tsx')),
      'ApplicationsPage',
    ),
  });
  const application = createRoute({
    getParentRoute: () => admin,
    path: '/applications/$id',
    component: lazyRouteComponent(
      () => withTexts(['admin'], import('./applications/application-page.tsx')),
      'ApplicationPage',
    ),
  });
  const account = createRoute({
    getParentRoute: () => admin,
    path: '/account',
    component: lazyRouteComponent(() => withTexts(['admin'], import('./account/account-page.tsx')), 'AccountPage'),
  });
  const usage = createRoute({
    getParentRoute: () => admin,
    path: '/usage',
    validateSearch: readUsageView,
    component: lazyRouteComponent(() => withTexts(['admin'], import('./usage/usage-page.tsx')), 'UsagePage'),
  });
  const audit = createRoute({
    getParentRoute: () => admin,
    path: '/audit',
    validateSearch: readAuditView,
    component: lazyRouteComponent(() => withTexts(['admin'], import('./audit/audit-page.tsx')), 'AuditPage'),
  });
  return admin.addChildren([home, people, person, groups, group, applications, application, account, usage, audit]);
}
