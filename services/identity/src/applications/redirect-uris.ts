// Which addresses an application may register, and whether a requested one is registered. Comparison is of the text as it
// stands: nothing is normalised, so nothing can be smuggled through normalisation.

export const outOfBandUri = 'urn:ietf:wg:oauth:2.0:oob';
const longest = 2_000;
const most = 20;

// Whatever else parsers take for a host, or complete to an address, means something else to the next one that reads it.
const https = /^https:\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?([/?]|$)/i;
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?(\/.*)?$/;
const privateScheme = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/;

/** What is wrong with one address; undefined when it may be registered. */
export function redirectUriProblem(uri: string): string | undefined {
  if (uri === outOfBandUri) return undefined;
  if (uri.length > longest) return `is longer than ${longest} characters`;
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
  // RFC 8252: an app's own scheme is a reversed domain name; `javascript:` and `data:` have no dot.
  return privateScheme.test(url.protocol)
    ? undefined
    : 'must use https, a loopback address or a scheme that is a reversed domain name (com.example.app:/callback)';
}

/** Reads several, one per line; `text` has them in the form that is stored. */
export function readRedirectUris(text: string): { text: string; problems: string[] } {
  const uris = [...new Set(text.split(/\r?\n/).map((line) => line.trim()))].filter((line) => line !== '');
  const problems = uris.flatMap((uri) => {
    const problem = redirectUriProblem(uri);
    return problem === undefined ? [] : [`Redirect uri ${uri.slice(0, 200)} ${problem}`];
  });
  if (uris.length > most) problems.push(`Redirect uri may be given at most ${most} times`);
  return { text: uris.join('\n'), problems };
}

/** True when the application registered this very address; a loopback address may differ in its port (RFC 8252, 7.3). */
export function isRegistered(registered: string, requested: string): boolean {
  return registered.split('\n').some((uri) => uri !== '' && (uri === requested || isSameLoopback(uri, requested)));
}

function isSameLoopback(uri: string, requested: string): boolean {
  const [a, b] = [loopback.exec(uri), loopback.exec(requested)];
  if (a === null || b === null || a[1] !== b[1] || (a[2] ?? '') !== (b[2] ?? '')) return false;
  return URL.canParse(requested); // not with a port that there can't be
}

/** The address with parameters added to whatever query it has. */
export function withParameters(uri: string, parameters: Record<string, string>): string {
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(parameters)}`;
}
