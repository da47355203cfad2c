// The console in a real browser: reading, and what its pages weigh.
import { execFileSync } from 'node:child_process';
import { brotliCompressSync } from 'node:zlib';
import { signInMachine } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { baseUrl, givenDeployedTable } from '@almanac/testkit/system/builders';
import { api, overConsole, served } from './served-console.ts';

let key: string;

overConsole();
beforeAll(async () => {
  key = await givenOrders();
});

describe('the console', () => {
  it('shows rows with all their digits, filters by a choice of values, and keeps the view in the address', async () => {
    await served.withPage('/console/tables', async (page) => {
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

  it('shows the view as a command of curl, which answers the same rows', async () => {
    const filter = encodeURIComponent(JSON.stringify({ state: { filterType: 'set', values: ['open'] } }));
    const command = await served.withPage(
      `/console/t/${key}?q=A-&filter=${filter}&sort=-code`,
      async (page) => {
        await page.getByText('2 rows').waitFor();
        await page.getByRole('button', { name: 'Show as curl' }).click();
        await page.getByRole('button', { name: 'Copy the command' }).click();
        await page.getByText('Copied', { exact: true }).waitFor();
        const copied = await page.evaluate('navigator.clipboard.readText()');
        return String(copied).replace(new URL(page.url()).origin, baseUrl());
      },
      { permissions: ['clipboard-read', 'clipboard-write'] },
    );
    const { access_token } = await signInMachine(baseUrl(), served.account.application, 'api:write');
    const env = { ...process.env, ALMANAC_TOKEN: access_token };
    const answer = execFileSync('sh', ['-c', command], { env, encoding: 'utf8' });
    expect(JSON.parse(answer)).toMatchObject({ rows: [{ code: 'A-2' }, { code: 'A-1' }], rowCount: 2 });
  });

  it('shows first rows after three calls, whatever else is not answered', async () => {
    await served.withPage('/console/tables', async (page) => {
      const needed = /\/(me|deployed_table_definitions|table_data\/grid)(\?|$)/;
      const answered: string[] = [];
      await page.route('**/console/api/v1/**', async (route) => {
        const address = route.request().url();
        if (!needed.test(address)) return;
        answered.push(address);
        await route.continue();
      });
      await page.goto(new URL(`/console/t/${key}`, page.url()).href);
      await page.getByText('9,007,199,254,740,993').waitFor();
      expect(answered).toHaveLength(3);
    });
  });

  it('has the texts of every page that is opened in the chosen language, and after another choice', async () => {
    await served.withPage(
      `/console/t/${key}`,
      async (page) => {
        const search = (name: string) => page.getByRole('searchbox', { name });
        await search('Zeilen suchen').waitFor();
        await page.getByRole('link', { name: 'Importe' }).click();
        await page.getByRole('link', { name: 'Neuer Import' }).first().waitFor();
        await page.getByRole('button', { name: /^Einstellungen von/ }).click();
        await page.getByRole('menuitemradio', { name: 'English' }).click();
        await page.getByRole('link', { name: 'New import' }).first().waitFor();
        await page.goBack();
        await search('Search rows').waitFor();
        await page.getByRole('link', { name: 'Admin', exact: true }).click();
        await page.getByRole('heading', { level: 1 }).waitFor();
        expect(await page.locator('html').getAttribute('lang')).toBe('en');
      },
      { locale: 'de-DE' },
    );
  });

  it('opens a row by keyboard with its history, and closes it', async () => {
    await served.withPage(`/console/t/${key}?sort=code`, async (page) => {
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
    await served.withPage('/console/', async (page) => {
      await page.getByRole('link', { name: /^Orders/ }).waitFor();
      await page.keyboard.press('Control+K');
      await page.getByRole('option', { name: /^Orders/ }).waitFor();
      await page.keyboard.type('ordr');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
    });
  });
});

describe('the pages of the console', () => {
  // In kB as brotli makes them, a little more than they are: a library too many is noticed.
  it.each([
    ['home', '/console/', 175],
    ['a table', '/console/t/TABLE', 426],
    ['requests', '/console/requests', 190],
    ['the wizard of imports', '/console/import', 200],
    ['people', '/console/admin/people', 189],
    ['a structure', '/console/t/TABLE/structure', 196],
  ])('%s loads a bounded number of bytes, and does not move while it does', async (_, path, mostKilobytes) => {
    await served.withPage(
      path.replace('TABLE', key),
      async (page) => {
        await page.getByRole('heading', { level: 1 }).first().waitFor();
        await page.waitForLoadState('networkidle');
        const loaded = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
        expect(loaded.filter((name) => /woff2?$/.test(name))).toEqual([]);
        expect(await kilobytesOf(loaded.filter((name) => name.endsWith('.js')))).toBeLessThan(mostKilobytes);
        expect(await kilobytesOf(loaded.filter((name) => name.endsWith('.css')))).toBeLessThan(25);
        expect(await page.evaluate(layoutShift)).toBeLessThan(0.05);
      },
      { live: 'off' },
    );
  });
});

// The sum of all shifts so far; the browser gives what it has seen to a new observer.
const layoutShift = `new Promise((done) => {
  let sum = 0;
  const add = (list) => list.getEntries().forEach(({ value }) => { sum += value; });
  new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => done(sum)));
})`;

async function kilobytesOf(addresses: string[]): Promise<number> {
  // A connection that was idle may be closed as it is used again.
  const read = (address: string) => eventually(async () => (await fetch(address)).arrayBuffer());
  const files = await Promise.all(addresses.map(read));
  return files.reduce((sum, file) => sum + brotliCompressSync(Buffer.from(file)).length, 0) / 1_000;
}

async function givenOrders(): Promise<string> {
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
