// What people do in the console, and a table that they do it to.
import type { Api } from '@almanac/api-client/api';
import { givenDeployedTable } from '@almanac/testkit/system/builders';
import type { Page } from 'playwright-core';

/** A table with three cities, one of them misspelled. */
export async function givenCities(api: Api) {
  const columns = [
    { name: 'code', data_type: 'string', length: 10, is_primary_key: true, is_required: true },
    { name: 'name', data_type: 'string', length: 40 },
    { name: 'area', data_type: 'decimal', length: 12, scale: 2 },
  ];
  const name = `Cities ${crypto.randomUUID().slice(0, 8)}`;
  const table = { ...(await givenDeployedTable(api, { name, columns })), name };
  const operations = [
    { code: 'A', name: 'Berlin', area: '891.10' },
    { code: 'B', name: 'Pariss', area: '105.40' },
    { code: 'C', name: 'Rome', area: '1287.36' },
  ].map((record) => ({ operation: 'create', record }));
  await api.post('/table_data/batch', { table_definition_id: table.id, operations });
  return table;
}

export async function namesOf(api: Api, tableId: number): Promise<string[]> {
  const { data } = await api.get(`/table_data?table_definition_id=${tableId}&sort=code`);
  return data.map(({ name }: { name: string }) => name);
}

export const cellOf = (page: Page, column: string, text: string) =>
  page.locator(`[role=gridcell][col-id=${column}]`, { hasText: text }).first();

export async function typeInto(page: Page, cell: ReturnType<Page['locator']>, text: string): Promise<void> {
  await cell.click();
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
}

export async function paste(page: Page, text: string): Promise<void> {
  type Clipboard = { clipboard: { writeText(text: string): Promise<void> } };
  await page.evaluate((given) => (navigator as unknown as Clipboard).clipboard.writeText(given), text);
  await page.keyboard.press('Control+v');
}

/** Presses keys in one task of the page, as a slow page receives them from a fast person. */
export function pressAtOnce(page: Page, keys: { key: string; ctrlKey?: boolean }[]): Promise<void> {
  return page.locator('body').evaluate((body, given) => {
    const { document, KeyboardEvent: KeyEvent } = body.ownerDocument.defaultView;
    for (const key of given)
      document.activeElement.dispatchEvent(new KeyEvent('keydown', { ...key, bubbles: true, cancelable: true }));
  }, keys);
}

export const chooseMode = (page: Page, mode: string) =>
  page.evaluate((given) => localStorage.setItem('almanac.edit-mode', given), mode);

/** Goes on by Tab, or back by Shift+Tab, until an element has the focus. */
export async function tabTo(page: Page, target: ReturnType<Page['locator']>, key = 'Tab'): Promise<void> {
  await target.first().waitFor();
  for (let times = 0; times < 80; times += 1) {
    if (await target.first().evaluate((element) => element.contains(element.ownerDocument.activeElement))) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${target} was not reached by ${key}.`);
}

/** Goes by arrows from the cell with the focus to another in view. */
export async function arrowTo(page: Page, cell: ReturnType<Page['locator']>): Promise<void> {
  await cell.waitFor();
  for (let times = 0; times < 80; times += 1) {
    const key = await cell.evaluate((element) => {
      const { activeElement: focused } = element.ownerDocument;
      if (focused === element) return undefined;
      const [from, to] = [focused, element].map((one) => one?.getBoundingClientRect());
      if (!from || !to) return 'ArrowDown';
      if (Math.abs(from.top - to.top) > 2) return from.top < to.top ? 'ArrowDown' : 'ArrowUp';
      return from.left < to.left ? 'ArrowRight' : 'ArrowLeft';
    });
    if (key === undefined) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${cell} was not reached by arrows.`);
}

/** Finds something by the palette, and opens it. */
export async function openByPalette(page: Page, typed: string, option: string | RegExp): Promise<void> {
  await page.keyboard.press('Control+K');
  await page.locator('[role=dialog] input:focus').waitFor();
  await page.keyboard.type(typed);
  await page.getByRole('option', { name: option }).first().waitFor();
  await page.keyboard.press('Enter');
}

/** Clicks, and counts them. */
export function countClicks() {
  let count = 0;
  return {
    async on(target: ReturnType<Page['locator']>) {
      await target.click();
      count += 1;
    },
    count: () => count,
  };
}

/** What a field for a local time takes. */
export function localTime(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}
