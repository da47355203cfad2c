// The yardstick: an HTTP server, a pool, one prepared statement for each route; PostgreSQL renders the JSON, Node passes it on.
// No token, no rights, no checks, no history.
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { columns } from '../tables/rows.ts';

const pool = new pg.Pool({ connectionString: process.argv[2] as string, max: 10 });
const names = columns.map(({ name }) => name);

// Rows that are deleted are gone here.
const page = (where: string) =>
  `(select coalesce(json_agg(p), '[]') from (select * from product ${where} order by price, svc_sk limit 100 offset $1) p)`;
const filtered = 'where category_id = $2';

const routes: Record<string, { statement: string; values(body: Record<string, unknown>, id: string): unknown[] }> = {
  'POST /filtered': {
    statement: `select json_build_object('rows', ${page(filtered)}, 'rowCount', (select count(*) from product ${filtered}))::text as body`,
    values: ({ startRow, category }) => [startRow, category],
  },
  'POST /sorted': {
    statement: `select json_build_object('rows', ${page('')})::text as body`,
    values: ({ startRow }) => [startRow],
  },
  'GET /rows': {
    statement: 'select row_to_json(p)::text as body from product p where svc_sk = $1',
    values: (_body, id) => [id],
  },
  'POST /rows': {
    statement:
      `insert into product as p (${names.join(', ')}) values (${names.map((_, place) => `$${place + 1}`).join(', ')})` +
      ' returning row_to_json(p)::text as body',
    values: (body) => names.map((name) => body[name]),
  },
  'PATCH /rows': {
    statement:
      'update product p set stock = $2, svc_updated_at = now(), svc_version = svc_version + 1 where svc_sk = $1' +
      ' returning row_to_json(p)::text as body',
    values: ({ stock }, id) => [id, stock],
  },
};

const readBody = async (request: IncomingMessage) => (request.method === 'GET' ? {} : JSON.parse(await text(request)));

const server = createServer(async (request, response) => {
  const [, path, id = ''] = (request.url as string).split('/');
  const name = `${request.method} /${path}`;
  const route = routes[name] as (typeof routes)[string];
  const values = route.values(await readBody(request), id);
  const { rows } = await pool.query({ name, text: route.statement, values });
  response.setHeader('Content-Type', 'application/json');
  response.end(rows[0].body);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
process.on('disconnect', () => process.exit(0));
