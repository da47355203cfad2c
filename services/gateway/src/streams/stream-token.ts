// Whether the token of a call that goes on for long still allows it.
import { requireScope } from '@almanac/service-kit/caller/call-context';
import type { Response } from 'express';
import type { Token } from '../authentication/token.ts';
import type { TokenVerifier } from '../authentication/token-verifier.ts';
import { callOf } from '../call.ts';
import type { ApiRoute } from '../routes.ts';

/** Throws when the call's token has expired, was revoked, or has lost the scope of its route. */
export function requireAllowed(tokens: Pick<TokenVerifier, 'requireValid'>, res: Response): void {
  const { token, route } = callOf(res) as { token: Token; route: ApiRoute };
  tokens.requireValid(token);
  requireScope(token, route.scope);
}
