// Logging in without an application, logging out, and the entries of both in the audit log.
import { Browser } from '@almanac/api-client/browser';
import { networkOf } from '@almanac/service-kit/http/client-address';
import { throttleRules } from '../../src/security/throttle.ts';
import {
  type Account,
  adminOf,
  authorizeUrl,
  formOf,
  givenIdentity,
  type Identity,
  logInAlone,
  openConsent,
} from '../given.ts';

let identity: Identity;
let account: Account;
const password = 'correct horse battery';
let made = 0;

beforeAll(async () => {
  identity = await givenIdentity();
});
beforeEach(async () => {
  account = await identity.account();
});
afterAll(() => identity.close());

const newEmail = () => `person${++made}@example.com`;
const newUser = async (of: Account, email: string, more = {}) =>
  (await of.admin('POST', '/users', { email, password, ...more })).body;
const tryAlone = async (person: Record<string, string>, browser = new Browser()) => {
  const page = await browser.open(`${identity.url}/oauth/login`);
  return browser.submit(page, formOf(page, '/oauth/login'), person);
};
const tryFor = async (of: Account, person: Record<string, string>, browser = new Browser()) => {
  const page = await browser.open(authorizeUrl(identity, of));
  return browser.submit(page, formOf(page, '/oauth/login'), person);
};
const acts = (account_id = account.account_id) =>
  identity.context.prisma.audit_event.findMany({
    where: { account_id, OR: [{ action: { startsWith: 'log' } }] },
    orderBy: { id: 'asc' },
  });

describe('log-in without an application', () => {
  it('leads to the user’s own applications, and so does the log-in page from then on', async () => {
    const browser = await logInAlone(identity, adminOf(account));
    const page = await browser.open(`${identity.url}/oauth/login`);
    expect([page.status, page.location]).toEqual([303, `${identity.url}/oauth/applications`]);
    expect((await browser.open(page.location as string)).html).toContain(account.admin_email);
  });

  it('counts for applications, too: the consent page asks for no password', async () => {
    const browser = await logInAlone(identity, adminOf(account));
    const page = await browser.open(authorizeUrl(identity, account));
    expect(page.html).not.toContain('type="password"');
  });

  it('finds the user whose password it is, so that a user of another account with the same address reveals and blocks nothing', async () => {
    const [own, hostile] = [await identity.account(), await identity.account()];
    const email = newEmail();
    await newUser(own, email);
    await newUser(hostile, email, { password: 'battery horse correct' });
    for (const [each, its] of [
      [own, password],
      [hostile, 'battery horse correct'],
    ] as const) {
      const browser = await logInAlone(identity, { email, password: its });
      const page = await browser.open(`${identity.url}/oauth/applications`);
      expect(page.html).toContain(`Account number: ${each.account_id}.`);
    }
  });

  it('needs the account number only when the password is right in several accounts', async () => {
    const [first, second] = [await identity.account(), await identity.account()];
    const email = newEmail();
    await newUser(first, email);
    expect((await tryAlone({ email, password })).status).toBe(303);
    await newUser(second, email);
    const ambiguous = await tryAlone({ email, password });
    expect(ambiguous.status).toBe(422);
    expect(ambiguous.html).toContain('If your address is in several accounts, give the account number.');
    for (const { account_id } of [first, second]) {
      const browser = await logInAlone(identity, { email, password }, { account: ` ${account_id} ` });
      const page = await browser.open(`${identity.url}/oauth/applications`);
      expect(page.html).toContain(`Account number: ${account_id}.`);
    }
  });

  it('ignores disabled and invited users with the same address', async () => {
    const [first, second, third] = [await identity.account(), await identity.account(), await identity.account()];
    const email = newEmail();
    await newUser(first, email);
    const disabled = await newUser(second, email);
    await third.admin('POST', '/users', { email });
    await identity.context.prisma.user.update({ where: { id: disabled.id }, data: { status: 'suspended' } });
    expect((await tryAlone({ email, password })).status).toBe(303);
  });

  it('responds to every failure alike, with the same work', async () => {
    const [first, second] = [await identity.account(), await identity.account()];
    const twice = newEmail();
    for (const each of [first, second]) await newUser(each, twice);
    const disabled = newEmail();
    const { id } = await newUser(first, disabled);
    await identity.context.prisma.user.update({ where: { id }, data: { status: 'suspended' } });
    const invited = newEmail();
    await first.admin('POST', '/users', { email: invited });
    const { passwords } = identity.context;
    let checks = 0;
    identity.context.passwords = {
      ...passwords,
      verify(...given) {
        checks += 1;
        return passwords.verify(...given);
      },
    };
    const seen = async (person: { email: string; password: string; account?: string }) => {
      const before = checks;
      const answer = await tryAlone(person);
      const { csrf } = formOf(answer, '/oauth/login').fields as { csrf: string };
      const html = answer.html.replace(/value="[^"]*"/g, '').replaceAll(csrf, '');
      return { status: answer.status, html, checks: checks - before };
    };
    const wrong = await seen({ email: account.admin_email, password: 'wrong password' });
    expect(wrong).toMatchObject({ status: 422, checks: 3 });
    const within = await seen({ email: twice, password: 'wrong password', account: String(first.account_id) });
    expect(within).toMatchObject({ status: 422, checks: 1 });
    for (const person of [
      { email: newEmail(), password },
      { email: twice, password },
      { email: disabled, password },
      { email: invited, password },
      { email: invited, password: '' },
      { email: '', password },
      { email: `${twice}\0`, password },
      { email: twice, password, account: String(account.account_id) },
      { email: twice, password, account: '999999999' },
      { email: twice, password, account: '0' },
      { email: twice, password, account: '-1' },
      { email: twice, password, account: '1e1' },
      { email: twice, password, account: `${first.account_id};` },
      { email: twice, password, account: '9'.repeat(40) },
      { email: 'x'.repeat(10_000), password },
      { email: twice, password: 'x'.repeat(10_000), account: String(first.account_id) },
    ])
      expect(await seen(person)).toEqual('account' in person ? within : wrong);
    identity.context.passwords = passwords;
  });

  it('gives a new session id; the old one is invalid', async () => {
    const browser = new Browser();
    await browser.open(`${identity.url}/oauth/login`);
    const before = browser.cookies.get('almanac_session') as string;
    expect((await tryAlone(adminOf(account), browser)).status).toBe(303);
    expect(browser.cookies.get('almanac_session')).not.toBe(before);
    const thief = new Browser();
    thief.cookies.set('almanac_session', before);
    expect((await thief.open(`${identity.url}/oauth/applications`)).location).toBe(`${identity.url}/oauth/login`);
  });

  it('keeps the input in its form, except the password', async () => {
    const answer = await tryAlone({ email: '"><b>@x', password: 'wrong-password', account: '7' });
    expect(answer.html).toContain('value="&quot;&gt;&lt;b&gt;@x"');
    expect(answer.html).toContain('value="7"');
    expect(answer.html).not.toContain('wrong-password');
  });

  it('throttles guessing, but not on a known device of the user', async () => {
    const known = await logInAlone(identity, adminOf(account));
    known.cookies.delete('almanac_session');
    const wrong = { ...adminOf(account), password: 'wrong password' };
    const statuses: number[] = [];
    for (let i = 0; i < 7; i += 1) statuses.push((await tryAlone(wrong)).status);
    expect(statuses).toEqual([422, 422, 422, 422, 422, 429, 429]);
    const right = await tryAlone(adminOf(account));
    expect([right.status, Number(right.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect((await tryAlone(adminOf(account), known)).status).toBe(303);
    // Tries here reveal nothing about the account: its own tries have other counters.
    expect((await tryFor(account, adminOf(account))).status).toBe(303);
  });
});

describe('an address that a user of another account has, too', () => {
  const [own, other] = [password, 'battery horse correct'];
  let victims: Account;
  let hostile: Account;
  let email: string;
  let victim: { id: number; password_hash: string };
  /** The stored hashes that passwords were checked against; `undefined` without a user. */
  let checked: (string | null | undefined)[];
  let passwords: Identity['context']['passwords'];

  beforeEach(async () => {
    [victims, hostile] = [await identity.account(), await identity.account()];
    email = newEmail();
    victim = await storedUser((await newUser(victims, email)).id);
    await newUser(hostile, email, { password: other });
    checked = [];
    const answers = new Map<string, Promise<boolean>>();
    passwords = identity.context.passwords;
    identity.context.passwords = {
      ...passwords,
      // Each hash once.
      verify(secret, stored) {
        checked.push(stored);
        const about = `${secret} ${stored}`;
        const answer = answers.get(about) ?? passwords.verify(secret, stored);
        answers.set(about, answer);
        return answer;
      },
    };
  });
  afterEach(() => {
    identity.context.passwords = passwords;
  });

  const storedUser = async (id: number) => {
    const { password_hash } = await identity.context.prisma.user.findFirstOrThrow({ where: { id } });
    return { id, password_hash: password_hash as string };
  };
  const from = (address: string) => new Browser({ 'X-Forwarded-For': address });
  const guess = async (browser: Browser, secret: string, more = {}) => {
    browser.cookies.delete('almanac_session');
    const { status } = await tryAlone({ email, password: secret, ...more }, browser);
    await prolongWaits();
    return status;
  };
  // Waits start with two seconds: too short for a slow machine.
  const prolongWaits = () =>
    identity.context.prisma.$executeRawUnsafe(
      `update rate_limit set expire = $1 where key like 'wait.%' and expire > $2`,
      Date.now() + 600_000,
      Date.now(),
    );
  const times = async <T>(n: number, work: () => Promise<T>) => {
    const all: T[] = [];
    for (let i = 0; i < n; i += 1) all.push(await work());
    return all;
  };
  const checksOf = ({ password_hash }: { password_hash: string }) =>
    checked.filter((stored) => stored === password_hash).length;

  it('can’t be guessed at without limit by a user who logs in as themself in between', async () => {
    const browser = from('198.18.1.1');
    for (let round = 0; round < 6; round += 1) {
      expect(await guess(browser, other)).toBe(303);
      await times(4, () => guess(browser, 'wrong password'));
    }
    expect(checksOf(victim)).toBe(5);
    expect(await guess(from('198.18.2.1'), own)).toBe(303);
    expect(await guess(from('198.18.1.1'), own, { account: String(victims.account_id) })).toBe(303);
  });

  it('is throttled as much from a known device of the other user', async () => {
    const browser = from('198.18.3.1');
    expect(await guess(browser, other)).toBe(303);
    const statuses = await times(8, () => guess(browser, 'wrong password'));
    expect(statuses).toEqual([422, 422, 422, 422, 422, 429, 429, 429]);
    expect(checksOf(victim)).toBe(5);
  });

  it('keeps its known device: neither other addresses nor the other user’s device lock it out', async () => {
    const known = from('198.18.4.1');
    expect(await guess(known, own)).toBe(303);
    const outsider = from('198.18.4.1');
    expect(await times(7, () => guess(outsider, 'wrong password'))).toContain(429);
    expect(await guess(known, own)).toBe(303);
    // That has cleared the counters of this device alone.
    expect(await guess(outsider, 'wrong password')).toBe(429);
  });

  it('admits a known device of one user from a throttled network, without checking the other user', async () => {
    const known = from('198.18.40.1');
    expect(await guess(known, other)).toBe(303);
    const network = [{ rule: 'logInNetwork', key: networkOf('198.18.40.1') }] as const;
    for (let i = 0; i < throttleRules.logInNetwork.tries; i += 1) await identity.context.throttle.count([...network]);
    await prolongWaits();
    checked = [];
    expect(await guess(from('198.18.40.1'), own)).toBe(429);
    expect(await guess(known, 'wrong password')).toBe(422);
    expect(await guess(known, other)).toBe(303);
    expect([checksOf(victim), checked.length]).toEqual([0, 6]);
    expect(await identity.context.throttle.waitSeconds([...network])).toBeGreaterThan(0);
  });

  it('counts a log-in of the other user as a try at this one, so a password set to compare reveals no more', async () => {
    const statuses = await times(9, () => guess(from('198.18.5.1'), other));
    expect(statuses).toEqual(Array(9).fill(303));
    expect(checksOf(victim)).toBe(5);
    expect(checked).toHaveLength(27);
  });

  it('treats a password of both as wrong, for each of them', async () => {
    const namesake = await identity.context.prisma.user.findFirstOrThrow({
      where: { account_id: hostile.account_id, email },
    });
    await hostile.admin('PATCH', `/users/${namesake.id}`, { password: own });
    const shown = async (secret: string) => {
      const answer = await tryAlone({ email, password: secret }, from('198.18.6.1'));
      const { csrf } = formOf(answer, '/oauth/login').fields as { csrf: string };
      return { status: answer.status, html: answer.html.replaceAll(csrf, '') };
    };
    expect(await shown(own)).toEqual(await shown('wrong password'));
    expect(await times(4, () => guess(from('198.18.6.1'), own))).toEqual([422, 422, 422, 429]);
    expect(await acts(victims.account_id)).toHaveLength(6);
    expect((await acts(hostile.account_id)).map(({ action }) => action)).toEqual([
      ...Array(5).fill('login.failed'),
      'login.throttled',
    ]);
  });

  it('looks like an address of one user when either user is throttled', async () => {
    const alone = newEmail();
    await newUser(hostile, alone, { password: other });
    const seen = async (address: string, network: number) => {
      const browser = from(`198.18.${network}.1`);
      const answer = (secret: string, by = browser) => guess(by, secret, { email: address });
      const statuses = [await answer(other)];
      statuses.push(...(await times(7, () => answer('wrong password'))));
      // The same device from another network, then the same network without the device.
      const moved = from(`198.18.${network + 1}.1`);
      moved.cookies.set('almanac_device', browser.cookies.get('almanac_device') as string);
      statuses.push(await answer('wrong password', moved), await answer(other, moved));
      statuses.push(await answer('wrong password', from(`198.18.${network}.1`)));
      const before = checked.length;
      statuses.push(await answer(other, from(`198.18.${network}.2`)));
      return [...statuses, checked.length - before];
    };
    expect(await seen(email, 10)).toEqual(await seen(alone, 20));
  });

  it('has failures and throttling in the audit log of each account, and a user’s log-in in their account alone', async () => {
    const nobodys = (await acts(0)).length;
    const browser = from('198.18.30.1');
    await times(8, () => guess(browser, 'wrong password'));
    for (const { account_id } of [victims, hostile]) {
      const kept = await acts(account_id);
      expect(kept.map(({ action }) => action)).toEqual([...Array(5).fill('login.failed'), 'login.throttled']);
      expect(new Set(kept.map(({ user_id, address }) => `${user_id === victim.id} ${address}`))).toEqual(
        new Set([`${account_id === victims.account_id} 198.18.30.1`]),
      );
    }
    expect(await acts(0)).toHaveLength(nobodys);
    expect(await guess(from('198.18.31.1'), own)).toBe(303);
    expect(await acts(victims.account_id)).toHaveLength(7);
    expect(await acts(hostile.account_id)).toHaveLength(6);
    // Guessing hidden behind log-ins of the other user is recorded when it is throttled.
    await times(7, () => guess(from('198.18.32.1'), other));
    expect((await acts(victims.account_id)).at(-1)).toMatchObject({
      action: 'login.throttled',
      user_id: victim.id,
      address: '198.18.32.1',
    });
  });
});

describe('log-out', () => {
  it('asks for confirmation, then ends the session and says so', async () => {
    const browser = await logInAlone(identity, adminOf(account));
    const page = await browser.open(`${identity.url}/oauth/logout`);
    expect(page.status).toBe(200);
    expect((await browser.open(`${identity.url}/oauth/applications`)).status).toBe(200);
    const session = browser.cookies.get('almanac_session') as string;
    const out = await browser.submit(page, formOf(page, '/oauth/logout'), {});
    expect([out.status, out.location]).toEqual([303, `${identity.url}/oauth/login`]);
    expect((await browser.open(out.location as string)).html).toContain('You are logged out.');
    browser.cookies.set('almanac_session', session);
    expect((await browser.open(`${identity.url}/oauth/applications`)).status).toBe(303);
  });

  it('asks nothing without a session', async () => {
    const page = await new Browser().open(`${identity.url}/oauth/logout`);
    expect(page.location).toBe(`${identity.url}/oauth/login`);
  });
});

describe('the audit log', () => {
  it('keeps each log-in, failed log-in and log-out, with user, application and address, and no secret', async () => {
    const browser = new Browser({ 'X-Forwarded-For': '198.51.100.7, 203.0.113.9' });
    const person = adminOf(account);
    await tryFor(account, { ...person, password: 'wrong password' }, browser);
    await tryFor(account, { email: newEmail(), password: 'wrong password' }, browser);
    const page = await openConsent(browser, authorizeUrl(identity, account), person);
    await browser.submit(page, formOf(page, '/oauth/logout'), {});
    await logInAlone(identity, person);
    const application = await identity.context.prisma.oauth_application.findFirstOrThrow({
      where: { client_id: account.client_id },
    });
    const [user_id, application_id, address] = [account.admin_user_id, application.id, '203.0.113.9'];
    const kept = await acts();
    expect(kept).toEqual([
      expect.objectContaining({ action: 'login.failed', result: 'failed', user_id, application_id, address }),
      expect.objectContaining({ action: 'login.failed', result: 'failed', user_id: null, application_id, address }),
      expect.objectContaining({ action: 'login.succeeded', result: 'succeeded', user_id, application_id, address }),
      expect.objectContaining({ action: 'logout', result: 'succeeded', user_id, address }),
      expect.objectContaining({ action: 'login.succeeded', user_id, application_id: null }),
    ]);
    expect(kept.every(({ request_id }) => request_id !== null)).toBe(true);
    const text = JSON.stringify(kept, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
    expect(text).not.toMatch(/wrong password|@example|person\d/);
    expect(text).not.toContain(account.admin_password);
  });

  it('keeps one entry a minute of many throttled tries', async () => {
    for (let i = 0; i < 12; i += 1) await tryFor(account, { ...adminOf(account), password: 'wrong password' });
    const kept = await acts();
    expect(kept.filter(({ action }) => action === 'login.failed')).toHaveLength(5);
    expect(kept.filter(({ action }) => action === 'login.throttled')).toEqual([
      expect.objectContaining({ result: 'refused', user_id: account.admin_user_id }),
    ]);
  });

  it('keeps tries that name no account under account 0', async () => {
    const before = (await acts(0)).length;
    await tryAlone({ email: newEmail(), password });
    expect(await acts(0)).toHaveLength(before + 1);
  });

  it('keeps no session without its entry', async () => {
    const { prisma } = identity.context;
    await prisma.$executeRawUnsafe(
      `alter table audit_event add constraint broken check (action <> 'login.succeeded') not valid`,
    );
    const answer = await tryAlone(adminOf(account));
    await prisma.$executeRawUnsafe('alter table audit_event drop constraint broken');
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(await prisma.session.count({ where: { user_id: account.admin_user_id } })).toBe(0);
  });
});
