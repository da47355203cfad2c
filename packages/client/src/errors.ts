// The one error of this package.

type ErrorBody = { error?: unknown; errors?: unknown; error_description?: unknown };

/**
 * An answer that is no success. `status` is HTTP's, `error` and `errors` are those of the body (one line per problem), `requestId`
 * names the call in the logs of the system. What never got an answer is the fetch's own error, and an aborted call the reason of its signal.
 */
export class AlmanacError extends Error {
  override readonly name = 'AlmanacError';
  readonly status: number;
  readonly error: string;
  readonly errors: string[];
  readonly requestId: string | undefined;
  /** How long to wait before a repetition makes sense, in seconds; set when the answer said so. */
  readonly retryAfter: number | undefined;
  /** The whole body, for the members that some refusals have besides. */
  readonly body: unknown;

  constructor(call: string, response: Response, body: unknown) {
    const { error, errors, error_description } = (typeof body === 'object' && body !== null ? body : {}) as ErrorBody;
    const label = typeof error === 'string' ? error : response.statusText || `Status ${response.status}`;
    // The token endpoint describes its one problem in a member of its own (RFC 6749, 5.2).
    const lines = Array.isArray(errors) ? errors.map(String) : error_description ? [String(error_description)] : [];
    super(`${call} answered ${response.status}: ${[label, ...lines.filter((line) => line !== label)].join(' | ')}`);
    this.status = response.status;
    this.error = label;
    this.errors = lines;
    this.requestId = response.headers.get('x-request-id') ?? undefined;
    this.retryAfter = readRetryAfter(response);
    this.body = body;
  }
}

/** `Retry-After` in seconds, given as a number or as a date; undefined when there is none. */
export function readRetryAfter(response: Response): number | undefined {
  const text = response.headers.get('retry-after');
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}

/** The body of a failed answer: JSON when it is, else its text. */
export async function readFailure(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
