// A browser in which a person has logged in to the console, and the clock of its pages.
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import type { Product } from '../measuring/product.ts';

const program = process.env.ALMANAC_TEST_CHROMIUM ?? '/usr/bin/chromium';
const patienceMs = 300_000;
const viewport = { width: 1440, height: 860 };

export type Console = {
  /** Opens an empty browser, but for the session. `slow`: a slow computer far away. */
  withPage<T>(work: (page: Page, devtools: CDPSession) => Promise<T>, speed?: 'slow'): Promise<T>;
  url(path: string): string;
  close(): Promise<void>;
};

/** Starts Debian's Chromium, and logs in as the administrator of the account. */
export async function openConsole({ person, origin }: Product): Promise<Console> {
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  const url = (path: string) => `${origin}/console${path}`;
  const session = await logIn(browser, url('/'), person).catch(async (error: unknown) => {
    await browser.close();
    throw error;
  });
  return {
    url,
    close: () => browser.close(),
    async withPage(work, speed) {
      const permissions = ['clipboard-read', 'clipboard-write'];
      const context = await browser.newContext({ locale: 'en-GB', viewport, permissions, storageState: session });
      try {
        const page = await context.newPage();
        page.setDefaultTimeout(patienceMs);
        await page.addInitScript(observe);
        const devtools = await context.newCDPSession(page);
        if (speed) await slowDown(devtools);
        return await work(page, devtools);
      } finally {
        await context.close();
      }
    },
  };
}

type Session = Awaited<ReturnType<BrowserContext['storageState']>>;

async function logIn(browser: Browser, home: string, { email, password }: Product['person']): Promise<Session> {
  const context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  await page.goto(home);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('navigation').first().waitFor({ timeout: patienceMs });
  const session = await context.storageState();
  await context.close();
  return session;
}

// A processor four times slower, 10 Mbit a second, 40 ms (the budgets of the console).
async function slowDown(devtools: CDPSession): Promise<void> {
  const bytesPerSecond = 10_000_000 / 8;
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 40,
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond,
  });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
}

/** What the page says of itself; tasks in milliseconds. */
type Seen = { shift: number; tasks: number[]; frames: number };
type Bench = { seen: Seen; until(event: string, selector: string, text: string): Promise<number> };
type Benched = typeof globalThis & { bench: Bench };

// Runs in every page before its own code. The names are those of the browser.
const observe = `(() => {
  const seen = { shift: 0, tasks: [], frames: 0 };
  const watch = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  watch('layout-shift', ({ value, hadRecentInput }) => { if (!hadRecentInput) seen.shift += value; });
  watch('longtask', ({ duration }) => seen.tasks.push(duration));
  const count = () => { seen.frames += 1; requestAnimationFrame(count); };
  requestAnimationFrame(count);
  const isShown = (selector, text) =>
    [...document.querySelectorAll(selector)].some((element) => element.textContent.includes(text));
  const shown = (selector, text, begun) => new Promise((done) => {
    const look = () => isShown(selector, text) ? done(performance.now() - begun) : requestAnimationFrame(look);
    look();
  });
  const until = (event, selector, text) => event === 'navigation'
    ? shown(selector, text, 0)
    : new Promise((done) => addEventListener(event, () => shown(selector, text, performance.now()).then(done),
        { capture: true, once: true }));
  globalThis.bench = { seen, until };
})()`;

/** The sum of layout shifts, the long tasks, the frames. */
export const seenBy = (page: Page): Promise<Seen> => page.evaluate(() => (globalThis as Benched).bench.seen);

/** From the start of the navigation until an element of the selector has the text. */
export const untilShown = (page: Page, selector: string, text = ''): Promise<number> =>
  page.evaluate(([at, has]) => (globalThis as Benched).bench.until('navigation', at, has), [selector, text] as const);

/** From the next event of this type, which the act causes, until an element has the text. */
export async function timeAct(
  page: Page,
  event: string,
  [selector, text]: [string, string],
  act: () => Promise<unknown>,
): Promise<number> {
  const shown = page.evaluate(([type, at, has]) => (globalThis as Benched).bench.until(type, at, has), [
    event,
    selector,
    text,
  ] as const);
  await act();
  return shown;
}

/** The megabytes that the page's scripts hold, without garbage. */
export async function heapOf(devtools: CDPSession): Promise<number> {
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  return usedSize / 1_000_000;
}
