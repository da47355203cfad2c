// The problems of a write of many rows, put together by the rule that is broken. Pure.
import type { Schemas } from '../../../api/client.ts';

export type Problem = Schemas['Problem'];

export type ProblemGroup = {
  code: string;
  /** In the server's words; of rules that name something of each row, in those of the first. */
  message: string;
  column: string | undefined;
  /** The table whose rows refer to these. */
  table: string | undefined;
  /** The rows by id; none where the values themselves are wrong. */
  rows: number[];
};

export type ProblemGroups = {
  groups: ProblemGroup[];
  /** How many more problems the server has not listed. */
  unlisted: number;
};

/** Of each group so many rows are named. */
export const shownRows = 5;

/** Their messages name another row, a count or a version, so they differ from row to row. */
const namedByRow = new Set(['taken', 'still_referenced', 'version_conflict']);

/** Puts problems together by rule, those of the most rows first. */
export function groupProblems(problems: readonly Problem[]): ProblemGroups {
  const groups = new Map<string, ProblemGroup>();
  let unlisted = 0;
  for (const { code, message: sentence, column, row, params } of problems) {
    if (code === 'more_problems') {
      unlisted += Number(params?.count ?? 0);
      continue;
    }
    // The rows are named beside it.
    const message = sentence.replace(/^Record \d+: /, '');
    const table = typeof params?.table === 'string' ? params.table : undefined;
    const key = JSON.stringify([code, column, table, namedByRow.has(code) || message]);
    const group = groups.get(key) ?? { code, message, column, table, rows: [] };
    if (row !== undefined && !group.rows.includes(row)) group.rows.push(row);
    groups.set(key, group);
  }
  return { groups: [...groups.values()].toSorted((a, b) => b.rows.length - a.rows.length), unlisted };
}

/** How many rows match by now, when a write was refused since they are not as many as expected. */
export function findPresentCount(problems: readonly Problem[]): number | undefined {
  const count = problems.find(({ code }) => code === 'not_reviewed')?.params?.count;
  return typeof count === 'number' ? count : undefined;
}

/** Whether the write was refused for its rows: then they are listed, by rule. */
export const isAboutRows = (problems: readonly Problem[]): boolean => problems.some(({ row }) => row !== undefined);
