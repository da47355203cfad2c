// What must be true of tokens, whatever has been done: which are dead, and what the living may do. The property test drives the real
// system and this model with the same commands and holds one against the other.
import type { Browser } from '@almanac/api-client/browser';

export const scopes = ['api:read', 'api:write', 'api:delete', 'api:admin'] as const;
export type Scope = (typeof scopes)[number];

export type Application = {
  id: number;
  client_id: string;
  redirect_uri: string;
  /** None: it is public. */
  secrets: string[];
  scope: string;
  isAlive: boolean;
};

export type User = { id: number; email: string; password: string; browser: Browser; isAlive: boolean };

/** What came of one grant of a user. */
export type Family = {
  application: Application;
  user: User;
  allowed: string;
  refreshToken: string;
  used: string[];
  isAlive: boolean;
};

export type AccessToken = {
  text: string;
  application: Application;
  family?: Family;
  granted: string;
  isRevoked: boolean;
};

export type Model = { applications: Application[]; users: User[]; families: Family[]; tokens: AccessToken[] };

/** What may be done with these scopes; `api` is all. */
export function expand(scope: string): Scope[] {
  const words = scope.split(' ');
  return scopes.filter((each) => words.includes('api') || words.includes(each));
}

/** What two hold in common, as the token endpoint writes it; undefined: nothing. */
export function common(one: string, other: string): string | undefined {
  if (one.split(' ').includes('api')) return other;
  if (other.split(' ').includes('api')) return one;
  return (
    expand(one)
      .filter((scope) => expand(other).includes(scope))
      .join(' ') || undefined
  );
}

/** What is given to who holds `held` and asks for `asked`; undefined: invalid_scope. */
export function given(held: string | undefined, asked: string | undefined): string | undefined {
  if (held === undefined || asked === undefined) return held;
  const isWithin =
    held.split(' ').includes('api') || asked.split(' ').every((scope) => held.split(' ').includes(scope));
  return isWithin ? asked : undefined;
}

export const isLivingFamily = ({ application, user, isAlive }: Family) =>
  isAlive && application.isAlive && user.isAlive;

/** The verdict of every gateway on a token: 'dead', or the scopes that it lets through. */
export function verdict({ application, family, granted, isRevoked }: AccessToken): string {
  if (isRevoked || !application.isAlive || (family && !isLivingFamily(family))) return 'dead';
  return expand(common(granted, application.scope) ?? '').join(' ');
}
