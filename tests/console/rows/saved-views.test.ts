// The console in a real browser: views of a table are saved, shared and opened, and a change of
// one person is no other's until it is saved.
import { eventually } from '@almanac/testkit/eventually';
import { givenColleague } from '@almanac/testkit/system/builders';
import type { Page } from 'playwright-core';
import { givenCities } from '../gestures.ts';
import { api, overConsole, served } from '../served-console.ts';

overConsole();

const addressOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
const tab = (page: Page, name: string | RegExp) =>
  page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press('/');
  await page.keyboard.press('Control+a');
  await page.keyboard.type(text);
}

async function givenView(tableId: number, view: Record<string, unknown>): Promise<number> {
  const made = await api.post('/views', { table_definition_id: tableId, view });
  return made.id;
}

const stateOf = async (id: number) => (await api.get(`/views/${id}`)).state;

it('a view is saved, changed, brought back, saved again and shared by keyboard', async () => {
  const table = await givenCities(api);
  const sort = [{ column: 'name', direction: 'asc' }];
  let id = 0;
  await served.withPage(`/console/t/${table.key}?sort=name`, async (page) => {
    await page.getByText('3 rows').waitFor();
    await search(page, 'Rome');
    await page.getByText('1 row filtered').waitFor();
    await button(page, 'Save as new view…').press('Enter');
    await page.getByRole('dialog', { name: 'New view' }).waitFor();
    await page.keyboard.type('South');
    await page.keyboard.press('Enter');
    await tab(page, 'South').waitFor();
    // The view is the address, and adds nothing to it.
    await eventually(() => expect(Object.keys(addressOf(page))).toEqual(['view']));
    id = Number(addressOf(page).view);
    expect(await stateOf(id)).toEqual({ q: 'Rome', sort });

    await search(page, 'Berlin');
    await page.getByRole('gridcell', { name: 'Berlin' }).waitFor();
    await tab(page, 'South (changed)').waitFor();
    expect(addressOf(page)).toEqual({ view: String(id), q: 'Berlin' });
    expect(await stateOf(id)).toEqual({ q: 'Rome', sort });
    await button(page, 'Discard changes').press('Enter');
    await page.getByRole('gridcell', { name: 'Rome' }).waitFor();
    await button(page, 'Save view').waitFor({ state: 'detached' });

    await search(page, 'Berlin');
    await button(page, 'Save view').press('Enter');
    await page.getByText('View saved').waitFor();
    expect(await stateOf(id)).toEqual({ q: 'Berlin', sort });
    await eventually(async () => expect(await page.locator(':focus').textContent()).toContain('South'));

    await button(page, 'Acts on the view South').press('Enter');
    await page.getByRole('menuitemradio', { name: 'Only me' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await tab(page, 'South (shared)').waitFor();
  });
  expect(await api.get(`/views/${id}`)).toMatchObject({ sharing: 'shared', state: { q: 'Berlin', sort } });
});

it('another person sees what is shared, changes it for themselves alone, and reads who may save it', async () => {
  const table = await givenCities(api);
  const shared = await givenView(table.id, { name: 'North', sharing: 'shared', state: { q: 'Berlin' } });
  await givenView(table.id, { name: 'Secret', state: { q: 'Rome' } });
  const domain = await api.get(`/domains/${table.domainId}`);
  const { token } = await givenColleague(served.account, `${domain.name} Data Managers`);
  const withPage = await served.openTo(token);
  await withPage(`/console/t/${table.key}`, async (page) => {
    await tab(page, 'North').click();
    await page.getByText('1 row filtered').waitFor();
    expect(await tab(page, 'Secret').count()).toBe(0);
    await search(page, 'Rome');
    await page.getByText(/^Only .+ and developers of the table may change this view\.$/).waitFor();
    expect(await button(page, 'Save view').count()).toBe(0);
    await button(page, 'Acts on the view North').click();
    await page.getByRole('menuitem', { name: 'Open the table with it for me' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'Delete…' }).count()).toBe(0);
  });
  expect(await stateOf(shared)).toEqual({ q: 'Berlin' });
});

it('columns that are hidden, moved and resized are kept by the view', async () => {
  const table = await givenCities(api);
  const columns = [{ column: 'area', width: 321 }, { column: 'code' }, { column: 'name', hidden: true }];
  const id = await givenView(table.id, { name: 'Areas', state: { columns, zoom: 2 } });
  await served.withPage(`/console/t/${table.key}?view=${id}`, async (page) => {
    const header = (name: string) => page.getByRole('columnheader', { name, exact: true });
    await page.getByText('3 rows').waitFor();
    await eventually(async () => expect((await header('area').boundingBox())?.width).toBe(321));
    expect(await header('name').count()).toBe(0);
    // Resized and moved by the keyboard, and shown again by the menu.
    await header('area').focus();
    await page.keyboard.press('Alt+ArrowRight');
    await eventually(() => expect(addressOf(page).columns).toMatch(/^area:32[2-9],code,name:hidden/));
    await page.keyboard.press('Shift+ArrowRight');
    await eventually(() => expect(addressOf(page).columns).toMatch(/svc_updated_at,area:32[2-9]$/));
    await button(page, 'Columns').press('Enter');
    await page.getByRole('menuitemcheckbox', { name: 'name' }).click();
    await page.keyboard.press('Escape');
    await header('name').waitFor();
    await button(page, 'Save view').press('Enter');
    await page.getByText('View saved').waitFor();
  });
  // What other programs keep in the state stays in it.
  expect(await stateOf(id)).toMatchObject({
    columns: [{ column: 'code' }, { column: 'name' }, { column: 'svc_updated_at' }, { column: 'area' }],
    zoom: 2,
  });
});

it('the table opens with its default view, and a link with filters does not', async () => {
  const table = await givenCities(api);
  const first = await givenView(table.id, { name: 'First', sharing: 'shared', state: { q: 'Rome' }, is_default: true });
  await served.withPage(`/console/t/${table.key}`, async (page) => {
    await page.getByText('1 row filtered').waitFor();
    expect(addressOf(page)).toEqual({ view: String(first) });
    await tab(page, 'All rows').click();
    await page.getByText('3 rows').waitFor();
    await page.reload();
    await page.getByText('3 rows').waitFor();
    expect(addressOf(page)).toEqual({ view: 'all' });
  });
  await served.withPage(`/console/t/${table.key}?q=Berlin`, async (page) => {
    await page.getByRole('gridcell', { name: 'Berlin' }).waitFor();
    await eventually(() => expect(addressOf(page)).toEqual({ q: 'Berlin', view: 'all' }));
  });
});

describe('what others do at the same time', () => {
  it('a link to a view that was deleted says so, and shows all rows', async () => {
    const table = await givenCities(api);
    const id = await givenView(table.id, { name: 'Old', state: { q: 'Rome' } });
    await api.delete(`/views/${id}`);
    await served.withPage(
      `/console/t/${table.key}?view=${id}`,
      async (page) => {
        await page.getByText(/^The view of this link was deleted/).waitFor();
        await page.getByText('3 rows').waitFor();
        await button(page, 'Show all rows').click();
        await page.getByText(/^The view of this link was deleted/).waitFor({ state: 'detached' });
      },
      { faults: 'expected' },
    );
  });

  it('a view that was deleted as one saves it is explained, and what one sees becomes a new view', async () => {
    const table = await givenCities(api);
    const id = await givenView(table.id, { name: 'Short', state: { sort: [{ column: 'name', direction: 'desc' }] } });
    await served.withPage(
      `/console/t/${table.key}?view=${id}&q=Berlin`,
      async (page) => {
        await page.getByText('1 row filtered').waitFor();
        await api.delete(`/views/${id}`);
        await button(page, 'Save view').click();
        await page.getByText(/“Short” was deleted, or/).waitFor();
        await button(page, 'Save as new view…').click();
        await page.getByRole('textbox', { name: 'Name' }).fill('Kept');
        await page.keyboard.press('Enter');
        await tab(page, 'Kept').waitFor();
        const kept = Number(addressOf(page).view);
        expect(await stateOf(kept)).toEqual({ q: 'Berlin', sort: [{ column: 'name', direction: 'desc' }] });
      },
      // Without the stream the page doesn't learn of it before it saves.
      { faults: 'expected', live: 'off' },
    );
  });

  it('a view that was changed is not replaced unread', async () => {
    const table = await givenCities(api);
    const id = await givenView(table.id, { name: 'Ours', sharing: 'shared', state: { q: 'Rome' } });
    await served.withPage(
      `/console/t/${table.key}?view=${id}&sort=-code`,
      async (page) => {
        await page.getByText('1 row filtered').waitFor();
        await api.patch(`/views/${id}`, { view: { state: { q: 'Berlin' } } });
        await button(page, 'Save view').click();
        await page.getByText(/^The view was changed since/).waitFor();
        await page.getByRole('gridcell', { name: 'Berlin' }).waitFor();
        expect(addressOf(page)).toEqual({ view: String(id), sort: '-code' });
        await button(page, 'Save view').click();
        await page.getByText('View saved').waitFor();
      },
      { live: 'off' },
    );
    expect(await stateOf(id)).toEqual({ q: 'Berlin', sort: [{ column: 'code', direction: 'desc' }] });
  });
});

it('on a phone the views are a menu', async () => {
  const table = await givenCities(api);
  await givenView(table.id, { name: 'South', state: { q: 'Rome' } });
  await served.withPage(
    `/console/t/${table.key}`,
    async (page) => {
      await button(page, 'View: All rows').click();
      await page.getByRole('menuitemradio', { name: 'South' }).click();
      await button(page, 'View: South').waitFor();
      await page.getByText('1 row filtered').waitFor();
    },
    { viewport: { width: 360, height: 740 } },
  );
});
