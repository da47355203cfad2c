// What imports and exports leave behind in every possible ending, including killed processes:
// nothing that the sweep does not find.
import { readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { eventually } from '@almanac/testkit/eventually';
import { endService } from '@almanac/testkit/processes/service-process';
import { sweep } from '../../src/maintenance/sweeper.ts';
import { ended, givenImport, givenJobs, type Jobs } from '../given.ts';

let jobs: Jobs;

beforeAll(async () => {
  jobs = await givenJobs({ work: { concurrency: 1 } }); // another instance takes the second of the account's two
  jobs.neighbours.addTable({ key: 'countries' });
});
afterAll(() => jobs.close());

const post = (path: string, body?: unknown) => jobs.call('POST', `/api/v1${path}`, body);
const whole = { branch_id: 1, table_definition_key: 'countries', pattern: 'full' };

async function counts() {
  const { prisma, pool } = jobs.context;
  const [database] = (
    await pool.query(
      `select (select count(*)::int from pg_class where relpersistence in ('u', 't')) as tables,
         (select count(*)::int from pg_locks where locktype = 'advisory' and database = (
            select oid from pg_database where datname = current_database())) as locks,
         (select count(*)::int from pg_stat_activity where datname = current_database()
            and state like 'idle in transaction%') as transactions`,
    )
  ).rows;
  const files = readdirSync(jobs.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return {
    ...database,
    files: files.length,
    objects: await prisma.stored_object.count(),
    leases: await prisma.job.count({ where: { lease_until: { not: null } } }),
    openJobs: await prisma.job.count({ where: { state: { in: ['queued', 'running'] } } }),
    openImports: await prisma.data_import.count({ where: { finished_at: null } }),
    openTables: await prisma.import_table.count({ where: { finished_at: null } }),
    openExports: await prisma.data_export.count({ where: { finished_at: null } }),
    loads: jobs.neighbours.running,
  };
}

const files = {
  completed: () => 'code,name\nL1,x\n',
  'with rejected rows': () => 'code,name\nL2,BAD\nL3,x\n',
  'no table at all': () => gzipSync('PK'),
  'packed JSON': () => gzipSync('[{"code":"L4","name":"x"}]'),
  cancelled: () => 'code,name\nL5,x\n',
  abandoned: () => 'code,name\nL6,x\n',
};

async function importAll(): Promise<string[]> {
  const paths: string[] = [];
  for (const [name, file] of Object.entries(files)) {
    const { id } = await givenImport(jobs, { countries: file() }, { on_error: 'reject_rows' });
    if (name !== 'abandoned') await post(`/imports/${id}/upload_complete`);
    if (name === 'cancelled' || name === 'abandoned') await post(`/imports/${id}/cancel`);
    paths.push(`/imports/${id}`);
  }
  return paths;
}

async function exportAll(): Promise<string[]> {
  const paths: string[] = [];
  for (const how of [{}, { gzip: true }, { format: 'xlsx' }, { format: 'parquet' }]) {
    const { id } = (await post('/exports', { ...whole, ...how })).body;
    if ('gzip' in how) await post(`/exports/${id}/cancel`);
    paths.push(`/exports/${id}`);
  }
  return paths;
}

it('imports and exports that end in any way, or are killed, leave nothing behind', async () => {
  const before = await eventually(async () => {
    const found = await counts();
    expect(found).toMatchObject({ files: 0, objects: 0, leases: 0, openJobs: 0, locks: 0, transactions: 0 });
    return found;
  });
  for (let round = 0; round < 2; round += 1) {
    const other = await jobs.anotherProcess();
    if (round === 1) jobs.neighbours.readsToCut = 2;
    jobs.neighbours.hold();
    const paths = [...(await importAll()), ...(await exportAll())];
    await eventually(() => expect(jobs.neighbours.running).toBe(2));
    await endService(other, 'SIGKILL');
    jobs.neighbours.release();
    for (const path of paths) await ended(jobs, path);
  }
  const { prisma, store } = jobs.context;
  const noted = await prisma.stored_object.findMany();
  expect(noted.length).toBeGreaterThan(20);
  await prisma.stored_object.updateMany({ data: { expires_at: new Date(0) } });
  await sweep(jobs.context);
  await store.sweep(0); // what was being written when its process was killed; in life after a day
  await eventually(async () => expect(await counts()).toEqual(before));
});
