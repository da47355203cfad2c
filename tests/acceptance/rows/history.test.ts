// The history of a table through the public API: a steward's change, an import that overwrites it,
// and how they are found and undone.
import { type Api, poll, upload } from '@almanac/api-client/api';
import { givenAccount, givenDeployedTable } from '@almanac/testkit/system/builders';

let api: Api;
let machine: Api;
let me: { id: number };

beforeAll(async () => {
  const account = await givenAccount();
  [api, machine] = await Promise.all([account.person(), account.machine()]);
  [me] = (await api.get('/users')).data;
});

/** Loads a file over the whole table; returns the id of the request that started it. */
async function importFile(table: { id: number; branchId: number }, csv: string): Promise<string> {
  const { id } = await api.post('/imports', { branch_id: table.branchId });
  const { upload_url } = await api.post(`/imports/${id}/tables`, { table_definition_id: table.id, pattern: 'full' });
  await upload(upload_url, Buffer.from(csv));
  const completed = await api.send('POST', `/imports/${id}/upload_complete`, {});
  const done = await poll(
    () => api.get(`/imports/${id}`),
    ({ status }) => !/^(created|uploading|processing)$/.test(status),
    { timeoutMs: 60_000 },
  );
  expect(done.status).toBe('completed');
  return completed.headers.get('x-request-id') as string;
}

it('is kept, read as of any instant, exported, and brought back', async () => {
  const table = await givenDeployedTable(api);
  const at = `table_definition_id=${table.id}`;
  const write = (record: object) => api.post('/table_data', { table_definition_id: table.id, record });
  const { record: france } = await write({ code: 'FR', name: 'France' });
  const { record: peru } = await write({ code: 'PE', name: 'Peru' });
  const change = { table_definition_id: table.id, record: { name: 'Frankreich' } };
  const changed = await machine.patch(`/table_data/${france.svc_sk}`, change);
  const request = await importFile(table, 'code,name\nFR,Francia\n');

  const { data: versions } = await api.get(`/table_data/${france.svc_sk}/history?${at}`);
  expect(versions).toMatchObject([
    { action: 'updated', channel: 'import', user_id: me.id, request_id: request, record: { name: 'Francia' } },
    { action: 'updated', channel: 'api', user_id: null, application_id: expect.any(Number), record: changed },
    { action: 'created', channel: 'api', user_id: me.id, record: france },
  ]);
  const [deletion] = (await api.get(`/table_data/${peru.svc_sk}/history?${at}`)).data;
  expect(deletion).toMatchObject({ action: 'deleted', channel: 'import', request_id: request });

  const before = `${at}&as_of=${changed.svc_updated_at}&sort=code`;
  expect((await api.get(`/table_data?${before}`)).data).toEqual([changed, peru]);
  const how = { branch_id: table.branchId, table_definition_key: table.key, pattern: 'full' };
  const { id } = await api.post('/exports', { ...how, as_of: changed.svc_updated_at });
  const exported = await poll(
    () => api.get(`/exports/${id}`),
    ({ status }) => /^(completed|failed)$/.test(status),
    { timeoutMs: 60_000 },
  );
  expect(exported).toMatchObject({ status: 'completed', rows_exported: 2, as_of: changed.svc_updated_at });
  expect(await (await fetch(exported.download_url)).text()).toMatch(/,FR,Frankreich\n.*,PE,Peru\n$/);

  const ids = [peru.svc_sk];
  const restored = await api.post('/table_data/restore_records', { table_definition_id: table.id, ids });
  expect(restored).toEqual({ message: '1 record restored', restored_count: 1 });
  const revert = { table_definition_id: table.id, version: 2 };
  expect(await api.post(`/table_data/${france.svc_sk}/revert`, revert)).toMatchObject({ name: 'Frankreich' });
  const names = (await api.get(`/table_data?${at}&sort=code`)).data.map(({ name }: { name: string }) => name);
  expect(names).toEqual(['Frankreich', 'Peru']);
});
