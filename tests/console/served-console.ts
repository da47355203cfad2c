// The console of the system under test in a real browser (Debian's Chromium; ALMANAC_TEST_CHROMIUM
// names another). Its calls are made with a token of a person, so that no page has to log in.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Api } from '@almanac/api-client/api';
import { signInPerson } from '@almanac/api-client/sign-in';
import { baseUrl, givenAccount } from '@almanac/testkit/system/builders';
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { type Browser, chromium, type Page } from 'playwright-core';

const program = process.env.ALMANAC_TEST_CHROMIUM ?? '/usr/bin/chromium';

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

/** For all tests of the file, an account with its administrator, and the console they have open. */
export function overConsole(): void {
  beforeAll(async () => {
    served = await serveConsole();
    api = await served.account.person();
  });
  afterAll(() => served?.stop());
}

async function serveConsole(): Promise<ServedConsole> {
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'], timeout: 120_000 });
  const account = await givenAccount();
  const { access_token: token } = await signInPerson(baseUrl(), account.application, account.admin, 'api');
  const proxies: Server[] = [];
  const openTo = async (given: string): Promise<WithPage> => {
    const proxy = await startProxy(given);
    proxies.push(proxy);
    const { port } = proxy.address() as AddressInfo;
    return (path, work, options = {}) => withPage(browser, `http://127.0.0.1:${port}${path}`, work, options);
  };
  return {
    account,
    withPage: await openTo(token),
    withPageAtGateway: (path, work, options = {}) => withPage(browser, `${baseUrl()}${path}`, work, options),
    openTo,
    async stop() {
      await browser.close();
      for (const proxy of proxies) {
        proxy.closeAllConnections();
        await new Promise((done) => proxy.close(done));
      }
    },
  };
}

/** Passes everything on to the gateway, the calls of the console with a token for a session. */
async function startProxy(token: string): Promise<Server> {
  const target = baseUrl();
  const headers = { authorization: `Bearer ${token}` };
  const calls = '/console/api';
  const proxy = createServer(
    express()
      .use(createProxyMiddleware({ target, headers, pathFilter: calls, pathRewrite: { '^/console': '' } }))
      .use(createProxyMiddleware({ target })),
  );
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  return proxy;
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
