// The console in a real browser: a spreadsheet becomes a table in service, and tables get other
// columns.
import { eventually } from '@almanac/testkit/eventually';
import { givenDeployedTable } from '@almanac/testkit/system/builders';
import type { Page } from 'playwright-core';
import { countClicks } from './gestures.ts';
import { api, overConsole, served } from './served-console.ts';

overConsole();
beforeAll(async () => {
  await api.post('/domains', { domain: { name: 'Sales' } });
});

it('a spreadsheet becomes a table in service, with its rows, by four clicks', async () => {
  await served.withPage('/console/tables', async (page) => {
    const clicks = countClicks();
    await clicks.on(page.getByRole('link', { name: 'New table' }));
    const chooser = page.waitForEvent('filechooser');
    await clicks.on(page.getByRole('button', { name: 'Choose a file' }));
    const buffer = Buffer.from('Item No,Name,Price\n007,Cup,4.50\n008,Saucer,3.00\n');
    await (await chooser).setFiles({ name: 'price_list.csv', mimeType: 'text/csv', buffer });
    await page.getByLabel('Name of column 1').waitFor();
    await clicks.on(page.getByRole('button', { name: 'Make the table with 3 columns' }));
    await clicks.on(page.getByRole('button', { name: 'Deploy' }));
    await page.getByText('The rows are loaded').waitFor();
    expect(clicks.count()).toBe(4);
    await page.getByRole('link', { name: 'Open the table' }).click();
    await page.getByRole('gridcell', { name: 'Saucer' }).waitFor();
  });
  const table = await tableNamed('Price list');
  const shown = table.column_definitions.map(({ name, data_type, is_primary_key }) => [
    name,
    data_type,
    is_primary_key,
  ]);
  expect(shown).toEqual([
    ['item_no', 'string', true],
    ['name', 'string', false],
    ['price', 'decimal', false],
  ]);
  const { data } = await api.get(`/table_data?table_definition_id=${table.id}&sort=item_no&exact_numbers=true`);
  expect(data).toMatchObject([
    { item_no: '007', name: 'Cup', price: '4.50' },
    { item_no: '008', name: 'Saucer', price: '3.00' },
  ]);
});

it('what was guessed can be put right, and a refused column leaves no table behind', async () => {
  await served.withPage(
    '/console/tables/new',
    async (page) => {
      await drop(page, 'stock.csv', 'Code,Old,Count\nA,x,1\nB,y,2\n');
      await page.getByLabel('Name of column 3').fill('svc_count');
      await act(page, 'Column old', 'Leave it out');
      await act(page, 'Column svc_count', 'Move up');
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Stock of cups');
      await page.getByRole('button', { name: 'Make the table with 2 columns' }).click();
      await page.getByText("Name can't start with svc_").first().waitFor();
      expect(await findTable('Stock of cups', 'table_definitions')).toBeUndefined();
      await page.getByLabel('Name of column 1').fill('number');
      await page.getByRole('button', { name: 'Make the table with 2 columns' }).click();
      await page.getByRole('button', { name: 'Deploy' }).click();
      await page.getByText('The rows are loaded').waitFor();
    },
    { faults: 'expected' },
  );
  const { id, key, column_definitions } = await tableNamed('Stock of cups');
  expect([key, column_definitions.map(({ name }) => name)]).toEqual(['stock_of_cups', ['number', 'code']]);
  const { data } = await api.get(`/table_data?table_definition_id=${id}&sort=code`);
  expect(data).toMatchObject([
    { code: 'A', number: 1 },
    { code: 'B', number: 2 },
  ]);
  expect(await findTable('Sample', 'table_definitions')).toBeUndefined();
});

it('a column is added to a table, moved and deployed', async () => {
  const table = await givenOrders();
  await served.withPage(`/console/t/${table.key}`, async (page) => {
    await page.getByRole('link', { name: 'Structure' }).click();
    await page.getByRole('button', { name: 'Add a column…' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('state');
    await page.getByRole('textbox', { name: 'Valid values' }).fill('open\nclosed');
    await page.getByRole('button', { name: 'Add to the draft' }).click();
    const added = page.getByRole('listitem').filter({ hasText: 'state' });
    await added.getByText('new', { exact: true }).waitFor();
    expect(await namesInService(table.id)).toEqual(['code', 'note']);
    await act(page, 'Column state', 'Move up');
    await page.getByText('in another order than in service').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'See what deploying would do' }).click();
    await page.getByRole('button', { name: 'Deploy', exact: true }).click();
    await page.getByText('The draft is in service.').waitFor();
    await page.getByText('the same').nth(2).waitFor();
  });
  expect(await namesInService(table.id)).toEqual(['code', 'state', 'note']);
  const refused = { table_definition_id: table.id, record: { code: 'B', state: 'lost' } };
  await expect(api.post('/table_data', refused)).rejects.toThrow('state');
});

it('what a deployment would lose is said before, with the rows, and leaving it changes nothing', async () => {
  const table = await givenOrders();
  await served.withPage(`/console/t/${table.key}/structure`, async (page) => {
    await act(page, 'Column note', 'Remove…');
    await page.getByRole('button', { name: 'Remove it from the draft' }).click();
    await page.getByRole('listitem').filter({ hasText: 'note' }).getByText('removed', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'See what deploying would do' }).click();
    await page
      .getByText(/1 row\b/)
      .first()
      .waitFor();
    await page.getByText(/in SQL/).click();
    await page.locator('pre', { hasText: /alter table/i }).waitFor();
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByRole('button', { name: 'See what deploying would do' }).waitFor();
  });
  expect(await namesInService(table.id)).toEqual(['code', 'note']);
  const { data } = await api.get('/deployments?sort=-id&per_page=1');
  expect(data[0].status).toBe('cancelled');
});

it('the impact of a table shows what refers to it, with the rows', async () => {
  const orders = await givenOrders();
  const columns = [
    { name: 'id', data_type: 'integer', is_primary_key: true, is_required: true },
    { name: 'order_code', data_type: 'string', length: 10, foreign_key_table_id: orders.id },
  ];
  const lines = await givenDeployedTable(api, { name: `Lines ${crypto.randomUUID().slice(0, 8)}`, columns });
  const operations = [
    { operation: 'create', record: { id: 1, order_code: 'A' } },
    { operation: 'create', record: { id: 2 } },
  ];
  await api.post('/table_data/batch', { table_definition_id: lines.id, operations });
  await served.withPage(`/console/t/${orders.key}/impact`, async (page) => {
    const line = page.getByRole('row').filter({ hasText: 'order_code' });
    await line.getByText('1', { exact: true }).waitFor();
  });
});

it('a domain is made, renamed, and deleted once no table belongs to it', async () => {
  await served.withPage('/console/tables', async (page) => {
    await page.getByRole('button', { name: 'New domain…' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Finanse');
    await page.getByRole('button', { name: 'Make the domain' }).click();
    await act(page, 'Domain Finanse', 'Change…');
    await page.getByRole('textbox', { name: 'Name' }).fill('Finance');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Finance', exact: true }).waitFor();
    await act(page, 'Domain Finance', 'New table in it');
    await page.getByRole('button', { name: 'Begin without a file' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Ledger');
    await page.getByLabel('Name of column 1').fill('id');
    await page.getByRole('button', { name: 'Make the table with 1 column' }).click();
    await page.getByText('Ledger is drafted.').waitFor();
    await page.goto(new URL('/console/tables', page.url()).href);
    await act(page, 'Domain Finance', 'Delete…');
    await page.getByText('Ledger on the branch main').waitFor();
    await page.keyboard.press('Escape');
    const [ledger] = (await api.get('/table_definitions?q=name:eq:Ledger')).data;
    await api.delete(`/table_definitions/${ledger.id}`);
    await act(page, 'Domain Finance', 'Delete…');
    await page.getByRole('button', { name: 'Delete the domain' }).click();
    await page.getByRole('heading', { name: 'Finance', exact: true }).waitFor({ state: 'detached' });
  });
});

async function givenOrders() {
  const columns = [
    { name: 'code', data_type: 'string', length: 10, is_primary_key: true, is_required: true },
    { name: 'note', data_type: 'text' },
  ];
  const table = await givenDeployedTable(api, { name: `Orders ${crypto.randomUUID().slice(0, 8)}`, columns });
  await api.post('/table_data', { table_definition_id: table.id, record: { code: 'A', note: 'fragile' } });
  return table;
}

type Found = { id: number; key: string; column_definitions: Record<string, unknown>[] };

async function findTable(name: string, resource: string): Promise<Found | undefined> {
  const { data } = await api.get(`/${resource}?q=name:contains:${encodeURIComponent(name)}`);
  return data[0];
}

async function tableNamed(name: string): Promise<Found> {
  let found: Found | undefined;
  await eventually(async () => {
    found = await findTable(name, 'deployed_table_definitions');
    expect(found).toBeDefined();
  });
  return found as Found;
}

async function namesInService(id: number): Promise<string[]> {
  const { column_definitions } = await api.get(`/deployed_table_definitions/${id}`);
  return column_definitions.map(({ name }: { name: string }) => name);
}

/** Chooses an act in a menu. */
async function act(page: Page, menu: string, name: string): Promise<void> {
  await page.getByRole('button', { name: menu }).click();
  await page.getByRole('menuitem', { name }).click();
}

/** Drops a file onto the page, as from a folder. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  const area = page.getByRole('region', { name: 'File' });
  await area.waitFor();
  const files = await page.evaluateHandle(
    ([name = '', text = '']) => {
      const browser = globalThis as unknown as {
        DataTransfer: new () => { items: { add(file: File): void } };
      };
      const transfer = new browser.DataTransfer();
      transfer.items.add(new File([text], name, { type: 'text/csv' }));
      return transfer;
    },
    [name, text],
  );
  await area.dispatchEvent('drop', { dataTransfer: files });
}
