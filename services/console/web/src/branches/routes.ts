// The addresses of branches, comparisons, promotions and deployments, below the console's root.
import { type AnyRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readPromotionView } from '../changes/promotion/rows/promotion-view.ts';
import { readCompareView } from '../compare/compare-view.ts';
import { withTexts } from '../language/texts.ts';

export function branchRoutes<Root extends AnyRoute>(root: () => Root) {
  const branches = createRoute({
    getParentRoute: root,
    path: '/branches',
    component: lazyRouteComponent(() => withTexts(['review'], import('./list/branches-page.tsx')), 'BranchesPage'),
  });
  const branch = createRoute({
    getParentRoute: root,
    path: '/branches/$id',
    component: lazyRouteComponent(() => withTexts(['review'], import('./one/branch-page.tsx')), 'BranchPage'),
  });
  const compare = createRoute({
    getParentRoute: root,
    path: '/compare',
    validateSearch: readCompareView,
    component: lazyRouteComponent(() => withTexts(['review'], import('../compare/compare-page.tsx')), 'ComparePage'),
  });
  const promotion = createRoute({
    getParentRoute: root,
    path: '/promotions/$id',
    validateSearch: readPromotionView,
    component: lazyRouteComponent(
      () => withTexts(['review'], import('../changes/promotion/promotion-page.tsx')),
      'PromotionPage',
    ),
  });
  const deployment = createRoute({
    getParentRoute: root,
    path: '/deployments/$id',
    component: lazyRouteComponent(
      () => withTexts(['review'], import('../changes/deployment/deployment-page.tsx')),
      'DeploymentPage',
    ),
  });
  return [branches, branch, compare, promotion, deployment] as const;
}
