// `npm run pictures`: makes the pictures of the documentation from the demo, which has to run
// (`npm start`, with a new home). Needs Chromium; ALMANAC_TEST_CHROMIUM names another browser.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readHome, readJson } from '@almanac/embedded/home';
import type { DemoAccount } from '@almanac/embedded/secrets';
import { type Browser, chromium, type Page } from 'playwright-core';
import { withoutLocks } from './served-console.ts';

type Credentials = { base_url: string } & DemoAccount;
type Picture = {
  name: string;
  path: string;
  as: 'admin' | 'steward' | 'approver';
  shows: (page: Page) => Promise<unknown>;
};

const pictures: Picture[] = [
  {
    name: 'review',
    path: '/requests/1',
    as: 'approver',
    shows: (page) => page.getByText('Bolívar Digital').waitFor(),
  },
  {
    name: 'rows',
    path: '/t/subdivisions?sort=code&row=120',
    as: 'steward',
    shows: (page) => page.getByText('rows', { exact: false }).first().waitFor(),
  },
  {
    name: 'structure',
    path: '/t/subdivisions/structure',
    as: 'admin',
    shows: (page) => page.getByText('parent_code').first().waitFor(),
  },
];

const folder = resolve(import.meta.dirname, '../../docs/pictures');
const credentials = readJson<Credentials>(readHome(process.env).credentials);
if (!credentials?.people) throw new Error('The demo is missing: run npm start with a new ALMANAC_HOME first.');
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.ALMANAC_TEST_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  for (const picture of pictures) await take(browser, credentials, picture);
} finally {
  await browser.close();
}

async function take(browser: Browser, { base_url, admin, people }: Credentials, picture: Picture): Promise<void> {
  const person = { admin, ...people }[picture.as];
  if (!person) return;
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 720 } });
  const page = await context.newPage();
  await page.addInitScript(withoutLocks);
  const logIn = new URLSearchParams({ return_to: `/console${picture.path}` });
  await page.goto(`${base_url}/oauth/login?${logIn}`);
  await page.locator('input[type=email]').fill(person.email);
  await page.locator('input[type=password]').fill(person.password);
  await page.keyboard.press('Enter');
  await picture.shows(page);
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: join(folder, `${picture.name}.png`), animations: 'disabled' });
  await context.close();
  console.log(`docs/pictures/${picture.name}.png`);
}
