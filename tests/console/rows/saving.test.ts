// The console in a real browser: whatever keeps rows from being saved, nothing typed is lost, and
// nothing is written twice.
import { eventually } from '@almanac/testkit/eventually';
import type { Page, Route } from 'playwright-core';
import { kill } from '../../support/killing.ts';
import { cellOf, givenCities, namesOf, typeInto } from '../gestures.ts';
import { api, overConsole, served } from '../served-console.ts';

overConsole();

it.each([
  [402, 'The subscription is overdue. Pay the invoice, and go on.'],
  [403, 'You may not edit this table.'],
  [429, 'Too many calls. Try again in a minute.'],
])('an answer of %i is shown in its words, and the changes stay until they can be saved', async (status, words) => {
  const table = await givenCities(api);
  await withRefusals(`/console/t/${table.key}?sort=code`, async (page) => {
    const json = { status, error: 'Refused', errors: [words], problems: [] };
    await page.route('**/table_data/batch', (route) =>
      route.fulfill({ status, json, headers: { 'retry-after': '60' } }),
    );
    await typeInto(page, cellOf(page, 'name', 'Berlin'), 'Bärlin');
    await page.keyboard.press('Control+s');
    await page.getByRole('alert').getByText(words).waitFor();
    await page.getByText('1 row changed').waitFor();
    expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Pariss', 'Rome']);
    await page.unrouteAll();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
  });
  expect(await namesOf(api, table.id)).toEqual(['Bärlin', 'Pariss', 'Rome']);
});

it('what was written before its answer was lost is not written twice, and what is typed since is saved, too', async () => {
  const table = await givenCities(api);
  await withRefusals(`/console/t/${table.key}?sort=code`, async (page) => {
    await page.route('**/table_data/batch', loseAnswer);
    await typeInto(page, cellOf(page, 'name', 'Berlin'), 'Bärlin');
    await page.keyboard.press('Control+s');
    await page.getByText('There was no answer.').waitFor();
    expect(await namesOf(api, table.id)).toEqual(['Bärlin', 'Pariss', 'Rome']);
    await page.unrouteAll();
    await page.reload();
    await page.getByText('Kept from before:').waitFor();
    await typeInto(page, cellOf(page, 'name', 'Rome'), 'Roma');
    await typeInto(page, cellOf(page, 'name', 'Bärlin'), 'Berlín');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
  });
  expect(await namesOf(api, table.id)).toEqual(['Berlín', 'Pariss', 'Roma']);
  const { data } = await api.get(`/table_data?table_definition_id=${table.id}&sort=code`);
  expect(data.map(({ svc_version }: { svc_version: number }) => svc_version)).toEqual([3, 1, 2]);
});

it('what is entered and saved while a save is under way is saved after it', async () => {
  const table = await givenCities(api);
  await served.withPage(`/console/t/${table.key}?sort=code`, async (page) => {
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await page.route('**/table_data/batch', async (route) => {
      await held;
      await route.continue();
    });
    await typeInto(page, cellOf(page, 'name', 'Berlin'), 'Bärlin');
    await page.keyboard.press('Control+s');
    await page.getByText('Saving…').waitFor();
    await typeInto(page, cellOf(page, 'name', 'Rome'), 'Roma');
    await page.keyboard.press('Control+s');
    letGo();
    await page.getByText('Saved', { exact: true }).waitFor();
    await eventually(async () => expect(await namesOf(api, table.id)).toEqual(['Bärlin', 'Pariss', 'Roma']));
  });
});

it.each(['data', 'gateway'])('a save while %s is killed comes through, once', async (service) => {
  const table = await givenCities(api);
  await withRefusals(`/console/t/${table.key}?sort=code`, async (page) => {
    await typeInto(page, cellOf(page, 'name', 'Pariss'), 'Paris');
    const killed = kill(service);
    await page.keyboard.press('Control+s');
    await killed;
    const saved = page.getByText('Saved', { exact: true });
    await saved.or(page.getByText('There was no answer.')).first().waitFor();
    await eventually(
      async () => {
        if (!(await saved.isVisible())) await page.keyboard.press('Control+s');
        await saved.waitFor({ timeout: 5_000 });
      },
      { withinMs: 120_000 },
    );
  });
  const { data } = await api.get(`/table_data?table_definition_id=${table.id}&sort=code`);
  expect(data).toMatchObject([{ svc_version: 1 }, { name: 'Paris', svc_version: 2 }, { svc_version: 1 }]);
});

const withRefusals = (path: string, work: (page: Page) => Promise<void>) =>
  served.withPage(path, work, { faults: 'expected' });

async function loseAnswer(route: Route): Promise<void> {
  await route.fetch();
  await route.abort();
}
