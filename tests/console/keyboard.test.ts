// The console in a real browser, by keyboard alone: the journeys of those who have no mouse.
import { eventually } from '@almanac/testkit/eventually';
import type { Page } from 'playwright-core';
import {
  arrowTo,
  cellOf,
  chooseMode,
  givenCities,
  localTime,
  namesOf,
  openByPalette,
  paste,
  tabTo,
} from './gestures.ts';
import { givenRequest } from './given-request.ts';
import { api, overConsole, served } from './served-console.ts';

overConsole();

const permissions = ['clipboard-read', 'clipboard-write'];

it('a cell is corrected', async () => {
  const table = await givenCities(api);
  await served.withPage('/console/', async (page) => {
    await enterTable(page, table.name);
    await arrowTo(page, cellOf(page, 'name', 'Pariss'));
    await page.keyboard.type('Paris');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
  });
  expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Paris', 'Rome']);
});

it('twenty rows of a spreadsheet are proposed', async () => {
  const table = await givenCities(api);
  const lines = Array.from({ length: 20 }, (_, place) => `N${place}\tCity ${place}\t1,234.50`);
  await served.withPage(
    '/console/',
    async (page) => {
      await chooseMode(page, 'propose');
      await enterTable(page, table.name);
      await arrowTo(page, cellOf(page, 'name', 'Berlin'));
      await paste(page, ['code\tname\tarea', ...lines].join('\r\n'));
      await page.getByText('20 new rows').waitFor();
      await page.keyboard.press('Enter');
      await page.getByText('20 rows changed').waitFor();
      await page.keyboard.press('Control+s');
      await tabTo(page, page.getByLabel('Title'));
      await page.keyboard.type('Cities of the north');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Cities of the north' }).waitFor();
    },
    { permissions },
  );
  const { data } = await api.get(`/change_requests?table_definition_id=${table.id}`);
  expect(data).toMatchObject([{ status: 'requested', counts: { operations: 20 } }]);
});

it('350 changes are reviewed, two of them refused, and the others applied', async () => {
  const { id } = await givenRequest(served, 350);
  await served.withPage('/console/', async (page) => {
    await page.getByRole('heading', { level: 1 }).waitFor();
    await openByPalette(page, 'Monthly correction', /Monthly correction/);
    await page.getByRole('button', { name: 'Reject N1', exact: true }).waitFor();
    for (const code of ['N0', 'N1']) {
      await page.keyboard.press('n');
      await page.keyboard.press('x');
      await page.getByRole('textbox', { name: /^Why it is rejected/ }).waitFor();
      await page.keyboard.type('It is no city.');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: `Reject ${code}`, exact: true, pressed: true }).waitFor();
    }
    await page.getByText('2 rejected').first().waitFor();
    await page.getByRole('button', { name: 'Finish review…', disabled: false }).waitFor();
    await page.keyboard.press('Control+Enter');
    await tabTo(page, page.getByRole('button', { name: 'Apply 348 changes to main' }));
    await page.keyboard.press('Enter');
    const applied = { status: 'applied', counts: { accepted: 348, rejected: 2 } };
    await eventually(async () => expect(await api.get(`/change_requests/${id}`)).toMatchObject(applied));
  });
});

it('the file of every month is proposed', async () => {
  const table = await givenCities(api);
  await served.withPage(`/console/import?table=${table.key}`, async (page) => {
    await chooseMode(page, 'propose');
    const chooser = page.waitForEvent('filechooser');
    await tabTo(page, page.getByRole('button', { name: 'Choose a file' }));
    await page.keyboard.press('Enter');
    const buffer = Buffer.from('code,name,area\nB,Paris,105.40\nD,Oslo,454.03\n');
    await (await chooser).setFiles({ name: 'cities.csv', mimeType: 'text/csv', buffer });
    await pressButton(page, 'Next: columns');
    await pressButton(page, 'Next: see the effect');
    await page.getByText('Oslo').first().waitFor();
    await pressButton(page, /^Propose/);
    await pressButton(page, 'Propose 2 changes');
    await page.getByText('The changes are proposed, and wait for review').waitFor();
  });
  const { data } = await api.get(`/change_requests?table_definition_id=${table.id}`);
  expect(data).toMatchObject([{ status: 'requested', counts: { operations: 2 } }]);
});

it('what held an hour ago is looked at, and a row of it is brought back', async () => {
  const table = await givenCities(api);
  const { data } = await api.get(`/table_data?table_definition_id=${table.id}&q=code:eq:C`);
  const before = new Date(Math.ceil(Date.now() / 1_000) * 1_000);
  await new Promise((done) => setTimeout(done, before.getTime() + 1_000 - Date.now())); // the field has whole seconds
  await api.patch(`/table_data/${data[0].svc_sk}`, { table_definition_id: table.id, record: { name: 'Atlantis' } });
  await served.withPage(`/console/t/${table.key}`, async (page) => {
    await cellOf(page, 'name', 'Atlantis').waitFor();
    await pressButton(page, 'Now');
    await typeInstant(page, before);
    await page.keyboard.press('Enter');
    await page.getByText(/^As of/).waitFor();
    await enterGrid(page);
    await arrowTo(page, cellOf(page, 'name', 'Rome'));
    await page.keyboard.press('Alt+Enter');
    await pressButton(page, 'Bring back');
    await page.getByText('1 row changed').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
  });
  expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Pariss', 'Rome']);
});

it('a spreadsheet becomes a table in service', async () => {
  await api.post('/domains', { domain: { name: 'Sales' } });
  await served.withPage('/console/tables', async (page) => {
    await tabTo(page, page.getByRole('link', { name: 'New table' }));
    await page.keyboard.press('Enter');
    const chooser = page.waitForEvent('filechooser');
    await pressButton(page, 'Choose a file');
    const buffer = Buffer.from('Item No,Name,Price\n007,Cup,4.50\n008,Saucer,3.00\n');
    await (await chooser).setFiles({ name: 'price_list.csv', mimeType: 'text/csv', buffer });
    await page.getByLabel('Name of column 1').waitFor();
    await pressButton(page, 'Make the table with 3 columns');
    await pressButton(page, 'Deploy');
    await page.getByText('The rows are loaded').waitFor();
    await tabTo(page, page.getByRole('link', { name: 'Open the table' }));
    await page.keyboard.press('Enter');
    await page.getByRole('gridcell', { name: 'Saucer' }).waitFor();
  });
});

it('a steward is invited into a group', async () => {
  const { id } = await api.post('/user_groups', { user_group: { name: 'Stewards of keys' } });
  await served.withPage('/console/', async (page) => {
    await page.getByRole('heading', { level: 1 }).waitFor();
    await openByPalette(page, 'people', 'People');
    await pressButton(page, /^Invite/);
    await page.getByLabel('E-mail').waitFor();
    await page.keyboard.type('keys@example.com');
    await tabTo(page, page.getByRole('checkbox', { name: 'Stewards of keys' }));
    await page.keyboard.press('Space');
    await pressButton(page, 'Send invitation');
    await page.getByText('keys@example.com').first().waitFor();
  });
  const { members } = await api.get(`/user_groups/${id}`);
  expect(members).toHaveLength(1);
});

async function pressButton(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, page.getByRole('button', { name }));
  await page.keyboard.press('Enter');
}

async function enterTable(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name }).first().waitFor();
  await openByPalette(page, name, new RegExp(`^${name}`));
  await cellOf(page, 'name', 'Berlin').waitFor();
  await enterGrid(page);
}

/** The grid is one stop of Tab: its head, from which arrows lead to the cells. */
const enterGrid = (page: Page) => tabTo(page, page.getByRole('grid'));

/** Types into the field of an instant, whichever order its parts have in this browser. */
async function typeInstant(page: Page, instant: Date): Promise<void> {
  const field = page.getByLabel('Show the rows as they were on');
  await tabTo(page, field);
  const two = (number: number) => String(number).padStart(2, '0');
  const [day, month] = [two(instant.getDate()), two(instant.getMonth() + 1)];
  const hour = instant.getHours();
  const rest = [two(instant.getMinutes()), two(instant.getSeconds())];
  const wanted = localTime(instant);
  const parts = [
    [day, month, String(instant.getFullYear()), two(hour), ...rest],
    [month, day, String(instant.getFullYear()), two(hour % 12 || 12), ...rest, hour < 12 ? 'A' : 'P'],
  ];
  // The browser takes two digits for one part only while little time is between them.
  await eventually(async () => {
    for (const typed of parts) {
      for (let times = 0; times < 8; times += 1) await page.keyboard.press('ArrowLeft');
      for (const part of typed) await page.keyboard.type(part);
      if ((await field.inputValue()) === wanted) return;
    }
    throw new Error(`The field has ${await field.inputValue()} and not ${wanted}.`);
  });
}
