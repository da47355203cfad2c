// The scopes of the API and what each includes.
import { limits } from '@almanac/service-kit/limits';
import { rule } from '@almanac/service-kit/problems';
import { z } from 'zod';

export const scopes = ['api', 'api:read', 'api:write', 'api:delete', 'api:admin'] as const;
/** A scope of the API. */
export type Scope = (typeof scopes)[number];

/** Each scope in words, for the consent page. */
export const scopeMeanings = {
  api: 'Do everything that you may do',
  'api:read': 'Read tables, rows and settings',
  'api:write': 'Create and change tables, rows and settings',
  'api:delete': 'Delete tables, rows and settings',
  'api:admin': 'Administer domains, users, groups and applications',
} as const satisfies Record<Scope, string>;

const isScope = (text: string): text is Scope => scopes.some((scope) => scope === text);

/**
 * The scopes in a space-separated text, each once, in a fixed order; undefined when one is unknown.
 */
export function parseScopes(text: string): Scope[] | undefined {
  const words = text.split(' ').filter((word) => word !== '');
  if (!words.every(isScope)) return undefined;
  return scopes.filter((scope) => words.includes(scope));
}

/** Scopes in a request: a text or a list. */
export const scopesSchema = z
  .union([z.string(), z.array(z.string()).max(limits.problems)])
  .transform((value, checked) => {
    const parsed = parseScopes(typeof value === 'string' ? value : value.join(' '));
    if (parsed && parsed.length > 0) return parsed.join(' ');
    const broken = rule('not_in_list', `must be some of ${scopes.join(', ')}`, { allowed: scopes });
    checked.addIssue({ code: 'custom', input: value, ...broken });
    return z.NEVER;
  })
  .meta({ description: 'Space-separated, or an array.' });

/** True when the held scopes include every wanted one; `api` includes all. */
export function includesScopes(held: Scope[], wanted: Scope[]): boolean {
  return held.includes('api') || wanted.every((scope) => held.includes(scope));
}

/** The scopes that both include; undefined when there is none. */
export function commonScopes(one: string, other: string): string | undefined {
  const [first, second] = [parseScopes(one) ?? [], parseScopes(other) ?? []];
  const common = first.filter((scope) => includesScopes(second, [scope]));
  const narrower = first.includes('api') ? second : common;
  return narrower.length > 0 ? narrower.join(' ') : undefined;
}

/**
 * The requested scopes, all held ones when none is requested; undefined when one is unknown or not
 * held.
 */
export function grantScopes(held: string, requested: string | undefined): string | undefined {
  const holds = parseScopes(held) ?? [];
  if (requested === undefined || requested.trim() === '') return holds.length > 0 ? holds.join(' ') : undefined;
  const wanted = parseScopes(requested);
  if (!wanted || wanted.length === 0 || !includesScopes(holds, wanted)) return undefined;
  return wanted.join(' ');
}
