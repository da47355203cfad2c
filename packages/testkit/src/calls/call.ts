// Calls a service as the gateway would: with a signed call context instead of a bearer token.
import {
  type CallClaims,
  contextHeader,
  createContextSigner,
  type Issuer,
  requestIdHeader,
} from '@almanac/service-kit/caller/call-context';
import { issuers, type TestKeys } from './keys.ts';

/** Account 1, an application with all scopes and branching; a test names what differs. */
export const someClaims: CallClaims = { accountId: 1, scopes: ['api'], branching: true };

const ports = issuers.map((service) => `${service}:http`) as [string, ...string[]];

/** The headers of a call with these claims, to the HTTP port of any service. */
export async function callHeaders(
  keys: TestKeys,
  claims: Partial<CallClaims> = {},
  issuer: Issuer = 'gateway',
): Promise<Record<string, string>> {
  const sign = await createContextSigner(issuer, keys.privateKeys[issuer]);
  return {
    [contextHeader]: await sign({ ...someClaims, ...claims }, ...ports),
    [requestIdHeader]: `test-${crypto.randomUUID()}`,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads any part of an answer
export type Answer = { status: number; headers: Headers; body: any };
export type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

/** A client of one service at `baseUrl` that makes every call with these claims. */
export function createCaller(baseUrl: string, keys: TestKeys, claims: Partial<CallClaims> = {}): Call {
  return async (method, path, body, headers = {}) => {
    const init: RequestInit = { method, headers: { ...(await callHeaders(keys, claims)), ...headers } };
    if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers = { 'content-type': 'application/json', ...init.headers };
    }
    const response = await fetch(new URL(path, baseUrl), init);
    return { status: response.status, headers: response.headers, body: parse(await response.text()) };
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
