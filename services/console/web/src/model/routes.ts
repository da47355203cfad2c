// The addresses of the structure of tables, below the root of the console.
import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readId } from '../address/view.ts';
import { withTexts } from '../language/texts.ts';

/** Of a new table: the domain that was chosen before. */
type NewTableAddress = { domain?: number | undefined };

export function modelRoutes<Root extends AnyRoute>(root: () => Root) {
  const newTable = createRoute({
    getParentRoute: root,
    path: '/tables/new',
    validateSearch: ({ domain }: Record<string, unknown>): NewTableAddress => ({ domain: readId(domain) }),
    component: lazyRouteComponent(
      () => withTexts(['model', 'files', 'review'], import('./new-table/new-table-page.tsx')),
      'NewTablePage',
    ),
  });
  const structure = createRoute({
    getParentRoute: root,
    path: '/t/$key/structure',
    component: lazyRouteComponent(
      () => withTexts(['model', 'review'], import('./structure/structure-page.tsx')),
      'StructurePage',
    ),
  });
  const impact = createRoute({
    getParentRoute: root,
    path: '/t/$key/impact',
    component: lazyRouteComponent(
      () => withTexts(['model', 'review'], import('./impact/impact-page.tsx')),
      'ImpactPage',
    ),
  });
  return [newTable, structure, impact] as const;
}
