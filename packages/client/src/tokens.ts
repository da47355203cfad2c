// Access tokens: made with client credentials and kept until shortly before they expire; many calls wait for one request.
import { AlmanacError, readFailure } from './errors.ts';
import { waitFor } from './patience.ts';
import type { Send } from './sending.ts';

export type Credentials = {
  clientId: string;
  clientSecret: string;
  /** Space-separated; `api` unless told. */
  scope?: string;
};

export type TokenSource = {
  /** A token that holds now. */
  get(signal?: AbortSignal | null): Promise<string>;
  /** Says that the system refused this token. Answers whether another can be had. */
  refused(token: string): boolean;
};

// A call under way when its token expires would fail; a tenth of a short lifetime is enough too.
const renewSeconds = 60;

/** Tokens by the client credentials grant (RFC 6749, 4.4). */
export function credentialTokens(baseUrl: string, credentials: Credentials, send: Send): TokenSource {
  let kept: { token: string; until: number } | undefined;
  let asking: Promise<string> | undefined;

  const ask = async () => {
    const { clientId, clientSecret, scope = 'api' } = credentials;
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope,
    });
    const request = new Request(`${baseUrl}/oauth/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
      body: form.toString(),
    });
    const askedAt = Date.now();
    const response = await send(request, true);
    if (!response.ok) throw new AlmanacError('POST /oauth/token', response, await readFailure(response));
    const { access_token, expires_in } = (await response.json()) as { access_token: string; expires_in: number };
    kept = { token: access_token, until: askedAt + (expires_in - Math.min(renewSeconds, expires_in / 10)) * 1000 };
    return access_token;
  };

  return {
    get: async (signal) => {
      if (kept && kept.until > Date.now()) return kept.token;
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return waitFor(asking, signal);
    },
    refused: (token) => {
      if (kept?.token === token) kept = undefined;
      return true;
    },
  };
}

/** A token, or a function that answers one that holds (asked at each call): for the authorization code flow. */
export function givenTokens(given: string | (() => string | Promise<string>)): TokenSource {
  return {
    get: async (signal) => (typeof given === 'string' ? given : waitFor(Promise.resolve(given()), signal)),
    refused: () => typeof given === 'function',
  };
}
