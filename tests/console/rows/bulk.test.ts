// The console in a real browser: all rows that a filter finds are changed or deleted at once.
import { eventually } from '@almanac/testkit/eventually';
import { givenDeployedTable } from '@almanac/testkit/system/builders';
import type { Page } from 'playwright-core';
import { cellOf } from '../gestures.ts';
import { findBreaches } from '../pages/breaches.ts';
import { api, overConsole, served } from '../served-console.ts';

overConsole();

const open = encodeURIComponent(JSON.stringify({ state: { filterType: 'set', values: ['open'] } }));

it('changes two columns of all matches by keyboard alone, after a check, and takes it back as one', async () => {
  const { id, key } = await givenOrders();
  await served.withPage(`/console/t/${key}?filter=${open}&sort=code`, async (page) => {
    await page.getByText('5 rows').waitFor();
    await openBulk(page, 'Change');
    const dialog = page.getByRole('dialog', { name: /^Change all matches of Orders/ });
    await dialog.getByText('5 rows match').waitFor();
    await dialog.getByText('state: open').waitFor();
    await page.keyboard.type('state');
    await page.keyboard.press('Tab');
    await page.keyboard.type('closed');
    await press(page, 'Tab', 2);
    await page.keyboard.press('Enter');
    await dialog.getByRole('combobox', { name: 'Column' }).nth(1).waitFor();
    await page.keyboard.type('note');
    await press(page, 'Tab', 2);
    await page.keyboard.type('by hand');
    await page.keyboard.press('Enter');
    await dialog.getByText('5 rows change').waitFor();
    expect(await statesOf(id)).toEqual({ open: 5, closed: 1 });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('5 rows changed', { exact: true }).waitFor();
    expect(await statesOf(id)).toEqual({ closed: 6 });
    await page.getByRole('button', { name: 'Undo' }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByText('Taken back: 5 rows are as before').waitFor();
    await cellOf(page, 'state', 'open').waitFor();
  });
  expect(await statesOf(id)).toEqual({ open: 5, closed: 1 });
});

it('refuses when others have changed how many rows match, says so, and leads on', async () => {
  const { id, key } = await givenOrders();
  await served.withPage(
    `/console/t/${key}?filter=${open}`,
    async (page) => {
      await checkClosing(page);
      await page.getByText('5 rows change').waitFor();
      await api.post('/table_data', { table_definition_id: id, record: { code: 'A-7', state: 'open' } });
      await page.getByRole('button', { name: 'Change 5 rows' }).click();
      await page.getByText('Now 6 rows match').waitFor();
      expect(await statesOf(id)).toEqual({ open: 6, closed: 1 });
      await page.getByRole('button', { name: 'Check again' }).click();
      await page.getByRole('button', { name: 'Change 6 rows' }).click();
      await page.getByText('6 rows changed', { exact: true }).waitFor();
      expect(await statesOf(id)).toEqual({ closed: 7 });
      // A row that is changed since is named, and nothing is taken back.
      const { data } = await api.get(`/table_data?table_definition_id=${id}&q=code:eq:A-2`);
      await api.patch(`/table_data/${data[0].svc_sk}`, { table_definition_id: id, record: { note: 'theirs' } });
      await page.getByRole('button', { name: 'Undo' }).first().click();
      await page.getByRole('alert').getByText('A-2', { exact: true }).waitFor();
    },
    { faults: 'expected' },
  );
  expect(await statesOf(id)).toEqual({ closed: 7 });
});

it('shows the rows of a rule that refuses, and the field of a value that is none', async () => {
  const { id, key } = await givenOrders();
  await served.withPage(`/console/t/${key}?filter=${open}`, async (page) => {
    await openBulk(page, 'Change');
    await page.getByRole('combobox', { name: 'Column', exact: true }).selectOption('code');
    await page.getByRole('textbox', { name: 'code' }).fill('A-6');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('The key must be unique', { exact: false }).waitFor();
    await page.getByText('A-1, A-2, A-3, A-4, A-5').waitFor();
    await page.getByRole('textbox', { name: 'code' }).fill('longer than ten characters');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText(/code.* 10 /).waitFor();
    expect(await page.getByRole('textbox', { name: 'code' }).inputValue()).toBe('longer than ten characters');
  });
  expect(await statesOf(id)).toEqual({ open: 5, closed: 1 });
});

it('deletes all matches of a search, and Ctrl+Z brings them back', async () => {
  const { id, key } = await givenOrders();
  await served.withPage(`/console/t/${key}?q=pick`, async (page) => {
    await page.getByText('2 rows').waitFor();
    await openBulk(page, 'Delete');
    await page.getByText('2 rows will be deleted').waitFor();
    await page.getByText('search: “pick”').waitFor();
    await page.getByRole('button', { name: 'Delete 2 rows' }).click();
    await page.getByText('2 rows deleted', { exact: true }).waitFor();
    expect(await statesOf(id)).toEqual({ open: 3, closed: 1 });
    await page.keyboard.press('Control+z');
    await eventually(async () => expect(await statesOf(id)).toEqual({ open: 5, closed: 1 }));
    await page.getByText('2 rows deleted', { exact: true }).waitFor({ state: 'detached' });
  });
});

it('repeats an act whose answer was lost, and it is done once', async () => {
  const { id, key } = await givenOrders();
  await served.withPage(
    `/console/t/${key}?filter=${open}`,
    async (page) => {
      await checkClosing(page);
      await page.getByRole('button', { name: 'Change 5 rows' }).waitFor();
      await page.route('**/table_data/update_where', async (route) => {
        await route.fetch();
        await route.abort();
      });
      await page.getByRole('button', { name: 'Change 5 rows' }).click();
      await page.getByRole('alert').waitFor();
      await page.unrouteAll();
      // An event says which rows the act has written; it stays the same act.
      await page.getByText('5 rows changed elsewhere').waitFor();
      await page.getByText('5 rows match').waitFor();
      await page.getByRole('button', { name: 'Change 5 rows' }).click();
      await page.getByText('5 rows changed', { exact: true }).waitFor();
    },
    { faults: 'expected' },
  );
  expect(await statesOf(id)).toEqual({ closed: 6 });
});

it('proposes a change and a deletion of all matches where others approve them', async () => {
  const { id, key } = await givenOrders();
  await api.patch(`/table_definitions/${id}`, { table_definition: { row_changes: 'request' } });
  await served.withPage(
    `/console/t/${key}?q=pick`,
    async (page) => {
      await page.getByText('2 rows').waitFor();
      await openBulk(page, 'Change');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('2 rows match').waitFor();
      await page.getByRole('combobox', { name: 'Column', exact: true }).selectOption('state');
      await dialog.getByRole('textbox', { name: 'Title' }).fill('Close them');
      await page.getByRole('combobox', { name: 'state', exact: true }).selectOption('open');
      await page.getByRole('button', { name: 'Propose the change of 2 rows' }).click();
      await page.getByText('All these rows have the values already.').waitFor();
      await page.getByRole('combobox', { name: 'state', exact: true }).selectOption('closed');
      await page.getByRole('button', { name: 'Propose the change of 2 rows' }).click();
      await page.getByRole('heading', { level: 1, name: 'Close them' }).waitFor();
      await page.getByText('to review').first().waitFor();
      await page.getByRole('row', { name: /A-1.*open.*closed/ }).waitFor();
      await page.goto(new URL(`/console/t/${key}?filter=${open}`, page.url()).href);
      await page.getByText('5 rows').waitFor();
      await openBulk(page, 'Delete');
      await dialog.getByText('5 rows match').waitFor();
      await dialog.getByRole('textbox', { name: 'Title' }).fill('No longer open');
      await page.getByRole('button', { name: 'Propose the deletion of 5 rows' }).click();
      await page.getByRole('heading', { level: 1, name: 'No longer open' }).waitFor();
      await page.getByRole('row', { name: /A-5/ }).waitFor();
    },
    { faults: 'expected' },
  );
  expect(await statesOf(id)).toEqual({ open: 5, closed: 1 });
  const { data } = await api.get('/change_requests?status=requested&per_page=2&sort=-id');
  expect(data.map(({ counts }: { counts: { operations: number } }) => counts.operations)).toEqual([5, 2]);
});

it('has no breach of WCAG, in the light or the dark, from 360 to 1440 pixels', async () => {
  const { key } = await givenOrders();
  const breaches: string[] = [];
  await served.withPage(`/console/t/${key}?filter=${open}`, async (page) => {
    const look = async (what: string) => {
      for (const colorScheme of ['light', 'dark'] as const)
        for (const width of [1440, 390, 360]) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          await page.setViewportSize({ width, height: 860 });
          for (const breach of await findBreaches(page)) breaches.push(`${what}, ${colorScheme}, ${width}: ${breach}`);
        }
      await page.setViewportSize({ width: 1440, height: 860 });
    };
    await openBulk(page, 'Change');
    await page.getByRole('combobox', { name: 'Column', exact: true }).selectOption('note');
    await page.getByLabel('No value in note').check();
    await page.getByRole('button', { name: 'Another column' }).click();
    await page.getByRole('combobox', { name: 'Column', exact: true }).nth(1).selectOption('code');
    await page.getByRole('textbox', { name: 'code' }).fill('A-6');
    await look('entered');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('The key must be unique', { exact: false }).waitFor();
    await look('refused');
    await page.getByRole('button', { name: 'Leave out code' }).click();
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: 'Change 2 rows' }).waitFor();
    await look('checked');
    await page.getByRole('button', { name: 'Change 2 rows' }).click();
    await page.getByText('2 rows changed', { exact: true }).waitFor();
    await look('done');
    await openBulk(page, 'Delete');
    await page.getByText('5 rows will be deleted').waitFor();
    await look('delete');
  });
  expect(breaches).toEqual([]);
}, 600_000);

async function givenOrders() {
  const columns = [
    { name: 'code', data_type: 'string', length: 10, is_primary_key: true, is_required: true },
    { name: 'state', data_type: 'string', length: 10, valid_values: 'open|closed' },
    { name: 'note', data_type: 'string', length: 40 },
  ];
  const table = await givenDeployedTable(api, { name: `Orders ${crypto.randomUUID().slice(0, 8)}`, columns });
  const records = [1, 2, 3, 4, 5, 6].map((place) => ({
    code: `A-${place}`,
    state: place === 6 ? 'closed' : 'open',
    note: place <= 2 ? 'pick up' : null,
  }));
  const operations = records.map((record) => ({ operation: 'create', record }));
  await api.post('/table_data/batch', { table_definition_id: table.id, operations });
  return table;
}

async function statesOf(id: number): Promise<Record<string, number>> {
  const { data } = await api.get(`/table_data?table_definition_id=${id}`);
  const states = Map.groupBy(data as { state: string }[], ({ state }) => state);
  return Object.fromEntries([...states].map(([state, rows]) => [state, rows.length]));
}

async function openBulk(page: Page, act: 'Change' | 'Delete'): Promise<void> {
  await page.getByRole('button', { name: 'All matches' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: `${act} all matches…` }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: new RegExp(`^${act} all matches of`) }).waitFor();
}

/** Has it checked what closing all matches would do. */
async function checkClosing(page: Page): Promise<void> {
  await openBulk(page, 'Change');
  await page.getByRole('combobox', { name: 'Column', exact: true }).selectOption('state');
  await page.getByRole('combobox', { name: 'state', exact: true }).selectOption('closed');
  await page.getByRole('button', { name: 'Check' }).click();
}

async function press(page: Page, key: string, times: number): Promise<void> {
  for (let time = 0; time < times; time++) await page.keyboard.press(key);
}
