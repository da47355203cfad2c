// The bare limit of a grid page: an HTTP server, a pool, one prepared query; PostgreSQL renders the JSON, Node passes it on.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.argv[2] as string, max: 16 });

const page = (where: string) => `
  select json_build_object(
    'rows', (select coalesce(json_agg(to_jsonb(page)), '[]') from
      (select * from bench where not svc_is_deleted and ${where} order by code, svc_sk offset $1 limit 100) page),
    'rowCount', (select count(*) from bench where not svc_is_deleted and ${where}))::text as body`;

const queries: Record<string, string> = {
  '/sorted': page('true'),
  '/filtered': page(`lower(category) = 'garden'`),
};

const server = createServer(async (request, response) => {
  const path = request.url as string;
  const { startRow } = JSON.parse(await text(request)) as { startRow: number };
  const { rows } = await pool.query({ name: path, text: queries[path] as string, values: [startRow] });
  response.setHeader('Content-Type', 'application/json');
  response.end(rows[0].body);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));
process.on('disconnect', () => process.exit(0));
