// kill -9 of every service and of PostgreSQL (which is the broker here too) while accounts are
// erased: each erasure ends, its receipt has exact counts, and nothing is left. SEED repeats a run.
import type { Api } from '@almanac/api-client/api';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, givenAccount, givenDeployedTable } from '@almanac/testkit/system/builders';
import { openStores, type Stores } from '@almanac/testkit/system/stored-state';
import { givenLocalSystem, type LocalSystem, runAdmin } from '@almanac/testkit/system/system';
import { isEverythingUp, kill, killDuring, patienceMs, until } from '../support/killing.ts';
import { restingState } from '../support/resting-state.ts';

type Receipt = { removed: Record<string, Record<string, number>> };

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
const names = ['identity', 'metadata', 'data', 'jobs', 'billing', 'postgres'];
const victims = Object.fromEntries(names.map((name) => [name, () => kill(name)]));
const keptTables = ['account_deletion', 'account_erasure', 'revocation'];

let system: LocalSystem;
let stores: Stores;

beforeAll(async () => {
  system = await givenLocalSystem();
  stores = await openStores(system.home);
  await until('everything is up', isEverythingUp);
});
afterAll(async () => {
  await stores?.close();
  await system?.stop();
});

async function givenFilledAccount(): Promise<Account> {
  const account = await givenAccount();
  const person: Api = await account.person();
  const table = await givenDeployedTable(person);
  for (const code of ['a', 'b', 'c'])
    await person.post('/table_data', { table_definition_id: table.id, record: { code } });
  await person.post('/branches', { branch: { name: 'work' } });
  return account;
}

// Commands fail while the service that they call is down; a repeated order is harmless.
const patiently = (words: string[], ends: RegExp) =>
  eventually(
    async () => {
      const { code, stdout, stderr } = await runAdmin(words);
      if (code !== 0 && !ends.test(stderr)) throw new Error(stderr);
      return stdout;
    },
    { withinMs: patienceMs },
  );

// A request or report that was lost with its bus is repeated after ten minutes.
const erasedWithinMs = 20 * 60_000;

it('every account is erased, and each removal counted once, whatever is killed during it', async () => {
  console.log(`SEED=${seed}`);
  const accounts = [await givenFilledAccount(), await givenFilledAccount(), await givenFilledAccount()];
  const neighbour = await givenFilledAccount();
  const nameOf = async ({ id }: Account) =>
    String((await stores.query('identity', 'select name from account where id = $1', [id]))[0]?.name);
  const named = await Promise.all(accounts.map(async (account) => ({ account, name: await nameOf(account) })));
  const before = await restingState(stores, neighbour.id);
  // A quick machine has erased everything before the first pause of killDuring is over.
  const first = names[seed % names.length] as string;
  const work = async () => {
    for (const { account, name } of named) {
      await patiently(
        ['accounts', 'delete', String(account.id), '--confirm', name, '--grace', '0'],
        /is being erased|was erased/,
      );
      if (account === accounts[0]) await kill(first);
    }
    for (const { account } of named)
      await eventually(
        async () => {
          const { stdout } = await runAdmin(['accounts', 'receipt', String(account.id), '--json']);
          expect(stdout).toContain('digest');
        },
        { withinMs: erasedWithinMs },
      );
  };
  const killed = await killDuring(work, victims, { seed, rounds: 2 });
  console.log(`killed: ${[first, ...killed].join(' ')}`);
  for (const { id } of accounts) {
    const { removed } = JSON.parse(await patiently(['accounts', 'receipt', String(id), '--json'], /^$/)) as Receipt;
    expect(removed).toMatchObject({
      identity: { user: 1 },
      metadata: { branch: 2, table_definition: 1 },
      data: { tables: 1, rows: 3 },
    });
    const left = Object.entries(await stores.stateOf(id)).flatMap(([name, hash]) =>
      hash.startsWith('0 rows') ? [] : [name],
    );
    expect(left.filter((table) => !keptTables.includes(table.split('.')[1] as string))).toEqual([]);
  }
  expect(await restingState(stores, neighbour.id)).toEqual(before);
}, 3_600_000);
