// Files in the console, both ways: what is wrong with one is corrected where it is shown.
import { eventually } from '@almanac/testkit/eventually';
import type { Page } from 'playwright-core';
import { givenCities } from './gestures.ts';
import { api, overConsole, served } from './served-console.ts';

overConsole();

it('rejected rows are corrected in place, and the file is checked again with them', async () => {
  const table = await givenCities(api);
  await served.withPage(`/console/import?table=${table.key}`, async (page) => {
    await checkFile(page, 'code,name,area\nX,Oslo,454.03\nY,Bergen,wide\nZ,Tromsø,none\n');
    await page.getByRole('heading', { name: '2 rows are rejected' }).waitFor();
    const bergen = page.getByRole('group', { name: 'Row 3 of the file' });
    await bergen.getByText(/^area must be/).waitFor();
    await bergen.getByRole('textbox', { name: 'area' }).fill('465.30');
    await page.getByText('Check the file again with the corrected rows; then it can be applied with them.').waitFor();
    await page.getByRole('button', { name: 'All cells of row 3' }).click();
    await bergen.getByRole('textbox', { name: 'name' }).fill('Bergen, Vestland');
    await page.getByRole('button', { name: 'Check again with 1 corrected row' }).click();
    await page.getByRole('heading', { name: '1 row is rejected' }).waitFor();
    await page.getByRole('group', { name: 'Row 4 of the file' }).getByRole('textbox', { name: 'area' }).fill('12.00');
    await page.getByRole('button', { name: 'Check again with 1 corrected row' }).press('Enter');
    await page.getByRole('heading', { name: '3 rows would change' }).waitFor();
    expect(await page.getByText('is rejected').count()).toBe(0);
    await page.getByText('Bergen, Vestland').first().waitFor();
    await page.getByRole('button', { name: 'Apply 3 changes' }).click();
    await page.getByText('The rows are loaded').waitFor();
  });
  await eventually(async () => {
    const { data } = await api.get(`/table_data?table_definition_id=${table.id}&sort=code`);
    expect(data.slice(-3).map(({ name, area }: { name: string; area: number }) => [name, area])).toEqual([
      ['Oslo', 454.03],
      ['Bergen, Vestland', 465.3],
      ['Tromsø', 12],
    ]);
  });
});

it('the file of an export has the columns that one sees', async () => {
  const table = await givenCities(api);
  await served.withPage(`/console/t/${table.key}?columns=name,code:hidden,area`, async (page) => {
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByText('Columns: 2 of 3').waitFor();
    const asked: unknown[] = [];
    await page.route('**/exports', (route) => {
      if (route.request().method() === 'POST') asked.push(route.request().postDataJSON());
      return route.continue();
    });
    await page.getByRole('dialog').getByRole('button', { name: 'Export', exact: true }).click();
    await eventually(() => expect(asked).toMatchObject([{ columns: ['name', 'area'] }]));
  });
});

async function checkFile(page: Page, text: string): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose a file' }).click();
  await (await chooser).setFiles({ name: 'cities.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  await page.getByRole('button', { name: 'Next: columns' }).click();
  await page.getByRole('button', { name: 'Next: see the effect' }).click();
}
