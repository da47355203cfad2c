// Cookies of the system's own pages. Identity sets them; the gateway reads the one of the session.

/**
 * The name of a cookie. Browsers accept this prefix only over TLS, for all paths and without a
 * domain, so that no other host of the domain can set the cookie.
 */
export const cookieName = (publicUrl: string, name: string): string =>
  `${publicUrl.startsWith('https:') ? '__Host-' : ''}almanac_${name}`;

/** The value of a cookie in the header `Cookie`; undefined when the browser sent none. */
export function findCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
