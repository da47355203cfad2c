// A model of tokens: which are dead, and what the living may do. The property test drives the real
// system and this model with the same commands and compares them.
import type { Browser } from '@almanac/api-client/browser';

export const scopes = ['api:read', 'api:write', 'api:delete', 'api:admin'] as const;
export type Scope = (typeof scopes)[number];

export type Application = {
  id: number;
  client_id: string;
  redirect_uri: string;
  /** Empty: the application is public. */
  secrets: string[];
  scope: string;
  isAlive: boolean;
};

export type User = { id: number; email: string; password: string; browser: Browser; isAlive: boolean };

/** The tokens of one grant of a user. */
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

/** The permissions of these scopes; `api` has all. */
export function expand(scope: string): Scope[] {
  const words = scope.split(' ');
  return scopes.filter((each) => words.includes('api') || words.includes(each));
}

/** The scopes in both, as the token endpoint writes them; undefined: none. */
export function common(one: string, other: string): string | undefined {
  if (one.split(' ').includes('api')) return other;
  if (other.split(' ').includes('api')) return one;
  return (
    expand(one)
      .filter((scope) => expand(other).includes(scope))
      .join(' ') || undefined
  );
}

/** The scope granted to a holder of `held` that requests `asked`; undefined: invalid_scope. */
export function given(held: string | undefined, asked: string | undefined): string | undefined {
  if (held === undefined || asked === undefined) return held;
  const isWithin =
    held.split(' ').includes('api') || asked.split(' ').every((scope) => held.split(' ').includes(scope));
  return isWithin ? asked : undefined;
}

export const isLivingFamily = ({ application, user, isAlive }: Family) =>
  isAlive && application.isAlive && user.isAlive;

/** What every gateway must make of a token: 'dead', or the scopes that it allows. */
export function verdict({ application, family, granted, isRevoked }: AccessToken): string {
  if (isRevoked || !application.isAlive || (family && !isLivingFamily(family))) return 'dead';
  return expand(common(granted, application.scope) ?? '').join(' ');
}
