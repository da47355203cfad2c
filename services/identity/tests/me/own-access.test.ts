// The caller's own password, and the browsers in which they are logged in.
import type { Call } from '@almanac/testkit/calls/call';
import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { throttleRules } from '../../src/security/throttle.ts';
import { type Account, actsOf, codeOf, exchange, givenIdentity, type Identity, logInAlone, refresh } from '../given.ts';

let identity: Identity;
let account: Account;

beforeAll(async () => {
  identity = await givenIdentity();
});
beforeEach(async () => {
  account = await identity.account();
});
afterAll(() => identity.close());

const password = 'correct horse battery';
const nextPassword = 'staple of a wooden gate';
let count = 0;
type Person = { id: number; email: string; call: Call };
const newPerson = async (more: Record<string, unknown> = {}): Promise<Person> => {
  count += 1;
  const user = { email: `own${count}@example.com`, password, ...more };
  const { body } = await account.admin('POST', '/users', { user });
  return { id: body.id, email: body.email, call: identity.as({ accountId: account.account_id, userId: body.id }) };
};
const change = ({ call }: Person, current_password: string, new_password = nextPassword) =>
  call('PUT', '/me/password', { current_password, new_password });
const logIn = ({ email }: Person, word = password) =>
  logInAlone(identity, { email, password: word }, { account: String(account.account_id) });

describe('the own password', () => {
  it('is changed with the current one, which logs in no more', async () => {
    const person = await newPerson();
    expect((await change(person, password)).status).toBe(204);
    await expect(logIn(person)).rejects.toThrow('Not logged in');
    await logIn(person, nextPassword);
    const [act] = await actsOf(identity, account, 'password.changed');
    expect(act).toMatchObject({ user_id: person.id, resource_id: person.id, after: { by: 'user' } });
    await eventually(() =>
      expect(identity.mails.map(({ payload }) => payload)).toContainEqual(
        expect.objectContaining({ template: 'password_changed', user_ids: [person.id] }),
      ),
    );
  });

  it('ends sessions, tokens and links', async () => {
    const admin = { id: account.admin_user_id, email: account.admin_email, call: account.admin };
    await logInAlone(identity, { email: account.admin_email, password: account.admin_password });
    const { body: tokens } = await exchange(identity, account, await codeOf(identity, account));
    const unused = await codeOf(identity, account);
    expect((await change(admin, account.admin_password)).status).toBe(204);
    expect(await identity.context.prisma.session.count({ where: { user_id: admin.id } })).toBe(0);
    expect((await refresh(identity, account, tokens.refresh_token)).body.error).toBe('invalid_grant');
    expect((await exchange(identity, account, unused)).body.error).toBe('invalid_grant');
    await eventually(() => expect(identity.events.map(({ type }) => type)).toContain('identity.token.revoked'));
  });

  it('stays when the current one is wrong, which is recorded', async () => {
    const person = await newPerson();
    expect(await change(person, 'wrong horse battery')).toMatchObject({
      status: 422,
      body: refusal('Validation failed', 'invalid', 'Current password is wrong', { field: 'current_password' }),
    });
    await logIn(person);
    expect(await actsOf(identity, account, 'password_change.failed')).toMatchObject([
      { user_id: person.id, resource_id: person.id, result: 'failed' },
    ]);
  });

  it('can be tried as often as a log-in, and counts with those', async () => {
    const person = await newPerson();
    const { tries } = throttleRules.logInFrom;
    const statuses: number[] = [];
    for (let number = 0; number <= tries; number += 1) statuses.push((await change(person, 'wrong')).status);
    expect(statuses.slice(0, tries - 1)).toEqual(Array(tries - 1).fill(422));
    expect(statuses.at(-1)).toBe(429);
    const refused = await change(person, password);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await expect(logIn(person)).rejects.toThrow('Not logged in: 429');
    expect(await actsOf(identity, account, 'password_change.throttled')).toHaveLength(1);
  });

  it('follows the rules of the pages, and says every problem at once', async () => {
    const person = await newPerson({ first_name: 'Ada', last_name: 'Lovelace' });
    expect(await person.call('PUT', '/me/password', { new_password: 'short' })).toMatchObject({
      status: 422,
      body: {
        problems: [
          { code: 'blank', field: 'current_password' },
          { code: 'too_short', field: 'new_password', params: { minimum: 12 } },
        ],
      },
    });
    expect(await change(person, password, 'lovelacelovelace')).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'invalid', field: 'new_password' }] },
    });
    expect(await actsOf(identity, account, 'password_change.failed')).toEqual([]);
    await logIn(person);
  });

  it('is none of a service user, nor of an application', async () => {
    const { body } = await account.admin('POST', '/users', { user: { user_type: 'service', first_name: 'Robot' } });
    const robot = { id: body.id, email: '', call: identity.as({ accountId: account.account_id, userId: body.id }) };
    expect(await change(robot, password)).toMatchObject({
      status: 422,
      body: refusal('Validation failed', 'not_allowed', 'A service user has no password.'),
    });
    expect((await change({ ...robot, call: account.machine }, password)).status).toBe(401);
  });
});

describe('own sessions', () => {
  const sessionsOf = async ({ call }: Person) => (await call('GET', '/me/sessions?sort=id')).body.data;

  it('are the browsers in which the user is logged in', async () => {
    const [person, other] = [await newPerson(), await newPerson()];
    await logIn(person);
    await logIn(other);
    const { status, body } = await person.call('GET', '/me/sessions');
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [
        {
          id: expect.any(Number),
          address: expect.stringMatching(/127\.0\.0\.1|::1/),
          user_agent: expect.any(String),
          created_at: expect.any(String),
          expires_at: expect.any(String),
        },
      ],
      meta: { page: 1, per_page: 100, total_count: 1, total_pages: 1 },
    });
  });

  it('are ended one by one, or all at once', async () => {
    const person = await newPerson();
    const browsers = [await logIn(person), await logIn(person), await logIn(person)];
    const isLoggedIn = async (number: number) =>
      (await browsers[number]?.open(`${identity.url}/oauth/applications`))?.status === 200;
    const [first] = await sessionsOf(person);
    expect((await person.call('DELETE', `/me/sessions/${first.id}`)).status).toBe(204);
    expect([await isLoggedIn(0), await isLoggedIn(1), await isLoggedIn(2)]).toEqual([false, true, true]);
    expect((await person.call('DELETE', `/me/sessions/${first.id}`)).status).toBe(404);
    expect((await person.call('DELETE', '/me/sessions', { id: first.id })).status).toBe(400);
    expect([await isLoggedIn(1), await isLoggedIn(2)]).toEqual([true, true]);
    expect((await person.call('DELETE', '/me/sessions')).status).toBe(204);
    expect([await isLoggedIn(1), await isLoggedIn(2)]).toEqual([false, false]);
    expect((await person.call('DELETE', '/me/sessions')).status).toBe(204);
    const ended = await actsOf(identity, account, 'session.ended');
    expect(ended.map(({ after }) => after)).toEqual([{ sessions: 1 }, { sessions: 2 }]);
  });

  it('of others are not found', async () => {
    const [person, other] = [await newPerson(), await newPerson()];
    await logIn(other);
    const [theirs] = await sessionsOf(other);
    expect((await person.call('DELETE', `/me/sessions/${theirs.id}`)).status).toBe(404);
    expect((await account.admin('DELETE', `/me/sessions/${theirs.id}`)).status).toBe(404);
    expect((await account.machine('DELETE', `/me/sessions/${theirs.id}`)).status).toBe(401);
    await person.call('DELETE', '/me/sessions');
    expect(await sessionsOf(other)).toHaveLength(1);
  });

  it('that have expired are not listed', async () => {
    const person = await newPerson();
    await logIn(person);
    await identity.context.prisma.session.updateMany({
      where: { user_id: person.id },
      data: { expires_at: new Date('2026-01-01') },
    });
    expect(await sessionsOf(person)).toEqual([]);
  });
});
