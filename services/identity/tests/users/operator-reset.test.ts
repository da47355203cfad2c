// A locked-out user gets a link from an operator.
import { Browser } from '@almanac/api-client/browser';
import { throttleRules } from '../../src/security/throttle.ts';
import { password, setPassword } from '../browser/password-forms.ts';
import {
  type Account,
  actsOf,
  adminOf,
  codeOf,
  exchange,
  formOf,
  givenIdentity,
  type Identity,
  logInAlone,
  refresh,
} from '../given.ts';

let identity: Identity;
let account: Account;
let call: { accountId: number };

beforeAll(async () => {
  identity = await givenIdentity();
});
beforeEach(async () => {
  account = await identity.account();
  call = { accountId: account.account_id };
});
afterAll(() => identity.close());

const reset = (more: Partial<{ email: string; end_sessions: boolean }> = {}, to = call) =>
  identity
    .rpc('operator')
    .ResetPassword(to, { email: account.admin_email.toUpperCase(), end_sessions: false, ...more });
const tryWith = async (wrong: string, more: Record<string, string> = {}) => {
  const browser = new Browser();
  const page = await browser.open(`${identity.url}/oauth/login`);
  const user = { email: account.admin_email, password: wrong, ...more };
  return (await browser.submit(page, formOf(page, '/oauth/login'), user)).status;
};

describe('a link from an operator', () => {
  it('sets a password once, and expires within an hour', async () => {
    const { url, expires_at } = await reset();
    expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(3_600_000);
    expect((await setPassword(url)).status).toBe(303);
    await logInAlone(identity, { email: account.admin_email, password });
    expect((await new Browser().open(url)).status).toBe(410);
    const [act] = await actsOf(identity, account, 'password_reset.requested');
    expect(act).toMatchObject({ user_id: null, after: { by: 'operator', ended_sessions: false } });
  });

  it('leaves sessions and tokens as they are until the password is set, unless it is asked to end them', async () => {
    const granted = (await exchange(identity, account, await codeOf(identity, account))).body;
    const browser = await logInAlone(identity, adminOf(account));
    const isLoggedIn = async () => (await browser.open(`${identity.url}/oauth/applications`)).status === 200;
    await reset();
    const again = (await refresh(identity, account, granted.refresh_token)).body;
    expect([await isLoggedIn(), typeof again.refresh_token]).toEqual([true, 'string']);
    await reset({ end_sessions: true });
    expect([await isLoggedIn(), (await refresh(identity, account, again.refresh_token)).body.error]).toEqual([
      false,
      'invalid_grant',
    ]);
    expect((await actsOf(identity, account, 'password_reset.requested')).at(-1)).toMatchObject({
      after: { ended_sessions: true },
    });
  });

  it('ends the waits after wrong passwords', async () => {
    for (let i = 0; i <= throttleRules.logInFrom.tries; i += 1) await tryWith('wrong');
    expect(await tryWith(account.admin_password)).toBe(429);
    await reset();
    expect(await tryWith(account.admin_password)).toBe(303);
  });

  it('is an invitation for a user who has no password yet', async () => {
    await account.admin('POST', '/users', { email: 'new@example.com' });
    const { url } = await reset({ email: 'new@example.com' });
    expect((await setPassword(url)).status).toBe(303);
    await logInAlone(identity, { email: 'new@example.com', password });
  });

  it('is refused for an unknown or suspended user, and for an unknown or closed account', async () => {
    await expect(reset({ email: 'who@example.com' })).rejects.toMatchObject({
      kind: 'not_found',
      message: expect.stringContaining('User'),
    });
    await expect(reset({}, { accountId: 999_999 })).rejects.toMatchObject({
      kind: 'not_found',
      message: expect.stringContaining('Account'),
    });
    const { body } = await account.admin('POST', '/users', { email: 'idle@example.com', password });
    await account.admin('PATCH', `/users/${body.id}`, { status: 'suspended' });
    await expect(reset({ email: 'idle@example.com' })).rejects.toMatchObject({ kind: 'wrong_state' });
    const { name } = await identity.rpc('operator').GetAccount(call, {});
    await identity.rpc('operator').DeleteAccount(call, { name, grace_days: 30, requested_by: 'ops' });
    await expect(reset()).rejects.toMatchObject({
      kind: 'wrong_state',
      message: `Account ${call.accountId} is closed.`,
    });
  });
});
