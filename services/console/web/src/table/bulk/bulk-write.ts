// The calls of the API that change or delete all matches, and take that back.
import { client } from '../../api/client.ts';
import type { Row, Table } from '../../api/queries.ts';
import { keyText } from '../../cells/cell-text.ts';
import type { WriteNames } from '../../edits/save-edits.ts';
import { groupProblems, type Problem, shownRows } from './problems/problem-groups.ts';
import type { Selection } from './selection.ts';

/** Without `set` the rows are deleted. */
export type BulkWrite = { selection: Selection; set?: Record<string, unknown> };

export type Rehearsal = {
  matched: number;
  /** Those that have other values; of a deletion all. */
  changing: number;
  problems: Problem[];
  /** What rows with problems are called, by id. */
  names: ReadonlyMap<number, string>;
};

/** What a write would do; nothing is changed. */
export async function rehearse(table: Table, write: BulkWrite): Promise<Rehearsal> {
  const answer = await post(table, write, { dry_run: true });
  if (!('would_change' in answer)) throw new Error('A dry run answered as a write.');
  const { matched, would_change: changing } = answer;
  const problems = answer.problems as Problem[];
  return { matched, changing, problems, names: await nameExamples(table, problems) };
}

/** Writes the rows, if they are as many as expected; answers how many were written. */
export async function carryOut(
  table: Table,
  write: BulkWrite,
  expected: number,
  { key, requestId }: WriteNames,
): Promise<number> {
  // Named by us, so that a lost answer is got again, and what is written can be undone.
  const headers = { 'Idempotency-Key': key, 'X-Request-Id': requestId };
  const answer = await post(table, write, { expected_count: expected }, headers);
  if ('updated_count' in answer) return answer.updated_count;
  return 'deleted_count' in answer ? answer.deleted_count : 0;
}

function post(
  { table_definition_id }: Table,
  { selection, set }: BulkWrite,
  how: { dry_run: true } | { expected_count: number },
  headers: Record<string, string> = {},
) {
  const body = { table_definition_id, ...selection, ...how };
  return set
    ? client.post('/table_data/update_where', { body: { ...body, set }, headers })
    : client.post('/table_data/delete_where', { body, headers });
}

/** The first rows of each rule by their keys; a row that is not live any more has none. */
export async function nameExamples(table: Table, problems: readonly Problem[]): Promise<Map<number, string>> {
  const ids = exampleRows(problems);
  if (ids.length === 0) return new Map();
  const query = { table_definition_id: table.table_definition_id, q: [`svc_sk:in:${ids.join('|')}`], per_page: 100 };
  const { data } = await client.get('/table_data', { params: { query } });
  return new Map((data as Row[]).map((row) => [row.svc_sk, keyText(row, table.column_definitions)]));
}

function exampleRows(problems: readonly Problem[]): number[] {
  const rows = groupProblems(problems).groups.flatMap((group) => group.rows.slice(0, shownRows));
  return [...new Set(rows)].slice(0, 100);
}
