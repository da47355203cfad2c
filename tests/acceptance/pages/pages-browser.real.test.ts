// The pages for people in a real browser (Debian's Chromium), through the gateway of a whole
// system: by keyboard alone, without JavaScript, as a screen reader reads them, in both colour
// schemes and at any width. ALMANAC_TEST_CHROMIUM names another browser.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { requestToken } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { admin, type RunningSystem, startSystem } from '@almanac/testkit/system/system';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { autocompletes, contrasts, focused, misfits } from './in-the-page.ts';

const program = process.env.ALMANAC_TEST_CHROMIUM ?? '/usr/bin/chromium';

type Created = {
  account_id: number;
  admin: { email: string; password: string };
  application: { client_id: string; client_secret: string; redirect_uri: string };
};

let system: RunningSystem;
let client: Server;
let redirectUri: string;
let browser: Browser;
let made: Created;

beforeAll(async () => {
  if (!existsSync(program))
    throw new Error(`${program} is missing: these tests need Chromium (apt-get install chromium).`);
  client = createServer((_request, response) => response.end('<title>The application</title>'));
  await new Promise<void>((resolve) => client.listen(0, '127.0.0.1', resolve));
  redirectUri = `http://127.0.0.1:${(client.address() as AddressInfo).port}/callback`;
  [system, browser] = await Promise.all([
    startSystem(),
    // As root Chromium refuses to sandbox itself; it sees nothing here but our own pages.
    chromium.launch({ executablePath: program, args: ['--no-sandbox'], timeout: 120_000 }),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await system?.stop();
  client?.closeAllConnections();
  client?.close();
});
beforeEach(async () => {
  const unique = crypto.randomUUID().slice(0, 8);
  const words = ['--name', 'Acme Kontor & Söhne', '--plan', 'free', '--admin-email', `ada-${unique}@example.com`];
  made = await admin(['accounts', 'create', ...words, '--redirect-uri', redirectUri], system.home);
});

const authorizeUrl = (more: Record<string, string> = {}) => {
  const { client_id } = made.application;
  const request = { client_id, redirect_uri: redirectUri, response_type: 'code', scope: 'api:read api:write', ...more };
  return `${system.baseUrl}/oauth/authorize?${new URLSearchParams(request)}`;
};

/** `faults`: requests to other hosts, breaches of the page's own policy, and errors. */
type Seen = { page: Page; faults: string[] };

async function withPage(
  work: (seen: Seen) => Promise<void>,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<void> {
  const context: BrowserContext = await browser.newContext({ javaScriptEnabled: false, ...options });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    const faults: string[] = [];
    page.on('console', (message) => {
      // Answers to mistakes are 4xx pages on purpose.
      const isAnswer = message.text().startsWith('Failed to load resource: the server responded');
      if (message.type() === 'error' && !isAnswer) faults.push(message.text());
    });
    page.on('request', (request) => {
      const { origin, pathname } = new URL(request.url());
      const isOurs = origin === new URL(system.baseUrl).origin && pathname.startsWith('/oauth/');
      if (!isOurs && !request.url().startsWith(redirectUri)) faults.push(`requested ${request.url()}`);
    });
    await work({ page, faults });
  } finally {
    await context.close();
  }
}

/** Presses Tab until this field, link or button has the focus. */
async function tabTo(page: Page, wanted: string): Promise<void> {
  const passed: unknown[] = [];
  for (let i = 0; i < 30; i += 1) {
    await page.keyboard.press('Tab');
    const now = await page.evaluate(focused);
    if (now === wanted) return;
    passed.push(now);
  }
  throw new Error(`Tab never came to ${wanted}, but to ${passed.join(', ')}`);
}

/** Types into the focused field, goes on to the next, types there and presses Enter. */
async function logInByKeyboard(page: Page, { email, password } = made.admin): Promise<void> {
  // The browser focuses the field when it first draws the page, a moment after the load.
  await page.locator('#email:focus').waitFor();
  await page.keyboard.type(email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
}

/** The link in the newest mail to this address. */
const mailedLink = (email: string) =>
  eventually(() => {
    const folder = join(system.home, 'mail');
    const mails = readdirSync(folder).filter((name) => name.endsWith('.eml'));
    const texts = mails.toSorted().map((name) => readFileSync(join(folder, name), 'utf8').replace(/=\r?\n/g, ''));
    const text = texts.findLast((each) => each.includes(email) && /\/oauth\/password\?token/.test(each));
    const link = /http:\/\/[^\s"<>]+\/oauth\/password\?token=(?:3D)?[\w-]{43}/.exec(text ?? '')?.[0];
    if (!link) throw new Error(`No mail with a link to ${email} among ${mails.length}`);
    return link.replace('=3D', '=');
  });

describe('by keyboard alone, without JavaScript', () => {
  it('a user logs in, allows an application, is not asked again, takes it back and logs out', () =>
    withPage(async ({ page, faults }) => {
      await page.goto(authorizeUrl({ state: 's' }));
      await logInByKeyboard(page);
      await page.getByRole('heading', { name: 'Allow First application?' }).waitFor();
      expect(await page.title()).toBe('Allow First application? · Almanac');
      await tabTo(page, 'Allow');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${redirectUri}**`);
      const answer = new URL(page.url()).searchParams;
      expect([answer.get('state'), answer.get('iss')]).toEqual(['s', system.baseUrl]);
      const tokens = await requestToken(system.baseUrl, made.application, {
        grant_type: 'authorization_code',
        code: answer.get('code') as string,
        redirect_uri: redirectUri,
      });
      expect(tokens.scope).toBe('api:read api:write');

      await page.goto(authorizeUrl({ state: 'again' }));
      expect(page.url()).toContain(`${redirectUri}?code=`);

      await page.goto(`${system.baseUrl}/oauth/applications`);
      await tabTo(page, 'Take back access');
      await page.keyboard.press('Enter');
      await page.getByRole('status').waitFor();
      expect(await page.getByRole('status').textContent()).toBe('First application can’t act for you any more.');
      await expect(
        requestToken(system.baseUrl, made.application, {
          grant_type: 'refresh_token',
          refresh_token: tokens.refresh_token as string,
        }),
      ).rejects.toThrow('invalid_grant');

      await tabTo(page, 'Log out');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/oauth\/login$/);
      expect(await page.getByRole('status').textContent()).toBe('You are logged out.');
      expect(faults).toEqual([]);
    }));

  it('a user who has lost their password gets a mail, sets a new one and continues to the application', () =>
    withPage(async ({ page, faults }) => {
      await page.goto(authorizeUrl({ state: 'kept' }));
      await tabTo(page, 'Forgot your password?');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/oauth\/password\/forgot/);
      await page.locator('#email:focus').waitFor();
      await page.keyboard.type(made.admin.email);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();

      await page.goto(await mailedLink(made.admin.email));
      expect(page.url()).toBe(`${system.baseUrl}/oauth/password`);
      await page.locator('#password:focus').waitFor();
      const password = 'correct horse battery';
      await page.keyboard.type(password);
      await page.keyboard.press('Tab');
      await page.keyboard.type(`${password}!`);
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      await page.locator('#password:focus').waitFor();
      await page.keyboard.type(password);
      await page.keyboard.press('Tab');
      await page.keyboard.type(password);
      await page.keyboard.press('Enter');
      await page.getByRole('status').waitFor();
      expect(await page.getByRole('status').textContent()).toBe('Your password is set. Log in with it now.');
      await logInByKeyboard(page, { email: made.admin.email, password });
      await page.getByRole('button', { name: 'Allow', exact: true }).click();
      await page.waitForURL(`${redirectUri}**`);
      expect(new URL(page.url()).searchParams.get('state')).toBe('kept');
      expect(faults).toEqual([]);
    }));

  it('a password manager learns which field is which', () =>
    withPage(async ({ page }) => {
      await page.goto(authorizeUrl());
      expect(await page.evaluate(autocompletes)).toEqual(['username', 'current-password']);
      await page.goto(`${system.baseUrl}/oauth/password/forgot`);
      await page.getByLabel('E-mail').fill(made.admin.email);
      await page.keyboard.press('Enter');
      await page.goto(await mailedLink(made.admin.email));
      expect(await page.evaluate(autocompletes)).toEqual(['username', 'new-password', 'new-password']);
    }));
});

/** What assistive technology reads of the page, without the targets of its links. */
async function outline(page: Page): Promise<string> {
  const tree = await page.locator('body').ariaSnapshot();
  return tree.replace(/:?\n *- \/url: .*/g, '');
}

describe('a screen reader reads', () => {
  it('what the log-in page is, and what was wrong where', () =>
    withPage(async ({ page }) => {
      await page.goto(authorizeUrl());
      expect(await outline(page)).toBe(`- banner: Almanac
- main:
  - heading "Log in" [level=1]
  - paragraph:
    - text: to continue to
    - strong: First application
    - text: .
  - text: E-mail
  - textbox "E-mail"
  - text: Password
  - textbox "Password"
  - button "Log in"
  - paragraph:
    - link "Forgot your password?"`);
      await logInByKeyboard(page, { email: made.admin.email, password: 'wrong password' });
      await page.getByRole('alert').waitFor();
      expect(await page.title()).toBe('Problem: log in · Almanac');
      expect(await page.getByRole('alert').ariaSnapshot()).toContain('The e-mail or the password is wrong.');
      await page.locator('#email:focus').waitFor();
      expect(await describedBy(page, 'E-mail')).toBe('The e-mail or the password is wrong.');
    }));

  it('which application asks for what on the consent page', () =>
    withPage(async ({ page }) => {
      await page.goto(authorizeUrl());
      await logInByKeyboard(page);
      await page.getByRole('heading', { name: 'Allow First application?' }).waitFor();
      const place = new URL(redirectUri).host;
      expect(await outline(page)).toBe(`- banner: Almanac
- main:
  - heading "Allow First application?" [level=1]
  - paragraph:
    - strong: First application
    - text: asks to act for you in the account
    - strong: Acme Kontor & Söhne
    - text: .
  - heading "It wants to" [level=2]
  - list:
    - listitem: Read tables, rows and settings api:read
    - listitem: Create and change tables, rows and settings api:write
  - list:
    - listitem: It can never do more than you may yourself.
    - listitem: You will be sent to ${place}.
    - listitem:
      - text: You won’t be asked again for this, until you take it back under
      - link "Your applications"
      - text: .
  - button "Allow"
  - button "Don’t allow"
  - text: You are logged in as ${made.admin.email}.
  - button "Log out"`);
    }));

  it('which applications there are, and which of them a button is about', () =>
    withPage(async ({ page }) => {
      await page.goto(authorizeUrl());
      await logInByKeyboard(page);
      await page.getByRole('button', { name: 'Allow', exact: true }).click();
      await page.waitForURL(`${redirectUri}**`);
      await page.goto(`${system.baseUrl}/oauth/applications`);
      expect((await outline(page)).replace(/\d+ \w+ \d{4}/g, 'DAY')).toBe(`- banner: Almanac
- main:
  - heading "Your applications" [level=1]
  - paragraph:
    - text: These may act for you in the account
    - strong: Acme Kontor & Söhne
    - text: ", never with more rights than you have yourself."
  - list:
    - listitem:
      - heading "First application" [level=2]
      - paragraph:
        - text: Allowed on
        - time: DAY
        - text: ", not used yet."
      - list:
        - listitem: Read tables, rows and settings api:read
        - listitem: Create and change tables, rows and settings api:write
      - button "Take back access"
  - paragraph: "You are logged in as ${made.admin.email}. Account number: ${made.account_id}."
  - paragraph:
    - link "Set a new password"
  - button "Log out"`);
      expect(await describedBy(page, 'Take back access', 'button')).toBe('First application');
    }));
});

/** The text that is read out after the name of a field or button. */
async function describedBy(page: Page, name: string, role: 'textbox' | 'button' = 'textbox'): Promise<string | null> {
  const id = await page.getByRole(role, { name }).getAttribute('aria-describedby');
  return page.locator(`[id="${id}"]`).textContent();
}

describe('to the eye', () => {
  /** Visits every page that needs no secret, one after the other. */
  async function eachPage(page: Page, look: (name: string) => Promise<void>): Promise<void> {
    await page.goto(`${system.baseUrl}/oauth/login`);
    await look('log in');
    await page.getByLabel('E-mail').fill('unknown@example.com');
    await page.getByLabel('Password').fill('wrong password');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await look('log in again');
    await page.goto(`${system.baseUrl}/oauth/password?token=none`);
    await look('a spent link');
    await page.goto(`${system.baseUrl}/oauth/password/forgot`);
    await look('request for a new password');
    await page.goto(`${system.baseUrl}/oauth/authorize?client_id=none`);
    await look('an untrusted request');
    await page.goto(authorizeUrl());
    await logInByKeyboard(page);
    await page.getByRole('button', { name: 'Allow', exact: true }).waitFor();
    await look('consent');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.waitForURL(`${redirectUri}**`);
    await page.goto(authorizeUrl({ scope: 'api' }));
    await look('consent to more');
    await page.goto(`${system.baseUrl}/oauth/applications`);
    await look('applications');
    await page.goto(`${system.baseUrl}/oauth/logout`);
    await look('log out');
  }

  it.each(['light', 'dark'] as const)('every text stands out from what is behind it, in %s', (colorScheme) =>
    withPage(
      async ({ page, faults }) => {
        const weak: string[] = [];
        await eachPage(page, async (name) => {
          for (const { text, contrast } of await page.evaluate(contrasts))
            if (contrast < 4.5) weak.push(`${name}: ${text} (${contrast.toFixed(2)})`);
        });
        expect(weak).toEqual([]);
        expect(faults).toEqual([]);
      },
      { colorScheme },
    ),
  );

  it.each([320, 390, 1280])('nothing sticks out and every target is large enough at a width of %i', (width) =>
    withPage(
      async ({ page }) => {
        const found: string[] = [];
        await eachPage(page, async (name) => {
          for (const misfit of await page.evaluate(misfits)) found.push(`${name}: ${misfit}`);
        });
        expect(found).toEqual([]);
      },
      { viewport: { width, height: 800 } },
    ),
  );
});

it('notices what a page must not do: this one loads a picture and runs a script', () =>
  withPage(
    async ({ page, faults }) => {
      await page.route('**/oauth/login', async (route) => {
        const response = await route.fetch();
        const body = (await response.text()).replace(
          '</main>',
          '<img src="https://elsewhere.test/x.png"><script>1</script></main>',
        );
        await route.fulfill({ response, body });
      });
      await page.goto(`${system.baseUrl}/oauth/login`);
      const violations = () => faults.filter((fault) => fault.includes('Content Security Policy'));
      await eventually(() => expect(violations()).toHaveLength(2));
    },
    { javaScriptEnabled: true },
  ));
