// The session of a browser as the console uses it: the way through the log-in, who is logged in,
// how long, the password given once more, and the end, of which gateways hear.
import { createHash } from 'node:crypto';
import { Browser } from '@almanac/api-client/browser';
import { eventually } from '@almanac/testkit/eventually';
import { throttleRules } from '../../src/security/throttle.ts';
import { type Account, actsOf, adminOf, formOf, givenIdentity, type Identity, logInAlone } from '../given.ts';

let identity: Identity;
let account: Account;
beforeAll(async () => {
  identity = await givenIdentity();
});
beforeEach(async () => {
  account = await identity.account();
});
afterAll(() => identity.close());

const hour = 3_600_000;

const cookieOf = (browser: Browser) => `almanac_session=${browser.cookies.get('almanac_session')}`;
const digestOf = (browser: Browser) =>
  createHash('sha256')
    .update(browser.cookies.get('almanac_session') ?? '')
    .digest();
const resolve = (browser: Browser) =>
  identity.rpc('gateway').ResolveSession({ accountId: 0 }, { digest: digestOf(browser) });
const isOver = (browser: Browser) => expect(resolve(browser)).rejects.toMatchObject({ kind: 'not_found' });
const call = (browser: Browser, method: string, path = '', body?: object, more: Record<string, string> = {}) =>
  fetch(`${identity.url}/console/session${path}`, {
    method,
    headers: { cookie: cookieOf(browser), 'content-type': 'application/json', ...more },
    ...(body && { body: JSON.stringify(body) }),
  });
const confirm = (browser: Browser, password: string) => call(browser, 'POST', '/confirm', { password });
const update = (browser: Browser, data: object) =>
  identity.context.prisma.session.update({ where: { digest: new Uint8Array(digestOf(browser)) }, data });
const revocations = (id: number) =>
  identity.context.prisma.revocation.findMany({ where: { kind: 'token', subject: `session:${id}` } });

const logInFor = async (returnTo: string, browser = new Browser()) => {
  const page = await browser.open(`${identity.url}/oauth/login?${new URLSearchParams({ return_to: returnTo })}`);
  return { browser, page };
};

describe('a log-in for the console', () => {
  it('leads to the page that it was for, also after a wrong password', async () => {
    const to = '/console/tables/7?filter=a%20b&as_of=2026-01-01';
    const { browser, page } = await logInFor(to);
    expect(page.html).toContain('to continue to the console.');
    const again = await browser.submit(page, formOf(page, '/oauth/login'), { ...adminOf(account), password: 'wrong' });
    expect(again.status).toBe(422);
    const answer = await browser.submit(again, formOf(again, '/oauth/login'), adminOf(account));
    expect([answer.status, answer.location]).toEqual([303, `${identity.url}${to}`]);
  });

  it('is not needed by those who are logged in', async () => {
    const browser = await logInAlone(identity, adminOf(account));
    const { page } = await logInFor('/console/', browser);
    expect([page.status, page.location]).toEqual([303, `${identity.url}/console/`]);
  });

  it.each([
    'https://evil.example/console/',
    '//evil.example/console/',
    '/\\evil.example',
    '/console/../oauth/logout',
    '/console/%2e%2e/oauth/logout',
    '/console',
    '/oauth/applications',
    'console/',
    'javascript:alert(1)',
    `/console/${'x'.repeat(2_000)}`,
  ])('leads nowhere but to the console: %.40s', async (address) => {
    const { browser, page } = await logInFor(address);
    expect(page.html).not.toContain('console');
    const answer = await browser.submit(page, formOf(page, '/oauth/login'), adminOf(account));
    expect([answer.status, answer.location]).toEqual([303, `${identity.url}/oauth/login`]);
  });

  it('leads nowhere else by a form that was changed', async () => {
    const { browser, page } = await logInFor('/console/');
    const request = Buffer.from('return_to=/console/other').toString('base64url');
    const answer = await browser.submit(page, formOf(page, '/oauth/login'), { ...adminOf(account), request });
    expect([answer.status, answer.location]).toEqual([403, undefined]);
  });
});

describe('a session', () => {
  it('is resolved to its user, for gateways alone', async () => {
    const browser = await logInAlone(identity, adminOf(account));
    const session = await resolve(browser);
    const [log] = await actsOf(identity, account, 'login.succeeded');
    expect(session).toMatchObject({ account_id: account.account_id, user_id: log?.user_id });
    expect(Date.parse(session.confirmed_until) - Date.parse(session.started_at)).toBe(hour / 4);
    await expect(
      identity.rpc('jobs').ResolveSession({ accountId: 0 }, { digest: digestOf(browser) }),
    ).rejects.toMatchObject({ kind: 'forbidden' });
    const answer = await call(browser, 'GET');
    expect([answer.status, await answer.json()]).toEqual([200, session]);
  });

  it('is renewed by its use after half of its time, and not before', async () => {
    const browser = await logInAlone(identity, adminOf(account));
    const { expires_at: first } = await resolve(browser);
    expect((await resolve(browser)).expires_at).toBe(first);
    await update(browser, { expires_at: new Date(Date.now() + 5 * hour) });
    const { expires_at } = await resolve(browser);
    expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(11 * hour);
    expect((await resolve(browser)).expires_at).toBe(expires_at);
  });

  it('ends seven days after the log-in, however much it is used', async () => {
    const browser = await logInAlone(identity, adminOf(account));
    const created_at = new Date(Date.now() - 167 * hour);
    await update(browser, { created_at, expires_at: new Date(Date.now() + 60_000) });
    expect((await resolve(browser)).expires_at).toBe(new Date(created_at.getTime() + 168 * hour).toISOString());
    await update(browser, { expires_at: new Date(Date.now() - 1) });
    await isOver(browser);
    expect((await call(browser, 'GET')).status).toBe(401);
  });

  it('has a cookie that outlives it, since its use renews the session alone', async () => {
    const { browser, page } = await logInFor('/console/');
    const answer = await browser.submit(page, formOf(page, '/oauth/login'), adminOf(account));
    const cookie = answer.headers.getSetCookie().find((text) => text.startsWith('almanac_session='));
    expect(cookie).toMatch(/Max-Age=604800; Path=\/; .*HttpOnly; SameSite=Lax/);
  });
});

describe('the end of a session', () => {
  const person = async () => {
    const user = { email: `console${account.account_id}@example.com`, password: 'correct horse battery' };
    const { body } = await account.admin('POST', '/users', { user });
    return { id: body.id as number, ...user };
  };

  it.each<[string, (browser: Browser, id: number) => Promise<unknown>]>([
    ['the log-out', (browser) => call(browser, 'DELETE')],
    ['the list of sessions', (_, id) => asUser(id)('DELETE', '/me/sessions')],
    [
      'the suspension of the user',
      (_, id) => account.admin('PATCH', `/users/${id}`, { user: { status: 'suspended' } }),
    ],
    [
      'a new password',
      (_, id) => account.admin('PATCH', `/users/${id}`, { user: { password: 'battery horse correct' } }),
    ],
  ])('is announced to gateways: %s', async (_name, end) => {
    const user = await person();
    const browser = await logInAlone(identity, user);
    const before = new Browser();
    before.cookies.set('almanac_session', browser.cookies.get('almanac_session') as string);
    const { id } = await resolve(browser);
    await end(browser, user.id);
    await isOver(before);
    expect(await revocations(id)).toMatchObject([{ account_id: account.account_id, reason: 'session_ended' }]);
    await eventually(() =>
      expect(identity.events.map(({ payload }) => payload)).toContainEqual(
        expect.objectContaining({ kind: 'token', subject: `session:${id}`, account_id: account.account_id }),
      ),
    );
  });

  const asUser = (id: number) => identity.as({ accountId: account.account_id, userId: id });
});

describe('the password given once more', () => {
  it('counts for a quarter of an hour, and is in the audit log', async () => {
    const browser = await logInAlone(identity, adminOf(account));
    await update(browser, { created_at: new Date(Date.now() - hour) });
    expect(Date.parse((await resolve(browser)).confirmed_until)).toBeLessThan(Date.now());
    const answer = await confirm(browser, account.admin_password);
    const session = (await answer.json()) as { confirmed_until: string };
    expect(answer.status).toBe(200);
    expect(Date.parse(session.confirmed_until) - Date.now()).toBeGreaterThan(hour / 4 - 60_000);
    expect(await resolve(browser)).toEqual(session);
    expect(await actsOf(identity, account, 'session.confirmed')).toHaveLength(1);
  });

  it('is refused when it is wrong, counts with the log-ins, and confirms nothing', async () => {
    const browser = await logInAlone(identity, adminOf(account));
    await update(browser, { created_at: new Date(Date.now() - hour) });
    const { confirmed_until } = await resolve(browser);
    const tries: number[] = [];
    while (tries.at(-1) !== 429 && tries.length < 50) tries.push((await confirm(browser, 'wrong')).status);
    expect(new Set(tries)).toEqual(new Set([422, 429]));
    expect(tries.length).toBeGreaterThan(throttleRules.logInFrom.tries);
    expect((await resolve(browser)).confirmed_until).toBe(confirmed_until);
    expect((await actsOf(identity, account, 'session_confirmation.failed')).length).toBeGreaterThan(0);
    expect(await actsOf(identity, account, 'session_confirmation.throttled')).toHaveLength(1);
  });

  it.each<[string, object | undefined, number]>([
    ['no body', undefined, 400],
    ['no password', {}, 400],
    ['a number', { password: 7 }, 400],
    ['another property', { password: 'x', user_id: 7 }, 400],
    ['a text beyond any password', { password: 'x'.repeat(201) }, 400],
  ])('refuses %s', async (_name, body, status) => {
    const browser = await logInAlone(identity, adminOf(account));
    expect((await call(browser, 'POST', '/confirm', body)).status).toBe(status);
  });

  it('needs a session', async () => {
    expect((await confirm(new Browser(), account.admin_password)).status).toBe(401);
    expect((await call(new Browser(), 'DELETE')).status).toBe(204);
  });
});
