// What went wrong, as a page shows it.
import type { Schemas } from './client.ts';

export type ExplainedError = {
  status: number | undefined;
  lines: string[];
  requestId: string | undefined;
};

// Read by its members: a copy of the class in another chunk is none of `instanceof`.
type Refusal = { status?: unknown; errors?: unknown; error?: unknown; problems?: unknown; requestId?: unknown };

/** The problems of a refusal; of any other error there are none. */
export function problemsOf(error: unknown): Schemas['Problem'][] {
  const { problems } = (typeof error === 'object' && error !== null ? error : {}) as Refusal;
  return Array.isArray(problems) ? problems : [];
}

/** The lines of a refusal, those of its problems first; for anything else the error's own words. */
export function explainError(error: unknown): ExplainedError {
  const refusal = (typeof error === 'object' && error !== null ? error : {}) as Refusal;
  if (typeof refusal.status !== 'number')
    return { status: undefined, lines: [error instanceof Error ? error.message : String(error)], requestId: undefined };
  const problems = problemsOf(error).map(({ message }) => message);
  const errors = Array.isArray(refusal.errors) ? refusal.errors.map(String) : [];
  const lines = problems.length > 0 ? problems : errors;
  return {
    status: refusal.status,
    lines: lines.length > 0 ? lines : [String(refusal.error ?? refusal.status)],
    requestId: typeof refusal.requestId === 'string' ? refusal.requestId : undefined,
  };
}

/** Whether the server may have done what was asked, and its answer has not come. */
export function isUnanswered(error: unknown): boolean {
  const { status } = explainError(error);
  return status === undefined || status >= 500;
}
