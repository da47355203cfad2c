// What tries a case of the rights table: a call that changes nothing when it is allowed. Rights are
// checked before the body, so an invalid body is 422 for a caller with the right, and 403 without
// it. Calls that can't be tried so get resources made for them.
import type { Office, World } from '../world.ts';

type Surroundings = World & Office;
type Call = { path: string; body?: unknown };

export type Probe = {
  call: (at: Surroundings) => Call;
  /** For calls that would change something: makes a resource for the call, when it is allowed. */
  made?: (at: Surroundings) => Promise<Call>;
  /** The status when it is allowed. */
  allowed: number;
  /** For a list: the id that it must contain, or must not. */
  shows?: (at: Surroundings) => number;
};

export const reads = (path: (at: Surroundings) => string, allowed = 200): Probe => ({
  call: (at) => ({ path: path(at) }),
  allowed,
});
export const lists = (path: string, shows?: Probe['shows']): Probe => ({
  call: () => ({ path: `${path}?per_page=1000&sort=-id` }),
  allowed: 200,
  ...(shows ? { shows } : {}),
});
export const sends = (
  path: (at: Surroundings) => string,
  allowed: number,
  body: (at: Surroundings) => unknown = () => ({}),
): Probe => ({
  call: (at) => ({ path: path(at), body: body(at) }),
  allowed,
});
/** The same call, whether the branch is protected or not. */
export const onEitherBranch = (operation: string, probe: Probe): Record<string, Probe> => ({
  [`${operation} on a protected branch`]: probe,
  [`${operation} on any other branch`]: probe,
});
export const nameless = () => ({ name: '' });

export type Made = { id: number };
