// PostgreSQL's disk is full: writes are 503 and change nothing, reads continue, and writes resume
// as soon as there is room. Needs root on Linux, for a small file system of its own.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestKeys } from '@almanac/testkit/calls/keys';
import { eventually } from '@almanac/testkit/eventually';
import { type Cluster, createTestDatabase, startPostgres } from '@almanac/testkit/postgres/postgres';
import { type DataProcess, startData } from '../../services/data/tests/process.ts';

const table = 1;

let folder: string;
let cluster: Cluster;
let data: DataProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-small-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256m,mode=0755', 'tmpfs', folder]);
  chmodSync(folder, 0o777);
  // The WAL must be on the disk before a write is acknowledged, and takes little of it.
  const more = {
    synchronous_commit: 'on',
    max_wal_size: '64MB',
    min_wal_size: '32MB',
    wal_level: 'minimal',
    max_wal_senders: '0',
  };
  cluster = await startPostgres({ parent: folder, more });
  data = await startData((await createTestDatabase('data', { clusterUrl: cluster.url })).url, await createTestKeys());
  await data.apply('first', [
    {
      id: table,
      columns: [
        { name: 'n', data_type: 'integer', is_primary_key: true },
        { name: 'text', data_type: 'text' },
      ],
    },
  ]);
}, 300_000);

afterAll(async () => {
  await data?.end();
  await cluster?.stop();
  execFileSync('umount', [folder]);
  rmSync(folder, { recursive: true });
});

const filler = () => join(folder, 'filler');
// Writes smaller and smaller pieces, until not even the smallest fits.
const takeEverything = () => {
  for (let size = 64 * 1024 * 1024; size >= 4096; )
    try {
      writeFileSync(filler(), Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      size /= 4;
    }
};

let next = 0;
const write = () => {
  next += 1;
  const record = { n: next, text: `${next} `.repeat(20_000) };
  return data.call('POST', '/api/v1/table_data', { table_definition_id: table, record });
};
const read = () => data.call('GET', `/api/v1/table_data?table_definition_id=${table}&per_page=1000&sort=svc_sk`);

it('a full disk stops writes only, loses nothing, and recovers when there is room', async () => {
  const acknowledged: number[] = [];
  const writeOn = async (until: (status: number) => boolean) => {
    for (let tries = 0; tries < 3_000; tries += 1) {
      const { status, headers } = await write();
      if (status === 201) acknowledged.push(next);
      else expect([status, headers.get('retry-after')]).toEqual([503, '1']);
      if (until(status)) return;
    }
    throw new Error('The disk never became full.');
  };
  for (let round = 0; round < 3; round += 1) {
    await writeOn((status) => status === 201);
    takeEverything();
    await writeOn((status) => status === 503);
    const full = await read();
    expect(full.status).toBe(200);
    expect(full.body.data.map((row: { n: number }) => row.n)).toEqual(acknowledged);
    rmSync(filler());
    await eventually(() => writeOn((status) => status === 201));
    expect((await read()).body.data.map((row: { n: number }) => row.n)).toEqual(acknowledged);
  }
}, 300_000);
