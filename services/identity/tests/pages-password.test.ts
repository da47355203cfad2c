// Passwords set by mailed one-time links, and asking for such a link.
import { Browser, type PageSeen } from '@almanac/api-client/browser';
import { eventually } from '@almanac/testkit/eventually';
import { digestOf } from '../src/digest.ts';
import { sweep } from '../src/housekeeping.ts';
import { openLinksAtMost, SpentLink, usePasswordLink } from '../src/password-links.ts';
import {
  type Account,
  adminOf,
  authorizeUrl,
  codeOf,
  exchange,
  formOf,
  givenIdentity,
  type Identity,
  logInAlone,
  refresh,
} from './given.ts';

const password = 'correct horse battery';
let identity: Identity;
let account: Account;
let made = 0;

beforeAll(async () => {
  identity = await givenIdentity();
});
beforeEach(async () => {
  account = await identity.account();
});
afterAll(() => identity.close());

const invite = async (more: Record<string, unknown> = {}) =>
  (await account.admin('POST', '/users', { email: `invited${++made}@example.com`, ...more })).body;
/** What jobs asks for when it writes a mail. */
const linkFor = async (user_id: number, purpose: 'invitation' | 'password_reset') =>
  (await identity.rpc('jobs').CreatePasswordLink({ accountId: account.account_id }, { user_id, purpose })).url;
const resetLink = () => linkFor(account.admin_user_id, 'password_reset');
const tokenOf = (link: string) => new URL(link).searchParams.get('token') as string;

async function openLink(link: string, browser = new Browser()): Promise<PageSeen> {
  const page = await browser.open(link);
  return page.location ? browser.open(page.location) : page;
}
async function setPassword(link: string, given: Record<string, string> = {}, browser = new Browser()) {
  const page = await openLink(link, browser);
  return browser.submit(page, formOf(page, '/oauth/password'), { password, again: password, ...given });
}
const acts = (action: string) =>
  identity.context.prisma.audit_event.findMany({ where: { account_id: account.account_id, action } });
const mailsTo = (user_id: number) =>
  identity.mails
    .filter(({ payload }) => (payload.user_ids as number[]).includes(user_id))
    .map(({ payload }) => payload.template);
const expectSpent = (page: PageSeen) => {
  expect([page.status, page.location]).toEqual([410, undefined]);
  expect(page.html).toContain('This link doesn’t work');
  expect(page.html).toContain('href="/oauth/password/forgot"');
  return page.html;
};

describe('an invitation', () => {
  it('lets its user choose a password, who is active from then on and can log in', async () => {
    const { id, email } = await invite();
    const browser = new Browser();
    const answer = await setPassword(await linkFor(id, 'invitation'), {}, browser);
    expect([answer.status, answer.location]).toEqual([303, `${identity.url}/oauth/login`]);
    expect((await browser.open(answer.location as string)).html).toContain('Your password is set.');
    expect((await account.admin('GET', `/users/${id}`)).body.status).toBe('active');
    await logInAlone(identity, { email, password });
    expect(await acts('password.changed')).toEqual([
      expect.objectContaining({ user_id: id, resource_id: id, after: { by: 'invitation' }, address: '127.0.0.1' }),
    ]);
    await eventually(() => expect(mailsTo(id)).toEqual(['invitation', 'password_changed']));
  });

  it('is worth nothing once an administrator has set a password, or has changed the address', async () => {
    const first = await invite();
    const link = await linkFor(first.id, 'invitation');
    await account.admin('PATCH', `/users/${first.id}`, { password: 'another horse battery' });
    expectSpent(await openLink(link));
    const second = await invite();
    const other = await linkFor(second.id, 'invitation');
    await account.admin('PATCH', `/users/${second.id}`, { first_name: 'Ada' });
    expect((await openLink(other)).status).toBe(200);
    await account.admin('PATCH', `/users/${second.id}`, { email: `moved${made}@example.com` });
    expectSpent(await openLink(other));
  });
});

describe('a link', () => {
  it('says whom it is for and what a password must be, and keeps its secret out of page and address', async () => {
    const link = await resetLink();
    const browser = new Browser();
    const first = await browser.open(link);
    expect([first.status, first.location, first.html]).toEqual([303, `${identity.url}/oauth/password`, '']);
    expect(first.headers.get('referrer-policy')).toBe('no-referrer');
    expect(first.headers.get('set-cookie')).toMatch(/almanac_link=.*HttpOnly; SameSite=Lax/);
    const page = await browser.open(first.location as string);
    expect(page.html).toContain(account.admin_email);
    expect(page.html).toContain('12 to 200 characters');
    expect(page.html.match(/autocomplete="new-password"/g)).toHaveLength(2);
    expect(page.html).not.toContain(tokenOf(link));
  });

  it('works once: not again, not twice at the same moment', async () => {
    const link = await resetLink();
    const browsers = [new Browser(), new Browser(), new Browser(), new Browser()];
    const pages = await Promise.all(browsers.map((browser) => openLink(link, browser)));
    const answers = await Promise.all(
      pages.map((page, i) =>
        (browsers[i] as Browser).submit(page, formOf(page, '/oauth/password'), {
          password: `${password} ${i}`,
          again: `${password} ${i}`,
        }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 410, 410, 410]);
    const winner = answers.findIndex(({ status }) => status === 303);
    await logInAlone(identity, { email: account.admin_email, password: `${password} ${winner}` });
    expectSpent(await openLink(link));
    expect(await acts('password.changed')).toHaveLength(1);
  });

  it('that is used, expired, cut short, unknown or missing leads to one and the same page', async () => {
    const used = await resetLink();
    await setPassword(used);
    const expired = await resetLink();
    await identity.context.prisma.password_link.updateMany({
      where: { digest: digestOf(tokenOf(expired)) },
      data: { expires_at: new Date(Date.now() - 1_000) },
    });
    const cut = (await resetLink()).slice(0, -1);
    const bare = `${identity.url}/oauth/password`;
    const pages = [];
    for (const link of [used, expired, cut, `${bare}?token=${'A'.repeat(43)}`, `${bare}?token=%00'--`, bare])
      pages.push(expectSpent(await openLink(link)));
    expect(new Set(pages).size).toBe(1);
  });

  it('that was opened and has ended meanwhile changes nothing', async () => {
    const link = await resetLink();
    const browser = new Browser();
    const page = await openLink(link, browser);
    await identity.context.prisma.user.update({ where: { id: account.admin_user_id }, data: { status: 'disabled' } });
    expectSpent(await browser.submit(page, formOf(page, '/oauth/password'), { password, again: password }));
    await identity.context.prisma.user.update({ where: { id: account.admin_user_id }, data: { status: 'active' } });
    await logInAlone(identity, adminOf(account));
  });

  it('is left as it is when its user is disabled at the very moment of use', async () => {
    const token = tokenOf(await resetLink());
    const { prisma } = identity.context;
    await prisma.user.update({ where: { id: account.admin_user_id }, data: { status: 'disabled' } });
    const origin = { requestId: 'request', address: '127.0.0.1' };
    await expect(usePasswordLink(identity.context, token, password, origin)).rejects.toThrow(SpentLink);
    const link = await prisma.password_link.findUniqueOrThrow({ where: { digest: digestOf(token) } });
    expect(link.used_at).toBeNull();
    expect(await acts('password.changed')).toEqual([]);
  });

  it('is told by another visitor’s form from its own, and by the form of another link', async () => {
    const [first, second] = [await resetLink(), await linkFor((await invite()).id, 'invitation')];
    const browser = new Browser();
    const page = await openLink(first, browser);
    const thief = new Browser();
    expect((await thief.submit(page, formOf(page, '/oauth/password'), { password, again: password })).status).toBe(403);
    await openLink(second, browser);
    const mixed = await browser.submit(page, formOf(page, '/oauth/password'), { password, again: password });
    expect(mixed.status).toBe(403);
    await logInAlone(identity, adminOf(account));
  });

  it.each<[Record<string, string>, string]>([
    [{ password: 'q7#!', again: 'q7#!' }, 'shorter than 12'],
    [{ password: 'x'.repeat(201), again: 'x'.repeat(201) }, 'longer than 200'],
    [{ password: '', again: '' }, 'shorter than 12'],
    [{ again: 'correct horse bakery' }, 'not the same'],
    [{ password: 'Password1234!', again: 'Password1234!' }, 'too easy'],
  ])('goes on working after a password that will not do: %j', async (given, problem) => {
    const link = await resetLink();
    const browser = new Browser();
    const answer = await setPassword(link, given, browser);
    expect(answer.status).toBe(422);
    expect(answer.html).toContain('role="alert"');
    expect(answer.html).toContain(problem);
    expect(answer.html).toContain('aria-invalid="true"');
    expect(answer.html).not.toContain(tokenOf(link));
    if (given.password) expect(answer.html).not.toContain(given.password);
    const form = formOf(answer, '/oauth/password');
    expect((await browser.submit(answer, form, { password, again: password })).status).toBe(303);
  });

  it('is one of a few that work at a time; using one ends the others', async () => {
    const links = [];
    for (let i = 0; i <= openLinksAtMost; i += 1) links.push(await resetLink());
    expectSpent(await openLink(links[0] as string));
    expect((await openLink(links[1] as string)).status).toBe(200);
    expect((await setPassword(links[2] as string)).status).toBe(303);
    for (const link of links) expectSpent(await openLink(link));
  });

  it('is forgotten when it has expired, and not before', async () => {
    const { prisma } = identity.context;
    const [old, open] = [await resetLink(), await resetLink()];
    const where = { digest: digestOf(tokenOf(old)) };
    await prisma.password_link.update({ where, data: { expires_at: new Date(Date.now() - 1_000) } });
    await sweep(prisma, 7_200);
    expect(await prisma.password_link.findUnique({ where })).toBeNull();
    expect((await openLink(open)).status).toBe(200);
  });
});

describe('a reset', () => {
  it('ends sessions, and the tokens and codes of every application: somebody else may have had the password', async () => {
    const browser = await logInAlone(identity, adminOf(account));
    const tokens = (await exchange(identity, account, await codeOf(identity, account))).body;
    const code = await codeOf(identity, account);
    expect((await setPassword(await resetLink())).status).toBe(303);
    expect((await browser.open(`${identity.url}/oauth/applications`)).location).toBe(`${identity.url}/oauth/login`);
    expect((await refresh(identity, account, tokens.refresh_token)).body.error).toBe('invalid_grant');
    expect((await exchange(identity, account, code)).body.error).toBe('invalid_grant');
    const { revocations } = await identity.rpc('gateway').ListRevocations({ accountId: 0 }, {});
    const claims = JSON.parse(Buffer.from(tokens.access_token.split('.')[1], 'base64url').toString());
    expect(revocations).toContainEqual(expect.objectContaining({ kind: 'token', subject: claims.jti }));
    // What was allowed is still allowed: it is the person's own word.
    await logInAlone(identity, { email: account.admin_email, password });
    const again = await codeOf(identity, { ...account, admin_password: password });
    expect((await exchange(identity, account, again)).status).toBe(200);
  });

  it('comes before every log-in whose password was checked before it: none begins a session afterwards', async () => {
    const { passwords, prisma } = identity.context;
    let isReset = () => {};
    const reset = new Promise<void>((resolve) => {
      isReset = resolve;
    });
    const link = await resetLink();
    const browsers = [new Browser(), new Browser()];
    const pages = await Promise.all(browsers.map((browser) => browser.open(`${identity.url}/oauth/login`)));
    let checked = 0;
    identity.context.passwords = {
      ...passwords,
      async verify(...given) {
        const right = await passwords.verify(...given);
        checked += 1;
        await reset;
        return right;
      },
    };
    const answers = Promise.all(
      pages.map((page, i) => (browsers[i] as Browser).submit(page, formOf(page, '/oauth/login'), adminOf(account))),
    );
    await eventually(() => expect(checked).toBe(2));
    expect((await setPassword(link)).status).toBe(303);
    isReset();
    expect((await answers).map(({ status }) => status)).toEqual([422, 422]);
    identity.context.passwords = passwords;
    expect(await prisma.session.count({ where: { user_id: account.admin_user_id } })).toBe(0);
  });

  it('leaves the tokens of an application itself and of other people alone', async () => {
    const { id, email } = await invite({ password });
    const other = { ...account, admin_email: email, admin_password: password };
    const tokens = (await exchange(identity, account, await codeOf(identity, other))).body;
    await setPassword(await resetLink());
    expect((await refresh(identity, account, tokens.refresh_token)).status).toBe(200);
    expect((await account.admin('GET', `/users/${id}`)).status).toBe(200);
  });

  it('logs out whoever sat at the browser', async () => {
    const stranger = await identity.account();
    const browser = await logInAlone(identity, adminOf(stranger));
    const answer = await setPassword(await resetLink(), {}, browser);
    const page = await browser.open(answer.location as string);
    expect(page.status).toBe(200);
    expect(page.html).toContain('Your password is set.');
  });

  it('lets its user in at once, however much others have guessed', async () => {
    const wrong = { email: account.admin_email, password: 'wrong password' };
    const guess = async (browser: Browser, person: Record<string, string>) => {
      const page = await browser.open(authorizeUrl(identity, account));
      return browser.submit(page, formOf(page, '/oauth/login'), person);
    };
    for (let i = 0; i < 7; i += 1) await guess(new Browser(), wrong);
    expect((await guess(new Browser(), adminOf(account))).status).toBe(429);
    const browser = new Browser();
    await setPassword(await resetLink(), {}, browser);
    expect((await guess(browser, { email: account.admin_email, password })).status).toBe(303);
  });
});

describe('forgetting a password', () => {
  const ask = async (email: string, { url = `${identity.url}/oauth/password/forgot`, browser = visitor() } = {}) => {
    const page = await browser.open(url);
    return browser.submit(page, formOf(page, '/oauth/password/forgot'), { email });
  };
  // Each from a network of its own, so that one test's asking doesn't slow another's down.
  let network = 0;
  const visitor = () => {
    network += 1;
    return new Browser({ 'X-Forwarded-For': `10.${network >> 8}.${network & 255}.1` });
  };

  it('is linked from both log-in pages, and leads back to them', async () => {
    for (const url of [`${identity.url}/oauth/login`, authorizeUrl(identity, account, { state: 'a&b"c' })]) {
      const browser = new Browser();
      const link = hrefOf(await browser.open(url), 'Forgotten your password?');
      const page = await browser.open(link);
      expect(page.status).toBe(200);
      const back = await browser.open(hrefOf(page, 'Back to log-in'));
      expect(back.forms[0]?.action).toBe('/oauth/login');
      expect(back.html.includes('First application')).toBe(url.includes('authorize'));
    }
  });

  it('asks for a mail to whoever has the address, in the application’s account', async () => {
    const elsewhere = await identity.account();
    await elsewhere.admin('POST', '/users', { email: account.admin_email, password });
    const url = authorizeUrl(identity, account).replace('/authorize', '/password/forgot');
    const page = await ask(` ${account.admin_email.toUpperCase()}`, { url });
    expect(page.status).toBe(200);
    await eventually(() => expect(mailsTo(account.admin_user_id)).toEqual(['password_reset']));
    expect(identity.mails.at(-1)?.payload).toEqual({
      account_id: account.account_id,
      template: 'password_reset',
      user_ids: [account.admin_user_id],
      values: {},
    });
    const requested = { action: 'password_reset.requested', result: 'succeeded', user_id: account.admin_user_id };
    expect(await acts('password_reset.requested')).toEqual([expect.objectContaining(requested)]);
    expect(
      await identity.context.prisma.audit_event.count({
        where: { account_id: elsewhere.account_id, action: 'password_reset.requested' },
      }),
    ).toBe(0);
  });

  it('without an application asks for a mail to each active user who has the address', async () => {
    const email = `shared${++made}@example.com`;
    const ids: number[] = [];
    for (const status of ['active', 'active', 'disabled']) {
      const of = await identity.account();
      const { id } = (await of.admin('POST', '/users', { email, password })).body;
      await identity.context.prisma.user.update({ where: { id }, data: { status } });
      ids.push(id);
    }
    await ask(email);
    await eventually(() => expect(ids.slice(0, 2).map(mailsTo)).toEqual([['password_reset'], ['password_reset']]));
    expect(mailsTo(ids[2] as number)).toEqual([]);
  });

  it('answers the same whether anybody has the address or not, and writes that down', async () => {
    const seen = async (email: string) => {
      const page = await ask(email);
      return { status: page.status, html: page.html.replaceAll(email.replace('\0', ''), 'EMAIL') };
    };
    const known = await seen(account.admin_email);
    expect(known.status).toBe(200);
    const { id } = await invite();
    await identity.context.prisma.user.update({ where: { id }, data: { status: 'disabled', email_key: `off${id}@x` } });
    for (const email of [`nobody${++made}@example.com`, `off${id}@x`, 'not an address', 'a\0b'])
      expect(await seen(email)).toEqual(known);
    const { email } = await invite();
    expect(await seen(email)).toEqual(known);
    const url = authorizeUrl(identity, account).replace('/authorize', '/password/forgot');
    await ask(`nobody${++made}@example.com`, { url });
    expect(await acts('password_reset.requested')).toEqual([
      expect.objectContaining({ result: 'succeeded' }),
      expect.objectContaining({ result: 'failed', user_id: null, application_id: expect.any(Number) }),
    ]);
  });

  it('floods nobody’s mailbox, whoever asks and from wherever, and tells neither who exists', async () => {
    const statusesOf = async (email: string) => {
      const one = visitor();
      const statuses = [];
      for (let i = 0; i < 5; i += 1) statuses.push((await ask(email, { browser: one })).status);
      for (let i = 0; i < 5; i += 1) statuses.push((await ask(email)).status);
      return statuses;
    };
    const known = await statusesOf(account.admin_email);
    expect(known).toEqual([200, 200, 200, 429, 429, 200, 200, 200, 429, 429]);
    expect(await statusesOf(`nobody${++made}@example.com`)).toEqual(known);
    await eventually(() => expect(mailsTo(account.admin_user_id)).toHaveLength(6));
    const page = await ask(account.admin_email);
    expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(page.html).toContain('role="alert"');
  });

  it('lets one network ask for a few addresses only', async () => {
    const browser = visitor();
    const statuses = [];
    for (let i = 0; i < 31; i += 1) statuses.push((await ask(`nobody${++made}@example.com`, { browser })).status);
    expect(statuses.slice(0, 30)).toEqual(Array(30).fill(200));
    expect(statuses.slice(30)).toEqual([429]);
  });

  it('brings the application’s request back once the password is set in the same browser', async () => {
    const url = authorizeUrl(identity, account, { state: 'kept', scope: 'api:read' });
    const browser = visitor();
    await ask(account.admin_email, { url: url.replace('/authorize', '/password/forgot'), browser });
    const answer = await setPassword(await resetLink(), {}, browser);
    expect(new URL(answer.location as string).searchParams.get('state')).toBe('kept');
    const page = await browser.open(answer.location as string);
    expect(page.html).toContain('Your password is set.');
    expect(page.html).toContain('First application');
    const next = await setPassword(await resetLink(), {}, browser);
    expect(next.location).toBe(`${identity.url}/oauth/login`);
  });

  it('brings back no request that was planted, is for another account or no longer holds', async () => {
    const stranger = await identity.account();
    const packed = (query: string) => Buffer.from(query).toString('base64url');
    const queryOf = (url: string) => new URL(url).search.slice(1);
    for (const request of [
      packed(queryOf(authorizeUrl(identity, stranger))),
      packed(queryOf(authorizeUrl(identity, account, { redirect_uri: 'https://evil.test' }))),
      packed(queryOf(authorizeUrl(identity, account, { scope: 'everything' }))),
      packed('//evil.test'),
      'https://evil.test',
      '%00',
    ]) {
      const browser = new Browser();
      browser.cookies.set('almanac_request', request);
      const answer = await setPassword(await resetLink(), {}, browser);
      expect(answer.location).toBe(`${identity.url}/oauth/login`);
    }
  });
});

function hrefOf(page: PageSeen, text: string): string {
  const href = new RegExp(`<a href="([^"]*)">${text.replace('?', '\\?')}</a>`).exec(page.html)?.[1];
  if (href === undefined) throw new Error(`No link ${text}: ${page.html}`);
  return new URL(href.replaceAll('&amp;', '&').replaceAll('&quot;', '"'), page.url).href;
}
