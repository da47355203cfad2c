// The console in two browsers at once: what one of them changes, the other shows at once.
import { eventually } from '@almanac/testkit/eventually';
import { cellOf, givenCities, namesOf, typeInto } from './gestures.ts';
import { api, overConsole, served } from './served-console.ts';

overConsole();

const rename = async (tableId: number, code: string, name: string) => {
  const { data } = await api.get(`/table_data?table_definition_id=${tableId}&q=code:eq:${code}`);
  await api.patch(`/table_data/${data[0].svc_sk}`, { table_definition_id: tableId, record: { name } });
};

it('rows that others change are announced, without those changed here, and shown when asked', async () => {
  const table = await givenCities(api);
  await served.withPage(`/console/t/${table.key}?sort=code`, async (page) => {
    await typeInto(page, cellOf(page, 'name', 'Pariss'), 'Paris');
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    await rename(table.id, 'C', 'Roma');
    await page.getByText('1 row changed elsewhere').waitFor();
    expect(await cellOf(page, 'name', 'Rome').isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await cellOf(page, 'name', 'Roma').waitFor();
    expect(await page.getByText('changed elsewhere').count()).toBe(0);
    expect(await namesOf(api, table.id)).toEqual(['Berlin', 'Paris', 'Roma']);
  });
});

it('one tab follows the stream for all, and another goes on when it is closed', async () => {
  const table = await givenCities(api);
  await served.withPage(`/console/t/${table.key}`, async (first) => {
    await first.waitForFunction(async () => (await navigator.locks.query()).held?.length === 1);
    let streams = 0;
    const second = await first.context().newPage();
    second.on('request', (request) => {
      if (request.url().endsWith('/events/stream')) streams += 1;
    });
    await second.goto(first.url());
    await cellOf(second, 'name', 'Berlin').waitFor();
    await rename(table.id, 'A', 'Bärlin');
    for (const page of [first, second]) await page.getByText('1 row changed elsewhere').waitFor();
    expect(streams).toBe(0);
    await first.goto('about:blank');
    await eventually(() => expect(streams).toBe(1));
    await rename(table.id, 'A', 'Berlin');
    await second.getByText('2 rows changed elsewhere').waitFor();
  });
});

it('lists show what happens elsewhere', async () => {
  await served.withPage('/console/branches', async (page) => {
    await page.getByRole('heading', { level: 1 }).waitFor();
    const name = `Branch ${crypto.randomUUID().slice(0, 8)}`;
    await api.post('/branches', { branch: { name } });
    await page.getByRole('link', { name }).waitFor();
  });
});

it('while the server is away a page stays as it is, and says that it may be old until it is read again', async () => {
  await served.withPage(
    '/console/branches',
    async (page) => {
      const ask = page.getByRole('button', { name: 'New branch' });
      await ask.click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Typed');
      await page.route('**/console/api/**', (route) => route.abort());
      // As one comes back to the tab.
      await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
      await page.getByText('Almanac does not answer now.').waitFor();
      expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Typed');
      await page.unrouteAll();
      // Slower than it is asked again.
      await page.route('**/console/api/**', async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 7_000));
        await route.continue();
      });
      await page.getByText('Almanac does not answer now.').waitFor({ state: 'detached' });
      await page.unrouteAll({ behavior: 'wait' });
      expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Typed');
    },
    { faults: 'expected' },
  );
});

// The last one: what the tests before it have changed would be read again, too.
it('what changes between the answers of a page and its stream of events is read again, and nothing else', async () => {
  const name = `Early ${crypto.randomUUID().slice(0, 8)}`;
  const { id } = await api.post('/branches', { branch: { name } });
  await served.withPage('/console/branches', async (page) => {
    await page.getByRole('heading', { level: 1 }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.route('**/events/stream*', async (route) => {
      await page.getByRole('link', { name }).waitFor();
      await api.patch(`/branches/${id}`, { branch: { name: `${name} renamed` } });
      await route.continue();
    });
    await page.reload();
    await page.getByRole('link', { name: `${name} renamed` }).waitFor();
    const countOf = (path: string) => asked.filter((each) => each === `/console/api/v1/${path}`).length;
    expect([countOf('people'), countOf('inbox'), countOf('branches')]).toEqual([1, 1, 2]);
  });
});
