// The console in a real browser: rows are changed, pasted and proposed, and nothing typed is lost.
import { eventually } from '@almanac/testkit/eventually';
import { cellOf, chooseMode, countClicks, givenCities, namesOf, paste, pressAtOnce, typeInto } from '../gestures.ts';
import { api, overConsole, served } from '../served-console.ts';

overConsole();

const permissions = ['clipboard-read', 'clipboard-write'];

it('a cell is corrected with two clicks, and the correction is undone', async () => {
  const table = await givenCities(api);
  await served.withPage('/console/tables', async (page) => {
    const clicks = countClicks();
    await clicks.on(page.getByRole('link', { name: table.name }));
    await clicks.on(cellOf(page, 'name', 'Pariss'));
    await page.keyboard.type('Paris');
    await page.keyboard.press('Enter');
    await page.getByText('1 row changed').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(clicks.count()).toBe(2);
    expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Paris', 'Rome']);
    await page.keyboard.press('Control+z');
    await eventually(async () => expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Pariss', 'Rome']));
  });
});

it('what is entered a moment before Ctrl+S is saved, however fast the keys come', async () => {
  const table = await givenCities(api);
  await served.withPage(`/console/t/${table.key}?sort=code`, async (page) => {
    await typeInto(page, cellOf(page, 'name', 'Rome'), 'Roma');
    await cellOf(page, 'name', 'Pariss').click();
    await page.keyboard.type('Paris');
    await pressAtOnce(page, [{ key: 'Enter' }, { key: 's', ctrlKey: true }]);
    await page.getByText('Saved', { exact: true }).waitFor();
  });
  expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Paris', 'Roma']);
});

it('twenty rows of a spreadsheet are proposed with four clicks', async () => {
  const table = await givenCities(api);
  const lines = Array.from({ length: 20 }, (_, place) => `N${place}\tCity ${place}\t1,234.50`);
  await served.withPage(
    '/console/tables',
    async (page) => {
      const clicks = countClicks();
      await chooseMode(page, 'propose');
      await clicks.on(page.getByRole('link', { name: table.name }));
      await clicks.on(cellOf(page, 'name', 'Berlin'));
      await paste(page, ['code\tname\tarea', ...lines].join('\r\n'));
      await page.getByText('20 new rows').waitFor();
      await page.keyboard.press('Enter');
      await page.getByText('20 rows changed').waitFor();
      await clicks.on(page.getByRole('button', { name: 'Propose…' }));
      await page.getByLabel('Title').pressSequentially('Cities of the north');
      await clicks.on(page.getByRole('button', { name: 'Propose 20 rows' }));
      await page.getByRole('heading', { level: 1, name: 'Cities of the north' }).waitFor();
      expect(clicks.count()).toBe(4);
    },
    { permissions },
  );
  const { data } = await api.get(`/change_requests?table_definition_id=${table.id}`);
  expect(data).toMatchObject([{ title: 'Cities of the north', status: 'requested', counts: { operations: 20 } }]);
  const { operations } = await api.get(`/change_requests/${data[0].id}/operations?exact_numbers=true`);
  expect(operations[0].proposed).toMatchObject({ code: 'N0', name: 'City 0', area: '1234.50' });
  expect(await namesOf(api, table.id)).toHaveLength(3);
});

it('what breaks a rule is not proposed: it stays in its cell with the reason', async () => {
  const table = await givenCities(api);
  await served.withPage('/console/tables', async (page) => {
    await chooseMode(page, 'propose');
    await page.getByRole('link', { name: table.name }).click();
    await typeInto(page, cellOf(page, 'area', '105.40'), 'large');
    await page.getByRole('button', { name: 'Propose…' }).click();
    await page.getByLabel('Title').pressSequentially('The area of Paris');
    await page.getByRole('button', { name: 'Propose 1 row' }).click();
    await page.getByText('Nothing was proposed: 1 row has a problem.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('1 problem').waitFor();
    await typeInto(page, page.getByRole('gridcell', { name: 'large' }), '1,105.40');
    await page.getByRole('button', { name: 'Propose…' }).click();
    await page.getByLabel('Title').pressSequentially('The area of Paris');
    await page.getByRole('button', { name: 'Propose 1 row' }).click();
    await page.getByRole('heading', { level: 1, name: 'The area of Paris' }).waitFor();
  });
  const { data } = await api.get(`/change_requests?table_definition_id=${table.id}&sort=id`);
  expect(data.map(({ status }: { status: string }) => status)).toEqual(['cancelled', 'requested']);
});

it('the plan of a paste says which required column its new rows leave blank', async () => {
  const table = await givenCities(api);
  await served.withPage(`/console/t/${table.key}?sort=code`, async (page) => {
    await cellOf(page, 'name', 'Rome').click();
    await paste(page, 'Roma\r\nOslo\r\nOulu');
    await page.getByText('2 new rows have no value of code, which is required').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await cellOf(page, 'name', 'Rome').waitFor();
  });
});

it('what the server refuses stays in its cell with the reason, and the rest is not half saved', async () => {
  const table = await givenCities(api);
  await served.withPage(
    `/console/t/${table.key}?sort=code`,
    async (page) => {
      await typeInto(page, cellOf(page, 'name', 'Berlin'), 'Berlin, capital');
      await typeInto(page, cellOf(page, 'area', '105.40'), 'large');
      await page.keyboard.press('Control+s');
      await page.getByText('1 problem').waitFor();
      await page.getByRole('gridcell', { name: 'large' }).click();
      await page.getByText(/^area /).waitFor();
      expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Pariss', 'Rome']);
      await typeInto(page, page.getByRole('gridcell', { name: 'large' }), '1,105.40');
      await page.keyboard.press('Control+s');
      await page.getByText('Saved', { exact: true }).waitFor();
    },
    { faults: 'expected' },
  );
  expect(await namesOf(api, table.id)).toEqual(['Berlin, capital', 'Pariss', 'Rome']);
});

it('two people change one cell: who comes second sees the other value, and decides', async () => {
  const table = await givenCities(api);
  await served.withPage(
    `/console/t/${table.key}?sort=code`,
    async (page) => {
      const cell = cellOf(page, 'name', 'Rome');
      await cell.waitFor();
      const { data } = await api.get(`/table_data?table_definition_id=${table.id}&q=code:eq:C`);
      const record = { name: 'Roma' };
      await api.patch(`/table_data/${data[0].svc_sk}`, { table_definition_id: table.id, record });
      await typeInto(page, cell, 'Rom');
      await page.keyboard.press('Control+s');
      await page.getByText('1 problem').waitFor();
      await page.getByRole('button', { name: 'Review' }).click();
      await page.getByText('now: Roma').waitFor();
      await page.getByRole('button', { name: 'Keep mine' }).click();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Save 1 row' }).click();
      await page.getByText('Saved', { exact: true }).waitFor();
    },
    { faults: 'expected' },
  );
  expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Pariss', 'Rom']);
});

it('edits outlive a session that ends, and the page', async () => {
  const table = await givenCities(api);
  await served.withPage(
    `/console/t/${table.key}?sort=code`,
    async (page) => {
      const body = JSON.stringify({ error: 'Unauthorized', errors: ['The session has ended'] });
      await page.route('**/table_data/batch', (route) => route.fulfill({ status: 401, body }));
      await typeInto(page, cellOf(page, 'name', 'Berlin'), 'Bärlin');
      await page.keyboard.press('Control+s');
      await page.getByText('Your session has ended. Your changes are kept.').waitFor();
      await page.unrouteAll();
      await page.reload();
      await page.getByText('Kept from before:').waitFor();
      await page.getByRole('gridcell', { name: 'Bärlin' }).waitFor();
      await page.getByRole('button', { name: 'Save 1 row' }).click();
      await page.getByText('Saved', { exact: true }).waitFor();
    },
    { faults: 'expected' },
  );
  expect(await namesOf(api, table.id)).toEqual(['Bärlin', 'Pariss', 'Rome']);
});

it('a row is added, and another is deleted, by keyboard alone', async () => {
  const table = await givenCities(api);
  await served.withPage(`/console/t/${table.key}?sort=code`, async (page) => {
    await cellOf(page, 'code', 'B').waitFor();
    await page.getByRole('button', { name: 'New row' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'code' }).waitFor();
    await page.keyboard.type('D');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Oslo');
    await page.keyboard.press('Enter');
    await page.getByText('1 row changed').waitFor();
    await page.keyboard.press('Control+Shift+Delete');
    await page.getByText('2 rows changed').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
  });
  expect(await namesOf(api, table.id)).toEqual(['Pariss', 'Rome', 'Oslo']);
});
