// The console in a real browser: journeys of people who look something up, bring a file every
// month, look at the past, and invite others. Each has a number of clicks that it may take.
import type { Page } from 'playwright-core';
import { cellOf, chooseMode, countClicks, givenCities, localTime, namesOf } from './gestures.ts';
import { api, overConsole, served } from './served-console.ts';

overConsole();

it('a code is looked up from anywhere by keyboard, with its history and who refers to it', async () => {
  const table = await givenCities(api);
  await served.withPage('/console/', async (page) => {
    await page.getByRole('link', { name: table.name }).waitFor();
    await page.keyboard.press('Control+K');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.type('pariss');
    await page.getByRole('option', { name: /^B/ }).waitFor();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('complementary', { name: 'Row B' });
    await panel.getByText('Pariss').waitFor();
    await panel.getByRole('tab', { name: 'Fields' }).focus();
    await page.keyboard.press('ArrowRight');
    await panel.getByText('created').waitFor();
    await page.keyboard.press('ArrowRight');
    await panel.getByText(/refer/).first().waitFor();
  });
});

it('the file of every month is dropped on its table and proposed with three clicks', async () => {
  const table = await givenCities(api);
  await served.withPage(`/console/t/${table.key}`, async (page) => {
    const clicks = countClicks();
    await chooseMode(page, 'propose');
    await cellOf(page, 'name', 'Berlin').waitFor();
    await dropFile(page, 'cities.csv', 'code,name,area\nB,Paris,105.40\nD,Oslo,454.03\n');
    await clicks.on(page.getByRole('button', { name: /^Next/ }));
    await page.getByText('Oslo').first().waitFor();
    await clicks.on(page.getByRole('button', { name: /^Propose/ }));
    await clicks.on(page.getByRole('button', { name: 'Propose 2 changes' }));
    await page.getByText('The changes are proposed, and wait for review').waitFor();
    expect(clicks.count()).toBe(3);
  });
  const { data } = await api.get(`/change_requests?table_definition_id=${table.id}`);
  expect(data).toMatchObject([{ status: 'requested', counts: { operations: 2 } }]);
  expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Pariss', 'Rome']);
});

it('what held on a day is found and brought back with four clicks', async () => {
  const table = await givenCities(api);
  const { data } = await api.get(`/table_data?table_definition_id=${table.id}&q=code:eq:C`);
  await new Promise((done) => setTimeout(done, 1_100)); // the field of the page has whole seconds
  const before = new Date();
  const [{ svc_sk }] = data;
  await api.patch(`/table_data/${svc_sk}`, { table_definition_id: table.id, record: { name: 'Atlantis' } });
  await served.withPage('/console/tables', async (page) => {
    const clicks = countClicks();
    await clicks.on(page.getByRole('link', { name: table.name }));
    await cellOf(page, 'name', 'Atlantis').waitFor();
    await clicks.on(page.getByRole('button', { name: 'Now' }));
    await page.getByLabel('Show the rows as they were on').fill(localTime(before));
    await page.keyboard.press('Enter');
    await page.getByText(/^As of/).waitFor();
    await clicks.on(cellOf(page, 'name', 'Rome'));
    await page.keyboard.press('Alt+Enter');
    await clicks.on(page.getByRole('button', { name: 'Bring back' }));
    await page.getByText('1 row changed').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(clicks.count()).toBe(4);
  });
  expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Pariss', 'Rome']);
});

it('a steward is invited into a group with four clicks', async () => {
  const { id } = await api.post('/user_groups', { user_group: { name: 'Stewards of cities' } });
  await served.withPage('/console/', async (page) => {
    const clicks = countClicks();
    await clicks.on(page.getByRole('link', { name: 'Admin' }));
    await clicks.on(page.getByRole('button', { name: /^Invite/ }));
    await page.getByLabel('E-mail').pressSequentially('steward@example.com');
    await clicks.on(page.getByText('Stewards of cities'));
    await clicks.on(page.getByRole('button', { name: 'Send invitation' }));
    await page.getByText('steward@example.com').first().waitFor();
    expect(clicks.count()).toBe(4);
  });
  const { members } = await api.get(`/user_groups/${id}`);
  expect(members).toHaveLength(1);
});

/** Drops a file where the rows are, as from the desktop. */
async function dropFile(page: Page, name: string, content: string): Promise<void> {
  const data = await page.evaluateHandle(
    ([name, content]) => {
      // biome-ignore lint/suspicious/noExplicitAny: a class of browsers.
      const transfer = new (globalThis as any).DataTransfer();
      transfer.items.add(new File([content as string], name as string, { type: 'text/csv' }));
      return transfer;
    },
    [name, content],
  );
  await page.getByRole('region', { name: 'Rows', exact: true }).dispatchEvent('drop', { dataTransfer: data });
}
