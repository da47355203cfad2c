// The operators' commands of docs/how-to/operate.md that no other test runs, against the system.
import { type Api, poll } from '@almanac/api-client/api';
import { type Account, givenAccount, givenDeployedTable, unique } from '@almanac/testkit/system/builders';
import { admin, runAdmin } from '@almanac/testkit/system/system';

let account: Account;
let api: Api;

beforeAll(async () => {
  account = await givenAccount();
  api = await account.person();
});

describe("the operators' command line", () => {
  it('shows work and queues failed work again, and no other', async () => {
    const table = await givenDeployedTable(api);
    const wanted = { branch_id: table.branchId, table_definition_key: table.key, pattern: 'full' };
    const { id } = await api.post<{ id: number }>('/exports', wanted);
    await poll(
      () => api.get<{ status: string }>(`/exports/${id}`),
      ({ status }) => status === 'completed',
    );
    const shown = await runAdmin(['jobs', 'show', `export-${id}`]);
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringMatching(`^export-${id} is done\n`)]);
    const own = ['--account', String(account.id)];
    expect((await runAdmin(['jobs', 'list', '--state', 'done', ...own])).stdout).toContain(
      `export-${id}\tdone\taccount ${account.id}`,
    );
    expect((await runAdmin(['jobs', 'list', '--failed', ...own])).stdout).not.toContain(`export-${id}`);
    const again = await runAdmin(['jobs', 'retry', `export-${id}`]);
    expect([again.code, again.stdout, again.stderr]).toEqual([1, '', expect.stringContaining('only failed work can')]);
  });

  it('loads the demo data into an account once, by its credentials', async () => {
    const words = ['--name', 'Look', '--plan', 'business', '--admin-email', `look-${unique()}@example.com`];
    const credentials = JSON.stringify(await admin(['accounts', 'create', ...words]));
    const first = await runAdmin(['accounts', 'add-demo-data'], undefined, credentials);
    // Apart from the rest: a failed comparison omits what matches, so it would hide the message.
    expect(first.code === 0 ? '' : first.stderr).toBe('');
    expect(first).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Loaded: .*249 countries/),
      stderr: expect.stringContaining('the deployment'),
    });
    expect((await runAdmin(['accounts', 'add-demo-data'], undefined, credentials)).stdout).toBe(first.stdout);
    expect(await runAdmin(['accounts', 'add-demo-data'], undefined, '{}')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('accounts create --json'),
    });
  });

  it('gives the statement of a month', async () => {
    const answer = await runAdmin(['billing', 'statement', String(account.id), '--month', '2026-06']);
    expect(answer).toMatchObject({ code: 0, stdout: expect.stringContaining('2026-06') });
  });

  it('leaves an account on the cluster where it is placed already, and refuses an unknown cluster', async () => {
    await admin(['accounts', 'place', String(account.id), 'main']);
    const words = await runAdmin(['accounts', 'place', String(account.id), 'main']);
    expect([words.code, words.stdout]).toEqual([0, `Account ${account.id} lives on main already.\n`]);
    expect(await runAdmin(['accounts', 'place', String(account.id), 'nowhere'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nowhere'),
    });
  });
});
