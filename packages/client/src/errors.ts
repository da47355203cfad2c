// The one error of this package.
import type { ProblemCode } from './generated/problem-codes.ts';
import type { components } from './generated/schema.ts';

type ErrorBody = { error?: unknown; errors?: unknown; problems?: unknown; error_description?: unknown };

/**
 * One of the problems of a refusal: what kind, the sentence for people, and the place in the
 * request. A later release of the system may send codes that this one doesn't know.
 */
export type Problem = Omit<components['schemas']['Problem'], 'code'> & { code: ProblemCode | (string & {}) };

/**
 * An answer that is no success. `error` and `errors` are those of the body (a line a problem);
 * `requestId` identifies the call in the logs of the system. A call without an answer rejects with
 * fetch's error, an aborted one with the reason of its signal.
 */
export class AlmanacError extends Error {
  override readonly name = 'AlmanacError';
  readonly status: number;
  readonly error: string;
  readonly errors: string[];
  /** One for each of `errors`, for programs; empty where the system sends none (before 0.2.0). */
  readonly problems: Problem[];
  readonly requestId: string | undefined;
  /** The answer's `Retry-After` in seconds, if any. */
  readonly retryAfter: number | undefined;
  /** The whole body: some refusals have more members. */
  readonly body: unknown;

  constructor(call: string, response: Response, body: unknown) {
    const { error, errors, problems, error_description } = (
      typeof body === 'object' && body !== null ? body : {}
    ) as ErrorBody;
    const label = typeof error === 'string' ? error : response.statusText || `Status ${response.status}`;
    // The token endpoint describes its one problem in a member of its own (RFC 6749, 5.2).
    const lines = Array.isArray(errors) ? errors.map(String) : error_description ? [String(error_description)] : [];
    super(`${call} answered ${response.status}: ${[label, ...lines.filter((line) => line !== label)].join(' | ')}`);
    this.status = response.status;
    this.error = label;
    this.errors = lines;
    this.problems = Array.isArray(problems) ? (problems as Problem[]) : [];
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
