// The console in a real browser: axe finds no breach of WCAG on any page, in both schemes, from a
// phone to a desktop.

import { api, overConsole, served } from '../served-console.ts';
import { findBreaches } from './breaches.ts';
import { givenPages } from './given-pages.ts';

let paths: string[];

overConsole();
beforeAll(async () => {
  paths = await givenPages(api);
});

/** A page is loaded once, and looked at in each scheme and width. */
const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1440, 768, 360].map((width) => ({ colorScheme, width })),
);
const withinMs = 900_000;

it(
  'no page has a breach, in the light or the dark, from 360 to 1440 pixels',
  async () => {
    const breaches: string[] = [];
    await served.withPage(
      '/console/',
      async (page) => {
        for (const path of paths) {
          await page.goto(new URL(path, page.url()).href);
          for (const { colorScheme, width } of looks) {
            // A colour on its way from one scheme to the other is no colour of a page.
            await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
            await page.setViewportSize({ width, height: 800 });
            await page.getByRole('heading', { level: 1 }).waitFor();
            await page.locator('[aria-label="Loading…"]').first().waitFor({ state: 'detached' });
            for (const breach of await findBreaches(page))
              breaches.push(`${path}, ${colorScheme}, ${width} pixels: ${breach}`);
          }
        }
      },
      // Their calls have a token, so the session of the profile is missing.
      { faults: 'expected' },
    );
    expect(breaches).toEqual([]);
  },
  withinMs,
);
