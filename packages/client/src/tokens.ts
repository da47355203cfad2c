// Access tokens by client credentials, cached until shortly before they expire. Concurrent calls
// share one token request.
import { AlmanacError, readFailure } from './errors.ts';
import type { Send } from './sending.ts';
import { waitFor } from './waiting.ts';

export type Credentials = {
  clientId: string;
  clientSecret: string;
  /** Space-separated; default `api`. */
  scope?: string;
};

export type TokenSource = {
  /** A valid token. */
  get(signal?: AbortSignal | null): Promise<string>;
  /** Drops a token that the system refused. Returns whether another one is available. */
  refused(token: string): boolean;
};

// A token is renewed before it expires, so that running calls don't fail.
const renewSeconds = 60;

/** Tokens by the client credentials grant (RFC 6749, 4.4). */
export function credentialTokens(baseUrl: string, credentials: Credentials, send: Send): TokenSource {
  let cached: { token: string; until: number } | undefined;
  let inFlight: Promise<string> | undefined;

  const request = async () => {
    const { clientId, clientSecret, scope = 'api' } = credentials;
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope,
    });
    const tokenRequest = new Request(`${baseUrl}/oauth/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
      body: form.toString(),
    });
    const requestedAt = Date.now();
    const response = await send(tokenRequest, true);
    if (!response.ok) throw new AlmanacError('POST /oauth/token', response, await readFailure(response));
    const { access_token, expires_in } = (await response.json()) as { access_token: string; expires_in: number };
    cached = {
      token: access_token,
      until: requestedAt + (expires_in - Math.min(renewSeconds, expires_in / 10)) * 1000,
    };
    return access_token;
  };

  return {
    get: async (signal) => {
      if (cached && cached.until > Date.now()) return cached.token;
      inFlight ??= request().finally(() => {
        inFlight = undefined;
      });
      return waitFor(inFlight, signal);
    },
    refused: (token) => {
      if (cached?.token === token) cached = undefined;
      return true;
    },
  };
}

/**
 * A given token, or a function that returns a valid one for each call: for the authorization code
 * flow.
 */
export function givenTokens(given: string | (() => string | Promise<string>)): TokenSource {
  return {
    get: async (signal) => (typeof given === 'string' ? given : waitFor(Promise.resolve(given()), signal)),
    refused: () => typeof given === 'function',
  };
}
