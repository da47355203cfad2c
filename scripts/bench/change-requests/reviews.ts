// Windows of the operations of a full change request, the grid through it, further operations and
// decisions: the seconds that a caller waits, and the CPU of the data service and PostgreSQL.
import type { Client } from 'pg';
import { cpuOf, ownCpuOf } from '../measuring/processes.ts';
import type { Product } from '../measuring/product.ts';
import { median } from '../measuring/quantiles.ts';
import { givenRequest, type Measured, patienceMs } from './given-request.ts';

type Times = { seconds: number; cpu: number };
export type ReviewTimes = Record<string, Times>;

const windowRows = 200;
const pageRows = 100;
const added = 1_000;
const request = 100;

/** By what is asked. */
export async function timeReviews(given: Measured): Promise<ReviewTimes> {
  const { product, client, tables, operations, rounds, say } = given;
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`http://127.0.0.1:${product.service.port}/api/v1${path}`, {
      method,
      headers: { ...(await product.service.headers()), 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(patienceMs),
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  const times: ReviewTimes = {};
  const time = async (name: string, question: (round: number) => Promise<unknown>): Promise<void> => {
    const all: Times[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const [begun, cpu] = [performance.now(), cpuOfBoth(product)];
      await question(round);
      all.push({ seconds: (performance.now() - begun) / 1_000, cpu: cpuOfBoth(product) - cpu });
    }
    const of = (key: keyof Times) => median(all.map((each) => each[key]));
    times[name] = { seconds: of('seconds'), cpu: of('cpu') };
    say(`${name}: ${all.map(({ seconds, cpu }) => `${seconds.toFixed(2)} s (${cpu.toFixed(0)} ms CPU)`).join(', ')}`);
  };

  const makes = {
    id: request,
    createdBy: product.asMetadata.caller.userId,
    phase: 'draft',
    decision: 'undecided',
  } as const;
  await givenRequest(client, tables, { ...makes, operations: operations - rounds * added });
  const window =
    (startRow: number, query = '') =>
    (round: number) => {
      const start = startRow + round * windowRows;
      return ask(
        'GET',
        `/change_requests/${request}/operations?startRow=${start}&endRow=${start + windowRows}${query}`,
      );
    };
  const middle = operations / 2;
  await time('window at the start', window(0));
  await time('window in the middle', window(middle));
  await time('window near the end', window(operations * 0.95));
  await time('window of a table, in the middle', window(middle, `&table_definition_id=${tables.products}`));
  for (const kind of ['create', 'update', 'delete', 'restore'])
    await time(`window of kind ${kind}`, window(kind === 'update' ? middle : 0, `&kind=${kind}`));
  await time('window of the undecided, in the middle', window(middle, '&decision=undecided'));
  await time('window of the accepted', window(0, '&decision=accepted'));
  await time('window of those with problems', window(0, '&has_problem=true'));
  await time('window of those without, in the middle', window(middle, '&has_problem=false'));

  const grid =
    (startRow: number, more = {}) =>
    (round: number) => {
      const start = startRow + round * pageRows;
      const page = { startRow: start, endRow: start + pageRows, change_request_id: request, ...more };
      return ask('POST', '/table_data/grid', { table_definition_id: tables.products, ...page });
    };
  const filtered = { filterModel: { category_id: { filterType: 'number', type: 'equals', filter: 77 } } };
  const changed = { filterModel: { price: { filterType: 'number', type: 'equals', filter: 1.25 } } };
  await time('grid, first page', grid(0));
  await time('grid, deep page', grid(operations * 5));
  await time('grid, filtered', grid(0, filtered));
  await time('grid, filtered by a proposed value', grid(0, changed));
  await time('grid, sorted by key', grid(0, { sortModel: [{ colId: 'code', sort: 'asc' }] }));

  await time(`${added} operations added`, async (round) => {
    const { rows } = await client.query(
      `select svc_sk from ${await nameOf(client, tables.products)} where not svc_is_deleted and svc_sk % 10 = ($1 + 1) % 10 order by svc_sk limit $2 offset $3`,
      [request, added, round * added],
    );
    return ask('POST', `/change_requests/${request}/operations`, {
      table_definition_id: tables.products,
      operations: rows.map(({ svc_sk }) => ({ operation: 'update', id: Number(svc_sk), record: { stock: 7 } })),
    });
  });
  await client.query(`update change_request set phase = 'review' where id = $1`, [request]);
  const decide = (filter: object, decision: string) => () =>
    ask('POST', `/change_requests/${request}/decisions`, { decisions: [{ filter, decision }] });
  const decisions = ['accept', 'undecided', 'return'];
  await time('all decided by one filter', (round) => decide({}, decisions[round % 3] as string)());
  await client.query(`update change_request_operation set decision = 'undecided' where change_request_id = $1`, [
    request,
  ]);
  return times;
}

async function nameOf(client: Client, table: number): Promise<string> {
  const { rows } = await client.query(
    `select format('b_%s.t_%s', branch_id, lineage_id) as name from deployed_table where table_definition_id = $1`,
    [table],
  );
  return rows[0].name;
}

// Of the processes that answer calls; other services use PostgreSQL at the same time.
function cpuOfBoth({ processes }: Product): number {
  const { data, postgres } = processes as { data: number; postgres: number };
  return (ownCpuOf(data) ?? 0) + cpuOf(postgres);
}
