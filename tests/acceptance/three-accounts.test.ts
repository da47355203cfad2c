// Two accounts import two files of nothing but bad rows each, and cancel them; deployments and a
// small import of a third account continue. CROWD_ROWS: the rows of each file (150,000). The times
// are printed, not asserted.
import { type Api, poll, upload } from '@almanac/api-client/api';
import { type DeployedTable, givenAccount, givenDeployedTable } from '@almanac/testkit/system/builders';

const rows = Number(process.env.CROWD_ROWS ?? 150_000);
const isOver = ({ status }: { status: string }) => !/^(created|uploading|processing)$/.test(status);

type Running = { api: Api; id: number };

async function begin(api: Api, table: DeployedTable, file: Buffer): Promise<Running> {
  const { id } = await api.post('/imports', { branch_id: table.branchId });
  const wish = { table_definition_id: table.id, pattern: 'incremental', on_error: 'reject_rows', format: 'csv' };
  await upload((await api.post(`/imports/${id}/tables`, wish)).upload_url, file);
  await api.post(`/imports/${id}/upload_complete`);
  return { api, id };
}

const end = ({ api, id }: Running) => poll(() => api.get(`/imports/${id}`), isOver);

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await work();
  console.log(`${what}: ${Math.round(performance.now() - begun)} ms`);
  return result;
}

it('work of one account continues while others import bad files and cancel them', async () => {
  const person = async () => (await givenAccount({ plan: 'enterprise' })).person();
  const [first, second, third] = [await person(), await person(), await person()] as const;
  const bad = Buffer.from(
    `code,name\n${Array.from({ length: rows }, (_, i) => `k${i},${'n'.repeat(300)}\n`).join('')}`,
  );
  const table = await timed('a deployment alone', () => givenDeployedTable(third));
  const row = Buffer.from('code,name\na,b\n');
  await timed('a row alone', async () => end(await begin(third, table, row)));

  const crowd: Running[] = [];
  for (const api of [first, second])
    for (let i = 0; i < 2; i += 1) crowd.push(await begin(api, await givenDeployedTable(api), bad));
  const beside = async (when: string) => {
    await Promise.all([
      timed(`a deployment ${when}`, () => givenDeployedTable(third)),
      timed(`a row ${when}`, async () => {
        const done = await end(await begin(third, table, row));
        expect(done.status).toBe('completed');
      }),
    ]);
  };
  await beside('beside the imports');
  await Promise.all([
    timed('all cancelled', async () => {
      for (const { api, id } of crowd)
        await api.post(`/imports/${id}/cancel`).catch((error: Error) => console.log(error.message));
      for (const each of crowd) expect((await end(each)).status).toMatch(/^(cancelled|failed)$/);
    }),
    beside('beside their ends'),
  ]);
}, 900_000);
