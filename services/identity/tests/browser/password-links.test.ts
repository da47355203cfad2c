// Passwords set by mailed one-time links.
import { Browser, type PageSeen } from '@almanac/api-client/browser';
import { eventually } from '@almanac/testkit/eventually';
import { sweep } from '../../src/housekeeping.ts';
import { maxOpenLinks, UnusableLink, usePasswordLink } from '../../src/passwords/password-links.ts';
import { digestOf } from '../../src/security/digest.ts';
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
  whileHeld,
} from '../given.ts';
import { linkFor, mailsTo, openLink, password, setPassword } from './password-forms.ts';

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
const resetLink = () => linkFor(identity, account);
const invitationFor = (user_id: number) => linkFor(identity, account, user_id, 'invitation');
const tokenOf = (link: string) => new URL(link).searchParams.get('token') as string;

const acts = (action: string) =>
  identity.context.prisma.audit_event.findMany({ where: { account_id: account.account_id, action } });
const expectSpent = (page: PageSeen) => {
  expect([page.status, page.location]).toEqual([410, undefined]);
  expect(page.html).toContain('This link doesn’t work');
  expect(page.html).toContain('href="/oauth/password/forgot"');
  return page.html;
};

describe('an invitation', () => {
  it('lets its user choose a password and makes the user active', async () => {
    const { id, email } = await invite();
    const browser = new Browser();
    const answer = await setPassword(await invitationFor(id), {}, browser);
    expect([answer.status, answer.location]).toEqual([303, `${identity.url}/oauth/login`]);
    expect((await browser.open(answer.location as string)).html).toContain('Your password is set.');
    expect((await account.admin('GET', `/users/${id}`)).body.status).toBe('active');
    await logInAlone(identity, { email, password });
    expect(await acts('password.changed')).toEqual([
      expect.objectContaining({ user_id: id, resource_id: id, after: { by: 'invitation' }, address: '127.0.0.1' }),
    ]);
    await eventually(() => expect(mailsTo(identity, id)).toEqual(['invitation', 'password_changed']));
  });

  it('is invalid once an administrator has set a password or changed the address', async () => {
    const first = await invite();
    const link = await invitationFor(first.id);
    await account.admin('PATCH', `/users/${first.id}`, { password: 'another horse battery' });
    expectSpent(await openLink(link));
    const second = await invite();
    const other = await invitationFor(second.id);
    await account.admin('PATCH', `/users/${second.id}`, { first_name: 'Ada' });
    expect((await openLink(other)).status).toBe(200);
    await account.admin('PATCH', `/users/${second.id}`, { email: `moved${made}@example.com` });
    expectSpent(await openLink(other));
  });
});

describe('a link', () => {
  it('shows its user and the rules for passwords, and keeps its secret out of page and address', async () => {
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

  it('doesn’t work for a user who is deleted while it is opened', async () => {
    const { id } = await invite();
    const link = await invitationFor(id);
    expectSpent(await whileHeld(identity, 'user', () => openLink(link), id));
  });

  it('works once: not again, not twice concurrently', async () => {
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

  it('that is used, expired, truncated, unknown or missing leads to one page', async () => {
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

  it('that was opened and has ended in between changes nothing', async () => {
    const link = await resetLink();
    const browser = new Browser();
    const page = await openLink(link, browser);
    await identity.context.prisma.user.update({ where: { id: account.admin_user_id }, data: { status: 'suspended' } });
    expectSpent(await browser.submit(page, formOf(page, '/oauth/password'), { password, again: password }));
    await identity.context.prisma.user.update({ where: { id: account.admin_user_id }, data: { status: 'active' } });
    await logInAlone(identity, adminOf(account));
  });

  it('stays unused when its user is disabled concurrently', async () => {
    const token = tokenOf(await resetLink());
    const { prisma } = identity.context;
    await prisma.user.update({ where: { id: account.admin_user_id }, data: { status: 'suspended' } });
    const origin = { requestId: 'request', address: '127.0.0.1' };
    await expect(usePasswordLink(identity.context, token, password, origin)).rejects.toThrow(UnusableLink);
    const link = await prisma.password_link.findUniqueOrThrow({ where: { digest: digestOf(token) } });
    expect(link.used_at).toBeNull();
    expect(await acts('password.changed')).toEqual([]);
  });

  it('refuses the form of another session and of another link', async () => {
    const [first, second] = [await resetLink(), await invitationFor((await invite()).id)];
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

  it('is one of a few that work at the same time; using one ends the others', async () => {
    const links = [];
    for (let i = 0; i <= maxOpenLinks; i += 1) links.push(await resetLink());
    expectSpent(await openLink(links[0] as string));
    expect((await openLink(links[1] as string)).status).toBe(200);
    expect((await setPassword(links[2] as string)).status).toBe(303);
    for (const link of links) expectSpent(await openLink(link));
  });

  it('is deleted when it has expired, and not before', async () => {
    const { prisma } = identity.context;
    const [old, open] = [await resetLink(), await resetLink()];
    const where = { digest: digestOf(tokenOf(old)) };
    await prisma.password_link.update({ where, data: { expires_at: new Date(Date.now() - 1_000) } });
    await sweep(prisma, { accessTokenSeconds: 7_200, grantSeconds: 7_776_000 });
    expect(await prisma.password_link.findUnique({ where })).toBeNull();
    expect((await openLink(open)).status).toBe(200);
  });
});

describe('a reset', () => {
  it('ends sessions, and the tokens and codes of every application: the password may have leaked', async () => {
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
    // Consents stay: they are the user's own decision.
    await logInAlone(identity, { email: account.admin_email, password });
    const again = await codeOf(identity, { ...account, admin_password: password });
    expect((await exchange(identity, account, again)).status).toBe(200);
  });

  it('prevents sessions of log-ins whose password was checked before it', async () => {
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
        if (right) checked += 1; // the others only take the same time
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

  it('leaves the tokens of applications themselves and of other users alone', async () => {
    const { id, email } = await invite({ password });
    const other = { ...account, admin_email: email, admin_password: password };
    const tokens = (await exchange(identity, account, await codeOf(identity, other))).body;
    await setPassword(await resetLink());
    expect((await refresh(identity, account, tokens.refresh_token)).status).toBe(200);
    expect((await account.admin('GET', `/users/${id}`)).status).toBe(200);
  });

  it('ends the browser’s session', async () => {
    const otherAccount = await identity.account();
    const browser = await logInAlone(identity, adminOf(otherAccount));
    const answer = await setPassword(await resetLink(), {}, browser);
    const page = await browser.open(answer.location as string);
    expect(page.status).toBe(200);
    expect(page.html).toContain('Your password is set.');
  });

  it('lets its user log in at once, however much others have guessed', async () => {
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
