// Accepts one spelling of a path only. A path with two readings could be checked in one and served
// in the other.
import { ServiceError } from '../errors.ts';

/** The prefix of every address of the API. */
export const apiPrefix = '/api/v1';

/** The prefix of every page of the console, and of its calls. */
export const consolePrefix = '/console/';

/** The answer to an address that is not found. */
export const addressNotFound = () =>
  new ServiceError('not_found', { code: 'unknown_address', message: 'There is nothing at this address.' });

/** The path of a URL, without its query. */
export function pathOf(url = ''): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

// Letters, digits and the unreserved marks; beyond ASCII only percent-encoded bytes of 128 and
// more. So no slash, dot, NUL or semicolon can hide in an encoding.
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
