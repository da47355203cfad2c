// /users: creating, changing and deleting users, and the end of their tokens.
import { Browser } from '@almanac/api-client/browser';
import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import {
  type Account,
  authorizeUrl,
  codeOf,
  exchange,
  givenIdentity,
  type Identity,
  openConsent,
  whileHeld,
} from '../given.ts';

const password = 'correct horse battery';

describe('users', () => {
  let identity: Identity;
  let account: Account;

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account();
  });
  afterAll(() => identity.close());

  let count = 0;
  const newUser = async (more: Record<string, unknown> = {}, of = account) => {
    count += 1;
    return (await of.machine('POST', '/users', { email: `user${count}@example.com`, ...more })).body;
  };
  const mailsTo = (id: number) =>
    identity.mails
      .filter(({ payload }) => (payload.user_ids as number[])[0] === id)
      .map(({ payload }) => payload.template);
  const administratorsOf = async (of: Account) =>
    (await of.machine('GET', '/user_groups?q=name:eq:Administrators')).body.data[0].id as number;
  const newGroup = async (name: string) => (await account.machine('POST', '/user_groups', { name })).body.id as number;
  const join = (user_id: number, user_group_id: number, of = account) =>
    of.machine('POST', '/user_group_assignments', { user_id, user_group_id });

  it('are created invited, or active with a password, which is never shown', async () => {
    const invited = await account.admin('POST', '/users', {
      user: { email: ' Ada@Example.com ', first_name: 'Ada', last_name: 'Lovelace', license_type: 'end_user' },
    });
    expect(invited.status).toBe(201);
    expect(invited.body).toEqual({
      id: expect.any(Number),
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'Ada@Example.com',
      user_type: 'person',
      license_type: 'end_user',
      status: 'invited',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      updated_at: expect.any(String),
    });
    await eventually(() =>
      expect(identity.mails).toContainEqual(
        expect.objectContaining({
          payload: { account_id: account.account_id, template: 'invitation', user_ids: [invited.body.id], values: {} },
        }),
      ),
    );
    const active = await account.admin('PATCH', `/users/${invited.body.id}`, { 'user[password]': password });
    expect(active.body.status).toBe('active');
    const shown = await account.admin('GET', `/users/${invited.body.id}`);
    expect(shown.body.user_groups).toEqual([]);
    expect(JSON.stringify([active.body, shown.body])).not.toMatch(/password|argon2/);
    const person = { email: 'ada@example.com', password };
    expect((await openConsent(new Browser(), authorizeUrl(identity, account), person)).status).toBe(200);
  });

  it('accept null for a missing name', async () => {
    const made = await newUser({ first_name: null, last_name: null });
    expect(made).toMatchObject({ first_name: '', last_name: '', license_type: 'developer' });
    await account.machine('PATCH', `/users/${made.id}`, { first_name: 'Bo', last_name: 'Ek' });
    const cleared = await account.machine('PATCH', `/users/${made.id}`, { first_name: null });
    expect(cleared.body).toMatchObject({ first_name: '', last_name: 'Ek' });
  });

  it('report every problem', async () => {
    const none = await account.admin('POST', '/users', {});
    expect([none.status, none.body]).toEqual([
      422,
      refusal('Validation failed', 'blank', "Email can't be blank", { field: 'email' }),
    ]);
    const bad = await account.admin('POST', '/users', {
      email: 'nowhere',
      license_type: 'king',
      password: 'short',
      first_name: 'x'.repeat(256),
    });
    expect(bad.status).toBe(422);
    expect(bad.body.errors).toHaveLength(4);
    for (const email of [
      'a@b@c',
      'a b@c.d',
      '"a@evil.test, b"@c.d',
      'a@c.d\r\nBcc: e@f.g',
      'a@evil.test,b@c.d',
      '@c.d',
    ])
      expect((await account.admin('POST', '/users', { email })).status).toBe(422);
    expect((await account.admin('POST', '/users', { email: 5 })).status).toBe(400);
  });

  it('refuse attributes that clients can’t set', async () => {
    const user = await newUser();
    for (const more of [{ id: 1 }, { account_id: 1 }, { created_at: 'x' }, { password_hash: 'x' }])
      expect((await account.admin('PATCH', `/users/${user.id}`, more)).status).toBe(400);
    expect((await account.admin('GET', '/users?q=password_hash:contains:a')).status).toBe(400);
    expect((await account.admin('GET', '/users?sort=email_key')).status).toBe(400);
  });

  it('have a unique address in the account, whatever its case', async () => {
    const { email } = await newUser();
    const taken = refusal('Validation failed', 'taken', 'Email has already been taken', { field: 'email' });
    for (const twin of [email, email.toUpperCase(), `\uFF55${email.slice(1)}`]) {
      const answer = await account.admin('POST', '/users', { email: twin });
      expect([answer.status, answer.body]).toEqual([422, taken]);
    }
    const other = await newUser();
    expect((await account.admin('PATCH', `/users/${other.id}`, { email })).body).toEqual(taken);
    expect((await account.admin('POST', '/users', { email: email.replace('@', '+tag@') })).status).toBe(201);
    const otherAccount = await identity.account();
    expect((await otherAccount.admin('POST', '/users', { email })).status).toBe(201);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => account.admin('POST', '/users', { email: 'at-once@example.com' })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(422)]);
  });

  it('are listed by page, filter and order', async () => {
    const otherAccount = await identity.account();
    for (const name of ['Cy', 'Bo', 'Al']) await newUser({ first_name: name, last_name: 'Listed' }, otherAccount);
    const listed = await otherAccount.admin('GET', '/users?q=last_name:eq:Listed&sort=first_name&per_page=2&page=1');
    expect(listed.body.data.map(({ first_name }: { first_name: string }) => first_name)).toEqual(['Al', 'Bo']);
    expect(listed.body.meta).toEqual({ page: 1, per_page: 2, total_count: 3, total_pages: 2 });
    expect((await otherAccount.admin('GET', '/users?unknown=1')).status).toBe(400);
  });

  it('are for administrators only: 404 before 403, 403 before problems of the body', async () => {
    const { id } = await newUser();
    const ordinary = identity.as({ accountId: account.account_id, userId: id });
    expect((await ordinary('GET', '/users')).status).toBe(403);
    expect((await ordinary('PATCH', `/users/${id}`, { license_type: 'king' })).status).toBe(403);
    expect((await ordinary('PATCH', '/users/2147483647', { x: 1 })).status).toBe(404);
    expect((await ordinary('POST', '/users', { x: 1 })).status).toBe(403);
    expect((await ordinary('DELETE', `/users/${id}`)).status).toBe(403);
  });

  it('of another account are not found, byte for byte as if they never existed', async () => {
    const otherAccount = await identity.account();
    const { id } = await newUser();
    for (const [method, content] of [['GET'], ['PATCH', { first_name: 'X' }], ['DELETE']] as [string, unknown?][])
      for (const call of [otherAccount.admin, otherAccount.machine]) {
        const foreign = await call(method, `/users/${id}`, content);
        const unknown = await call(method, '/users/99999999999', content);
        expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
      }
    expect((await account.admin('GET', `/users/${id}`)).body.first_name).toBe('');
  });

  it('lose sessions with their old password, and get a mail about the new one', async () => {
    const { id, email } = await newUser({ password });
    const browser = new Browser();
    await openConsent(browser, authorizeUrl(identity, account), { email, password });
    expect((await browser.open(authorizeUrl(identity, account))).html).not.toContain('type="password"');
    await account.admin('PATCH', `/users/${id}`, { password: 'another horse battery' });
    expect((await browser.open(authorizeUrl(identity, account))).html).toContain('type="password"');
    await eventually(() => expect(mailsTo(id)).toEqual(['password_changed']));
  });

  it('are invited again, a few times an hour, while they have no password', async () => {
    const { id } = await newUser();
    const invite = (of = account.admin, whom: number = id) => of('POST', `/users/${whom}/send_invitation`);
    const answers = [await invite(), await invite(), await invite()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers[0]?.body).toMatchObject({ id, status: 'invited' });
    const tooOften = await invite();
    expect([tooOften.status, tooOften.body.error]).toEqual([429, 'Too many requests']);
    expect(Number(tooOften.headers.get('retry-after'))).toBeGreaterThan(3_000);
    expect((await invite(account.admin, (await newUser()).id)).status).toBe(200);
    await eventually(() => expect(mailsTo(id)).toEqual(Array(4).fill('invitation')));
  });

  it('are not invited without limit by deleting and creating them again', async () => {
    const email = 'flooded@example.com';
    const again = async () => {
      const made = await account.admin('POST', '/users', { email });
      if (made.status === 201) await account.admin('DELETE', `/users/${made.body.id}`);
      return made;
    };
    for (let i = 0; i < 10; i += 1) expect((await again()).status).toBe(201);
    const tooOften = await again();
    expect([tooOften.status, tooOften.body.error]).toEqual([429, 'Too many requests']);
    expect((await account.admin('POST', '/users', { email: ` F${email.slice(1).toUpperCase()}` })).status).toBe(429);
    expect((await account.admin('POST', '/users', { email, password })).status).toBe(201);
    const other = await identity.account();
    expect((await other.admin('POST', '/users', { email })).status).toBe(201);
  });

  it('use up no invitation of an address by a refused request, sequential or concurrent', async () => {
    const { id, email } = await newUser();
    const taken = refusal('Validation failed', 'taken', 'Email has already been taken', { field: 'email' });
    const refused = [];
    for (let i = 0; i < 11; i += 1) refused.push(await account.admin('POST', '/users', { email }));
    expect(refused.map(({ status, body }) => [status, body])).toEqual(Array(11).fill([422, taken]));
    const first = await account.admin('POST', `/users/${id}/send_invitation`);
    expect(first.status).toBe(200);
    const many = Array.from({ length: 20 }, () => account.admin('POST', '/users', { email: 'rush@example.com' }));
    const answers = await Promise.all(many);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(19).fill(422)]);
    const made = answers.find(({ status }) => status === 201)?.body.id;
    expect((await account.admin('POST', `/users/${made}/send_invitation`)).status).toBe(200);
  });

  it('are invited as often concurrently as sequentially, and a refused request sends no mail', async () => {
    const { id } = await newUser();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => account.admin('POST', `/users/${id}/send_invitation`)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, ...Array(5).fill(429)]);
    await eventually(() => expect(mailsTo(id)).toEqual(Array(4).fill('invitation')));
    const where = { action: 'user.invited', resource_id: id };
    expect(await identity.context.prisma.audit_event.count({ where })).toBe(3);
  });

  it('are invited by administrators only, and not once they are active', async () => {
    const { id } = await newUser({ password });
    const path = `/users/${id}/send_invitation`;
    expect((await identity.as({ accountId: account.account_id, userId: id })('POST', path)).status).toBe(403);
    const active = await account.machine('POST', path);
    expect([active.status, active.body]).toEqual([
      422,
      refusal('Wrong state', 'wrong_state', 'The user is active, not invited.', { params: { state: 'active' } }),
    ]);
    const otherAccount = await identity.account();
    expect((await otherAccount.admin('POST', path)).status).toBe(404);
    expect((await account.machine('POST', path, { hurry: true })).status).toBe(400);
  });

  it('are shown without a group that is deleted while they are read', async () => {
    const { id } = await newUser();
    const [kept, removed] = [await newGroup('Kept'), await newGroup('Removed')];
    for (const group of [kept, removed]) await join(id, group);
    const shown = await whileHeld(identity, 'user_group', () => account.machine('GET', `/users/${id}`), removed);
    expect([shown.status, shown.body.user_groups]).toEqual([200, [{ id: kept, name: 'Kept' }]]);
  });

  it('are deleted with their tokens, sessions and memberships', async () => {
    const { id, email } = await newUser({ password });
    await join(id, await administratorsOf(account));
    const person = { ...account, admin_email: email, admin_password: password };
    const issued = await exchange(identity, account, await codeOf(identity, person));
    expect(issued.status).toBe(200);
    expect((await account.admin('DELETE', `/users/${id}`)).status).toBe(204);
    expect((await account.admin('GET', `/users/${id}`)).status).toBe(404);
    const { revocations } = await identity.rpc('gateway').ListRevocations({ accountId: 0 }, {});
    expect(revocations).toContainEqual(
      expect.objectContaining({ kind: 'user', subject: String(id), reason: 'user_deleted' }),
    );
    const asked = identity.rpc('metadata').GetEffectivePermissions({ accountId: account.account_id }, { user_id: id });
    await expect(asked).rejects.toMatchObject({ kind: 'not_found' });
    await eventually(() =>
      expect(identity.events.filter(({ payload }) => payload.user_id === id).map(({ type }) => type)).toEqual(
        expect.arrayContaining(['identity.user.deleted', 'identity.permission.changed']),
      ),
    );
    const deleted = identity.as({ accountId: account.account_id, userId: id });
    const answer = await deleted('GET', '/users');
    expect([answer.status, answer.body.error]).toEqual([401, 'Invalid resource owner']);
  });

  it('can’t delete themselves, and the last administrator can’t be deleted or limited by licence', async () => {
    const own = await identity.account();
    const self = await own.admin('DELETE', `/users/${own.admin_user_id}`);
    expect([self.status, self.body.errors]).toEqual([422, ["You can't delete yourself."]]);
    const rule = refusal('Validation failed', 'not_allowed', 'The account must keep at least one administrator.');
    expect((await own.machine('DELETE', `/users/${own.admin_user_id}`)).body).toEqual(rule);
    const capped = await own.machine('PATCH', `/users/${own.admin_user_id}`, { license_type: 'end_user' });
    expect([capped.status, capped.body]).toEqual([422, rule]);
    // An invited administrator can't log in yet, so they don't count.
    const invited = await newUser({}, own);
    await join(invited.id, await administratorsOf(own), own);
    expect((await own.machine('DELETE', `/users/${own.admin_user_id}`)).status).toBe(422);
    await own.machine('PATCH', `/users/${invited.id}`, { password });
    expect((await own.machine('DELETE', `/users/${own.admin_user_id}`)).status).toBe(204);
  });

  it('can’t concurrently remove each other as the last administrators', async () => {
    const own = await identity.account();
    const second = await newUser({ password }, own);
    await join(second.id, await administratorsOf(own), own);
    const answers = await Promise.all([
      own.machine('DELETE', `/users/${own.admin_user_id}`),
      own.machine('DELETE', `/users/${second.id}`),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 422]);
  });
});
