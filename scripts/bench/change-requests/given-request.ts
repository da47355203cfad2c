// A change request over a tenth of a table of products, most of it changes, beside deletions and
// new rows, some of them in new categories. The operations are written as data stores them.
import type { Client } from 'pg';
import type { Product } from '../measuring/product.ts';

export type RequestTables = { products: number; categories: number };

/** What both measurements of change requests are given. */
export type Measured = {
  product: Product;
  client: Client;
  tables: RequestTables;
  operations: number;
  rounds: number;
  say(text: string): void;
};

/** How long a caller waits at most. */
export const patienceMs = 600_000;

type Given = {
  id: number;
  operations: number;
  createdBy?: number | undefined;
  phase: 'draft' | 'review';
  decision: 'undecided' | 'accepted';
};

/** New categories of a request. */
const newCategories = 100;

/** Of twenty operations one creates a row, one deletes one, and the others change two cells. */
export async function givenRequest(client: Client, tables: RequestTables, request: Given): Promise<void> {
  const { id, operations, createdBy, phase, decision } = request;
  const products = await findTable(client, tables.products);
  const categories = await findTable(client, tables.categories);
  const { account_id, branch_id } = products;
  await client.query(
    `insert into change_request (account_id, id, branch_id, phase, operation_count, created_by) values ($1, $2, $3, $4, $5, $6)`,
    [account_id, id, branch_id, phase, operations, createdBy ?? null],
  );
  await client.query(
    `insert into change_request_operation (account_id, change_request_id, table_definition_id, kind, cells, decision)
     select $1, $2, $3, 'create', jsonb_build_object(${categories.key('id')}, ($2::int * 1000 + n)::text, ${categories.key('name')}, 'new'), $5
     from generate_series(1, $4::int) n`,
    [account_id, id, tables.categories, newCategories, decision],
  );
  const { key, own } = products;
  const created = [
    ...[key('code'), `'R${id}-' || n`, key('name'), `'proposed'`],
    ...[
      key('category_id'),
      `case when n % 200 = 0 then ($2 * 1000 + 1 + n / 200 % ${newCategories})::text else (1 + n % 250)::text end`,
    ],
  ];
  const base = [key('code'), own('code'), key('stock'), `${own('stock')}::text`, key('price'), `${own('price')}::text`];
  await client.query(
    `insert into change_request_operation (account_id, change_request_id, table_definition_id, kind, svc_sk, base_version, cells, base, decision)
     select $1, $2, $3, o.kind, case when o.kind <> 'create' then t.svc_sk end, case when o.kind <> 'create' then t.svc_version end,
       case o.kind when 'create' then jsonb_build_object(${created.join(', ')})
         when 'update' then jsonb_build_object(${key('stock')}, ($2 * 10000 + n % 1000)::text, ${key('price')}, '1.25') else '{}' end,
       case when o.kind = 'create' then '{}' else jsonb_build_object(${base.join(', ')}) end, $5
     from (select *, row_number() over (order by svc_sk)::int as n from ${products.name} t
           where not svc_is_deleted and svc_sk % 10 = $2 % 10 order by svc_sk limit $4) t
       cross join lateral (select case n % 20 when 0 then 'create' when 1 then 'delete' else 'update' end as kind) o`,
    [account_id, id, tables.products, operations - newCategories, decision],
  );
  await client.query('analyze change_request_operation');
  await client.query('checkpoint');
}

/** A table as data stores it. `key`, `own`: a column among the cells, and of the row `t`. */
async function findTable(client: Client, id: number) {
  const { rows } = await client.query(
    'select account_id, branch_id, lineage_id, structure from deployed_table where table_definition_id = $1',
    [id],
  );
  const { account_id, branch_id, lineage_id, structure } = rows[0];
  const lineages = new Map<string, number>(
    structure.columns.map((column: { name: string; lineage_id: number }) => [column.name, column.lineage_id]),
  );
  return {
    account_id,
    branch_id,
    name: `b_${branch_id}.t_${lineage_id}`,
    key: (name: string) => `'${lineages.get(name)}'`,
    own: (name: string) => `t.c_${lineages.get(name)}`,
  };
}
