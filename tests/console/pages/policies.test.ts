// The console as people get it: through the gateway, after logging in, under its policies. Nothing
// on any page breaches the content security policy or asks for an untrusted type.
import type { Page } from 'playwright-core';
import { overConsole, served } from '../served-console.ts';
import { givenPages } from './given-pages.ts';

const withinMs = 600_000;

overConsole();

async function logIn(page: Page): Promise<void> {
  const { email, password } = served.account.admin;
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** Opens what a table loads later: a filter, an editor, a dialog, and the palette. */
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
    const paths = await givenPages(await served.account.person());
    const breaches: string[] = [];
    await served.withPageAtGateway(
      '/console/',
      async (page) => {
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
          const answer = await page.goto(new URL(path, page.url()).href);
          const policy = answer?.headers()['content-security-policy'] ?? '';
          expect([path, policy]).toEqual([path, expect.stringContaining("require-trusted-types-for 'script'")]);
          await page.getByRole('heading', { level: 1 }).waitFor();
          await page.locator('[aria-label="Loading…"]').first().waitFor({ state: 'detached' });
          if (/\/t\/[^/?]+$/.test(path)) await useTable(page);
        }
      },
      // Before the log-in there is no session, which is no fault.
      { faults: 'expected' },
    );
    expect(breaches).toEqual([]);
  },
  withinMs,
);
