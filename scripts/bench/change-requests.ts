// Rehearses and applies a change request over a tenth of a large table, most of it changes, beside
// deletions and new rows. The operations are written as data stores them: their making is measured
// elsewhere.
import pg from 'pg';
import type { Product } from './measuring/product.ts';
import { median } from './measuring/quantiles.ts';
import { deployCategories, deployProducts, importFile } from './tables/imports.ts';
import { makeCsv } from './tables/rows.ts';

type Given = { product: Product; rows: number; rounds: number; say(text: string): void };
export type ApplicationTimes = { rows: number; operations: number; rehearsal: number; application: number };

const patienceMs = 600_000;

/** The seconds that a caller waits. */
export async function timeApplications({ product, rows, rounds, say }: Given): Promise<ApplicationTimes> {
  const table = await deployProducts(product.api, 'Requested products', await deployCategories(product.api));
  await importFile(product.api, table, makeCsv(rows));
  const client = new pg.Client({ connectionString: product.databaseUrl('almanac_data') });
  await client.connect();
  const times = { rehearsal: [] as number[], application: [] as number[] };
  const operations = rows / 10;
  try {
    for (let round = 1; round <= rounds; round += 1) {
      await makeRequest(client, table.id, round, operations);
      const rehearsal = await timeOf(() => rehearse(product, round));
      const { answer } = rehearsal;
      const application = await timeOf(() =>
        product.asMetadata.data.ApplyChangeRequest(
          product.asMetadata.caller,
          { apply_id: `bench-${round}`, change_request_id: round, revision: answer.revision, rest_request_id: 0 },
          { deadlineMs: patienceMs },
        ),
      );
      if (answer.problem_count > 0 || application.answer.status !== 'applied')
        throw new Error(`The application ended as ${JSON.stringify(application.answer).slice(0, 500)}`);
      times.rehearsal.push(rehearsal.seconds);
      times.application.push(application.seconds);
      say(
        `round ${round}: rehearsal ${rehearsal.seconds.toFixed(2)} s, application ${application.seconds.toFixed(2)} s`,
      );
    }
  } finally {
    await client.end();
  }
  return { rows, operations, rehearsal: median(times.rehearsal), application: median(times.application) };
}

// Of twenty operations one creates a row, one deletes one, and the others change two cells.
async function makeRequest(client: pg.Client, table: number, request: number, operations: number): Promise<void> {
  const { rows } = await client.query(
    'select account_id, branch_id, lineage_id, structure from deployed_table where table_definition_id = $1',
    [table],
  );
  const { account_id, branch_id, lineage_id, structure } = rows[0];
  const lineages = new Map<string, number>(
    structure.columns.map((column: { name: string; lineage_id: number }) => [column.name, column.lineage_id]),
  );
  const key = (name: string) => `'${lineages.get(name)}'`;
  const own = (name: string) => `t.c_${lineages.get(name)}`;
  await client.query(
    `insert into change_request (account_id, id, branch_id, phase, operation_count) values ($1, $2, $3, 'review', $4)`,
    [account_id, request, branch_id, operations],
  );
  const created = ['code', 'name', 'category_id'].map(
    (name, i) => `${key(name)}, ${[`'R${request}-' || n`, `'proposed'`, `(1 + n % 250)::text`][i]}`,
  );
  await client.query(
    `insert into change_request_operation (account_id, change_request_id, table_definition_id, kind, svc_sk, base_version, cells, base, decision)
     select $1, $2, $3, o.kind, case when o.kind <> 'create' then t.svc_sk end, case when o.kind <> 'create' then t.svc_version end,
       case o.kind when 'create' then jsonb_build_object(${created.join(', ')})
         when 'update' then jsonb_build_object(${key('stock')}, ($2 * 10000 + n % 1000)::text, ${key('price')}, '1.25') else '{}' end,
       case when o.kind = 'create' then '{}' else jsonb_build_object(${key('code')}, ${own('code')}, ${key('stock')}, ${own('stock')}::text, ${key('price')}, ${own('price')}::text) end,
       'accepted'
     from (select *, row_number() over (order by svc_sk)::int as n from b_${branch_id}.t_${lineage_id} t
           where not svc_is_deleted and svc_sk % 10 = $2 % 10 order by svc_sk limit $4) t
       cross join lateral (select case n % 20 when 0 then 'create' when 1 then 'delete' else 'update' end as kind) o`,
    [account_id, request, table, operations],
  );
  await client.query('analyze change_request_operation');
  await client.query('checkpoint');
}

type Rehearsed = { problem_count: number; revision: string };

async function rehearse({ service }: Product, request: number): Promise<Rehearsed> {
  const answer = await fetch(`http://127.0.0.1:${service.port}/api/v1/change_requests/${request}/rehearse`, {
    method: 'POST',
    headers: await service.headers(),
    signal: AbortSignal.timeout(patienceMs),
  });
  if (answer.status !== 200) throw new Error(`The rehearsal answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Rehearsed;
}

async function timeOf<T>(work: () => Promise<T>): Promise<{ seconds: number; answer: T }> {
  const begun = performance.now();
  const answer = await work();
  return { seconds: (performance.now() - begun) / 1_000, answer };
}

/** Prints the times. */
export function printApplications(
  { rows, operations, rehearsal, application }: ApplicationTimes,
  say: (text: string) => void,
): void {
  const number = (value: number) => value.toLocaleString('en');
  say(`\na change request of ${number(operations)} operations over ${number(rows)} rows`);
  say(`rehearsal    ${rehearsal.toFixed(2)} s`);
  say(`application  ${application.toFixed(2)} s`);
}
