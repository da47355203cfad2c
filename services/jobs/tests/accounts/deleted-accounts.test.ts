// Accounts that are closed and erased: their work is cancelled, then their rows, files and mails
// are removed, and no other account's.
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '@almanac/testkit/eventually';
import { collectMessages, startBus } from '@almanac/testkit/messaging/bus';
import { ended, givenJobs, type Jobs, runImport } from '../given.ts';

let jobs: Jobs;
let mailFolder: string;
let reports: { payload: Record<string, unknown> }[];
let stop: () => Promise<void>;

beforeAll(async () => {
  mailFolder = await mkdtemp(join(tmpdir(), 'almanac-mails-'));
  jobs = await givenJobs({ smtpUrl: pathToFileURL(mailFolder).href });
  jobs.neighbours.addTable({ key: 'countries' });
  jobs.neighbours.branches.push({ account_id: 2, id: 22 });
  jobs.neighbours.addTable({ account_id: 2, branch_id: 22, key: 'countries' });
  const bus = await startBus(jobs.busUrl, 'listener');
  reports = await collectMessages(bus, 'listener.erased', ['jobs.account.erased']);
  stop = () => bus.stop();
});
afterAll(async () => {
  await stop();
  await jobs.close();
  await rm(mailFolder, { recursive: true });
});
afterEach(() => jobs.neighbours.release());

const query = (text: string, ...values: unknown[]) =>
  jobs.context.prisma.$queryRawUnsafe<Record<string, unknown>[]>(text, ...values);

/** Every table that has the account's id, from the catalogue, and the files of the account. */
async function stateOf(account: number): Promise<Record<string, unknown>> {
  const tables = await query(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'account_id' and table_name <> 'account_erasure'`,
  );
  const state: Record<string, unknown> = {};
  for (const { name } of tables) {
    const [row] = await query(
      `select count(*)::int as n, md5(string_agg(t::text, '|' order by t::text)) as hash from "${name}" t where account_id = $1`,
      account,
    );
    if (Number(row?.n) > 0) state[String(name)] = `${row?.n} ${row?.hash}`;
  }
  const files = filesIn(join(jobs.folder, 'objects/accounts', String(account)));
  return files.length > 0 ? { ...state, files } : state;
}
const filesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
};
const close = (account: number, closed_at: Date) =>
  jobs.announce('identity.account.closed', { account_id: account, closed_at: closed_at.toISOString() });
const createExport = async (as = jobs.call, branch_id = 1) => {
  const wanted = { branch_id, table_definition_key: 'countries', pattern: 'full' };
  const { status, body } = await as('POST', '/api/v1/exports', wanted);
  expect([status, body]).toEqual([201, expect.anything()]);
  return body.id;
};
const statusOf = async (id: number) => (await jobs.call('GET', `/api/v1/exports/${id}`)).body.status;

describe('a closed account', () => {
  it('has its open work cancelled, but not what began after it was closed', async () => {
    jobs.neighbours.hold();
    const [id, open] = [await createExport(), (await jobs.call('POST', '/api/v1/imports', { branch_id: 1 })).body.id];
    await close(2, new Date(Date.now() + 60_000));
    await close(1, new Date(Date.now() - 60_000));
    await close(1, new Date(Date.now() + 1_000));
    await eventually(async () => expect(await statusOf(id)).toBe('cancelled'));
    expect((await ended(jobs, `/imports/${open}`)).status).toBe('cancelled');
    jobs.neighbours.release();
    const later = await createExport();
    await close(1, new Date(Date.now() - 60_000));
    expect((await ended(jobs, `/exports/${later}`)).status).toBe('completed');
  });
});

describe('the erasure of an account', () => {
  it('leaves no row, file or mail of it, and its neighbour as it was', async () => {
    const neighbour = jobs.as({ accountId: 2 });
    for (const account_id of [1, 2])
      jobs.neighbours.users.push({
        id: account_id,
        account_id,
        first_name: '',
        last_name: '',
        email: `u${account_id}@a.test`,
      });
    await runImport(jobs, { countries: 'code,name\nFR,France\n' });
    await ended(jobs, `/exports/${await createExport()}`);
    await ended(jobs, `/exports/${await createExport(neighbour, 22)}`, neighbour);
    for (const id of [1, 2])
      await jobs.announce('identity.mail.requested', {
        account_id: id,
        template: 'password_changed',
        user_ids: [id],
        values: {},
      });
    await eventually(async () => expect(await query(`select 1 from mail where status = 'sent'`)).toHaveLength(2));
    // The export of account 2 was created and has finished.
    await eventually(async () =>
      expect(await query('select 1 from account_event where account_id = 2')).toHaveLength(2),
    );
    jobs.neighbours.hold();
    await createExport(); // it runs while it is erased
    await eventually(async () => expect(await query(`select 1 from job where state = 'running'`)).toHaveLength(1));

    const [before, own] = [await stateOf(2), await stateOf(1)];
    expect(Object.keys(own)).toEqual(
      expect.arrayContaining([
        ...['data_import', 'import_table', 'data_export', 'job', 'mail', 'stored_object', 'account_event', 'files'],
      ]),
    );
    expect(filesIn(mailFolder)).toHaveLength(2);
    await jobs.announce('identity.account_erasure.requested', { account_id: 1 });
    await eventually(() => expect(reports).toHaveLength(1));
    expect(reports[0]?.payload).toMatchObject({ account_id: 1, counts: { mail: 1, data_import: 2 } });
    jobs.neighbours.release();
    // The run that has lost its job may still write its file, and then removes it.
    await eventually(async () => expect(await stateOf(1)).toEqual({}));
    expect(await stateOf(2)).toEqual(before);
    expect(filesIn(mailFolder)).toHaveLength(1);
  });
});
