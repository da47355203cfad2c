// A consent lasts until the user takes it back: asked once, listed on the user's page, revoked with
// its tokens.
import { Browser } from '@almanac/api-client/browser';
import { eventually } from '@almanac/testkit/eventually';
import { type Client, findClient } from '../../src/applications/clients.ts';
import { createConsentedCode, grantConsent } from '../../src/browser/consents.ts';
import {
  type Account,
  adminOf,
  allow,
  authorizeUrl,
  exchange,
  formOf,
  givenIdentity,
  type Identity,
  logInAlone,
  openConsent,
  pressOf,
  redirectUri,
  refresh,
} from '../given.ts';

const outOfBand = 'urn:ietf:wg:oauth:2.0:oob';
const https = 'https://app.example/cb';

let identity: Identity;
let account: Account;

beforeAll(async () => {
  identity = await givenIdentity();
});
beforeEach(async () => {
  account = await identity.account(`${redirectUri}\n${https}\n${outOfBand}`);
});
afterAll(() => identity.close());

const acts = (action: string) =>
  identity.context.prisma.audit_event.findMany({
    where: { account_id: account.account_id, action },
    orderBy: { id: 'asc' },
  });
const codeAt = (location: string | undefined) => new URL(location as string).searchParams.get('code') as string;

/** A browser in which the administrator is logged in and has allowed this. */
async function allowed(request: Record<string, string> = {}) {
  const browser = new Browser();
  const page = await allow(authorizeUrl(identity, account, request), adminOf(account), browser);
  return { browser, code: codeAt(page.location) };
}

const askedAgain = async (browser: Browser, request: Record<string, string | undefined>) => {
  const page = await browser.open(authorizeUrl(identity, account, request));
  return page.forms.some(({ action }) => action === '/oauth/authorize');
};

describe('a consent', () => {
  it('lasts: the next request for no more gets its code at once, and the code works', async () => {
    const { browser } = await allowed({ scope: 'api:read api:write' });
    for (const scope of ['api:read api:write', 'api:read']) {
      const page = await browser.open(authorizeUrl(identity, account, { scope, state: 's' }));
      expect([page.status, page.html]).toEqual([303, '']);
      expect(page.headers.get('cache-control')).toBe('no-store');
      const answer = Object.fromEntries(new URL(page.location as string).searchParams);
      expect(answer).toEqual({ code: expect.any(String), state: 's', iss: identity.url });
      expect((await exchange(identity, account, answer.code as string)).body.scope).toBe(scope);
    }
  });

  it('covers no wider scope: that is asked for, marked as new, and then kept with the rest', async () => {
    const { browser } = await allowed({ scope: 'api:read' });
    const wider = authorizeUrl(identity, account, { scope: 'api:read api:delete' });
    const page = await browser.open(wider);
    expect(page.status).toBe(200);
    const [added, before] = page.html.split('You have allowed it to');
    expect(added).toContain('Delete tables, rows and settings');
    expect(before).toContain('Read tables, rows and settings');
    await browser.submit(page, ...pressOf(page, '/oauth/authorize', 'allow'));
    expect(await askedAgain(browser, { scope: 'api:delete' })).toBe(false);
    expect(await askedAgain(browser, { scope: 'api:write' })).toBe(true);
    expect(await askedAgain(browser, { scope: 'api' })).toBe(true);
    expect((await acts('consent.granted')).map(({ after }) => after)).toEqual([
      { scope: 'api:read' },
      { scope: 'api:read api:delete' },
    ]);
  });

  it('of everything covers every part of it', async () => {
    const { browser } = await allowed({ scope: 'api' });
    expect(await askedAgain(browser, { scope: 'api:read api:admin' })).toBe(false);
  });

  it('is asked for again when the client wants it', async () => {
    const { browser } = await allowed();
    expect(await askedAgain(browser, { prompt: 'consent' })).toBe(true);
    expect(await askedAgain(browser, { prompt: 'login consent' })).toBe(true);
    expect(await askedAgain(browser, { prompt: 'login' })).toBe(false);
  });

  it('is for what the page showed, whatever the application may do when the user decides', async () => {
    const made = await account.machine('POST', '/oauth_applications', {
      name: 'Growing',
      redirect_uri: redirectUri,
      scopes: 'api:read',
    });
    const { id, client_id, client_secret } = made.body;
    const browser = new Browser();
    const url = authorizeUrl(identity, { client_id }, { scope: undefined });
    const page = await openConsent(browser, url, adminOf(account));
    expect(page.html).not.toContain('Do everything that you may do');
    await account.machine('PATCH', `/oauth_applications/${id}`, { scopes: 'api' });
    const answer = await browser.submit(page, ...pressOf(page, '/oauth/authorize', 'allow'));
    const tokens = await exchange(identity, { client_id, client_secret }, codeAt(answer.location));
    expect(tokens.body.scope).toBe('api:read');
    expect((await acts('consent.granted')).map(({ after }) => after)).toEqual([{ scope: 'api:read' }]);
    expect((await browser.open(url)).html).toContain('Do everything that you may do');
  });

  it('is not created by denying', async () => {
    const browser = new Browser();
    const page = await openConsent(browser, authorizeUrl(identity, account), adminOf(account));
    await browser.submit(page, ...pressOf(page, '/oauth/authorize', 'deny'));
    expect(await askedAgain(browser, {})).toBe(true);
    expect(await acts('consent.granted')).toEqual([]);
  });

  it('is of one user for one application', async () => {
    await allowed();
    const password = 'correct horse battery';
    const other = await account.admin('POST', '/users', { email: 'other@example.com', password });
    expect(other.status).toBe(201);
    const browser = new Browser();
    await openConsent(browser, authorizeUrl(identity, account), { email: 'other@example.com', password });
    expect(await askedAgain(browser, {})).toBe(true);
    const application = await account.machine('POST', '/oauth_applications', {
      name: 'Second',
      redirect_uri: redirectUri,
      scopes: 'api',
    });
    const first = (await allowed()).browser;
    expect(await askedAgain(first, { client_id: application.body.client_id })).toBe(true);
  });

  it('loses nothing when two are given concurrently', async () => {
    const pages = await Promise.all(
      ['api:read', 'api:write', 'api:delete', 'api:admin'].map(async (scope) => {
        const browser = new Browser();
        return {
          browser,
          page: await openConsent(browser, authorizeUrl(identity, account, { scope }), adminOf(account)),
        };
      }),
    );
    const answers = await Promise.all(
      pages.map(({ browser, page }) => browser.submit(page, ...pressOf(page, '/oauth/authorize', 'allow'))),
    );
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
    expect(await askedAgain(pages[0]?.browser as Browser, { scope: 'api:read api:write api:delete api:admin' })).toBe(
      false,
    );
  });

  it('is not given, nor a code created, in a session that ends concurrently', async () => {
    const { browser } = await allowed({ scope: 'api:read' });
    const sessionId = browser.cookies.get('almanac_session') as string;
    const { prisma } = identity.context;
    const client = (await findClient(prisma, account.client_id)) as Client;
    const code = { client, user_id: account.admin_user_id, redirect_uri: redirectUri, code_challenge: undefined };
    const origin = { requestId: 'request', address: '127.0.0.1' };
    const asked = { ...code, scope: 'api' };
    expect(await createConsentedCode(identity.context, sessionId, { ...code, scope: 'api:read' })).toHaveLength(43);
    await prisma.session.deleteMany({ where: { user_id: account.admin_user_id } });
    const codes = await prisma.authorization_code.count();
    expect(await createConsentedCode(identity.context, sessionId, { ...code, scope: 'api:read' })).toBeUndefined();
    expect(await grantConsent(identity.context, origin, sessionId, asked)).toBeUndefined();
    expect(await prisma.authorization_code.count()).toBe(codes);
    expect(await acts('consent.granted')).toHaveLength(1);
  });

  describe('is asked for each time', () => {
    it('when a code is shown on a page', async () => {
      const { browser } = await allowed();
      const again = { redirect_uri: outOfBand };
      expect(await askedAgain(browser, again)).toBe(true);
      await allow(authorizeUrl(identity, account, again), adminOf(account), browser);
      expect(await askedAgain(browser, again)).toBe(true);
    });

    it.each([
      ['http://127.0.0.1:9876/callback', true],
      ['http://[::1]:9876/callback', true],
      ['com.example.app:/callback', true],
      ['https://app.example/callback', false],
    ])('when the application is public and its address is %s: %s', async (redirect_uri, isAsked) => {
      const made = await account.machine('POST', '/oauth_applications', {
        name: 'Public',
        redirect_uri,
        confidential: false,
        scopes: 'api',
      });
      const request = {
        client_id: made.body.client_id,
        redirect_uri,
        code_challenge: 'a'.repeat(43),
        code_challenge_method: 'S256',
      };
      const browser = new Browser();
      const page = await openConsent(browser, authorizeUrl(identity, account, request), adminOf(account));
      expect(page.html.includes('asked each time')).toBe(isAsked);
      const answer = await browser.submit(page, ...pressOf(page, '/oauth/authorize', 'allow'));
      expect(codeAt(answer.location)).toHaveLength(43);
      expect(await askedAgain(browser, request)).toBe(isAsked);
    });
  });
});

describe('my applications', () => {
  const listUrl = () => `${identity.url}/oauth/applications`;

  it('are a page for logged-in users', async () => {
    const page = await new Browser().open(listUrl());
    expect([page.status, page.location]).toEqual([303, `${identity.url}/oauth/login`]);
  });

  it('are listed with scopes, since when and when last used; an empty list says so', async () => {
    const browser = await logInAlone(identity, adminOf(account));
    expect((await browser.open(listUrl())).html).toContain('No application acts for you.');
    const { code } = await allowed({ scope: 'api:read api:write' });
    const unused = await browser.open(listUrl());
    expect(unused.html).toContain('First application');
    expect(unused.html).toContain('Create and change tables, rows and settings');
    expect(unused.html).not.toContain('Delete tables');
    expect(unused.html).toContain('not used yet');
    await exchange(identity, account, code);
    const used = await browser.open(listUrl());
    expect(used.html).toMatch(
      /Allowed on <time datetime="[\dT:.-]+Z">\d+ \w+ \d{4}<\/time>, last used on <time datetime="[\dT:.-]+Z">/,
    );
    expect(used.html).toContain(`Account number: ${account.account_id}.`);
  });

  it('include applications with tokens from before consents were stored', async () => {
    const { browser, code } = await allowed();
    await exchange(identity, account, code);
    await identity.context.prisma.consent.deleteMany({ where: { account_id: account.account_id } });
    const page = await browser.open(listUrl());
    expect(page.html).toContain('First application');
    expect(page.html).toContain('Do everything that you may do');
    await browser.submit(page, formOf(page, '/oauth/applications'), {});
    expect((await browser.open(listUrl())).html).toContain('No application acts for you.');
  });

  it('are of this user only', async () => {
    await allowed();
    const password = 'correct horse battery';
    await account.admin('POST', '/users', { email: 'alone@example.com', password });
    const browser = await logInAlone(identity, { email: 'alone@example.com', password });
    expect((await browser.open(listUrl())).html).toContain('No application acts for you.');
  });

  it('lose everything when taken back: consent, refresh tokens, access tokens, unused codes; and the page says so once', async () => {
    const { browser, code } = await allowed();
    const first = (await exchange(identity, account, code)).body;
    const second = (await refresh(identity, account, first.refresh_token)).body;
    const underWay = codeAt((await browser.open(authorizeUrl(identity, account))).location);
    const page = await browser.open(listUrl());
    const answer = await browser.submit(page, formOf(page, '/oauth/applications'), {});
    expect([answer.status, answer.location]).toEqual([303, listUrl()]);
    const after = await browser.open(listUrl());
    expect(after.html).toContain('role="status"');
    expect(after.html).toContain('First application can’t act for you any more.');
    expect((await browser.open(listUrl())).html).not.toContain('role="status"');

    expect(await askedAgain(browser, {})).toBe(true);
    expect((await refresh(identity, account, second.refresh_token)).body.error).toBe('invalid_grant');
    expect((await exchange(identity, account, underWay)).body.error).toBe('invalid_grant');
    const { revocations } = await identity.rpc('gateway').ListRevocations({ accountId: 0 }, {});
    const dead = [first, second].map(({ access_token }) => jtiOf(access_token));
    expect(revocations.filter(({ kind }) => kind === 'token').map(({ subject }) => subject)).toEqual(
      expect.arrayContaining(dead),
    );
    await eventually(() =>
      expect(
        identity.events.filter(({ type }) => type === 'identity.token.revoked').map(({ payload }) => payload.subject),
      ).toEqual(expect.arrayContaining(dead)),
    );
    expect(await acts('consent.revoked')).toEqual([
      expect.objectContaining({
        user_id: account.admin_user_id,
        resource_type: 'oauth_application',
        before: { scope: 'api', grants: 1 },
        address: expect.any(String),
        request_id: expect.any(String),
      }),
    ]);
  });

  it('take back one application and leave the others alone', async () => {
    const made = await account.machine('POST', '/oauth_applications', {
      name: 'Another',
      redirect_uri: redirectUri,
      scopes: 'api',
    });
    const { browser, code } = await allowed();
    const kept = (await exchange(identity, account, code)).body;
    await allow(authorizeUrl(identity, account, { client_id: made.body.client_id }), adminOf(account), browser);
    const page = await browser.open(listUrl());
    // By name: Another comes before First application.
    await browser.submit(page, formOf(page, '/oauth/applications'), {});
    const after = await browser.open(listUrl());
    expect(after.html).toContain('Another can’t act for you any more.');
    expect(after.html).toContain('First application');
    expect((await refresh(identity, account, kept.refresh_token)).status).toBe(200);
  });

  it('change nothing the second time', async () => {
    const { browser } = await allowed();
    const page = await browser.open(listUrl());
    for (let i = 0; i < 2; i += 1) await browser.submit(page, formOf(page, '/oauth/applications'), {});
    expect(await acts('consent.revoked')).toHaveLength(1);
  });

  it('never keep a token that was granted while they were taken back', async () => {
    const { browser } = await allowed();
    const page = await browser.open(listUrl());
    const [codes] = await Promise.all([
      Promise.all(Array.from({ length: 8 }, () => browser.open(authorizeUrl(identity, account)))),
      browser.submit(page, formOf(page, '/oauth/applications'), {}),
    ]);
    for (const { location } of codes) {
      const code = location && codeAt(location);
      if (code) expect((await exchange(identity, account, code)).body.error).toBe('invalid_grant');
    }
    expect(await identity.context.prisma.consent.count({ where: { account_id: account.account_id } })).toBe(0);
  });

  it('show no notice from a link or another user’s cookie', async () => {
    const browser = await logInAlone(identity, adminOf(account));
    const word = Buffer.from('Call 555-0100').toString('base64url');
    browser.cookies.set('almanac_notice', `${word}.${'A'.repeat(43)}`);
    const page = await browser.open(`${listUrl()}?notice=Call&n=${word}`);
    expect(page.html).not.toMatch(/role="status"|Call/);
  });
});

function jtiOf(accessToken: string): string {
  return JSON.parse(Buffer.from(accessToken.split('.')[1] as string, 'base64url').toString()).jti;
}
