// A table that follows another system by its keys alone, over the public API: no id of a table or a
// row is looked up on the way.
import type { Api } from '@almanac/api-client/api';
import { givenAccount, givenDeployedTable } from '@almanac/testkit/system/builders';

type Row = Record<string, unknown> & { svc_sk: number; svc_version: number };

it('a program that knows only keys keeps a table in step', async () => {
  const account = await givenAccount();
  const machine: Api = await account.machine();
  const { key, branchId } = await givenDeployedTable(await account.person(), {
    columns: [
      { name: 'currency', data_type: 'string', length: 3, is_primary_key: true },
      { name: 'valid_from', data_type: 'date', is_primary_key: true },
      { name: 'rate', data_type: 'decimal', length: 20, scale: 6 },
      { name: 'source', data_type: 'string', length: 20 },
    ],
  });
  const named = { table_definition_key: key, branch_id: branchId };
  const put = (record: object) => machine.send<Row>('PUT', '/table_data/by_key', { ...named, record });
  const place = (currency: string, valid_from = '2026-01-01') =>
    `/table_data/by_key?${new URLSearchParams({
      table_definition_key: key,
      branch_id: String(named.branch_id),
      'key[currency]': currency,
      'key[valid_from]': valid_from,
    })}`;
  const first = { currency: 'CHF', valid_from: '2026-01-01' };

  const made = await put({ ...first, rate: '0.93', source: 'ECB' });
  expect(made).toMatchObject({ status: 201, body: { svc_version: 1, source: 'ECB' } });
  expect(await put({ ...first, rate: '0.94' })).toMatchObject({
    status: 200,
    body: { svc_sk: made.body.svc_sk, svc_version: 2, rate: 0.94, source: 'ECB' },
  });
  expect(await put({ ...first, rate: '0.940' })).toMatchObject({ status: 200, body: { svc_version: 2 } });

  // Everybody at once: one of them creates it.
  const many = await Promise.all(Array.from({ length: 12 }, (_, i) => put({ ...first, currency: 'USD', rate: i })));
  expect(many.map(({ status }) => status).toSorted()).toEqual([...Array(11).fill(200), 201]);

  const operations = ['EUR', 'CHF', 'GBP'].map((currency) => ({
    operation: 'upsert',
    record: { currency, valid_from: '2026-01-01', source: 'BIS' },
  }));
  const batch = await machine.post('/table_data/batch', { ...named, operations });
  expect(batch.created.map(({ currency }: Row) => currency)).toEqual(['EUR', 'GBP']);
  expect(batch.updated).toMatchObject([{ currency: 'CHF', rate: 0.94, source: 'BIS' }]);

  expect(await machine.get(`${place('CHF')}&exact_numbers=true`)).toMatchObject({ rate: '0.940000', source: 'BIS' });
  expect((await machine.send('DELETE', place('USD'))).status).toBe(204);
  expect((await machine.send('GET', place('USD'))).status).toBe(404);
  expect((await machine.send('DELETE', place('USD'))).status).toBe(404);
  const query = new URLSearchParams({ ...named, branch_id: String(named.branch_id), sort: 'currency' });
  const { data } = await machine.get<{ data: Row[] }>(`/table_data?${query}`);
  expect(data.map(({ currency }) => currency)).toEqual(['CHF', 'EUR', 'GBP']);

  // Its scopes are those of the methods.
  const reader: Api = await account.machine('api:read');
  expect((await reader.send('GET', place('CHF'))).status).toBe(200);
  expect((await reader.send('DELETE', place('CHF'))).status).toBe(403);
  const writer: Api = await account.machine('api:write');
  expect((await writer.send('DELETE', place('CHF'))).status).toBe(403);
  expect((await writer.send('PUT', '/table_data/by_key', { ...named, record: first })).status).toBe(200);
});
