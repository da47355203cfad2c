// The one client of the console. Its calls carry the session's cookie, and a header that no page
// of another origin can send without being asked for permission first.
import { AlmanacError, createClient, type Schemas } from '@almanac/client';
import { fetchWithPassword } from './password-again.ts';

export { AlmanacError, type Schemas };

export const client = createClient({
  baseUrl: '/console',
  headers: { 'X-Almanac-Console': '1' },
  fetch: fetchWithPassword,
  retries: 2,
  timeoutMs: 60_000,
});

/** Leaves for the log-in, which comes back to this very view. */
export function signIn(): void {
  const { pathname, search, hash } = window.location;
  const logIn = new URLSearchParams({ return_to: `${pathname}${search}${hash}` });
  window.location.assign(`/oauth/login?${logIn}`);
}

/** Whether a call failed because there is no session, or it has ended. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof AlmanacError && error.status === 401;
}
