// Gets tokens as clients do: client credentials for a machine; for a person the authorization code
// flow with PKCE, through the log-in and consent pages.
import { createHash, randomBytes } from 'node:crypto';
import { readBody } from './api.ts';
import { Browser, type PageSeen } from './browser.ts';

export type Application = { client_id: string; client_secret: string; redirect_uri: string };
export type Person = { email: string; password: string };

export type Tokens = {
  access_token: string;
  token_type: string;
  expires_in: number;
  scope: string;
  created_at: number;
  refresh_token?: string;
};

/** A token of the application, without a user. */
export function signInMachine(baseUrl: string, application: Application, scope = 'api'): Promise<Tokens> {
  return requestToken(baseUrl, application, { grant_type: 'client_credentials', scope });
}

/**
 * Tokens of a person who logs in and consents; `reachedAt` is the address of `baseUrl` from here.
 */
export async function signInPerson(
  baseUrl: string,
  application: Application,
  person: Person,
  scope = 'api',
  reachedAt = baseUrl,
): Promise<Tokens> {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const url = new URL(`${baseUrl}/oauth/authorize`);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: application.client_id,
    redirect_uri: application.redirect_uri,
    scope,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString();
  const callback = await walkThrough(
    new Browser({}, { publicUrl: baseUrl, url: reachedAt }),
    url.href,
    application.redirect_uri,
    person,
  );
  const answer = callback.searchParams;
  if (answer.get('state') !== state) throw new Error('The authorization answered another state than was sent.');
  const code = answer.get('code');
  if (!code)
    throw new Error(`The authorization was refused: ${answer.get('error_description') ?? answer.get('error')}`);
  return requestToken(reachedAt, application, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: application.redirect_uri,
    code_verifier: verifier,
  });
}

/**
 * Logs in and consents, and returns the callback address. A client without one (its redirect URI is
 * `urn:ietf:wg:oauth:2.0:oob`) gets the code of the last page in the same form.
 */
export async function walkThrough(browser: Browser, url: string, redirectUri: string, person: Person): Promise<URL> {
  let page = await browser.open(url);
  for (let step = 0; step < 10; step++) {
    if (page.location?.startsWith(redirectUri)) return new URL(page.location);
    const code = /<code id="code">([^<]+)</.exec(page.html)?.[1];
    if (code) {
      const state = new URL(url).searchParams.get('state') ?? '';
      return new URL(`${redirectUri}?${new URLSearchParams({ code, state })}`);
    }
    page = page.location ? await browser.open(page.location) : await fillIn(browser, page, person);
  }
  throw new Error(`The log-in loops at ${page.url}`);
}

const agreeing = /allow|authori[sz]e|agree|approve|accept|grant/i;

function fillIn(browser: Browser, page: PageSeen, person: Person): Promise<PageSeen> {
  const logIn = page.forms.find((form) => form.passwordField);
  if (logIn) {
    const name = Object.keys(logIn.fields).find((field) => /email|user|login/i.test(field)) ?? 'email';
    return browser.submit(
      page,
      logIn,
      { [name]: person.email, [logIn.passwordField as string]: person.password },
      logIn.buttons[0],
    );
  }
  for (const form of page.forms) {
    const button = form.buttons.find(({ name, value, text }) => agreeing.test(`${text} ${value} ${name ?? ''}`));
    if (button) return browser.submit(page, form, {}, button);
  }
  const text = page.html
    .replace(/<style[\s\S]*?<\/style>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  throw new Error(`No form to go on with (${page.status} at ${page.url}): ${text.slice(0, 300)}`);
}

/** Calls the token endpoint with HTTP Basic authentication. Throws the answer of a failure. */
export async function requestToken(
  baseUrl: string,
  application: Pick<Application, 'client_id' | 'client_secret'>,
  parameters: Record<string, string>,
): Promise<Tokens> {
  const { client_id, client_secret } = application;
  const basic = Buffer.from(`${encodeURIComponent(client_id)}:${encodeURIComponent(client_secret)}`).toString('base64');
  const response = await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${basic}`, Accept: 'application/json' },
    body: new URLSearchParams(parameters),
    signal: AbortSignal.timeout(30_000),
  });
  const body = await readBody(response);
  if (!response.ok) throw new Error(`The token endpoint answered ${response.status}: ${JSON.stringify(body)}`);
  return body as Tokens;
}
