// The console in a real browser (Debian's Chromium): the built application, whose calls go to a
// whole system with a token of its user. ALMANAC_TEST_CHROMIUM names another browser.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { signInPerson } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { findFreePort } from '@almanac/testkit/network/ports';
import { givenAccount, givenDeployedTable } from '@almanac/testkit/system/builders';
import { type RunningSystem, startSystem, systemHomeName } from '@almanac/testkit/system/system';
import { type Browser, chromium, type Page } from 'playwright-core';

const program = process.env.ALMANAC_TEST_CHROMIUM ?? '/usr/bin/chromium';
const root = resolve(import.meta.dirname, '../..');
const require = createRequire(import.meta.url);

let system: RunningSystem;
let server: ChildProcess;
let browser: Browser;
let address: string;
let key: string;

beforeAll(async () => {
  if (!existsSync(program))
    throw new Error(`${program} is missing: these tests need Chromium (apt-get install chromium).`);
  [system, browser] = await Promise.all([
    startSystem(),
    chromium.launch({ executablePath: program, args: ['--no-sandbox'], timeout: 120_000 }),
  ]);
  // The builders work on this system.
  process.env.ALMANAC_BASE_URL = system.baseUrl;
  process.env[systemHomeName] = system.home;
  const account = await givenAccount();
  key = await givenOrders(account);
  const { access_token: token } = await signInPerson(system.baseUrl, account.application, account.admin, 'api');
  address = await serveConsole(token);
});
afterAll(async () => {
  await browser?.close();
  server?.kill();
  await system?.stop();
});

describe('the console', () => {
  it('shows rows with all their digits, filters by a choice of values, and keeps the view in the address', async () => {
    await withPage('/console/tables', async (page) => {
      await page.getByRole('link', { name: /^Orders/ }).click();
      await page.getByText('9,007,199,254,740,993').waitFor();
      await page.getByText('1,234.50', { exact: true }).waitFor();
      await page.getByText('3 rows').waitFor();
      // The filter of the column with a list of values is opened by the key that its header names.
      await page.getByRole('columnheader', { name: 'state' }).focus();
      await page.keyboard.press('Control+Enter');
      await page.getByRole('checkbox', { name: /open/ }).check();
      await page.getByText('2 rows').waitFor();
      await eventually(() => {
        const filter = new URL(page.url()).searchParams.get('filter') ?? '{}';
        expect(JSON.parse(filter)).toEqual({ state: { filterType: 'set', values: ['open'] } });
      });
      await page.reload();
      await page.getByText('2 rows').waitFor();
      await page.getByRole('button', { name: 'Remove the filter of state' }).click();
      await page.getByText('3 rows').waitFor();
    });
  });

  it('opens a row by keyboard with its history, and closes it', async () => {
    await withPage(`/console/t/${key}?sort=code`, async (page) => {
      await page.getByRole('gridcell', { name: 'A-1' }).click();
      await page.keyboard.press('Alt+Enter');
      const panel = page.getByRole('complementary', { name: 'Row A-1' });
      await panel.waitFor();
      await panel.getByRole('tab', { name: 'History' }).click();
      await panel.getByText('created').waitFor();
      await page.keyboard.press('Escape');
      await panel.waitFor({ state: 'detached' });
    });
  });

  it('finds a table by the palette', async () => {
    await withPage('/console/', async (page) => {
      await page.getByRole('link', { name: /^Orders/ }).waitFor();
      await page.keyboard.press('Control+K');
      await page.getByRole('option', { name: /^Orders/ }).waitFor();
      await page.keyboard.type('ordr');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
    });
  });

  it('has no breach of WCAG that axe finds, in both schemes, wide and narrow', async () => {
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [1440, 360])
        await withPage(
          `/console/t/${key}?row=1`,
          async (page) => {
            await page.getByRole('tab', { name: 'Fields' }).waitFor();
            await page.getByText('3 rows').waitFor();
            expect(await findBreaches(page)).toEqual([]);
          },
          { colorScheme, viewport: { width, height: 800 } },
        );
  });
});

async function givenOrders(account: Awaited<ReturnType<typeof givenAccount>>): Promise<string> {
  const api = await account.person();
  const table = await givenDeployedTable(api, {
    name: 'Orders',
    columns: [
      { name: 'code', data_type: 'string', length: 10, is_primary_key: true, is_required: true },
      { name: 'state', data_type: 'string', length: 10, valid_values: 'open|closed' },
      { name: 'amount', data_type: 'decimal', length: 12, scale: 2 },
      { name: 'serial', data_type: 'bigint' },
    ],
  });
  const records = [
    { code: 'A-1', state: 'open', amount: '1234.50', serial: '9007199254740993' },
    { code: 'A-2', state: 'open', amount: null, serial: null },
    { code: 'A-3', state: 'closed', amount: '0.10', serial: '7' },
  ];
  for (const record of records) await api.post('/table_data', { table_definition_id: table.id, record });
  return table.key;
}

/** Serves the built console; its calls are passed on to the system with this token. */
async function serveConsole(token: string): Promise<string> {
  const port = await findFreePort();
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const words = ['preview', '--config', 'services/console/web/vite.config.ts', '--port', String(port)];
  server = spawn(process.execPath, [vite, ...words, '--strictPort', '--host', '127.0.0.1'], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '', ALMANAC_BASE_URL: system.baseUrl, ALMANAC_TOKEN: token },
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => expect((await fetch(`${url}/console/`)).status).toBe(200));
  return url;
}

async function withPage(
  path: string,
  work: (page: Page) => Promise<void>,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<void> {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1440, height: 860 }, ...options });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    const faults: string[] = [];
    page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(`${address}${path}`);
    await work(page);
    expect(faults).toEqual([]);
  } finally {
    await context.close();
  }
}

type Axe = { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };

async function findBreaches(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: require.resolve('axe-core/axe.min.js') });
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: Axe }).axe.run());
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}
