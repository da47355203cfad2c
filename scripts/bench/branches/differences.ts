// Compares two instants of a large table of which a hundredth was changed, and two branches of it,
// and reads its activity.
import type { Api } from '@almanac/api-client/api';
import { median } from '../measuring/quantiles.ts';
import { deployCategories, deployProducts, importFile } from '../tables/imports.ts';
import { makeChangedCsv, makeCsv } from '../tables/rows.ts';

type Given = { api: Api; rows: number; rounds: number; say(text: string): void };
type Made = { id: number };
export type DifferenceTimes = { rows: number; changed: number; seconds: Record<string, number> };

const patienceMs = 600_000;
const changedEvery = 100;
const page = 100;

/** The seconds that a client waits, by what it asks. */
export async function timeDifferences({ api, rows, rounds, say }: Given): Promise<DifferenceTimes> {
  const categoriesId = await deployCategories(api);
  const table = await deployProducts(api, 'Compared products', categoriesId);
  await importFile(api, table, makeCsv(rows));
  const branch = await api.post<Made>('/branches', { name: 'Difference bench' });
  const clone = (id: number) =>
    api.post<Made>(`/table_definitions/${id}/clone`, { target_branch_id: branch.id, include_data: true });
  const ids = [(await clone(categoriesId)).id, (await clone(table.id)).id];
  const deployment = await api.post<Made>('/deployments', { branch_id: branch.id, table_definition_ids: ids });
  await ask(api, 'POST', `/deployments/${deployment.id}/deploy`);
  const before = await lastChange(api, table.id);
  const after = new Date(Date.parse(before) + 1).toISOString();
  await importFile(api, table, makeChangedCsv(rows, changedEvery, 'stock', 1), 'incremental');
  const changed = rows / changedEvery;

  // Another window each time, so that none comes from the cache.
  const compare = (round: number, left: unknown, more = {}) => {
    const startRow = round * page;
    const body = { table_definition_id: table.id, left, right: {}, startRow, endRow: startRow + page, ...more };
    return ask<{ counts: { updated: number } }>(api, 'POST', '/table_data/diff', body);
  };
  const filterModel = { stock: { filterType: 'number', type: 'greaterThan', filter: 0 } };
  const activity = (what: string, query = '') =>
    ask<unknown>(api, 'GET', `/table_data/${what}?table_definition_id=${table.id}&${query}`);
  const questions: Record<string, (round: number) => Promise<unknown>> = {
    'two instants': async (round) => expectUpdates(await compare(round, { as_of: before }), changed),
    'two branches': async (round) => expectUpdates(await compare(round, { branch_id: branch.id }), changed),
    'two branches, filtered': (round) => compare(round, { branch_id: branch.id }, { filterModel }),
    'changes since': (round) => activity('changes', `from=${after}&page=${round + 1}`),
    'all changes': (round) => activity('changes', `page=${round + 1}`),
    timeline: () => activity('timeline'),
  };
  const seconds: Record<string, number> = {};
  for (const [name, question] of Object.entries(questions)) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const begun = performance.now();
      await question(round);
      times.push((performance.now() - begun) / 1_000);
    }
    seconds[name] = median(times);
    say(`${name}: ${times.map((each) => each.toFixed(2)).join(', ')} s`);
  }
  return { rows, changed, seconds };
}

async function lastChange(api: Api, table: number): Promise<string> {
  const { rows } = await api.post<{ rows: { svc_updated_at: string }[] }>('/table_data/grid', {
    table_definition_id: table,
    startRow: 0,
    endRow: 1,
    sortModel: [{ colId: 'svc_updated_at', sort: 'desc' }],
  });
  return rows[0]?.svc_updated_at as string;
}

function expectUpdates({ counts }: { counts: { updated: number } }, wanted: number): void {
  if (counts.updated !== wanted) throw new Error(`${counts.updated} rows differ instead of ${wanted}.`);
}

async function ask<T>(api: Api, method: string, path: string, body?: unknown): Promise<T> {
  const signal = AbortSignal.timeout(patienceMs);
  const { status, body: answer } = await api.send<T>(method, path, body, { signal });
  if (status > 299) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(answer).slice(0, 300)}`);
  return answer;
}

/** Prints the times. */
export function printDifferences({ rows, changed, seconds }: DifferenceTimes, say: (text: string) => void): void {
  const number = (value: number) => value.toLocaleString('en');
  say(`\nwhat differs and what changed, ${number(changed)} of ${number(rows)} rows changed, windows of ${page}`);
  for (const [name, time] of Object.entries(seconds)) say(`${name.padEnd(24)} ${time.toFixed(2)} s`);
}
