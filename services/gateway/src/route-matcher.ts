// Matches a path against a tree of its segments, so the cost does not grow with the number of
// routes.

type Matchable = { method: string; path: string };
type Node<R> = { fixed: Map<string, Node<R>>; any?: Node<R>; methods?: Map<string, R>; allow?: string };

/**
 * A path's routes by method, its `Allow` header, and the values of its `{…}` segments, in order.
 */
export type MatchedPath<R> = { methods: ReadonlyMap<string, R>; allow: string; values: string[] };

export type RouteMatcher<R> = (segments: readonly string[]) => MatchedPath<R> | undefined;

/** Builds the tree once. A fixed segment wins over `{id}`; a GET route answers HEAD as well. */
export function createRouteMatcher<R extends Matchable>(routes: readonly R[]): RouteMatcher<R> {
  const root: Node<R> = { fixed: new Map() };
  for (const route of routes) {
    const node = route.path
      .slice(1)
      .split('/')
      .reduce((at, segment) => descend(at, segment), root);
    node.methods ??= new Map();
    node.methods.set(route.method, route);
    if (route.method === 'GET') node.methods.set('HEAD', route);
    node.allow = [...node.methods.keys(), 'OPTIONS'].join(', ');
  }
  return (segments) => {
    let node: Node<R> | undefined = root;
    const values: string[] = [];
    for (const segment of segments) {
      const fixed: Node<R> | undefined = node.fixed.get(segment);
      if (!fixed) values.push(segment);
      node = fixed ?? node.any;
      if (!node) return undefined;
    }
    return node.methods && node.allow ? { methods: node.methods, allow: node.allow, values } : undefined;
  };
}

function descend<R>(node: Node<R>, segment: string): Node<R> {
  if (segment.startsWith('{')) {
    node.any ??= { fixed: new Map() };
    return node.any;
  }
  const known = node.fixed.get(segment);
  if (known) return known;
  const made: Node<R> = { fixed: new Map() };
  node.fixed.set(segment, made);
  return made;
}
