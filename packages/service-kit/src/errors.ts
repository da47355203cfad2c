// The one error class of all services, its kinds, and their form in HTTP and gRPC. Code decides by
// the kind, which crosses gRPC, never by the message.

import { limits } from './limits.ts';
import { messagesOf, moreProblems, type Problem, type ProblemCode } from './problems.ts';

/** The kinds of failure; `docs/errors.md` explains each. */
export type ErrorKind =
  | 'bad_request'
  | 'unauthenticated'
  | 'payment_overdue'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'expired'
  | 'precondition_failed'
  | 'too_large'
  | 'uri_too_long'
  | 'unsupported_media_type'
  | 'range_not_satisfiable'
  | 'validation_failed'
  | 'already_exists'
  | 'wrong_state'
  | 'allowance_exceeded'
  | 'too_many_requests'
  | 'headers_too_large'
  | 'internal'
  | 'unavailable';

type KindFacts = { status: number; label: string; grpc: number };

/**
 * HTTP status, the `error` label of the body, and the gRPC status code (grpc.status) of each kind.
 */
export const errorKinds = {
  bad_request: { status: 400, label: 'Bad request', grpc: 3 },
  unauthenticated: { status: 401, label: 'Invalid token', grpc: 16 },
  payment_overdue: { status: 402, label: 'Payment overdue', grpc: 9 },
  forbidden: { status: 403, label: 'Forbidden', grpc: 7 },
  not_found: { status: 404, label: 'Not found', grpc: 5 },
  method_not_allowed: { status: 405, label: 'Method not allowed', grpc: 12 },
  expired: { status: 410, label: 'Expired', grpc: 9 },
  precondition_failed: { status: 412, label: 'Precondition failed', grpc: 9 },
  too_large: { status: 413, label: 'Payload too large', grpc: 8 },
  uri_too_long: { status: 414, label: 'URI too long', grpc: 3 },
  unsupported_media_type: { status: 415, label: 'Unsupported media type', grpc: 3 },
  range_not_satisfiable: { status: 416, label: 'Range not satisfiable', grpc: 11 },
  validation_failed: { status: 422, label: 'Validation failed', grpc: 3 },
  already_exists: { status: 422, label: 'Validation failed', grpc: 6 },
  wrong_state: { status: 422, label: 'Wrong state', grpc: 9 },
  allowance_exceeded: { status: 429, label: 'API allowance exceeded', grpc: 8 },
  too_many_requests: { status: 429, label: 'Too many requests', grpc: 8 },
  headers_too_large: { status: 431, label: 'Request header fields too large', grpc: 3 },
  internal: { status: 500, label: 'Internal server error', grpc: 13 },
  unavailable: { status: 503, label: 'Service unavailable', grpc: 14 },
} as const satisfies Record<ErrorKind, KindFacts>;

/**
 * The body of every failed answer (contract, Errors), and what else a route declares for its
 * refusals.
 */
export type ErrorBody = { error: string; errors: string[]; problems: Problem[] } & Record<string, unknown>;

/** The kinds whose problems all have the kind itself as their code. */
export type Fault = 'internal' | 'unavailable';

type Options = {
  label?: string;
  headers?: Record<string, string>;
  /** More members for the body, as the route's `refusal` declares. gRPC doesn't carry them. */
  facts?: Record<string, unknown>;
  cause?: unknown;
};

/**
 * A failure with a meaning to the caller. Throw it where the fact is known. `problems` are the
 * first hundred, and then one that counts the others; `errors` are their messages. `label` replaces
 * the kind's `error` text where the contract fixes another one (401, 403).
 */
export class ServiceError extends Error {
  readonly kind: ErrorKind;
  readonly problems: readonly Problem[];
  readonly errors: string[];
  readonly label: string;
  readonly headers: Record<string, string>;
  readonly facts: Record<string, unknown>;

  constructor(kind: Fault, sentences: string | readonly string[], options?: Options);
  constructor(kind: ErrorKind, problems: Problem | readonly Problem[], options?: Options);
  constructor(kind: ErrorKind, given: string | Problem | readonly (string | Problem)[], options: Options = {}) {
    const all = [given]
      .flat()
      .map((each) => (typeof each === 'string' ? { code: kind as Fault, message: each } : each));
    const problems = firstProblems(all);
    const errors = messagesOf(problems);
    super(errors.join(' '), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ServiceError';
    this.kind = kind;
    this.problems = problems;
    this.errors = errors;
    this.label = options.label ?? errorKinds[kind].label;
    this.headers = options.headers ?? {};
    this.facts = options.facts ?? {};
  }

  get status(): number {
    return errorKinds[this.kind].status;
  }

  get body(): ErrorBody {
    return { error: this.label, errors: this.errors, problems: [...this.problems], ...this.facts };
  }
}

/** The first problems, and one that counts the others unless only one is left. */
function firstProblems(problems: Problem[]): Problem[] {
  if (problems.length <= limits.problems + 1) return problems;
  return [...problems.slice(0, limits.problems), moreProblems(problems.length - limits.problems)];
}

/**
 * The code of each kind for a problem without one: of a neighbour of the last release, which sends
 * sentences only, or of a failure that was stored as text.
 */
export const codesOfKinds = {
  bad_request: 'invalid',
  unauthenticated: 'invalid_token',
  payment_overdue: 'payment_overdue',
  forbidden: 'missing_right',
  not_found: 'not_found',
  method_not_allowed: 'method_not_allowed',
  expired: 'cursor_expired',
  precondition_failed: 'version_conflict',
  too_large: 'too_large',
  uri_too_long: 'too_large',
  unsupported_media_type: 'unsupported_media_type',
  range_not_satisfiable: 'out_of_range',
  validation_failed: 'invalid',
  already_exists: 'taken',
  wrong_state: 'wrong_state',
  allowance_exceeded: 'allowance_exceeded',
  too_many_requests: 'too_many_requests',
  headers_too_large: 'too_large',
  internal: 'internal',
  unavailable: 'unavailable',
} as const satisfies Record<ErrorKind, ProblemCode>;

/** A caller's text for use in a sentence: the beginning of a long one. */
export const shorten = (text: string): string => (text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text);

/** 404 for an unknown id, and for another account's: the two must not differ by a byte. */
export function notFound(resource: string): ServiceError {
  return new ServiceError('not_found', { code: 'not_found', message: `${resource} not found` });
}

/** 422 with every problem of an attribute set. */
export function validationFailed(problems: Problem | readonly Problem[]): ServiceError {
  return new ServiceError('validation_failed', problems);
}

/**
 * Anything thrown as a ServiceError: the unknown becomes `internal` with a fixed public sentence.
 */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  return new ServiceError('internal', 'Something went wrong on our side. The request id helps us find it.', {
    cause: thrown,
  });
}
