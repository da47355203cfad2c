// An account is deleted by the operators' command line, the whole way: closed, restored, erased by
// all services, with a receipt; and its neighbour is the same before and after, to the row.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, poll } from '@almanac/api-client/api';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, givenAccount, givenDeployedTable } from '@almanac/testkit/system/builders';
import { openStores, type StoredState, type Stores } from '@almanac/testkit/system/stored-state';
import { admin, givenLocalSystem, type LocalSystem, runAdmin } from '@almanac/testkit/system/system';
import { restingState } from '../support/resting-state.ts';

type Deletion = { id: number; status: string; waiting_for: string[]; name: string };
type Receipt = { digest: string; removed: Record<string, Record<string, number>>; kept: object; name: string };

/** What stays of an erased account: order, receipt, and what keeps it away. */
const keptTables = ['account_deletion', 'account_erasure', 'revocation'];
const longMs = 240_000;

let system: LocalSystem;
let stores: Stores;
let account: Account;
let neighbour: Account;
let api: Api;

beforeAll(async () => {
  system = await givenLocalSystem();
  stores = await openStores(system.home);
  [account, neighbour] = [await givenAccount(), await givenAccount()];
  api = await account.person();
  for (const each of [api, await neighbour.person()]) await fill(each);
});
afterAll(async () => {
  await stores.close();
  await system.stop();
});

// A table with rows, a second branch, a file in the bucket: something in each service.
async function fill(person: Api): Promise<void> {
  const table = await givenDeployedTable(person);
  await person.post('/table_data', { table_definition_id: table.id, record: { code: 'a' } });
  await person.post('/branches', { branch: { name: 'work' } });
  const { id } = await person.post<{ id: number }>('/exports', {
    branch_id: table.branchId,
    table_definition_key: table.key,
    pattern: 'full',
  });
  await poll(
    () => person.get<{ status: string }>(`/exports/${id}`),
    ({ status }) => status === 'completed',
  );
}

const nameOf = async ({ id }: Account) =>
  (await admin<{ id: number; name: string }[]>(['accounts', 'list'])).find((each) => each.id === id)?.name as string;
const deletionOf = async ({ id }: Account) =>
  (await admin<Deletion[]>(['accounts', 'list', '--deleted'])).find((each) => each.id === id);
const filled = (state: StoredState) =>
  Object.entries(state).flatMap(([name, hash]) => (hash.startsWith('0 rows') ? [] : [name]));
const answers = async (person: Api) => (await person.send('GET', '/account')).status;

it('an account is deleted only with its name', async () => {
  for (const words of [[], ['--confirm', 'Another']]) {
    const { code, stdout } = await runAdmin(['accounts', 'delete', String(account.id), ...words]);
    expect([code, stdout]).toEqual([words.length === 0 ? 2 : 1, '']);
  }
  expect(await runAdmin(['accounts', 'delete', '999999', '--confirm', 'x'])).toMatchObject({ code: 1 });
  expect(await runAdmin(['accounts', 'restore', String(account.id)])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is not being deleted'),
  });
  expect(await answers(api)).toBe(200);
});

it(
  'a closed account answers as an unknown one, and is restored with all that it had',
  async () => {
    const before = await restingState(stores, account.id);
    const name = await nameOf(account);
    const closed = await admin<Deletion>(['accounts', 'delete', String(account.id), '--confirm', name]);
    expect(closed).toMatchObject({ status: 'closed', waiting_for: [] });
    await eventually(async () => {
      const { status, body } = await api.send('GET', '/domains');
      expect([status, (body as { error: string }).error]).toEqual([401, 'Invalid token']);
    });
    await expect(account.person()).rejects.toThrow();
    expect(await nameOf(account)).toBeUndefined();
    expect((await runAdmin(['accounts', 'receipt', String(account.id)])).stderr).toContain('There is no receipt yet');
    await admin(['accounts', 'restore', String(account.id)]);
    const after = await restingState(stores, account.id);
    const restored = (state: StoredState) =>
      Object.fromEntries(
        Object.entries(state).filter(
          ([name]) =>
            !/audit_event|revocation|identity\.account$|session|token|code|rate|usage|lease|mail|job$/.test(name),
        ),
      );
    expect(restored(after)).toEqual(restored(before));
    // Tokens of its first minute are refused, so a log-in is tried until that is over.
    api = await eventually(
      () =>
        account.person().then(async (person) => {
          expect(await answers(person)).toBe(200);
          return person;
        }),
      { withinMs: longMs },
    );
  },
  2 * longMs,
);

it(
  'an erased account leaves its receipt, and nothing else in any database or bucket',
  async () => {
    const before = await restingState(stores, neighbour.id);
    const own = filled(await stores.stateOf(account.id));
    expect(own).toEqual(
      expect.arrayContaining(['identity.user', 'metadata.branch', 'data.deployed_table', 'jobs.data_export']),
    );
    const branches = await stores.query('metadata', 'select id from branch where account_id = $1', [account.id]);
    const name = await nameOf(account);
    const words = ['--confirm', name, '--grace', '0', '--by', 'ops@example.com'];
    await admin(['accounts', 'delete', String(account.id), ...words]);
    await poll(
      () => deletionOf(account),
      (deletion) => deletion?.status === 'erased',
      { timeoutMs: longMs },
    );

    const left = filled(await stores.stateOf(account.id));
    expect(left.filter((table) => !keptTables.includes(table.split('.')[1] as string))).toEqual([]);
    const schemas = branches.flatMap(({ id }) => [`b_${id}`, `v_${id}`]);
    expect(await stores.query('data', 'select nspname from pg_namespace where nspname = any($1)', [schemas])).toEqual(
      [],
    );
    expect(foldersOf(join(system.home, 'objects/objects/accounts'))).not.toContain(String(account.id));
    for (const database of ['identity', 'metadata', 'data', 'jobs', 'billing'] as const)
      expect(
        await stores.query(database, `select type from outbox where payload->>'account_id' = $1::text`, [account.id]),
      ).toEqual([]);
    expect(await restingState(stores, neighbour.id)).toEqual(before);

    const receipt = await admin<Receipt>(['accounts', 'receipt', String(account.id)]);
    expect(receipt).toMatchObject({
      name,
      requested_by: 'ops@example.com',
      removed: {
        identity: { user: 1 },
        metadata: { table_definition: 1, branch: 2 },
        data: { tables: 1, rows: 1 },
        jobs: { data_export: 1, stored_object: 1 },
        billing: { account_subscription: 1 },
      },
      kept: { billing: { statements: [expect.objectContaining({ calls: expect.any(Number) })] } },
    });
    const { digest, ...facts } = receipt;
    expect(digest).toBe(`sha256:${createHash('sha256').update(canonical(facts)).digest('hex')}`);
    expect(await runAdmin(['accounts', 'restore', String(account.id)])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('was erased on'),
    });
  },
  3 * longMs,
);

it('a locked-out administrator gets a link from an operator', async () => {
  const email = (
    await admin<{ email: string; administrator: boolean }[]>(['users', 'list', '--account', String(neighbour.id)])
  ).find(({ administrator }) => administrator)?.email as string;
  const words = ['users', 'reset-password', '--account', String(neighbour.id), '--email', email];
  const link = await admin<{ url: string; expires_at: string }>(words);
  expect(await fetch(link.url).then(({ status, url }) => [status, new URL(url).search])).toEqual([
    expect.any(Number),
    expect.any(String),
  ]);
  expect(Date.parse(link.expires_at)).toBeGreaterThan(Date.now());
  expect(await runAdmin([...words.slice(0, -1), 'none@example.com'])).toMatchObject({ code: 1, stdout: '' });
  const other = ['users', 'list', '--account', '999999'];
  expect(await runAdmin(other)).toMatchObject({ code: 1, stderr: expect.stringContaining('Account') });
});

const foldersOf = (folder: string) => readdirSync(folder);

// As jq -cS writes it.
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
};
