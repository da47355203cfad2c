// Which redirect URIs an application may register, and whether a requested one is registered. URIs
// are compared as text, since normalising them would let different URIs pass for the same.
import type { Problem } from '@almanac/service-kit/problems';

/** The out-of-band URI: the code is shown on a page instead of sent to the application. */
export const outOfBandUri = 'urn:ietf:wg:oauth:2.0:oob';
const maxLength = 2_000;
const maxUris = 20;
const field = 'redirect_uri';

// A plain host only: parsers disagree about everything else that can stand there.
const https = /^https:\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?([/?]|$)/i;
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?(\/.*)?$/;
const privateScheme = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/;

/** The problem with a redirect URI; undefined when it may be registered. */
export function redirectUriProblem(uri: string): string | undefined {
  if (uri === outOfBandUri) return undefined;
  if (uri.length > maxLength) return `is longer than ${maxLength} characters`;
  if (!/^[\x21-\x7e]+$/.test(uri) || !URL.canParse(uri)) return 'is not a URI';
  const url = new URL(uri);
  if (uri.includes('#')) return 'must not have a fragment';
  if (uri.includes('*')) return 'must not have a wildcard';
  if (uri.includes('\\')) return 'must not have a backslash';
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?]*@/.test(uri))
    return 'must not have user information';
  if (/(^|\/)(\.|%2e){1,2}(\/|\?|$)/i.test(uri.replace(/^[^:]*:\/\/[^/]*/, ''))) return 'must not have dot segments';
  if (url.protocol === 'https:') return https.test(uri) ? undefined : 'must have a plain host name after https://';
  if (url.protocol === 'http:') return loopback.test(uri) ? undefined : 'must use https, except on a loopback address';
  // RFC 8252, 7.1: a private scheme is a reversed domain name; `javascript:` and `data:` have no
  // dot.
  return privateScheme.test(url.protocol)
    ? undefined
    : 'must use https, a loopback address or a scheme that is a reversed domain name (com.example.app:/callback)';
}

/** Reads redirect URIs, one per line; `text` is the form to store. */
export function readRedirectUris(text: string): { text: string; problems: Problem[] } {
  const uris = [...new Set(text.split(/\r?\n/).map((line) => line.trim()))].filter((line) => line !== '');
  const problems = uris.flatMap((uri): Problem[] => {
    const problem = redirectUriProblem(uri);
    if (problem === undefined) return [];
    const shown = uri.slice(0, 200);
    return [{ code: 'wrong_format', message: `Redirect uri ${shown} ${problem}`, field, params: { uri: shown } }];
  });
  if (uris.length > maxUris)
    problems.push({
      code: 'too_many',
      message: `Redirect uri may be given at most ${maxUris} times`,
      field,
      params: { maximum: maxUris },
    });
  return { text: uris.join('\n'), problems };
}

/** True when the URI is registered; the port of a loopback URI may differ (RFC 8252, 7.3). */
export function isRegistered(registered: string, requested: string): boolean {
  return registered.split('\n').some((uri) => uri !== '' && (uri === requested || isSameLoopback(uri, requested)));
}

function isSameLoopback(uri: string, requested: string): boolean {
  const [a, b] = [loopback.exec(uri), loopback.exec(requested)];
  if (a === null || b === null || a[1] !== b[1] || (a[2] ?? '') !== (b[2] ?? '')) return false;
  return URL.canParse(requested); // false for a port out of range
}

/** Adds parameters to the URI's query. */
export function withParameters(uri: string, parameters: Record<string, string>): string {
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(parameters)}`;
}
