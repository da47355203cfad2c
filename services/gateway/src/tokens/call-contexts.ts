// The signed call context of a token (design, rule 3): signed once and used again for half its life, so that no call pays
// for a signature.
import type { ContextSigner } from '@almanac/service-kit/call-context';
import type { Token } from './token.ts';

const usedForMs = 30_000;

/** The context to forward for a call with this token, on an account with these abilities. */
export async function contextFor(token: Token, branching: boolean, sign: ContextSigner): Promise<string> {
  const known = recallContext(token, branching);
  if (known !== undefined) return known;
  const until = Date.now() + usedForMs;
  const { scopes } = token; // others may take their place while we sign
  const text = await sign({
    accountId: token.accountId,
    userId: token.userId,
    applicationId: token.applicationId,
    scopes,
    branching,
  });
  token.context = { text, branching, scopes, until };
  return text;
}

/** The context signed before, if it may still be used. */
export function recallContext(token: Token, branching: boolean): string | undefined {
  const { context, scopes } = token;
  if (context?.branching !== branching || context.scopes !== scopes) return undefined;
  return context.until > Date.now() ? context.text : undefined;
}
