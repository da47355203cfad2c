// Merges rows of a branch into a large table: the times of the copy, of a window of the rows that
// would change, of a rehearsal and of the merge, over a tenth of the rows.
import type { Api } from '@almanac/api-client/api';
import { mainBranchId } from '@almanac/testkit/system/builders';
import { median } from '../measuring/quantiles.ts';
import { deployCategories, deployProducts, importFile } from '../tables/imports.ts';
import { makeChangedCsv, makeCsv } from '../tables/rows.ts';

type Given = { api: Api; rows: number; rounds: number; say(text: string): void };
type Made = { id: number };
export type MergeTimes = {
  rows: number;
  changed: number;
  copy: number;
  window: number;
  rehearsal: number;
  merge: number;
};

const patienceMs = 600_000;
const changedEvery = 10;

/** The seconds that a client waits. */
export async function timeMerges({ api, rows, rounds, say }: Given): Promise<MergeTimes> {
  const main = await mainBranchId(api);
  const categoriesId = await deployCategories(api);
  const table = await deployProducts(api, 'Merged products', categoriesId);
  await importFile(api, table, makeCsv(rows));
  const branch = await api.post<Made>('/branches', { name: 'Merge bench' });
  const clone = (id: number) =>
    api.post<Made>(`/table_definitions/${id}/clone`, { target_branch_id: branch.id, include_data: true });
  const ids = [(await clone(categoriesId)).id, (await clone(table.id)).id];
  const deployment = await api.post<Made>('/deployments', { branch_id: branch.id, table_definition_ids: ids });
  const copy = await timeOf(() => post(api, `/deployments/${deployment.id}/deploy`, undefined));
  say(`copied ${rows.toLocaleString('en')} rows in ${copy.seconds.toFixed(2)} s`);

  const times = { window: [] as number[], rehearsal: [] as number[], merge: [] as number[] };
  const copied = { ...table, id: ids[1] as number, branchId: branch.id };
  for (let round = 1; round <= rounds; round += 1) {
    await importFile(api, copied, makeChangedCsv(rows, changedEvery, 'stock', round), 'incremental');
    // The target changes too: other cells of some of the same rows.
    await importFile(api, table, makeChangedCsv(rows, changedEvery ** 2, 'weight', round), 'incremental');
    const promotion = await api.post<Made>('/promotions', {
      from_branch_id: branch.id,
      to_branch_id: main,
      table_definition_ids: ids,
      include_data: true,
    });
    const half = rows / changedEvery / 2;
    const path = `/promotions/${promotion.id}/rows?startRow=${half}&endRow=${half + 200}`;
    const window = await timeOf(() => api.get<{ rowCount: number }>(path));
    if (window.answer.rowCount !== rows / changedEvery) throw new Error(`${window.answer.rowCount} rows are listed`);
    const rehearsal = await timeOf(() => post<Rehearsed>(api, `/promotions/${promotion.id}/rehearse`, {}));
    const merge = await timeOf(() => post<Promoted>(api, `/promotions/${promotion.id}/promote`, {}));
    const updated = merge.answer.rows.reduce((sum, each) => sum + each.updated, 0);
    if (updated !== rows / changedEvery || rehearsal.answer.conflict_count > 0)
      throw new Error(`The merge ended as ${JSON.stringify(merge.answer.rows)}`);
    times.window.push(window.seconds);
    times.rehearsal.push(rehearsal.seconds);
    times.merge.push(merge.seconds);
    say(`round ${round}: window ${window.seconds.toFixed(2)} s`);
    say(`round ${round}: rehearsal ${rehearsal.seconds.toFixed(2)} s, merge ${merge.seconds.toFixed(2)} s`);
  }
  return {
    rows,
    changed: rows / changedEvery,
    copy: copy.seconds,
    window: median(times.window),
    rehearsal: median(times.rehearsal),
    merge: median(times.merge),
  };
}

type Rehearsed = { conflict_count: number };
type Promoted = { rows: { updated: number }[] };

async function timeOf<T>(work: () => Promise<T>): Promise<{ seconds: number; answer: T }> {
  const begun = performance.now();
  const answer = await work();
  return { seconds: (performance.now() - begun) / 1_000, answer };
}

async function post<T>(api: Api, path: string, body: unknown): Promise<T> {
  const signal = AbortSignal.timeout(patienceMs);
  const { status, body: answer } = await api.send<T>('POST', path, body, { signal });
  if (status > 299) throw new Error(`POST ${path} answered ${status}: ${JSON.stringify(answer).slice(0, 300)}`);
  return answer;
}

/** Prints the times. */
export function printMerges(
  { rows, changed, copy, window, rehearsal, merge }: MergeTimes,
  say: (text: string) => void,
): void {
  const number = (value: number) => value.toLocaleString('en');
  say(`\nrows of a branch, ${number(changed)} of ${number(rows)} changed`);
  say(`copy of the table  ${copy.toFixed(2)} s`);
  say(`200 of the rows    ${window.toFixed(2)} s`);
  say(`merge              ${merge.toFixed(2)} s`);
  say(`rehearsal          ${rehearsal.toFixed(2)} s   ratio ${(rehearsal / merge).toFixed(2)}`);
}
