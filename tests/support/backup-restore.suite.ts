// A backup of a system under writes, restored into an empty one with a store of its own: rows,
// files, log-ins, tokens and chains of exports continue from the instant of the backup.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApi } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { createClient } from '@almanac/client';
import { eventually } from '@almanac/testkit/eventually';
import { findFreePort } from '@almanac/testkit/network/ports';
import { type Account, givenAccount, givenDeployedTable, unique } from '@almanac/testkit/system/builders';
import { openStores, type StoredState } from '@almanac/testkit/system/stored-state';
import { admin, type RunningSystem, runAdmin, startSystem, systemHomeName } from '@almanac/testkit/system/system';
import { type Progress, steps } from './main-job.ts';

type Manifest = {
  taken_at: string;
  is_settled: boolean;
  databases: { name: string; file: string }[];
  objects: { count: number };
};

const work = mkdtempSync(join(tmpdir(), 'almanac-backup-'));
const [oldHome, newHome, folder] = ['old', 'new', 'backup'].map((name) => join(work, name)) as [string, string, string];
const lastStep = steps.at(-1) as (typeof steps)[number];

let system: RunningSystem | undefined;
let port: string;
let store: { old?: string; new?: string };
let still: Account;
let progress: Progress;
let before: StoredState;
let token: string;
let exported: { id: number; bytes: Buffer };
let pendingImport: number;
let manifest: Manifest;
let written: { table: number; code: string; at: 'before' | 'while' }[];

async function start(home: string, url: string | undefined): Promise<void> {
  setStore(url); // for the operators' commands too
  system = await startSystem({ home, env: { PORT: port, JOBS_OBJECT_STORE_URL: url } });
  process.env.ALMANAC_BASE_URL = system.baseUrl;
  process.env[systemHomeName] = home;
}

function setStore(url: string | undefined): void {
  if (url === undefined) delete process.env.JOBS_OBJECT_STORE_URL;
  else process.env.JOBS_OBJECT_STORE_URL = url;
}

const stateOf = async (home: string, account: number) => {
  const stores = await openStores(home);
  try {
    // Counts of calls continue during the backup, so only the rest of the account is compared.
    const all = Object.entries(await stores.stateOf(account));
    const kept = all.filter(([name]) => !/^billing\.(monthly|daily)_usage$/.test(name));
    // A file in a folder: its content, without the time and the place on the disk.
    return Object.fromEntries(
      kept.map(([name, state]) => [name, name.startsWith('file ') ? state.replace(/^\S+ /, '') : state]),
    );
  } finally {
    await stores.close();
  }
};

// The account's newest act is in its audit log, so none of its events is pending.
async function untilAudited(importId: number): Promise<void> {
  const stores = await openStores(oldHome);
  const text = `select from audit_event where account_id = $1 and action = 'import.created' and resource_id = $2`;
  try {
    await eventually(async () => {
      expect(await stores.query('identity', text, [still.id, importId])).toHaveLength(1);
    });
  } finally {
    await stores.close();
  }
}

/**
 * `stores`: where the files of the old and of the new system are; without them, in their folders.
 */
export function describeBackup(stores: () => { old?: string; new?: string }): void {
  beforeAll(async () => {
    store = stores();
    port = String(await findFreePort());
    await start(oldHome, store.old);
  });
  afterAll(async () => {
    await system?.stop({ keep: true });
    rmSync(work, { recursive: true, force: true });
  });

  describe('a backup of a system at work', () => {
    it('is made while others write, as of one instant', async () => {
      still = await givenAccount();
      progress = {} as Progress;
      const almanac = await still.client();
      for (const step of steps.slice(0, -1)) await step.run(almanac, progress);
      const { data } = await almanac.get('/exports', { params: { query: { sort: '-id' } } });
      const last = data[0] as { id: number };
      exported = { id: last.id, bytes: Buffer.from(await (await almanac.download(last.id)).arrayBuffer()) };
      pendingImport = await givenUploadedImport(await still.person());
      token = (await signInPerson(still.baseUrl, still.application, still.admin)).access_token;

      const writer = await givenWriter();
      await untilAudited(pendingImport);
      before = await stateOf(oldHome, still.id);
      manifest = await admin<Manifest>(['backup', folder]);
      written = await writer.stop();
      expect(await stateOf(oldHome, still.id)).toEqual(before);
      expect(written.filter(({ at }) => at === 'before').length).toBeGreaterThan(0);
      expect(manifest.databases.map(({ name }) => name)).toEqual(['billing', 'data', 'identity', 'jobs', 'metadata']);
      expect(manifest.objects.count).toBeGreaterThan(2);
      const modes = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => statSync(join(entry.parentPath, entry.name)).mode & 0o077);
      expect(new Set(modes)).toEqual(new Set([0]));
    });

    it('is refused where files exist already', async () => {
      const again = await runAdmin(['backup', folder]);
      expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('is not empty') });
      expect(existsSync(join(folder, 'manifest.json'))).toBe(true);
    });

    it('is not restored over a system, nor when it is damaged, and then changes nothing', async () => {
      expect(await runAdmin(['restore', folder])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('already running'),
      });
      await system?.stop({ keep: true });
      system = undefined;
      const ofStopped = await admin<Manifest>(['backup', join(work, 'stopped')], oldHome);
      expect(ofStopped.databases.map(({ name }) => name)).toEqual(manifest.databases.map(({ name }) => name));
      const over = await runAdmin(['restore', folder], oldHome);
      const emptyIt = `is not empty. Move ${join(oldHome, 'postgres')} away, and repeat the restore.`;
      expect(over).toMatchObject({ code: 2, stderr: expect.stringContaining(emptyIt) });

      mkdirSync(newHome);
      const without = await runAdmin(['restore', folder], newHome);
      expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('secrets.json is missing') });
      cpSync(join(oldHome, 'secrets.json'), join(newHome, 'secrets.json'));

      const file = join(folder, 'metadata.sql.gz');
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.with(bytes.length >> 1, (bytes[bytes.length >> 1] as number) ^ 1));
      const damaged = await runAdmin(['restore', folder], newHome);
      expect(damaged).toMatchObject({ code: 2, stderr: expect.stringContaining('metadata.sql.gz has other bytes') });
      writeFileSync(file, bytes);
    });

    it('makes an empty system what the old one was', async () => {
      rmSync(oldHome, { recursive: true });
      setStore(store.new);
      const restored = await admin<Manifest>(['restore', folder], newHome);
      expect(restored.taken_at).toBe(manifest.taken_at);
      await start(newHome, store.new);
      const after = await stateOf(newHome, still.id);
      // An uploaded file has another etag in another store.
      expect({ ...after, 'jobs.import_table': '' }).toEqual({ ...before, 'jobs.import_table': '' });
    });

    it('keeps tokens, passwords and applications', async () => {
      const account = await createApi(still.baseUrl, token).get('/account');
      expect(account).toMatchObject({ id: still.id });
      const fresh = await signInPerson(still.baseUrl, still.application, still.admin);
      expect((await createApi(still.baseUrl, fresh.access_token).get('/domains')).data.length).toBeGreaterThan(0);
      await still.machine();
    });

    it('continues a chain of exports, and has the files', async () => {
      const almanac = createClient({ baseUrl: still.baseUrl, token });
      await lastStep.run(almanac, progress);
      const file = Buffer.from(await (await almanac.download(exported.id)).arrayBuffer());
      expect(file.equals(exported.bytes)).toBe(true);
    });

    it('finishes an import whose file was uploaded before', async () => {
      const almanac = createClient({ baseUrl: still.baseUrl, token });
      await almanac.post('/imports/{id}/upload_complete', { params: { path: { id: pendingImport } } });
      const done = await almanac.waitForImport(pendingImport, { everyMs: 1_000 });
      expect(done).toMatchObject({ status: 'completed', import_tables: [{ metrics: { inserted: 1 } }] });
    });

    it('has every row from before the instant, and a table for each definition that is deployed', async () => {
      const api = await writerAccount.person();
      const { data: definitions } = await api.get('/deployed_table_definitions?per_page=1000');
      const codes = new Map<number, Set<string>>();
      for (const { id } of definitions) {
        const page = await api.post('/table_data/grid', { table_definition_id: id, startRow: 0, endRow: 1000 });
        codes.set(id, new Set(page.rows.map(({ code }: { code: string }) => code)));
      }
      const lost = written.filter(({ table, code, at }) => at === 'before' && !codes.get(table)?.has(code));
      expect(lost).toEqual([]);
      await givenDeployedTable(api); // ids continue
    });
  });
}

let writerAccount: Account;

/**
 * Deploys tables and writes a row into each until stopped. Each row has whether it was written
 * before the backup began or during it.
 */
async function givenWriter() {
  writerAccount = await givenAccount();
  const api = await writerAccount.person();
  const rows: typeof written = [];
  let at: 'before' | 'while' = 'before';
  let stopped = false;
  const writeOne = async () => {
    const table = await givenDeployedTable(api);
    const code = unique();
    const when = at;
    await api.post('/table_data', { table_definition_id: table.id, record: { code } });
    rows.push({ table: table.id, code, at: when });
  };
  await writeOne();
  at = 'while';
  const run = async () => {
    while (!stopped) await writeOne();
  };
  const running = run();
  return {
    stop: async () => {
      stopped = true;
      await running;
      return rows;
    },
  };
}

async function givenUploadedImport(api: Awaited<ReturnType<Account['person']>>): Promise<number> {
  const table = await givenDeployedTable(api);
  const { id } = await api.post('/imports', { branch_id: table.branchId });
  const part = await api.post(`/imports/${id}/tables`, { table_definition_id: table.id, pattern: 'full' });
  const answer = await api.send('PUT', `/imports/${id}/tables/${part.id}/file`, 'code,name\nA,Anna\n', {
    headers: { 'Content-Type': 'text/csv' },
  });
  expect(answer).toMatchObject({ status: 200 });
  return id;
}
