// The authorization endpoint and its pages, for browsers and for attackers.
import { Browser, type PageSeen } from '@almanac/api-client/browser';
import {
  type Account,
  adminOf,
  allow,
  authorizeUrl,
  exchange,
  formOf,
  givenIdentity,
  type Identity,
  openConsent,
  redirectUri,
} from '../given.ts';

const outOfBand = 'urn:ietf:wg:oauth:2.0:oob';

describe('the pages', () => {
  let identity: Identity;
  let account: Account;

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account(`${redirectUri}\nhttps://app.example/cb?from=almanac\n${outOfBand}`);
  });
  afterAll(() => identity.close());

  const open = (request: Record<string, string | undefined> = {}, browser = new Browser()) =>
    browser.open(authorizeUrl(identity, account, request));
  const press = (page: PageSeen, value: string) =>
    formOf(page, '/oauth/authorize').buttons.find((button) => button.value === value);
  const answerOf = (page: PageSeen) => Object.fromEntries(new URL(page.location as string).searchParams);

  describe('before the client is trusted', () => {
    it.each([
      'https://evil.test/cb',
      `${redirectUri}/../x`,
      `${redirectUri}?x=1`,
      `${redirectUri}#f`,
      `${redirectUri}/%2e%2e`,
      'http://127.0.0.1:9876/CALLBACK',
      'http://127.0.0.1.:9876/callback',
      'http://user@127.0.0.1:9876/callback',
      'http://127.0.0.1:9876\\@evil.test/callback',
      'https://APP.example/cb?from=almanac',
      'https://app.example:443/cb?from=almanac',
      'https://app.example/cb',
      'javascript:alert(1)',
      'data:text/html,x',
      '',
    ])('does not redirect to %j', async (uri) => {
      const page = await open({ redirect_uri: uri });
      expect([page.status, page.location]).toEqual([400, undefined]);
      expect(page.html).toContain('role="alert"');
    });

    it.each([['unknown'], [''], ['x'.repeat(5_000)], ['a\0b'], ['constructor']])(
      'does not redirect for the client id %.20j',
      async (client_id) => {
        const page = await open({ client_id });
        expect([page.status, page.location]).toEqual([400, undefined]);
      },
    );

    it('refuses a repeated client id or redirect URI', async () => {
      for (const more of [`&client_id=${account.client_id}`, `&redirect_uri=${encodeURIComponent(redirectUri)}`]) {
        const page = await new Browser().open(authorizeUrl(identity, account) + more);
        expect([page.status, page.location]).toEqual([400, undefined]);
      }
    });

    it('accepts any port of a loopback URI', async () => {
      const page = await open({ redirect_uri: 'http://127.0.0.1:51234/callback' });
      expect(page.status).toBe(200);
    });
  });

  describe('a problem of the request is sent to the client', () => {
    it.each([
      ['token', 'unsupported_response_type'],
      ['id_token', 'unsupported_response_type'],
      ['code token', 'unsupported_response_type'],
      ['none', 'unsupported_response_type'],
      [undefined, 'invalid_request'],
    ])('response_type %s', async (response_type, error) => {
      const page = await open({ response_type, state: 's' });
      expect(answerOf(page)).toMatchObject({ error, state: 's', iss: identity.url });
      expect(answerOf(page)).not.toHaveProperty('code');
    });

    it.each([
      { code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' },
      { code_challenge: 'a'.repeat(43) },
      { code_challenge: 'short', code_challenge_method: 'S256' },
      { code_challenge_method: 'S256' },
      { response_mode: 'fragment' },
    ])('%j', async (request) => {
      expect(answerOf(await open(request)).error).toBe('invalid_request');
    });

    it('a repeated parameter', async () => {
      const page = await new Browser().open(`${authorizeUrl(identity, account)}&scope=api`);
      expect(answerOf(page).error).toBe('invalid_request');
    });

    it('a scope that is unknown or too wide', async () => {
      expect(answerOf(await open({ scope: 'everything' })).error).toBe('invalid_scope');
    });

    it('a public application without PKCE', async () => {
      const made = await account.machine('POST', '/oauth_applications', {
        name: 'Public',
        redirect_uri: redirectUri,
        confidential: false,
      });
      const page = await open({ client_id: made.body.client_id, scope: undefined });
      expect(answerOf(page).error).toBe('invalid_request');
    });

    it('on a page, when the client is out-of-band', async () => {
      const page = await open({ redirect_uri: outOfBand, scope: 'everything' });
      expect([page.status, page.location]).toEqual([400, undefined]);
      expect(page.html).toContain('invalid_scope');
    });
  });

  it('returns state unchanged and encoded, and names the issuer', async () => {
    const state = `a b+c&d=e\r\nSet-Cookie: x=1"'<script>${'x'.repeat(2_000)}é`;
    const page = await allow(authorizeUrl(identity, account, { state }), adminOf(account));
    expect(page.status).toBe(303);
    expect(answerOf(page)).toMatchObject({ state, iss: identity.url });
    expect(page.headers.get('set-cookie') ?? '').not.toContain('x=1');
  });

  it('keeps the query of a registered redirect URI', async () => {
    const page = await allow(
      authorizeUrl(identity, account, { redirect_uri: 'https://app.example/cb?from=almanac' }),
      adminOf(account),
    );
    expect(page.location).toMatch(/^https:\/\/app\.example\/cb\?from=almanac&code=/);
  });

  it('shows the code on a page to an out-of-band client', async () => {
    const page = await allow(authorizeUrl(identity, account, { redirect_uri: outOfBand }), adminOf(account));
    expect([page.status, page.location]).toEqual([200, undefined]);
    expect(page.headers.get('cache-control')).toBe('no-store');
    const code = /<code id="code">([A-Za-z0-9_-]{43})<\/code>/.exec(page.html)?.[1] as string;
    expect((await exchange(identity, account, code, { redirect_uri: outOfBand })).status).toBe(200);
  });

  it('sends access_denied when the user does not allow it', async () => {
    const browser = new Browser();
    const page = await openConsent(browser, authorizeUrl(identity, account, { state: 's' }), adminOf(account));
    const denied = await browser.submit(page, formOf(page, '/oauth/authorize'), {}, press(page, 'deny'));
    expect(answerOf(denied)).toMatchObject({ error: 'access_denied', state: 's', iss: identity.url });
  });

  describe('the consent form', () => {
    it('shows the application, the scopes and the user', async () => {
      const page = await openConsent(
        new Browser(),
        authorizeUrl(identity, account, { scope: 'api:read' }),
        adminOf(account),
      );
      expect(page.html).toContain('First application');
      expect(page.html).toContain('Read tables, rows and settings');
      expect(page.html).not.toContain('everything');
      expect(page.html).toContain(account.admin_email);
    });

    it('is refused without its CSRF token, with another session’s, and with one from before log-in', async () => {
      const browser = new Browser();
      const before = await browser.open(authorizeUrl(identity, account));
      const stale = formOf(before, '/oauth/login').fields.csrf as string;
      const page = await openConsent(browser, authorizeUrl(identity, account), adminOf(account));
      const other = await openConsent(new Browser(), authorizeUrl(identity, account), adminOf(account));
      const foreign = formOf(other, '/oauth/authorize').fields.csrf as string;
      for (const csrf of ['', 'x', stale, foreign]) {
        const answer = await browser.submit(page, formOf(page, '/oauth/authorize'), { csrf }, press(page, 'allow'));
        expect([answer.status, answer.location]).toEqual([403, undefined]);
      }
    });

    it('is refused when the request it carries was changed', async () => {
      const browser = new Browser();
      const page = await openConsent(browser, authorizeUrl(identity, account, { scope: 'api:read' }), adminOf(account));
      const form = formOf(page, '/oauth/authorize');
      const original = new URLSearchParams(Buffer.from(form.fields.request as string, 'base64url').toString());
      for (const [name, value] of Object.entries({
        scope: 'api',
        redirect_uri: outOfBand,
        state: 's',
        client_id: 'x',
      })) {
        const changed = new URLSearchParams(original);
        changed.set(name, value);
        const request = Buffer.from(changed.toString()).toString('base64url');
        const answer = await browser.submit(page, form, { request }, press(page, 'allow'));
        expect([answer.status, answer.location]).toEqual([403, undefined]);
      }
    });

    it('grants no more than was shown, whatever fields are added', async () => {
      const browser = new Browser();
      const page = await openConsent(browser, authorizeUrl(identity, account, { scope: 'api:read' }), adminOf(account));
      const more = { scope: 'api', redirect_uri: 'https://evil.test', client_id: 'x', user_id: '1' };
      const answer = await browser.submit(page, formOf(page, '/oauth/authorize'), more, press(page, 'allow'));
      expect(answer.location).toMatch(/^http:\/\/127\.0\.0\.1:9876\/callback\?code=/);
      const tokens = await exchange(identity, account, answerOf(answer).code as string);
      expect(tokens.body.scope).toBe('api:read');
    });
  });

  describe('log-in', () => {
    it('gives a new session id; the old one is invalid', async () => {
      const browser = new Browser();
      await browser.open(authorizeUrl(identity, account));
      const before = browser.cookies.get('almanac_session') as string;
      await openConsent(browser, authorizeUrl(identity, account), adminOf(account));
      expect(browser.cookies.get('almanac_session')).not.toBe(before);
      const thief = new Browser();
      thief.cookies.set('almanac_session', before);
      expect((await thief.open(authorizeUrl(identity, account))).html).toContain('type="password"');
    });

    it('sets cookies that scripts and other sites can’t use', async () => {
      const page = await open();
      expect(page.headers.get('set-cookie')).toMatch(
        /^almanac_session=[\w-]{43}; Max-Age=\d+; Path=\/; .*HttpOnly; SameSite=Lax$/,
      );
    });

    it('redirects within its own origin, whatever else is sent', async () => {
      const browser = new Browser();
      const page = await browser.open(authorizeUrl(identity, account));
      const answer = await browser.submit(page, formOf(page, '/oauth/login'), {
        ...adminOf(account),
        return_to: '//evil.test',
        next: 'https://evil.test',
      });
      expect(answer.location).toMatch(new RegExp(`^${identity.url}/oauth/authorize\\?client_id=`));
    });

    it('responds to a wrong password and an unknown address alike', async () => {
      const tried = async (email: string) => {
        const browser = new Browser();
        const page = await browser.open(authorizeUrl(identity, account));
        const answer = await browser.submit(page, formOf(page, '/oauth/login'), { email, password: 'wrong password' });
        const { csrf } = formOf(page, '/oauth/login').fields as { csrf: string };
        return { status: answer.status, html: answer.html.replaceAll(email, 'EMAIL').replaceAll(csrf, 'CSRF') };
      };
      const known = await tried(account.admin_email);
      expect(known.status).toBe(422);
      expect(known.html).toContain('role="alert"');
      expect(await tried('unknown@example.com')).toEqual(known);
    });

    it('finds users of the application’s account only', async () => {
      const otherAccount = await identity.account();
      const page = await openConsent(new Browser(), authorizeUrl(identity, account), adminOf(otherAccount));
      expect(page.status).toBe(422);
    });

    it('finds the address whatever its case', async () => {
      const person = { ...adminOf(account), email: ` ${account.admin_email.toUpperCase()} ` };
      expect((await openConsent(new Browser(), authorizeUrl(identity, account), person)).status).toBe(200);
    });

    it('is needed again when the user was disabled, and for another account’s application', async () => {
      const browser = new Browser();
      await openConsent(browser, authorizeUrl(identity, account), adminOf(account));
      expect((await browser.open(authorizeUrl(identity, account))).html).not.toContain('type="password"');
      const otherAccount = await identity.account();
      expect((await browser.open(authorizeUrl(identity, otherAccount))).html).toContain('type="password"');
      const { prisma } = identity.context;
      const where = { id: account.admin_user_id };
      await prisma.user.update({ where, data: { status: 'suspended' } });
      expect((await browser.open(authorizeUrl(identity, account))).html).toContain('type="password"');
      await prisma.user.update({ where, data: { status: 'active' } });
    });

    it('ends with log-out', async () => {
      const browser = new Browser();
      const page = await openConsent(browser, authorizeUrl(identity, account), adminOf(account));
      const id = browser.cookies.get('almanac_session') as string;
      const out = await browser.submit(page, formOf(page, '/oauth/logout'), {});
      expect(out.status).toBe(303);
      browser.cookies.set('almanac_session', id);
      expect((await browser.open(authorizeUrl(identity, account))).html).toContain('type="password"');
    });

    it('throttles guessing, but not on a known device of the user', async () => {
      const other = await identity.account();
      const known = new Browser();
      await openConsent(known, authorizeUrl(identity, other), adminOf(other));
      known.cookies.delete('almanac_session');
      const guess = async (browser: Browser, password: string) => {
        const page = await browser.open(authorizeUrl(identity, other));
        return browser.submit(page, formOf(page, '/oauth/login'), { email: other.admin_email, password });
      };
      const statuses: number[] = [];
      for (let i = 0; i < 8; i += 1) statuses.push((await guess(new Browser(), `wrong password ${i}`)).status);
      expect(statuses.slice(0, 5)).toEqual([422, 422, 422, 422, 422]);
      expect(statuses.slice(5)).toEqual([429, 429, 429]);
      const right = await guess(new Browser(), other.admin_password);
      expect(right.status).toBe(429);
      expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await guess(known, other.admin_password)).status).toBe(303);
    });
  });

  it('sends every page with headers against framing, scripts, caching and leaks', async () => {
    const pages = [
      await open(),
      await open({ client_id: 'unknown' }),
      await openConsent(new Browser(), authorizeUrl(identity, account), adminOf(account)),
      await allow(authorizeUrl(identity, account, { redirect_uri: outOfBand }), adminOf(account)),
    ];
    for (const { headers } of pages) {
      const policy = headers.get('content-security-policy') as string;
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('script-src');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('cache-control')).toBe('no-store');
    }
    expect(pages[2]?.headers.get('content-security-policy')).toContain("form-action 'self' http://127.0.0.1:9876;");
  });

  it('shows names as text, whatever they contain', async () => {
    const name = `<script>alert(1)</script>"><img src=x onerror=alert(2)>\u202Efdp.exe`;
    const made = await account.machine('POST', '/oauth_applications', {
      name,
      redirect_uri: redirectUri,
      scopes: 'api',
    });
    const page = await open({ client_id: made.body.client_id });
    expect(page.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page.html).not.toMatch(/<script|<img|\u202E/);
  });

  it('serves its own style sheet, and no page loads anything else', async () => {
    const page = await open();
    const sheet = /<link rel="stylesheet" href="([^"]+)">/.exec(page.html)?.[1] as string;
    const answer = await fetch(new URL(sheet, identity.url));
    expect(answer.headers.get('content-type')).toContain('text/css');
    expect(page.html.match(/(src|href)="(?!\/oauth\/|#)/g)).toBeNull();
  });
});

describe('the pages over TLS', () => {
  let identity: Identity;

  beforeAll(async () => {
    identity = await givenIdentity({ ALMANAC_PUBLIC_URL: 'https://almanac.example' });
  });
  afterAll(() => identity.close());

  it('set cookies with Secure and the __Host- prefix, and HSTS', async () => {
    const account = await identity.account();
    const page = await new Browser().open(authorizeUrl(identity, account));
    expect(page.headers.get('set-cookie')).toMatch(
      /^__Host-almanac_session=.*; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(page.headers.get('strict-transport-security')).toMatch(/^max-age=/);
  });
});
