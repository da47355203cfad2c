// Collects the secrets that tests and the system exchange over HTTP: passwords, client secrets,
// tokens, codes, cookies, CSRF tokens, signatures of links. None of them may appear in a log
// (secret-finder.ts).
import type { Secret } from './secret-finder.ts';

export type Watcher = {
  secret(secret: Secret): void;
  /**
   * A field or parameter that is no secret. A hostile text that a test sends in every field, also
   * as a password, is none either.
   */
  plain?(value: string): void;
  /** An answer with an error status: it may contain no secret either. */
  refusal?(answer: { method: string; path: string; status: number; body: string }): void;
};

/** The kind of secret, by the name of a property, form field or query parameter. */
const kinds = new Map([
  ['password', 'a password'],
  ['new_password', 'a password'],
  ['again', 'a password'],
  ['admin_password', 'a password'],
  ['client_secret', 'a client secret'],
  ['secret', 'a client secret'],
  ['access_token', 'an access token'],
  ['refresh_token', 'a refresh token'],
  ['code', 'an authorization code'],
  ['code_verifier', 'a PKCE verifier'],
  ['token', 'a token'],
  ['csrf', 'a CSRF token'],
  ['signature', 'a signature of a link'],
  ['x-amz-signature', 'a signature of a link'],
  ['key_encryption_key', 'a key'],
  ['object_store_key', 'a key'],
  ['d', 'a private key'],
]);

/** `inner`, with what it sends and receives reported to the watcher. */
export function watchFetch(inner: typeof fetch, watcher: Watcher): typeof fetch {
  return async (input, init) => {
    const request = input instanceof Request ? input : undefined;
    const url = new URL(request?.url ?? String(input));
    const method = init?.method ?? request?.method ?? 'GET';
    watchHeaders(new Headers(init?.headers ?? request?.headers), watcher);
    watchParameters(url.searchParams, watcher);
    if (init?.body instanceof URLSearchParams) watchParameters(init.body, watcher);
    else if (typeof init?.body === 'string') watchText(init.body, watcher);
    const answer = await inner(input, init);
    await watchAnswer(answer, method, url, watcher);
    return answer;
  };
}

function watchHeaders(headers: Headers, { secret }: Watcher): void {
  const [scheme = '', credentials = ''] = (headers.get('authorization') ?? '').split(' ');
  if (/^bearer$/i.test(scheme)) secret({ kind: 'an access token', value: credentials });
  if (/^basic$/i.test(scheme)) secret({ kind: 'credentials of a client', value: credentials });
  for (const cookie of headers.get('cookie')?.split('; ') ?? []) watchCookie(cookie, secret);
}

function watchCookie(pair: string, secret: Watcher['secret']): void {
  const [name = '', ...value] = (pair.split(';')[0] as string).split('=');
  // The authorization request that waits for a log-in is no secret; forms of pages contain it.
  if (!name.endsWith('request')) secret({ kind: `a cookie (${name})`, value: value.join('=') });
}

function watchParameters(parameters: URLSearchParams, watcher: Watcher): void {
  for (const [name, value] of parameters) {
    const kind = kinds.get(name.toLowerCase());
    if (kind) watcher.secret({ kind, value });
    else watcher.plain?.(value);
  }
}

async function watchAnswer(answer: Response, method: string, url: URL, watcher: Watcher): Promise<void> {
  for (const line of answer.headers.getSetCookie()) watchCookie(line, watcher.secret);
  const location = answer.headers.get('location');
  if (location !== null && URL.canParse(location, url.href))
    watchParameters(new URL(location, url).searchParams, watcher);
  if (!/\b(json|html)\b/.test(answer.headers.get('content-type') ?? '')) return;
  const text = await answer
    .clone()
    .text()
    .catch(() => ''); // cut off: the reader of the answer itself gets the error
  if (answer.status < 400) watchText(text, watcher);
  else watcher.refusal?.({ method, path: url.pathname, status: answer.status, body: withoutHiddenFields(text) });
}

// A form that is shown again has its CSRF token as before.
const withoutHiddenFields = (html: string) => html.replace(/<input type="hidden"[^>]*>/g, '');

/** Reports the secrets of a JSON text, a form or a page. */
function watchText(text: string, watcher: Watcher): void {
  if (/^\s*[[{]/.test(text)) {
    try {
      watchValue(JSON.parse(text), watcher);
    } catch {} // broken on purpose
  } else if (/^[\w%.-]+=/.test(text)) watchParameters(new URLSearchParams(text), watcher);
  else
    for (const [, name = '', value = ''] of text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g))
      watchParameters(new URLSearchParams({ [name]: value }), watcher);
}

/** Reports the secrets of a JSON value: by the names of properties, and in links. */
export function watchValue(value: unknown, watcher: Watcher): void {
  if (Array.isArray(value)) for (const item of value) watchValue(item, watcher);
  else if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value)) {
      // `code` is also a column that many tables have.
      const kind = name === 'code' ? undefined : kinds.get(name.toLowerCase());
      if (kind && typeof inner === 'string') watcher.secret({ kind, value: inner });
      else watchValue(inner, watcher);
    }
  else if (typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value))
    watchParameters(new URL(value).searchParams, watcher);
}
