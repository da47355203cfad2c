import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { newObjectKey } from '../../src/files/object-store/object-store.ts';
import { ended, givenImport, givenJobs, type Jobs, runImport } from '../given.ts';

let jobs: Jobs;

beforeAll(async () => {
  // A long lease: a pause of the garbage collector must not look like a dead instance.
  jobs = await givenJobs({ work: { leaseMs: 30_000 } });
});
afterAll(() => jobs.close());

/** The collections of a worker whose heap is large take long. */
const withinMs = 900_000;

describe('a large file', () => {
  it(
    'passes through in flat memory',
    async () => {
      const megabytes = 200;
      const bytesPerSample = 8 * 1024 ** 2;
      const { context, neighbours } = jobs;
      neighbours.addTable({ key: 'countries' });
      neighbours.countOnly = true;
      await runImport(jobs, { countries: 'code,name\nA,x\n' }); // what is loaded once stays in memory
      const line = Buffer.from(`${'x'.repeat(40)},"${'y'.repeat(58)}"\n`);
      const block = Buffer.concat(Array.from({ length: Math.ceil(1024 ** 2 / line.length) }, () => line));
      const { id, import_tables } = await givenImport(jobs, { countries: undefined });
      const table = await context.prisma.import_table.findFirstOrThrow({ where: { import_id: id } });
      const large = async function* () {
        yield Buffer.from('code,name\n');
        for (let i = 0; i < megabytes; i += 1) yield block;
      };
      expect(table.object_key).not.toBe(newObjectKey(1, 'imports', id));
      await context.store.put(table.object_key, large(), { maxBytes: 1024 ** 4 });
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      // The memory in use, without garbage.
      const used = () => {
        collect();
        const { heapUsed, external } = process.memoryUsage();
        return (heapUsed + external) / 1024 ** 2;
      };
      const before = used();
      let most = 0;
      let samples = 0;
      let isRunning = true;
      // One collection per part of the file: by the clock, a busy machine would do little else.
      const watching = (async () => {
        for (let seen = 0; isRunning; await sleep(50)) {
          const bytes = neighbours.loads.at(-1)?.bytes ?? 0;
          if (bytes - seen < bytesPerSample) continue;
          seen = bytes;
          samples += 1;
          most = Math.max(most, used() - before);
        }
      })();
      await jobs.call('POST', `/api/v1/imports/${id}/upload_complete`);
      const done = await ended(jobs, `/imports/${id}`, jobs.call, withinMs);
      isRunning = false;
      await watching;
      expect(done.import_tables[0]).toMatchObject({ id: import_tables[0].id, status: 'completed' });
      expect(done.import_tables[0].metrics.rows_read).toBe((block.length / line.length) * megabytes);
      expect(samples).toBeGreaterThan(2);
      expect(most).toBeLessThan(megabytes / 2); // buffers on their way, wherever they are
    },
    2 * withinMs,
  );
});
