// The signed call context of a token. It is signed once for each service and reused for half its
// lifetime, so most calls need no signature. It is valid at the HTTP port of that service only.
import type { ContextSigner } from '@almanac/service-kit/caller/call-context';
import type { Token } from './token.ts';

/** What the plan of the account includes. */
export type PlanFeatures = { branching: boolean; storageBytes?: number | undefined };

const reuseForMs = 30_000;

/** The context for a call with this token to a service, on an account with these features. */
export async function contextFor(
  token: Token,
  { branching, storageBytes }: PlanFeatures,
  service: string,
  sign: ContextSigner,
): Promise<string> {
  const cached = findContext(token, { branching, storageBytes }, service);
  if (cached !== undefined) return cached;
  const until = Date.now() + reuseForMs;
  const { scopes } = token; // they may be replaced while this one is being signed
  const claims = {
    accountId: token.accountId,
    userId: token.userId,
    applicationId: token.applicationId,
    scopes,
    branching,
    ...(storageBytes === undefined ? {} : { storageBytes }),
    ...(token.session ? { channel: 'console' as const } : {}),
  };
  const text = await sign(claims, `${service}:http`);
  token.contexts = { ...token.contexts, [service]: { text, branching, storageBytes, scopes, until } };
  return text;
}

/** The cached context for this service, if it may still be used. */
export function findContext(token: Token, features: PlanFeatures, service: string): string | undefined {
  const context = token.contexts?.[service];
  if (context?.branching !== features.branching || context.storageBytes !== features.storageBytes) return undefined;
  if (context.scopes !== token.scopes) return undefined;
  return context.until > Date.now() ? context.text : undefined;
}
