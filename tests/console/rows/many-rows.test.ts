// The console in a real browser with a million rows, which the page makes up: what is tested is
// where the browser puts them. That the API finds rows however far down is tested at the API.
import { eventually } from '@almanac/testkit/eventually';
import type { Page } from 'playwright-core';
import { givenCities } from '../gestures.ts';
import { api, overConsole, served } from '../served-console.ts';

const million = 1_000_000;

let key: string;

overConsole();
beforeAll(async () => {
  ({ key } = await givenCities(api));
});

it('the end of a million rows, and the start again, are reached by scrolling', async () => {
  await withMillion(async (page) => {
    await scrollTo(page, 'end');
    await rowAt(page, 399_999).waitFor();
    await scrollUntil(page, 'end', 999_999);
    await rowsLineUp(page);
    await scrollUntil(page, 'start', 0);
    await rowsLineUp(page);
  });
});

it('a row far down is reached by its number, and cells line up there', async () => {
  await withMillion(async (page) => {
    await page.keyboard.press('Control+g');
    await page.keyboard.type('999,991');
    await page.keyboard.press('Enter');
    await rowAt(page, 999_990).waitFor();
    await rowsLineUp(page);
    const focused = page.locator('[role=row]', { has: page.locator('.ag-cell-focus') });
    expect(await focused.getAttribute('aria-rowindex')).toBe('999992');
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('1000001');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.getByText('2 cells selected').waitFor();
    await page.keyboard.press('Control+Home');
    await rowAt(page, 0).waitFor();
    await page.keyboard.press('Control+End');
    await rowAt(page, 999_999).waitFor();
    // Fewer rows match, and the window goes back to the first of them.
    await page.getByRole('searchbox', { name: 'Search rows' }).fill('few');
    await page.getByText('1,000 rows').waitFor();
    await rowAt(page, 0).waitFor();
    await page.getByRole('searchbox', { name: 'Search rows' }).fill('');
    await page.getByText('1,000,000 rows').waitFor();
    await page.keyboard.press('Control+g');
    await page.keyboard.type('1000000');
    await page.keyboard.press('Enter');
    await rowAt(page, 999_999).waitFor();
    await page.getByRole('columnheader', { name: 'name' }).click();
    await rowAt(page, 0).waitFor();
  });
});

it('a search whose answer is slow is left for the next one, however often', async () => {
  await withMillion(async (page) => {
    for (const q of ['slow 1', 'slow 2', 'slow 3', 'slow 4']) {
      const asked = page.waitForRequest((request) => (request.postDataJSON() as { q?: string } | null)?.q === q);
      await page.getByRole('searchbox', { name: 'Search rows' }).fill(q);
      await asked;
    }
    await page.getByRole('searchbox', { name: 'Search rows' }).fill('few');
    await page.getByText('1,000 rows').waitFor();
    await rowAt(page, 0).waitFor();
  });
});

const nameOf = (place: number) => `Row ${place}`;
const rowAt = (page: Page, place: number) => page.getByRole('gridcell', { name: nameOf(place), exact: true });

async function withMillion(work: (page: Page) => Promise<void>): Promise<void> {
  await served.withPage(`/console/t/${key}`, async (page) => {
    await page.route('**/table_data/grid', async (route) => {
      const { startRow, endRow, q } = route.request().postDataJSON() as {
        startRow: number;
        endRow: number;
        q?: string;
      };
      if (q?.startsWith('slow')) return;
      const rowCount = q === 'few' ? 1_000 : million;
      const rows = Array.from({ length: Math.max(0, Math.min(endRow, rowCount) - startRow) }, (_, at) => ({
        ...{ svc_sk: startRow + at + 1, svc_version: 1, svc_lookups: {} },
        ...{ code: String(startRow + at), name: nameOf(startRow + at), area: '1.00' },
      }));
      return route.fulfill({ json: { rows, rowCount } });
    });
    await page.reload();
    await rowAt(page, 0).waitFor();
    await work(page);
  });
}

/** Scrolls as a person does, away from the end and to it: who is there already does not scroll. */
const scrollTo = (page: Page, end: 'start' | 'end') =>
  page
    .locator('.ag-grid-viewport')
    .first()
    .evaluate(async (viewport, to) => {
      const edge = to === 'end' ? viewport.scrollHeight : 0;
      viewport.scrollTop = Math.abs(edge - 6_000);
      await new Promise((done) => setTimeout(done, 100));
      viewport.scrollTop = edge;
    }, end);

/** The window slides some time after each end of it is reached. */
const scrollUntil = (page: Page, end: 'start' | 'end', place: number) =>
  eventually(async () => {
    await scrollTo(page, end);
    await rowAt(page, place).waitFor({ timeout: 1_000 });
  });

/** The rows in view are equally far apart, and the cells of a row are at one height. */
async function rowsLineUp(page: Page): Promise<void> {
  const places = await page.locator('[role=row][row-index]').evaluateAll((rows) =>
    rows.map((row) =>
      [...row.querySelectorAll('[role=gridcell]')].map((cell) => {
        return cell.getBoundingClientRect().top;
      }),
    ),
  );
  const tops = places.map((cells) => {
    expect(new Set(cells).size).toBe(1);
    return cells[0] as number;
  });
  const ordered = tops.toSorted((a, b) => a - b);
  const gaps = ordered.slice(1).map((top, place) => top - (ordered[place] as number));
  expect(new Set(gaps.map(Math.round)).size).toBe(1);
}
