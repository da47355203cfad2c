// kill -9 of the gateway during writes (fault R01): an acknowledged row exists once, any other once
// or not at all. The account is charged for calls that a gateway answered and reported, and for
// none twice (ADR 5). WRITES_SEED repeats the moments.
import type { Api } from '@almanac/api-client/api';
import { eventually } from '@almanac/testkit/eventually';
import { type DeployedTable, givenAccount, givenDeployedTable, unique } from '@almanac/testkit/system/builders';
import { givenLocalSystem, type LocalSystem } from '@almanac/testkit/system/system';
import { isEverythingUp, kill, killDuring, patienceMs, until } from '../support/killing.ts';

const seed = Number(process.env.WRITES_SEED ?? Date.now() % 1_000_000);
const kills = 4;
const lanes = 4;

let system: LocalSystem;
let api: Api;
let table: DeployedTable;

beforeAll(async () => {
  system = await givenLocalSystem();
  await until('everything is up', isEverythingUp);
  api = await (await givenAccount({ plan: 'enterprise' })).person();
  // Without a key, so that a row that is written twice exists twice.
  table = await givenDeployedTable(api, { columns: [{ name: 'code', data_type: 'string', length: 40 }] });
});
afterAll(() => system?.stop());

/** The account's booked calls before this one. */
const countCalls = async () => (await api.get<{ usage: { calls: number } }>('/account')).usage.calls;

/**
 * Counts the booked calls, without those that read the count; reads that `failed` may be counted.
 */
async function startCounting(): Promise<{ failed: number; countOthers(): Promise<number> }> {
  let before = await countCalls(); // grows by each answered read of the count
  const counting = {
    failed: 0,
    countOthers: async () => {
      before += 1;
      try {
        return (await countCalls()) - before;
      } catch (error) {
        before -= 1;
        counting.failed += 1;
        throw error;
      }
    },
  };
  return counting;
}

it('an acknowledged write exists once and is booked once, unless a killed gateway had not reported it', async () => {
  console.log(`WRITES_SEED=${seed}`);
  const acknowledged: string[] = [];
  const unknown: string[] = [];
  const write = async () => {
    const code = unique();
    const body = { table_definition_id: table.id, record: { code } };
    const status = await api.send('POST', '/table_data', body).then(
      (answer) => answer.status,
      () => 0, // cut off, or not connected
    );
    (status === 201 ? acknowledged : unknown).push(code);
    expect([0, 201, 503]).toContain(status);
    if (status !== 201) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  const counting = await startCounting();
  let unreported = 0;
  const killGateway = async () => {
    const answered = await eventually(
      async () => {
        const soFar = acknowledged.length;
        expect(await counting.countOthers()).toBeGreaterThanOrEqual(soFar - unreported);
        return soFar;
      },
      { withinMs: patienceMs },
    );
    await kill('gateway');
    // The read of the count is not reported either, and each lane may still read an answer of the
    // killed gateway.
    unreported += acknowledged.length - answered + lanes + 1;
  };
  const work = async (shouldContinue: () => boolean) => {
    const until = acknowledged.length + 200;
    const lane = async () => {
      while (shouldContinue() || acknowledged.length < until) await write();
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  };
  const names = Object.fromEntries(Array.from({ length: kills }, (_, n) => [`gateway ${n}`, killGateway]));
  expect(await killDuring(work, names, { seed, rounds: 1 })).toHaveLength(kills);
  await until('everything is up', isEverythingUp);
  await expectThere(acknowledged, unknown);
  const pages = Math.ceil((acknowledged.length + 1) / 1_000);
  await eventually(
    async () => {
      const writes = (await counting.countOthers()) - pages;
      expect(writes).toBeGreaterThanOrEqual(acknowledged.length - unreported);
      expect(writes).toBeLessThanOrEqual(acknowledged.length + unknown.length + counting.failed);
    },
    { withinMs: patienceMs, everyMs: 500 },
  );
  console.log(`${acknowledged.length} acknowledged, at most ${unreported} of them not reported`);
}, 900_000);

async function expectThere(acknowledged: string[], unknown: string[]): Promise<void> {
  const codes: string[] = [];
  for (let startRow = 0; ; startRow += 1_000) {
    const window = { table_definition_id: table.id, startRow, endRow: startRow + 1_000 };
    const { rows } = await api.post<{ rows: { code: string }[] }>('/table_data/grid', window);
    codes.push(...rows.map(({ code }) => code));
    if (rows.length < 1_000) break;
  }
  const there = new Set(codes);
  expect(codes).toHaveLength(there.size);
  expect(acknowledged.filter((code) => !there.has(code))).toEqual([]);
  const known = new Set([...acknowledged, ...unknown]);
  expect(codes.filter((code) => !known.has(code))).toEqual([]);
}
