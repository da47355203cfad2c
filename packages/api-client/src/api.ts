// Calls of the public API with a bearer token. It knows only HTTP, and returns any answer as it is.

export type Answer<T = unknown> = { status: number; headers: Headers; body: T };

/** The answer had an unexpected status. */
export class ApiError extends Error {
  readonly status: number;
  readonly body: unknown;

  constructor(method: string, path: string, answer: Answer) {
    const { status, body } = answer;
    super(`${method} ${path} answered ${status}: ${typeof body === 'string' ? body : JSON.stringify(body)}`);
    this.status = status;
    this.body = body;
  }
}

export type Page<T> = {
  data: T[];
  meta: { page: number; per_page: number; total_count: number; total_pages: number };
};

type SendOptions = { headers?: Record<string, string>; signal?: AbortSignal };

export type Api = {
  baseUrl: string;
  token: string;
  /**
   * Any call with any status. `body` is sent as JSON; a string or bytes unchanged, with your type.
   */
  send<T = unknown>(method: string, path: string, body?: unknown, options?: SendOptions): Promise<Answer<T>>;
  /** Calls that throw an ApiError unless the answer is 2xx. */
  // biome-ignore lint/suspicious/noExplicitAny: callers name the type that they expect; the contract tests check the answers.
  get<T = any>(path: string): Promise<T>;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  post<T = any>(path: string, body?: unknown): Promise<T>;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  patch<T = any>(path: string, body: unknown): Promise<T>;
  delete(path: string): Promise<void>;
};

/** A client for paths below `/api/v1`. */
export function createApi(baseUrl: string, token: string): Api {
  const send = async <T>(method: string, path: string, body?: unknown, options: SendOptions = {}) => {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(`${baseUrl}/api/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        Accept: 'application/json',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...options.headers,
      },
      body: body === undefined ? null : isRaw ? (body as RequestInit['body']) : JSON.stringify(body),
      signal: options.signal ?? AbortSignal.timeout(60_000),
    });
    return { status: response.status, headers: response.headers, body: (await readBody(response)) as T };
  };
  const expectOk = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await send<T>(method, path, body);
    if (answer.status < 200 || answer.status > 299) throw new ApiError(method, path, answer);
    return answer.body;
  };
  return {
    baseUrl,
    token,
    send,
    get: (path) => expectOk('GET', path),
    post: (path, body) => expectOk('POST', path, body ?? {}),
    patch: (path, body) => expectOk('PATCH', path, body),
    delete: async (path) => {
      await expectOk('DELETE', path);
    },
  };
}

/** JSON by the content type, else text; undefined without a body. */
export async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return undefined;
  return /\bjson\b/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text;
}

/** Uploads a file to a pre-signed URL. */
export async function upload(url: string, content: string | Uint8Array, contentType = 'text/csv'): Promise<void> {
  const response = await fetch(url, {
    method: 'PUT',
    headers: { 'Content-Type': contentType },
    body: content as RequestInit['body'],
    signal: AbortSignal.timeout(300_000),
  });
  const answer = { status: response.status, headers: response.headers, body: await readBody(response) };
  if (!response.ok) throw new ApiError('PUT', new URL(url).pathname, answer);
}

/**
 * Polls with growing delays until the answer is accepted. Throws the last answer after the
 * time-out.
 */
export async function poll<T>(
  ask: () => Promise<T>,
  accept: (answer: T) => boolean,
  { timeoutMs = 120_000, everyMs = 0 } = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let pause = 150; ; pause = Math.min(1_000, pause * 1.5)) {
    const answer = await ask();
    if (accept(answer)) return answer;
    if (performance.now() > deadline) {
      const last = JSON.stringify(answer).slice(0, 2_000);
      throw new Error(`Waited ${timeoutMs / 1000} s in vain; the last answer was ${last}`);
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs || pause));
  }
}
