// kill -9 of jobs, data and PostgreSQL (which is the broker here too) at random during imports and
// exports: each acknowledged piece ends, reports its rows correctly, and leaves nothing behind.
// STORM_SEED repeats a run; STORM=all makes it 200 pieces.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@almanac/testkit/eventually';
import { openStores, type Stores } from '@almanac/testkit/system/stored-state';
import { givenLocalSystem, type LocalSystem } from '@almanac/testkit/system/system';
import { fetchPatiently, isEverythingUp, kill, killDuring, patienceMs, until } from '../support/killing.ts';
import { givenStorm, planPieces } from '../support/storm.ts';

const seed = Number(process.env.STORM_SEED ?? Date.now() % 1_000_000);
const count = process.env.STORM === 'all' ? 200 : 24;
const victims = Object.fromEntries(['jobs', 'data', 'postgres'].map((name) => [name, () => kill(name)]));

let system: LocalSystem;
let stores: Stores;
let fetchAsBefore: () => void;

beforeAll(async () => {
  fetchAsBefore = fetchPatiently();
  system = await givenLocalSystem();
  stores = await openStores(system.home);
  await until('everything is up', isEverythingUp);
});
afterAll(async () => {
  fetchAsBefore();
  await stores?.close();
  await system?.stop();
});

it('every acknowledged piece ends, and reports what it did, whatever is killed during it', async () => {
  console.log(`STORM_SEED=${seed}`);
  const storm = await givenStorm(planPieces(seed, count));
  const ids = storm.accounts.map(({ id }) => id);
  const killed = await killDuring(storm.work, victims, { seed, rounds: Math.ceil(count / 12) });
  expect(new Set(killed)).toEqual(new Set(Object.keys(victims)));
  const ends = await storm.expectTruth();
  console.log(`killed: ${killed.join(' ')}; ${JSON.stringify(ends)}`);
  expect(ends.completed).toBeGreaterThan(count / 3);
  await expectNothingRuns(ids);
  await expectEveryObjectNoted(ids);
  await kill('data'); // a start cleans up after killed processes
  await until('everything is up', isEverythingUp);
  await expectNothingStaged();
}, 3_600_000);

async function expectNothingRuns(ids: number[]): Promise<void> {
  const running = await stores.query(
    'jobs',
    `select (select count(*)::int from job where account_id = any($1) and (lease_until is not null or state in ('queued', 'running'))) as jobs,
       (select count(*)::int from data_import where account_id = any($1) and finished_at is null) as imports,
       (select count(*)::int from import_table where account_id = any($1) and finished_at is null) as tables,
       (select count(*)::int from data_export where account_id = any($1) and finished_at is null) as exports`,
    [ids],
  );
  expect(running).toEqual([{ jobs: 0, imports: 0, tables: 0, exports: 0 }]);
}

// The sweeper removes recorded objects when they expire, and objects that no row names soon.
async function expectEveryObjectNoted(ids: number[]): Promise<void> {
  const noted = await stores.query(
    'jobs',
    `select key, expires_at < now() + interval '8 days 1 hour' as goes_soon, exists (
       select from import_table t where o.key in (t.object_key, t.rejected_key)
       union all select from data_export e where o.key = e.object_key
     ) as is_named from stored_object o where account_id = any($1)`,
    [ids],
  );
  expect(noted.filter(({ goes_soon, is_named }) => !goes_soon && !is_named)).toEqual([]);
  const folder = join(system.home, 'objects/objects');
  if (!existsSync(folder)) return; // they are in S3
  const keys = new Set(noted.map(({ key }) => key));
  const files = ids.flatMap((id) =>
    readdirSync(join(folder, 'accounts', String(id)), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)),
  );
  expect(files.filter((key) => !keys.has(key))).toEqual([]);
}

async function expectNothingStaged(): Promise<void> {
  await eventually(
    async () => {
      const [left] = await stores.query(
        'data',
        `select (select count(*)::int from pg_class where relpersistence = 'u' and relkind = 'r') as staged,
           (select count(*)::int from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'
              and application_name <> 'tests') as held`,
      );
      expect(left).toEqual({ staged: 0, held: 0 });
    },
    { withinMs: patienceMs },
  );
}
