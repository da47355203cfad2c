// The scopes of the API and what one of them includes.

export const scopes = ['api', 'api:read', 'api:write', 'api:delete', 'api:admin'] as const;
export type Scope = (typeof scopes)[number];

/** Each scope in words, for people who are asked to allow it. */
export const scopeMeanings = {
  api: 'Do everything that you may do',
  'api:read': 'Read tables, rows and settings',
  'api:write': 'Create and change tables, rows and settings',
  'api:delete': 'Delete tables, rows and settings',
  'api:admin': 'Administer domains, users, groups and applications',
} as const satisfies Record<Scope, string>;

const isScope = (text: string): text is Scope => scopes.some((scope) => scope === text);

/** The scopes in a space-separated text, each once, in our order; undefined when one is unknown. */
export function parseScopes(text: string): Scope[] | undefined {
  const words = text.split(' ').filter((word) => word !== '');
  if (!words.every(isScope)) return undefined;
  return scopes.filter((scope) => words.includes(scope));
}

/** True when every wanted scope is among the held ones; `api` holds all. */
export function includesScopes(held: Scope[], wanted: Scope[]): boolean {
  return held.includes('api') || wanted.every((scope) => held.includes(scope));
}

/** What both hold; `api` holds all, so it leaves the other as it is. Undefined: nothing. */
export function commonScopes(one: string, other: string): string | undefined {
  const [first, second] = [parseScopes(one) ?? [], parseScopes(other) ?? []];
  const common = first.filter((scope) => includesScopes(second, [scope]));
  const narrower = first.includes('api') ? second : common;
  return narrower.length > 0 ? narrower.join(' ') : undefined;
}

/** What is asked for within what is held: nothing asked is all that is held; unknown or wider is undefined. */
export function grantScopes(held: string, asked: string | undefined): string | undefined {
  const holds = parseScopes(held) ?? [];
  if (asked === undefined || asked.trim() === '') return holds.length > 0 ? holds.join(' ') : undefined;
  const wanted = parseScopes(asked);
  if (!wanted || wanted.length === 0 || !includesScopes(holds, wanted)) return undefined;
  return wanted.join(' ');
}
