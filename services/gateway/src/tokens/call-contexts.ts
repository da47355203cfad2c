// The signed call context of a token (design, rule 3): signed once for each service and used again for half its life, so that no
// call pays for a signature. It holds at the HTTP port of that service alone.
import type { ContextSigner } from '@almanac/service-kit/caller/call-context';
import type { Token } from './token.ts';

/** What the plan of the account gives. */
export type Abilities = { branching: boolean; storageBytes?: number | undefined };

const usedForMs = 30_000;

/** The context to forward to a service for a call with this token, on an account with these abilities. */
export async function contextFor(
  token: Token,
  { branching, storageBytes }: Abilities,
  service: string,
  sign: ContextSigner,
): Promise<string> {
  const known = recallContext(token, { branching, storageBytes }, service);
  if (known !== undefined) return known;
  const until = Date.now() + usedForMs;
  const { scopes } = token; // others may take their place while we sign
  const claims = {
    accountId: token.accountId,
    userId: token.userId,
    applicationId: token.applicationId,
    scopes,
    branching,
    ...(storageBytes === undefined ? {} : { storageBytes }),
  };
  const text = await sign(claims, `${service}:http`);
  token.contexts = { ...token.contexts, [service]: { text, branching, storageBytes, scopes, until } };
  return text;
}

/** The context signed for this service before, if it may still be used. */
export function recallContext(token: Token, abilities: Abilities, service: string): string | undefined {
  const context = token.contexts?.[service];
  if (context?.branching !== abilities.branching || context.storageBytes !== abilities.storageBytes) return undefined;
  if (context.scopes !== token.scopes) return undefined;
  return context.until > Date.now() ? context.text : undefined;
}
