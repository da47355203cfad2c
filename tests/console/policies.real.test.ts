// The console as people get it: through the gateway, after logging in, under its policies. Nothing
// on any page breaches the content security policy or asks for an untrusted type.
import { existsSync } from 'node:fs';
import { type Account, givenAccount } from '@almanac/testkit/system/builders';
import { type RunningSystem, startSystem, systemHomeName } from '@almanac/testkit/system/system';
import { type Browser, chromium, type Page } from 'playwright-core';
import { givenPages } from './given-pages.ts';

const program = process.env.ALMANAC_TEST_CHROMIUM ?? '/usr/bin/chromium';
const withinMs = 600_000;

let system: RunningSystem;
let browser: Browser;
let account: Account;

beforeAll(async () => {
  if (!existsSync(program))
    throw new Error(`${program} is missing: these tests need Chromium (apt-get install chromium).`);
  [system, browser] = await Promise.all([
    startSystem(),
    chromium.launch({ executablePath: program, args: ['--no-sandbox'], timeout: 120_000 }),
  ]);
  process.env.ALMANAC_BASE_URL = system.baseUrl;
  process.env[systemHomeName] = system.home;
  account = await givenAccount();
});
afterAll(async () => {
  await browser?.close();
  await system?.stop();
});

async function logIn(page: Page): Promise<void> {
  await page.goto(`${system.baseUrl}/console/`);
  await page.getByLabel('E-mail').fill(account.admin.email);
  await page.getByLabel('Password').fill(account.admin.password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** Opens what a table loads later: a filter, an editor, the form of a row, and the palette. */
async function useTable(page: Page): Promise<void> {
  await page.getByRole('columnheader', { name: 'state' }).focus();
  await page.keyboard.press('Control+Enter');
  await page.getByRole('checkbox', { name: /open/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('gridcell', { name: 'open' }).dblclick();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Show as curl' }).click();
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
}

it(
  'no page breaches its policies',
  async () => {
    const paths = await givenPages(await account.person());
    const breaches: string[] = [];
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1440, height: 860 } });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(120_000);
      await page.exposeFunction('noteBreach', (breach: string) => void breaches.push(breach));
      await page.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
        noteBreach([location.pathname, event.effectiveDirective, event.blockedURI, event.sample].join(' ')))`);
      // Not answers: a person who opens so many pages a minute has to wait, and the console does.
      page.on('console', (message) => {
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
          breaches.push(`${new URL(page.url()).pathname}: ${message.text()}`);
      });
      page.on('pageerror', (error) => breaches.push(`${new URL(page.url()).pathname}: ${error.message}`));
      await logIn(page);
      for (const path of paths) {
        const answer = await page.goto(`${system.baseUrl}${path}`);
        const policy = answer?.headers()['content-security-policy'] ?? '';
        expect([path, policy]).toEqual([path, expect.stringContaining("require-trusted-types-for 'script'")]);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.locator('[aria-label="Loading…"]').first().waitFor({ state: 'detached' });
        if (/\/t\/[^/?]+$/.test(path)) await useTable(page);
      }
      expect(breaches).toEqual([]);
    } finally {
      await context.close();
    }
  },
  withinMs,
);
