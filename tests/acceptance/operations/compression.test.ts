// Compressed answers of the whole system: the same JSON in every encoding, and a record's ETag,
// which If-Match names, is the same for every client.
import type { Api } from '@almanac/api-client/api';
import { baseUrl, type DeployedTable, givenAccount, givenDeployedTable } from '@almanac/testkit/system/builders';

type Row = { svc_sk: number; name: string };

let api: Api;
let table: DeployedTable;
beforeAll(async () => {
  api = await (await givenAccount()).person();
  table = await givenDeployedTable(api);
  const operations = Array.from({ length: 300 }, (_, row) => ({
    operation: 'create',
    record: { code: `C${row}`, name: `Country ${row}` },
  }));
  await api.post('/table_data/batch', { table_definition_id: table.id, operations });
});

const accepting = (encoding: string) => ({ headers: { 'Accept-Encoding': encoding } });

it('a page of rows is the same in every encoding', async () => {
  const grid = { table_definition_id: table.id, startRow: 0, endRow: 300 };
  const plain = await api.send<{ rows: Row[] }>('POST', '/table_data/grid', grid, accepting('identity'));
  expect([plain.headers.get('content-encoding'), plain.body.rows.length]).toEqual([null, 300]);
  for (const encoding of ['br', 'gzip']) {
    const answer = await api.send('POST', '/table_data/grid', grid, accepting(encoding));
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, encoding]);
    expect(answer.headers.get('vary')).toContain('Accept-Encoding');
    expect(answer.body).toEqual(plain.body);
  }
});

it('a record read by a client that accepts compression is guarded by its ETag', async () => {
  const { body: page } = await api.send<{ rows: Row[] }>('POST', '/table_data/grid', {
    table_definition_id: table.id,
    startRow: 0,
    endRow: 1,
  });
  const { svc_sk: id } = page.rows[0] as Row;
  const read = await api.send('GET', `/table_data/${id}?table_definition_id=${table.id}`, undefined, accepting('br'));
  const etag = String(read.headers.get('etag'));
  expect(etag).toBe('"1"');
  const change = (name: string) =>
    api.send(
      'PATCH',
      `/table_data/${id}`,
      { table_definition_id: table.id, record: { name } },
      { headers: { 'Accept-Encoding': 'br', 'If-Match': etag } },
    );
  expect((await change('first')).status).toBe(200);
  expect((await change('second')).status).toBe(412);
});

it('the documents are compressed, and a copy is revalidated', async () => {
  const page = await (await fetch(`${baseUrl()}/docs`)).text();
  const [script] = /\/docs\/swagger-ui-bundle[^"]+/.exec(page) ?? [];
  for (const path of ['/openapi.json', String(script)]) {
    const answer = await fetch(`${baseUrl()}${path}`, accepting('br'));
    await answer.arrayBuffer();
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, 'br']);
    // As browsers revalidate; fetch alone would ask for a new copy.
    const revalidation = { 'Cache-Control': 'max-age=0', 'If-None-Match': String(answer.headers.get('etag')) };
    const headers = { 'Accept-Encoding': 'br', ...revalidation };
    expect((await fetch(`${baseUrl()}${path}`, { headers })).status).toBe(304);
  }
});
