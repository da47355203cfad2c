// Finds a route by walking the path's segments through a tree of maps: the cost does not grow with the number of routes.
import type { ApiRoute } from './routes.ts';

type Node = { fixed: Map<string, Node>; any?: Node; methods?: Map<string, ApiRoute>; allow?: string };

/** The methods a known path has, and the `Allow` header naming them. */
export type MatchedPath = { methods: ReadonlyMap<string, ApiRoute>; allow: string };

export type RouteMatcher = (segments: readonly string[]) => MatchedPath | undefined;

/** Builds the tree once. A fixed segment wins over `{id}`. */
export function createRouteMatcher(routes: readonly ApiRoute[]): RouteMatcher {
  const root: Node = { fixed: new Map() };
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
    let node: Node | undefined = root;
    for (const segment of segments) {
      node = node.fixed.get(segment) ?? node.any;
      if (!node) return undefined;
    }
    return node.methods && node.allow ? { methods: node.methods, allow: node.allow } : undefined;
  };
}

function descend(node: Node, segment: string): Node {
  if (segment.startsWith('{')) {
    node.any ??= { fixed: new Map() };
    return node.any;
  }
  const known = node.fixed.get(segment);
  if (known) return known;
  const made: Node = { fixed: new Map() };
  node.fixed.set(segment, made);
  return made;
}

// Letters, digits and the unreserved marks; beyond ASCII only as percent-encoded bytes of 128 and more, so that neither a
// slash, a dot, a NUL nor a semicolon can hide in an encoding.
const normalPath = /^(?:\/(?:[A-Za-z0-9_~.-]|%[89A-Fa-f][0-9A-Fa-f])+)+$/;

/** The segments of a path in its only normal spelling; undefined for any other. */
export function readPath(path: string): string[] | undefined {
  if (!normalPath.test(path)) return undefined;
  const segments = path.slice(1).split('/');
  if (segments.some((segment) => segment === '.' || segment === '..')) return undefined;
  return path.includes('%') && !isUtf8(path) ? undefined : segments;
}

function isUtf8(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
