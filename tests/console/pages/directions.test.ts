// The console in a real browser: with longer texts, and from right to left, no page is wider than
// its window.
import { api, overConsole, served } from '../served-console.ts';
import { givenPages } from './given-pages.ts';

const withinMs = 900_000;

/** The page itself, or its content, which scrolls. */
const howMuchTooWide = `Math.max(
  ...[document.documentElement, document.querySelector('main')].map((one) => one.scrollWidth - one.clientWidth),
)`;

overConsole();

it(
  'no page is wider than its window in the pseudo-locale, in either direction, from 360 to 1440 pixels',
  async () => {
    const paths = await givenPages(api);
    const wide: string[] = [];
    await served.withPage(
      '/console/',
      async (page) => {
        await page.evaluate("localStorage.setItem('almanac.language', 'pseudo')");
        for (const path of paths) {
          await page.goto(new URL(path, page.url()).href);
          await page.getByRole('heading', { level: 1 }).first().waitFor();
          await page.locator('[role=status][class*=skeleton]').first().waitFor({ state: 'detached' });
          for (const direction of ['ltr', 'rtl'])
            for (const width of [1440, 360]) {
              await page.setViewportSize({ width, height: 800 });
              await page.evaluate(`document.documentElement.dir = '${direction}'`);
              const beyond = Number(await page.evaluate(howMuchTooWide));
              if (beyond > 0) wide.push(`${path}, ${direction}, ${width} pixels: ${beyond} too wide`);
            }
        }
        await page.setViewportSize({ width: 1440, height: 800 });
        const rail = await page.getByRole('navigation').first().boundingBox();
        expect(rail && rail.x + rail.width).toBe(1440);
      },
      { faults: 'expected' },
    );
    expect(wide).toEqual([]);
  },
  withinMs,
);
