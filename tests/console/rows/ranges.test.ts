// The console in a real browser: ranges of cells are copied, filled, cleared and pasted into.
import { eventually } from '@almanac/testkit/eventually';
import { givenDeployedTable } from '@almanac/testkit/system/builders';
import type { Page } from 'playwright-core';
import { cellOf, paste } from '../gestures.ts';
import { api, overConsole, served } from '../served-console.ts';

overConsole();

const permissions = ['clipboard-read', 'clipboard-write'];

it('a range is selected and filled down by keys, as one act that is undone at once', async () => {
  const { key } = await givenItems(6);
  await served.withPage(`/console/t/${key}?sort=code`, async (page) => {
    await at(page, 'note', 1).click();
    for (let times = 0; times < 3; times += 1) await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowRight');
    await page.getByText('8 cells selected').waitFor();
    await page.keyboard.press('Control+d');
    await page.getByText('3 rows changed').waitFor();
    expect(await textsOf(page, 'note', 6)).toEqual(['note 0', 'note 1', 'note 1', 'note 1', 'note 1', 'note 5']);
    expect(await textsOf(page, 'amount', 6)).toEqual(['0.00', '0.50', '0.50', '0.50', '0.50', '12.50']);
    await page.keyboard.press('Control+z');
    await cellOf(page, 'note', 'note 3').waitFor();
    expect(await textsOf(page, 'note', 6)).toEqual([0, 1, 2, 3, 4, 5].map((row) => `note ${row}`));
    await page.keyboard.press('Control+r');
    await page.getByText('4 rows changed').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('cells selected').waitFor({ state: 'detached' });
  });
});

it('a range is selected by mouse, and what it holds goes on as a series where its corner is dragged', async () => {
  const { id, key } = await givenItems(6);
  await served.withPage(`/console/t/${key}?sort=code`, async (page) => {
    await drag(page, await centerOf(at(page, 'amount', 0)), await centerOf(at(page, 'amount', 1)));
    await page.getByText('2 cells selected').waitFor();
    await drag(page, await cornerOf(at(page, 'amount', 1)), await centerOf(at(page, 'amount', 4)));
    await page.getByText('5 cells selected').waitFor();
    await page.getByText('3 rows changed').waitFor();
    expect(await textsOf(page, 'amount', 6)).toEqual(['0.00', '0.50', '1.00', '1.50', '2.00', '12.50']);
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
  });
  expect(await amountsOf(id)).toEqual(['0.00', '0.50', '1.00', '1.50', '2.00', '12.50']);
});

it('a range takes one value everywhere when it is pasted, and is cleared by a key', async () => {
  const { key } = await givenItems(6);
  await served.withPage(
    `/console/t/${key}?sort=code`,
    async (page) => {
      await at(page, 'note', 1).click();
      await at(page, 'note', 3).click({ modifiers: ['Shift'] });
      await page.getByText('3 cells selected').waitFor();
      await paste(page, 'the same');
      await eventually(async () =>
        expect(await textsOf(page, 'note', 4)).toEqual(['note 0', ...Array(3).fill('the same')]),
      );
      await page.keyboard.press('Delete');
      await eventually(async () => expect(await textsOf(page, 'note', 5)).toEqual(['note 0', '', '', '', 'note 4']));
    },
    { permissions },
  );
});

it('a range is copied with the rows that were not loaded', async () => {
  const { key } = await givenItems(1_200);
  await served.withPage(
    `/console/t/${key}?sort=code`,
    async (page) => {
      await at(page, 'code', 2).click();
      await page.keyboard.press('Control+Shift+ArrowDown');
      await page.getByText('1,198 cells selected').waitFor();
      await page.keyboard.press('Control+c');
      const expected = Array.from({ length: 1_198 }, (_, place) => codeOf(place + 2)).join('\r\n');
      await eventually(async () => expect(await clipboardOf(page)).toBe(expected));
    },
    { permissions },
  );
});

it('what is done to a range is done to the rows that one sees, whatever others have added above', async () => {
  const { id, key } = await givenItems(4);
  await served.withPage(
    `/console/t/${key}?sort=code`,
    async (page) => {
      await at(page, 'note', 1).click();
      await page.keyboard.press('Shift+ArrowDown');
      const record = { code: 'A', note: 'added' };
      await api.post('/table_data', { table_definition_id: id, record });
      await page.keyboard.press('Delete');
      await page.getByText('2 rows changed').waitFor();
      await page.keyboard.press('Control+s');
      await page.getByText('Saved', { exact: true }).waitFor();
    },
    { live: 'off' },
  );
  const { data } = await api.get(`/table_data?table_definition_id=${id}&sort=code`);
  expect(data.map(({ note }: { note: string | null }) => note)).toEqual(['added', 'note 0', null, null, 'note 3']);
});

const codeOf = (place: number) => `I${String(place).padStart(5, '0')}`;

async function givenItems(count: number) {
  const columns = [
    { name: 'code', data_type: 'string', length: 10, is_primary_key: true, is_required: true },
    { name: 'note', data_type: 'string', length: 40 },
    { name: 'amount', data_type: 'decimal', length: 12, scale: 2 },
  ];
  const table = await givenDeployedTable(api, { name: `Items ${crypto.randomUUID().slice(0, 8)}`, columns });
  const operations = Array.from({ length: count }, (_, place) => {
    const record = { code: codeOf(place), note: `note ${place}`, amount: ((place * place) / 2).toFixed(2) };
    return { operation: 'create', record };
  });
  for (let from = 0; from < count; from += 1_000)
    await api.post('/table_data/batch', {
      table_definition_id: table.id,
      operations: operations.slice(from, from + 1_000),
    });
  return table;
}

async function amountsOf(id: number): Promise<string[]> {
  const { data } = await api.get(`/table_data?table_definition_id=${id}&sort=code&exact_numbers=true`);
  return data.map(({ amount }: { amount: string }) => amount);
}

const at = (page: Page, column: string, row: number) =>
  page.locator(`[role=row][row-index="${row}"] [role=gridcell][col-id=${column}]`);

const textsOf = (page: Page, column: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, row) => at(page, column, row).textContent()));

const clipboardOf = (page: Page) =>
  page.evaluate(() => (navigator as unknown as { clipboard: { readText(): Promise<string> } }).clipboard.readText());

type Point = { x: number; y: number };

// The grid may draw a cell again between two looks.
const boxOf = (cell: ReturnType<Page['locator']>) =>
  eventually(async () => {
    const box = await cell.boundingBox();
    if (!box) throw new Error('The cell is not shown.');
    return box;
  });
async function centerOf(cell: ReturnType<Page['locator']>): Promise<Point> {
  const { x, y, width, height } = await boxOf(cell);
  return { x: x + width / 2, y: y + height / 2 };
}
async function cornerOf(cell: ReturnType<Page['locator']>): Promise<Point> {
  const { x, y, width, height } = await boxOf(cell);
  return { x: x + width - 4, y: y + height - 4 };
}

async function drag(page: Page, from: Point, to: Point): Promise<void> {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 8 });
  await page.mouse.up();
}
