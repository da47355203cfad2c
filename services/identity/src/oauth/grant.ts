// What every grant type of the token endpoint has in common.

import type { Client } from '../applications/clients.ts';
import type { Origin } from '../audit/origin.ts';
import type { IdentityContext } from '../context.ts';
import type { Parameters } from './parameters.ts';

type GrantRequest = { client: Client; parameters: Parameters; origin: Origin };

/** A grant of an authenticated application: returns the body of the token response, or throws. */
export type Grant = (ctx: IdentityContext, request: GrantRequest) => Promise<Record<string, unknown>>;
