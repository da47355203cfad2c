// Every page and every form against hostile input. Tests of a single page are in that page's file.
import { request as httpRequest } from 'node:http';
import { Browser, type PageSeen } from '@almanac/api-client/browser';
import { eventually } from '@almanac/testkit/eventually';
import {
  type Account,
  adminOf,
  allow,
  authorizeUrl,
  formOf,
  givenIdentity,
  type Identity,
  logInAlone,
  openConsent,
  pressOf,
  redirectUri,
} from '../given.ts';

const outOfBand = 'urn:ietf:wg:oauth:2.0:oob';
const password = 'correct horse battery';
const evil = `<script>alert(1)</script>"><img src=x onerror=alert(2)>'&\u202Egnp.exe\u0007`;
// How it may be shown: as text, isolated from the text around it.
const tame = '&lt;script&gt;alert(1)&lt;/script&gt;&quot;&gt;&lt;img src=x onerror=alert(2)&gt;&#39;&amp;gnp.exe';

let identity: Identity;
let account: Account;
/** An application and an account with hostile names, and a user whose password may change. */
let application: { id: number; client_id: string };
let resettable: number;

beforeAll(async () => {
  identity = await givenIdentity();
  account = await identity.account(`${redirectUri}\n${outOfBand}`);
  const made = await account.machine('POST', '/oauth_applications', {
    name: evil,
    redirect_uri: redirectUri,
    scopes: 'api',
  });
  expect(made.status).toBe(201);
  application = made.body;
  resettable = (await account.admin('POST', '/users', { email: 'resettable@example.com', password })).body.id;
  await identity.context.prisma.account.update({ where: { id: account.account_id }, data: { name: evil } });
});
afterAll(() => identity.close());

const evilUrl = (more: Record<string, string> = {}) =>
  authorizeUrl(identity, account, { client_id: application.client_id, ...more });
const resetLink = async (user_id = resettable) =>
  (
    await identity
      .rpc('jobs')
      .CreatePasswordLink({ accountId: account.account_id }, { user_id, purpose: 'password_reset' })
  ).url;
async function openLink(browser: Browser): Promise<PageSeen> {
  const page = await browser.open(await resetLink());
  return browser.open(page.location as string);
}
const at = (path: string) => `${identity.url}${path}`;
const visitor = (() => {
  let made = 0;
  return () => new Browser({ 'X-Forwarded-For': `10.1.${++made}.1` });
})();

/** Every page. */
const pages: Record<string, () => Promise<PageSeen>> = {
  'log in for an application': () => visitor().open(evilUrl()),
  'log in again': async () => {
    const browser = visitor();
    const page = await browser.open(evilUrl());
    return browser.submit(page, formOf(page, '/oauth/login'), { email: evil, password: evil });
  },
  'log in alone': () => visitor().open(at('/oauth/login')),
  'log in alone again': async () => {
    const browser = visitor();
    const page = await browser.open(at('/oauth/login'));
    return browser.submit(page, formOf(page, '/oauth/login'), { email: evil, password: evil, account: evil });
  },
  consent: () => openConsent(visitor(), evilUrl(), adminOf(account)),
  'a code': () => allow(authorizeUrl(identity, account, { redirect_uri: outOfBand }), adminOf(account), visitor()),
  'log out': async () => (await logInAlone(identity, adminOf(account))).open(at('/oauth/logout')),
  applications: async () => {
    const browser = visitor();
    await allow(evilUrl(), adminOf(account), browser);
    return browser.open(at('/oauth/applications'));
  },
  'an application taken back': async () => {
    const browser = visitor();
    await allow(evilUrl(), adminOf(account), browser);
    const page = await browser.open(at('/oauth/applications'));
    const form = page.forms.find(({ fields }) => fields.request === String(application.id));
    if (!form) throw new Error('The application is not listed.');
    await browser.submit(page, form, {});
    return browser.open(at('/oauth/applications'));
  },
  'forgot password': () => visitor().open(evilUrl().replace('/authorize', '/password/forgot')),
  'a link is on its way': async () => {
    const browser = visitor();
    const page = await browser.open(at('/oauth/password/forgot'));
    return browser.submit(page, formOf(page, '/oauth/password/forgot'), { email: evil });
  },
  'set a password': () => openLink(visitor()),
  'set a password again': async () => {
    const browser = visitor();
    const page = await openLink(browser);
    return browser.submit(page, formOf(page, '/oauth/password'), { password: evil, again: 'other' });
  },
  'a spent link': () => visitor().open(at(`/oauth/password?token=${encodeURIComponent(evil)}`)),
  'a request that is not trusted': () => visitor().open(at(`/oauth/authorize?client_id=${encodeURIComponent(evil)}`)),
  'a form that is not ours': async () => {
    const browser = visitor();
    const page = await browser.open(evilUrl({ state: evil }));
    return browser.submit(page, formOf(page, '/oauth/login'), { csrf: evil });
  },
  'a refused request without an address': () =>
    visitor().open(authorizeUrl(identity, account, { redirect_uri: outOfBand, scope: evil })),
  'a redirect': async () => (await logInAlone(identity, adminOf(account))).open(at('/oauth/login')),
};

describe.each(Object.keys(pages))('the page of %s', (name) => {
  let page: PageSeen;
  beforeAll(async () => {
    page = await (pages[name] as () => Promise<PageSeen>)();
    expect(page.status).toBeLessThan(500);
  });

  it('can’t be framed, scripted, sniffed or cached, and doesn’t leak its address (AUZ-12)', () => {
    const header = (wanted: string) => page.headers.get(wanted);
    const policy = header('content-security-policy') as string;
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/script-src|unsafe|\*/);
    expect(header('x-frame-options')).toBe('DENY');
    expect(header('x-content-type-options')).toBe('nosniff');
    expect(header('referrer-policy')).toBe('no-referrer');
    expect(header('cross-origin-opener-policy')).toBe('same-origin');
    expect(header('cross-origin-resource-policy')).toBe('same-origin');
    expect(header('cache-control')).toBe('no-store');
    expect(header('access-control-allow-origin')).toBeNull();
  });

  it('shows names as text, whatever they contain (AUZ-22)', () => {
    expect(page.html).not.toMatch(/<script|<img|\u202E/);
    if (/alert\(/.test(page.html)) expect(page.html).toContain(tame);
  });

  it('loads and links nothing from other origins, and has no scripts (AUZ-24)', () => {
    const html = page.html.replaceAll(tame, '');
    for (const [, target] of html.matchAll(/(?:src|href|action|formaction|srcset|poster|data)="([^"]*)"/g))
      expect(target).toMatch(/^(\/oauth\/|#)/);
    expect(html).not.toMatch(/<(style|iframe|object|embed|base|meta http-equiv)|\son\w+=|style="|javascript:/i);
  });

  it('is accessible: a language, a title, one heading, labels, a main part', () => {
    if (page.status === 303) return expect(page.html).toBe('');
    expect(page.html).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page.html).toMatch(/<title>[^<]+ · Almanac<\/title>/);
    for (const only of [/<h1>/g, /<main>/g]) expect(page.html.match(only)).toHaveLength(1);
    for (const [input] of page.html.matchAll(/<input (?!type="hidden")[^>]*>/g)) {
      const id = /id="([^"]+)"/.exec(input)?.[1];
      expect(page.html).toContain(`<label for="${id}">`);
    }
  });
});

describe('a form', () => {
  /** Every form, opened by a user it works for, and a check that it had no effect. */
  const forms: Record<
    string,
    { open: (browser: Browser) => Promise<PageSeen>; action: string; nothing: () => Promise<unknown> }
  > = {
    'log in': {
      open: (browser) => browser.open(authorizeUrl(identity, account)),
      action: '/oauth/login',
      nothing: () => identity.context.prisma.session.count(),
    },
    'log in alone': {
      open: (browser) => browser.open(at('/oauth/login')),
      action: '/oauth/login',
      nothing: () => identity.context.prisma.session.count(),
    },
    consent: {
      open: (browser) => openConsent(browser, evilUrl(), adminOf(account)),
      action: '/oauth/authorize',
      nothing: () => identity.context.prisma.authorization_code.count(),
    },
    'log out': {
      open: (browser) => openConsent(browser, evilUrl(), adminOf(account)),
      action: '/oauth/logout',
      nothing: () => identity.context.prisma.session.count(),
    },
    'take back': {
      open: async (browser) => {
        await allow(evilUrl(), adminOf(account), browser);
        return browser.open(at('/oauth/applications'));
      },
      action: '/oauth/applications',
      nothing: () => identity.context.prisma.consent.count(),
    },
    'forgot password': {
      open: (browser) => browser.open(at('/oauth/password/forgot')),
      action: '/oauth/password/forgot',
      nothing: () => identity.context.prisma.audit_event.count({ where: { action: 'password_reset.requested' } }),
    },
    'set password': {
      open: openLink,
      action: '/oauth/password',
      nothing: () => identity.context.prisma.password_link.count({ where: { used_at: null } }),
    },
  };
  const fill = { email: 'x@y.z', password, again: password, decision: 'allow' };

  it.each(Object.keys(forms))(
    'to %s is refused without its token, or with that of another visitor, form or subject (AUZ-09)',
    async (name) => {
      const { open, action, nothing } = forms[name] as (typeof forms)[string];
      const browser = visitor();
      const page = await open(browser);
      const foreign = formOf(await open(visitor()), action).fields.csrf as string;
      // A form of the same session and subject: only its purpose differs.
      const other = name === 'forgot password' ? '/oauth/login' : '/oauth/password/forgot';
      const otherForm = formOf(await browser.open(at(other)), other).fields.csrf as string;
      const before = await nothing();
      const form = formOf(page, action);
      const changes: Record<string, string>[] = [
        { csrf: '' },
        { csrf: 'x' },
        { csrf: foreign },
        { csrf: otherForm },
        { csrf: otherForm, request: '' },
        { csrf: `${form.fields.csrf}x` },
        { request: `${form.fields.request}x` },
        { request: Buffer.from('client_id=x').toString('base64url') },
      ];
      for (const changed of changes) {
        const answer = await browser.submit(page, form, { ...fill, ...changed });
        expect([answer.status, answer.location]).toEqual([403, undefined]);
      }
      const cookieless = await visitor().submit(page, form, fill);
      expect([cookieless.status, cookieless.location]).toEqual([403, undefined]);
      expect(await nothing()).toEqual(before);
    },
  );

  it.each(Object.keys(forms))(
    'to %s is refused in other shapes than a browser sends, and never makes us stumble',
    async (name) => {
      const { open, action } = forms[name] as (typeof forms)[string];
      const browser = visitor();
      const page = await open(browser);
      const { fields } = formOf(page, action);
      const cookie = [...browser.cookies].map(([key, value]) => `${key}=${value}`).join('; ');
      const post = (body: string | FormData, type?: string) =>
        fetch(at(action), {
          method: 'POST',
          redirect: 'manual',
          body,
          headers: { cookie, ...(type === undefined ? {} : { 'content-type': type }) },
        });
      const form = new URLSearchParams({ ...fields, ...fill }).toString();
      const multipart = new FormData();
      for (const [key, value] of Object.entries({ ...fields, ...fill })) multipart.set(key, value);
      const statuses = [
        await post(JSON.stringify({ ...fields, ...fill }), 'application/json'),
        await post(form, 'text/plain'),
        await post(multipart),
        await post(`${form}&x=${'y'.repeat(70_000)}`, 'application/x-www-form-urlencoded'),
        await post('%', 'application/x-www-form-urlencoded'),
        await post('csrf=%00&request=%ff%fe', 'application/x-www-form-urlencoded'),
        await post('', 'application/x-www-form-urlencoded'),
      ].map(({ status }) => status);
      expect(statuses).toEqual([400, 400, 400, 413, 403, 403, 403]);
      for (const hostile of ['\0', '\ud800', evil, 'x'.repeat(50_000), "'; drop table session; --"]) {
        const again = await open(browser);
        const given = { email: hostile, password: hostile, again: hostile, account: hostile, decision: hostile };
        const answer = await browser.submit(again, formOf(again, action), given);
        expect(answer.status).toBeLessThan(500);
      }
    },
  );
});

describe('redirects', () => {
  it.each([
    '//evil.test',
    'https:evil',
    '/\\evil.test',
    '/oauth/authorize@evil.test',
    'x\r\nLocation: https://evil.test',
  ])('stay on our own origin when log-in is given %j (AUZ-18)', async (target) => {
    const names = ['return_to', 'next', 'redirect_uri', 'continue', 'request', 'url'];
    const query = new URLSearchParams(names.map((name): [string, string] => [name, target]));
    for (const path of ['/oauth/login', '/oauth/logout', '/oauth/applications', '/oauth/password/forgot']) {
      const page = await visitor().open(at(`${path}?${query}`));
      if (page.location) expect(page.location).toBe(at('/oauth/login'));
      expect(page.html).not.toContain('evil');
    }
    const browser = visitor();
    const page = await browser.open(at(`/oauth/login?${query}`));
    const { request, ...others } = Object.fromEntries(query);
    const answer = await browser.submit(page, formOf(page, '/oauth/login'), { ...adminOf(account), ...others });
    expect(answer.location).toBe(at('/oauth/login'));
    expect(answer.headers.get('location')).not.toMatch(/evil|\r|\n/);
    expect(request).toBe(target);
  });

  it('go to the configured host, whatever Host and forwarded host the request has (AUZ-25)', async () => {
    const send = (path: string) =>
      new Promise<string | undefined>((resolve, reject) => {
        const headers = { host: 'evil.test', 'x-forwarded-host': 'evil.test', forwarded: 'host=evil.test' };
        const { hostname, port } = new URL(identity.url);
        httpRequest({ hostname, port, path, headers }, (response) => {
          response.resume().on('end', () => resolve(response.headers.location));
        })
          .on('error', reject)
          .end();
      });
    const link = await resetLink();
    expect(link).toMatch(new RegExp(`^${identity.url}/oauth/password\\?token=[\\w-]{43}$`));
    expect(await send(link.slice(identity.url.length))).toBe(at('/oauth/password'));
    expect(await send('/oauth/applications')).toBe(at('/oauth/login'));
  });

  it.each(['a'.repeat(4_096), 'a\r\nSet-Cookie: x=1', `"'><script>`, '%0d%0a', '\u202E', '=&?#'])(
    'carry the state back as an encoded value, whichever way the answer goes: %.20j (AUZ-07)',
    async (state) => {
      const browser = visitor();
      const page = await openConsent(browser, authorizeUrl(identity, account, { state }), adminOf(account));
      const denied = await browser.submit(page, ...pressOf(page, '/oauth/authorize', 'deny'));
      const allowed = await browser.submit(page, ...pressOf(page, '/oauth/authorize', 'allow'));
      const silent = await browser.open(authorizeUrl(identity, account, { state }));
      const refused = await browser.open(authorizeUrl(identity, account, { state, scope: 'everything' }));
      for (const answer of [denied, allowed, silent, refused]) {
        expect(answer.status).toBe(303);
        expect(answer.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:9876\/callback\?[\x21-\x7e]+$/);
        expect(new URL(answer.location as string).searchParams.get('state')).toBe(state);
        expect(answer.headers.get('set-cookie') ?? '').not.toContain('x=1');
      }
    },
  );
});

describe('sessions', () => {
  it('of a deleted or disabled user lead to the log-in page, and their forms have no effect (AUZ-21)', async () => {
    for (const end of ['delete', 'disable'] as const) {
      const email = `${end}@example.com`;
      const { id } = (await account.admin('POST', '/users', { email, password })).body;
      const browser = visitor();
      const page = await openConsent(browser, authorizeUrl(identity, account), { email, password });
      if (end === 'delete') await account.admin('DELETE', `/users/${id}`);
      else await identity.context.prisma.user.update({ where: { id }, data: { status: 'suspended' } });
      expect((await browser.open(authorizeUrl(identity, account))).html).toContain('type="password"');
      expect((await browser.open(at('/oauth/applications'))).location).toBe(at('/oauth/login'));
      const answer = await browser.submit(page, ...pressOf(page, '/oauth/authorize', 'allow'));
      expect(answer.location).not.toContain('code=');
      expect(await identity.context.prisma.authorization_code.count({ where: { user_id: id } })).toBe(0);
    }
  });

  it('of a closed account have ended', async () => {
    const closed = await identity.account();
    const browser = await logInAlone(identity, adminOf(closed));
    await identity.context.prisma.account.update({ where: { id: closed.account_id }, data: { status: 'closed' } });
    expect((await browser.open(at('/oauth/applications'))).location).toBe(at('/oauth/login'));
  });

  it.each(['', 'x', '../../etc/passwd', 'A'.repeat(43), `${'A'.repeat(42)}é`, "' or 1=1 --", 'A'.repeat(4_000)])(
    'have no user under the id %.20j',
    async (id) => {
      const browser = visitor();
      browser.cookies.set('almanac_session', encodeURIComponent(id));
      expect((await browser.open(at('/oauth/applications'))).location).toBe(at('/oauth/login'));
    },
  );

  it('don’t help a deleted application: its request redirects nowhere (AUZ-03)', async () => {
    const made = await account.machine('POST', '/oauth_applications', {
      name: 'Short-lived',
      redirect_uri: redirectUri,
      scopes: 'api',
    });
    const url = authorizeUrl(identity, account, { client_id: made.body.client_id });
    const browser = visitor();
    const page = await openConsent(browser, url, adminOf(account));
    expect((await account.machine('DELETE', `/oauth_applications/${made.body.id}`)).status).toBe(204);
    const answer = await browser.submit(page, ...pressOf(page, '/oauth/authorize', 'allow'));
    expect([answer.status, answer.location]).toEqual([400, undefined]);
    const opened = await browser.open(url);
    expect([opened.status, opened.location]).toEqual([400, undefined]);
  });
});

describe('guessing', () => {
  const tryOf = async (browser: Browser, person: { email: string; password: string }) => {
    const page = await browser.open(authorizeUrl(identity, account));
    return (await browser.submit(page, formOf(page, '/oauth/login'), person)).status;
  };

  it('one password for many users is throttled for the network, and not for others (AUZ-15)', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 104; i += 1) {
      const browser = new Browser({ 'X-Forwarded-For': `192.0.2.${i}` });
      statuses.push(await tryOf(browser, { email: `spray${i}@example.com`, password }));
    }
    expect(statuses.slice(0, 100)).toEqual(Array(100).fill(422));
    expect(statuses.slice(100)).toEqual(Array(4).fill(429));
    expect(await tryOf(visitor(), adminOf(account))).toBe(303);
  });

  it('many passwords for one user from everywhere are throttled; the user’s known device is not (AUZ-15)', async () => {
    const own = await identity.account();
    const known = visitor();
    const { url, context } = identity;
    const log = async (browser: Browser, secret: string) => {
      const page = await browser.open(`${url}/oauth/login`);
      const person = { email: own.admin_email, password: secret, account: String(own.account_id) };
      return (await browser.submit(page, formOf(page, '/oauth/login'), person)).status;
    };
    expect(await log(known, own.admin_password)).toBe(303);
    known.cookies.delete('almanac_session');
    const statuses: number[] = [];
    for (let i = 0; i < 52; i += 1)
      statuses.push(await log(new Browser({ 'X-Forwarded-For': `10.${i}.7.7` }), `wrong password ${i}`));
    expect(statuses.slice(0, 50)).toEqual(Array(50).fill(422));
    expect(statuses.slice(50)).toEqual([429, 429]);
    expect(await log(known, own.admin_password)).toBe(303);
    const where = { account_id: own.account_id, action: 'login.failed' };
    await eventually(async () => expect(await context.prisma.audit_event.count({ where })).toBe(50));
  });
});

it('a link for a new password changes its own user only, whatever the form contains (AUZ-25)', async () => {
  const email = 'bystander@example.com';
  const { id } = (await account.admin('POST', '/users', { email, password })).body;
  const browser = visitor();
  const page = await openLink(browser);
  const chosen = 'another horse battery';
  const answer = await browser.submit(page, formOf(page, '/oauth/password'), {
    email,
    user_id: String(id),
    account_id: '1',
    token: 'A'.repeat(43),
    password: chosen,
    again: chosen,
  });
  expect(answer.status).toBe(303);
  await logInAlone(identity, { email, password });
  await logInAlone(identity, { email: 'resettable@example.com', password: chosen });
});
