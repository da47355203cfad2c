// A whole system with the built console in front of it, whose calls are made with a token of a
// person, and pages of it in a real browser (Debian's Chromium). ALMANAC_TEST_CHROMIUM names
// another browser.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Api } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { findFreePort } from '@almanac/testkit/network/ports';
import { givenAccount } from '@almanac/testkit/system/builders';
import { startSystem, systemHomeName } from '@almanac/testkit/system/system';
import { type Browser, chromium, type Page } from 'playwright-core';

const program = process.env.ALMANAC_TEST_CHROMIUM ?? '/usr/bin/chromium';
const root = resolve(import.meta.dirname, '../..');

type PageOptions = Parameters<Browser['newContext']>[0] & {
  faults?: 'none' | 'expected';
  /** `off`: without the stream of events, with which the network is never idle. */
  live?: 'on' | 'off';
};

/** Takes away what one tab needs to follow the stream for all. */
export const withoutLocks = 'delete Navigator.prototype.locks';

type WithPage = <T>(path: string, work: (page: Page) => Promise<T>, options?: PageOptions) => Promise<T>;

export type ServedConsole = {
  account: Awaited<ReturnType<typeof givenAccount>>;
  /** Opens a page, and fails when the browser reports errors, unless they are expected. */
  withPage: WithPage;
  /** The same at the gateway, where people get it: they have to log in. */
  withPageAtGateway: WithPage;
  /** The console that the holder of another token has open. */
  openTo: (token: string) => Promise<WithPage>;
  stop: () => Promise<void>;
};

export let served: ServedConsole;
/** The API as the administrator calls it. */
export let api: Api;

/**
 * For all tests of the file, the system, an account with its administrator, and the console that
 * they have open.
 */
export function overConsole(): void {
  beforeAll(async () => {
    served = await serveConsole();
    api = await served.account.person();
  });
  afterAll(() => served?.stop());
}

async function serveConsole(): Promise<ServedConsole> {
  if (!existsSync(program))
    throw new Error(`${program} is missing: these tests need Chromium (apt-get install chromium).`);
  const [system, browser] = await Promise.all([
    startSystem(),
    chromium.launch({ executablePath: program, args: ['--no-sandbox'], timeout: 120_000 }),
  ]);
  // The builders work on this system.
  process.env.ALMANAC_BASE_URL = system.baseUrl;
  process.env[systemHomeName] = system.home;
  const account = await givenAccount();
  const { access_token: token } = await signInPerson(system.baseUrl, account.application, account.admin, 'api');
  const servers: ChildProcess[] = [];
  const openTo = async (given: string): Promise<WithPage> => {
    const { address, server } = await serveFiles(system.baseUrl, given);
    servers.push(server);
    return (path, work, options = {}) => withPage(browser, `${address}${path}`, work, options);
  };
  return {
    account,
    withPage: await openTo(token),
    withPageAtGateway: (path, work, options = {}) => withPage(browser, `${system.baseUrl}${path}`, work, options),
    openTo,
    async stop() {
      await browser.close();
      for (const server of servers) server.kill();
      await system.stop();
    },
  };
}

async function serveFiles(baseUrl: string, token: string): Promise<{ address: string; server: ChildProcess }> {
  const port = await findFreePort();
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const words = ['preview', '--config', 'services/console/web/vite.config.ts', '--port', String(port)];
  const server = spawn(process.execPath, [vite, ...words, '--strictPort', '--host', '127.0.0.1'], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '', ALMANAC_BASE_URL: baseUrl, ALMANAC_TOKEN: token },
    stdio: 'ignore',
  });
  const address = `http://127.0.0.1:${port}`;
  await eventually(async () => expect((await fetch(`${address}/console/`)).status).toBe(200));
  return { address, server };
}

async function withPage<T>(
  browser: Browser,
  url: string,
  work: (page: Page) => Promise<T>,
  { faults: expected = 'none', live = 'on', ...options }: PageOptions,
): Promise<T> {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1440, height: 860 }, ...options });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    if (live === 'off') await page.addInitScript(withoutLocks);
    const faults: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(`${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(url);
    const result = await work(page);
    if (expected === 'none') expect(faults).toEqual([]);
    return result;
  } finally {
    await context.close();
  }
}
