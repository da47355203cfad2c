// Requesting a link to set a new password: the same page for every address, and a mail to its
// users.
import { Browser, type PageSeen } from '@almanac/api-client/browser';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, authorizeUrl, formOf, givenIdentity, type Identity } from '../given.ts';
import { linkFor, mailsTo, password, setPassword } from './password-forms.ts';

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

const invite = async () => (await account.admin('POST', '/users', { email: `invited${++made}@example.com` })).body;
const acts = (action: string) =>
  identity.context.prisma.audit_event.findMany({ where: { account_id: account.account_id, action } });

describe('a request for a new password', () => {
  const ask = async (email: string, { url = `${identity.url}/oauth/password/forgot`, browser = visitor() } = {}) => {
    const page = await browser.open(url);
    return browser.submit(page, formOf(page, '/oauth/password/forgot'), { email });
  };
  // Each comes from another network, so that the tests don't throttle each other.
  let network = 0;
  const visitor = () => {
    network += 1;
    return new Browser({ 'X-Forwarded-For': `10.${network >> 8}.${network & 255}.1` });
  };

  it('is linked from both log-in pages, and leads back to them', async () => {
    for (const url of [`${identity.url}/oauth/login`, authorizeUrl(identity, account, { state: 'a&b"c' })]) {
      const browser = new Browser();
      const link = hrefOf(await browser.open(url), 'Forgot your password?');
      const page = await browser.open(link);
      expect(page.status).toBe(200);
      const back = await browser.open(hrefOf(page, 'Back to log-in'));
      expect(back.forms[0]?.action).toBe('/oauth/login');
      expect(back.html.includes('First application')).toBe(url.includes('authorize'));
    }
  });

  it('requests a mail to the user with the address, in the application’s account', async () => {
    const elsewhere = await identity.account();
    await elsewhere.admin('POST', '/users', { email: account.admin_email, password });
    const url = authorizeUrl(identity, account).replace('/authorize', '/password/forgot');
    const page = await ask(` ${account.admin_email.toUpperCase()}`, { url });
    expect(page.status).toBe(200);
    await eventually(() => expect(mailsTo(identity, account.admin_user_id)).toEqual(['password_reset']));
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

  it('without an application requests a mail to each active user with the address', async () => {
    const email = `shared${++made}@example.com`;
    const ids: number[] = [];
    for (const status of ['active', 'active', 'suspended']) {
      const of = await identity.account();
      const { id } = (await of.admin('POST', '/users', { email, password })).body;
      await identity.context.prisma.user.update({ where: { id }, data: { status } });
      ids.push(id);
    }
    await ask(email);
    await eventually(() =>
      expect(ids.slice(0, 2).map((id) => mailsTo(identity, id))).toEqual([['password_reset'], ['password_reset']]),
    );
    expect(mailsTo(identity, ids[2] as number)).toEqual([]);
  });

  it('shows the same page for known and unknown addresses, and is recorded', async () => {
    const seen = async (email: string) => {
      const page = await ask(email);
      return { status: page.status, html: page.html.replaceAll(email.replace('\0', ''), 'EMAIL') };
    };
    const known = await seen(account.admin_email);
    expect(known.status).toBe(200);
    const { id } = await invite();
    await identity.context.prisma.user.update({
      where: { id },
      data: { status: 'suspended', email_key: `off${id}@x` },
    });
    for (const email of [`unknown${++made}@example.com`, `off${id}@x`, 'not an address', 'a\0b'])
      expect(await seen(email)).toEqual(known);
    const { email } = await invite();
    expect(await seen(email)).toEqual(known);
    const url = authorizeUrl(identity, account).replace('/authorize', '/password/forgot');
    await ask(`unknown${++made}@example.com`, { url });
    expect(await acts('password_reset.requested')).toEqual([
      expect.objectContaining({ result: 'succeeded' }),
      expect.objectContaining({ result: 'failed', user_id: null, application_id: expect.any(Number) }),
    ]);
  });

  it('is throttled for each mailbox, from wherever it comes, and reveals no users', async () => {
    const statusesOf = async (email: string) => {
      const one = visitor();
      const statuses = [];
      for (let i = 0; i < 5; i += 1) statuses.push((await ask(email, { browser: one })).status);
      for (let i = 0; i < 5; i += 1) statuses.push((await ask(email)).status);
      return statuses;
    };
    const known = await statusesOf(account.admin_email);
    expect(known).toEqual([200, 200, 200, 429, 429, 200, 200, 200, 429, 429]);
    expect(await statusesOf(`unknown${++made}@example.com`)).toEqual(known);
    await eventually(() => expect(mailsTo(identity, account.admin_user_id)).toHaveLength(6));
    const page = await ask(account.admin_email);
    expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(page.html).toContain('role="alert"');
  });

  it('is throttled for each network', async () => {
    const browser = visitor();
    const statuses = [];
    for (let i = 0; i < 31; i += 1) statuses.push((await ask(`unknown${++made}@example.com`, { browser })).status);
    expect(statuses.slice(0, 30)).toEqual(Array(30).fill(200));
    expect(statuses.slice(30)).toEqual([429]);
  });

  it('continues the application’s request once the password is set in the same browser', async () => {
    const url = authorizeUrl(identity, account, { state: 'kept', scope: 'api:read' });
    const browser = visitor();
    await ask(account.admin_email, { url: url.replace('/authorize', '/password/forgot'), browser });
    const answer = await setPassword(await linkFor(identity, account), {}, browser);
    expect(new URL(answer.location as string).searchParams.get('state')).toBe('kept');
    const page = await browser.open(answer.location as string);
    expect(page.html).toContain('Your password is set.');
    expect(page.html).toContain('First application');
    const next = await setPassword(await linkFor(identity, account), {}, browser);
    expect(next.location).toBe(`${identity.url}/oauth/login`);
  });

  it('continues no request that was planted, is for another account or is no longer valid', async () => {
    const otherAccount = await identity.account();
    const packed = (query: string) => Buffer.from(query).toString('base64url');
    const queryOf = (url: string) => new URL(url).search.slice(1);
    for (const request of [
      packed(queryOf(authorizeUrl(identity, otherAccount))),
      packed(queryOf(authorizeUrl(identity, account, { redirect_uri: 'https://evil.test' }))),
      packed(queryOf(authorizeUrl(identity, account, { scope: 'everything' }))),
      packed('//evil.test'),
      'https://evil.test',
      '%00',
    ]) {
      const browser = new Browser();
      browser.cookies.set('almanac_request', request);
      const answer = await setPassword(await linkFor(identity, account), {}, browser);
      expect(answer.location).toBe(`${identity.url}/oauth/login`);
    }
  });
});

function hrefOf(page: PageSeen, text: string): string {
  const href = new RegExp(`<a href="([^"]*)">${text.replace('?', '\\?')}</a>`).exec(page.html)?.[1];
  if (href === undefined) throw new Error(`No link ${text}: ${page.html}`);
  return new URL(href.replaceAll('&amp;', '&').replaceAll('&quot;', '"'), page.url).href;
}
