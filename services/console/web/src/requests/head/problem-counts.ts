// What a rehearsal has found, in numbers. Pure.
import type { Schemas } from '../../api/client.ts';

type Rehearsal = Pick<Schemas['ChangeRequestRehearsal'], 'problem_count'> & {
  problems: Pick<Schemas['ChangeRequestProblem'], 'code'>[];
};

// Others have changed the row, or deleted it.
const conflicts = new Set(['version_conflict', 'not_found', 'wrong_state']);

/**
 * Undefined where there are more problems than the answer has: which kinds they are is not known
 * then.
 */
export function countProblems({
  problems,
  problem_count,
}: Rehearsal): { conflicts: number; others: number } | undefined {
  if (problem_count > problems.length) return undefined;
  const found = problems.filter(({ code }) => conflicts.has(code)).length;
  return { conflicts: found, others: problem_count - found };
}
