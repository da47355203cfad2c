// An account with many definitions: the times to list, show, compare and deploy them, one call at a
// time.
import type { Api, Page } from '@almanac/api-client/api';
import { mainBranchId } from '@almanac/testkit/system/builders';
import { median } from './measuring/quantiles.ts';

/** `batchSize`: the tables that are deployed and promoted at once. */
export type DefinitionCounts = { tables: number; batchSize: number };
export type Timed = { what: string; ms: number };
type Made = { id: number };

const columnsPerTable = 20;
const writers = 8;
const asked = 9;
const patienceMs = 600_000;

/** Creates the definitions through the API, and measures. */
export async function timeDefinitions(
  api: Api,
  { tables, batchSize }: DefinitionCounts,
  say: (text: string) => void,
): Promise<Timed[]> {
  const branch_id = await mainBranchId(api);
  const { id: domain_id } = await api.post<Made>('/domains', { name: 'Many' });
  say(`making ${tables} definitions of ${columnsPerTable} columns …`);
  const begun = performance.now();
  const ids = await make(api, { branch_id, domain_id, tables });
  const made = performance.now() - begun;
  const table_definition_ids = ids.slice(0, batchSize);
  const timed: Timed[] = [{ what: `making a column, ${writers} at once`, ms: made / (tables * columnsPerTable) }];
  const often = async (what: string, path: string) => {
    const times: number[] = [];
    for (let time = 0; time < asked; time += 1) times.push((await timeOf(() => api.get(path))).ms);
    timed.push({ what, ms: median(times) });
  };
  const first = ids[0] as number;
  await often('a page of 100', '/table_definitions');
  await often('a page of 1,000', '/table_definitions?per_page=1000');
  await often('the last page, by name', `/table_definitions?sort=-name&page=${Math.ceil(tables / 100)}`);
  await often('those whose name holds a word', '/table_definitions?q=name:contains:table%2011');
  await often('one with its columns and groups', `/table_definitions/${first}`);
  await often('the columns of one', `/column_definitions?table_definition_id=${first}`);

  const once = async <T>(what: string, path: string, body: unknown = {}): Promise<T> => {
    const { ms, answer } = await timeOf(() => post<T>(api, path, body));
    timed.push({ what, ms });
    return answer;
  };
  const deploy = async (what: string) => {
    const deployment = await once<Made>(`proposing ${what}`, '/deployments', { branch_id, table_definition_ids });
    await often(`showing ${what}, with diffs`, `/deployments/${deployment.id}`);
    await once(`deploying ${what}`, `/deployments/${deployment.id}/deploy`);
  };
  await deploy(`${batchSize} new tables`);
  await often('a page of 100 deployed tables', '/deployed_table_definitions');
  await inTurns(table_definition_ids, (table_definition_id) =>
    api.post('/column_definitions', { table_definition_id, name: 'added', data_type: 'string' }),
  );
  await deploy(`a new column in each of ${batchSize} tables`);

  const copies = (await api.post<Made>('/branches', { name: 'copies' })).id;
  const cloned: number[] = [];
  for (const id of table_definition_ids)
    cloned.push((await api.post<Made>(`/table_definitions/${id}/clone`, { target_branch_id: copies })).id);
  await inTurns(cloned, (table_definition_id) =>
    api.post('/column_definitions', { table_definition_id, name: 'promoted', data_type: 'date' }),
  );
  const wanted = { from_branch_id: copies, to_branch_id: branch_id, table_definition_ids: cloned };
  const promotion = await once<Made>(`proposing the promotion of ${batchSize} tables`, '/promotions', wanted);
  await often(`showing the promotion of ${batchSize} tables, with diffs`, `/promotions/${promotion.id}`);
  await once(`rehearsing the promotion of ${batchSize} tables`, `/promotions/${promotion.id}/rehearse`);
  await once(`promoting ${batchSize} tables`, `/promotions/${promotion.id}/promote`);
  await often('a page of 100 deployments', '/deployments');
  return timed;
}

async function timeOf<T>(work: () => Promise<T>): Promise<{ ms: number; answer: T }> {
  const begun = performance.now();
  const answer = await work();
  return { ms: performance.now() - begun, answer };
}

async function post<T>(api: Api, path: string, body: unknown): Promise<T> {
  const signal = AbortSignal.timeout(patienceMs);
  const { status, body: answer } = await api.send<T>('POST', path, body, { signal });
  if (status > 299) throw new Error(`POST ${path} answered ${status}: ${JSON.stringify(answer)}`);
  return answer;
}

/** Every fifth refers to the one before it. */
async function make(
  api: Api,
  { branch_id, domain_id, tables }: { branch_id: number; domain_id: number; tables: number },
): Promise<number[]> {
  const places = Array.from({ length: tables }, (_, place) => place);
  const ids: number[] = new Array(tables);
  await inTurns(places, async (place) => {
    const body = { branch_id, name: `Table ${place}`, domain_id, description: 'One of many.' };
    ids[place] = (await api.post<Made>('/table_definitions', body)).id;
  });
  const types = ['string', 'integer', 'decimal', 'date', 'boolean'];
  await inTurns(places, async (place) => {
    for (let column = 0; column < columnsPerTable; column += 1) {
      const key = { name: 'code', data_type: 'string', length: 20, is_primary_key: true };
      const other = { name: `column_${column}`, data_type: types[column % types.length] };
      const link = { name: 'previous', data_type: 'string', length: 20, foreign_key_table_id: ids[place - 1] };
      const isLink = column === 1 && place % 5 === 4;
      await api.post('/column_definitions', {
        table_definition_id: ids[place],
        ...(column === 0 ? key : isLink ? link : other),
      });
    }
  });
  const { meta } = await api.get<Page<Made>>('/table_definitions?per_page=1');
  if (meta.total_count !== tables) throw new Error(`${meta.total_count} definitions, not ${tables}`);
  return ids;
}

async function inTurns<T>(items: T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items[Symbol.iterator]();
  const writer = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: writers }, writer));
}

/** Prints the times. */
export function printDefinitions(timed: Timed[], { tables }: DefinitionCounts, say: (text: string) => void): void {
  say(`\ndefinitions, ${tables} tables of ${columnsPerTable} columns in one account, one call at a time`);
  for (const { what, ms } of timed) say(`${what.padEnd(56)} ${ms.toFixed(ms < 100 ? 1 : 0).padStart(8)} ms`);
}
