// kill -9 of the gateway during writes (fault R01): what was acknowledged is there once, what was not is there once or not at all, and
// the account is charged for all it was answered (ADR 5). WRITES_SEED repeats the moments.
import type { Api } from '@almanac/api-client/api';
import { type DeployedTable, givenAccount, givenDeployedTable, unique } from '@almanac/testkit/builders';
import { eventually } from '@almanac/testkit/eventually';
import { givenLocalSystem, type LocalSystem } from '@almanac/testkit/system';
import { isEverythingUp, kill, killDuring, patienceMs, until } from './killing.ts';

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
  // Without a key, so that a row that is written twice is there twice.
  table = await givenDeployedTable(api, { columns: [{ name: 'code', data_type: 'string', length: 40 }] });
});
afterAll(() => system?.stop());

/** How many calls the account has made before this one, as far as they are booked. */
const countCalls = async () => (await api.get<{ usage: { calls: number } }>('/account')).usage.calls;

it('what was acknowledged is there once and is booked, whatever gateway died meanwhile', async () => {
  console.log(`WRITES_SEED=${seed}`);
  const acknowledged: string[] = [];
  const unknown: string[] = [];
  const write = async () => {
    const code = unique();
    const body = { table_definition_id: table.id, record: { code } };
    const status = await api.send('POST', '/table_data', body).then(
      (answer) => answer.status,
      () => 0, // cut off, or nobody there
    );
    (status === 201 ? acknowledged : unknown).push(code);
    expect([0, 201, 503]).toContain(status);
    if (status !== 201) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  const before = await countCalls();
  const work = async (goOn: () => boolean) => {
    const until = acknowledged.length + 200;
    const lane = async () => {
      while (goOn() || acknowledged.length < until) await write();
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  };
  const names = Object.fromEntries(Array.from({ length: kills }, (_, n) => [`gateway ${n}`, () => kill('gateway')]));
  expect(await killDuring(work, names, { seed, rounds: 1 })).toHaveLength(kills);
  await until('everything is up', isEverythingUp);
  await expectThere(acknowledged, unknown);
  await expectBooked(before, acknowledged.length, unknown.length);
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

// Besides the writes there were the calls that asked for the count and for the rows.
async function expectBooked(before: number, acknowledged: number, unknown: number): Promise<void> {
  let asked = 1 + Math.ceil((acknowledged + 1) / 1_000);
  await eventually(
    async () => {
      const more = (await countCalls()) - before - asked;
      asked += 1;
      expect(more).toBeGreaterThanOrEqual(acknowledged);
      expect(more).toBeLessThanOrEqual(acknowledged + unknown);
    },
    { withinMs: patienceMs, everyMs: 500 },
  );
}
