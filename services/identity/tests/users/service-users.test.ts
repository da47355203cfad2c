// Service users: users without address and password, for programs.

import { Browser } from '@almanac/api-client/browser';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, actsOf, formOf, givenIdentity, type Identity, logInAlone, refresh } from '../given.ts';

const name = 'Deployment pipeline';

describe('service users', () => {
  let identity: Identity;
  let account: Account;
  let applicationId: number;

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account();
    applicationId = (await account.admin('GET', '/oauth_applications')).body.data[0].id;
  });
  afterAll(() => identity.close());

  const newServiceUser = async (more: Record<string, unknown> = {}, of = account) =>
    (await of.admin('POST', '/users', { user: { user_type: 'service', first_name: name, ...more } })).body;
  const issue = (userId: number, more: Record<string, unknown> = {}, call = account.admin) =>
    call('POST', `/users/${userId}/refresh_tokens`, { oauth_application_id: applicationId, ...more });
  const administratorsOf = async (of: Account) =>
    (await of.admin('GET', '/user_groups?q=name:eq:Administrators')).body.data[0].id as number;
  const refused = (...errors: string[]) => ({ status: 422, body: { error: 'Validation failed', errors } });

  it('are created active, without an address and without a mail, and are listed with their type', async () => {
    const made = await account.admin('POST', '/users', { user: { user_type: 'service', first_name: name } });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ first_name: name, email: '', user_type: 'service', status: 'active' });
    expect(made.body.license_type).toBe('developer');
    const again = await newServiceUser({ license_type: 'end_user' }); // several have no address
    const listed = await account.admin('GET', '/users?q=user_type:eq:service&sort=id');
    expect(listed.body.data.map(({ id }: { id: number }) => id)).toEqual([made.body.id, again.id]);
    const people = await account.admin('GET', '/users?q=user_type:eq:person');
    expect(people.body.data.map(({ email }: { email: string }) => email)).toEqual([account.admin_email]);
    const [act] = (await actsOf(identity, account, 'user.created')).slice(-1);
    expect(act?.after).toMatchObject({ user_type: 'service', first_name: name });
    // The reset that follows is answered with a mail, so an invitation would have come before it.
    await account.admin('PATCH', `/users/${account.admin_user_id}`, { password: account.admin_password });
    await eventually(() => expect(identity.mails.length).toBeGreaterThan(0));
    expect(identity.mails.flatMap(({ payload }) => payload.user_ids)).not.toContain(made.body.id);
  });

  it('have a name, and neither address nor password, also later', async () => {
    const create = (user: object) => account.admin('POST', '/users', { user: { user_type: 'service', ...user } });
    expect(await create({})).toMatchObject(refused("First name can't be blank"));
    expect(await create({ first_name: ' ', email: 'a@example.com', password: 'correct horse battery' })).toMatchObject(
      refused(
        "First name can't be blank",
        'Email must be left out for a service user',
        'Password must be left out for a service user',
      ),
    );
    expect((await create({ first_name: name, user_type: 'robot' })).status).toBe(422);
    expect(await account.admin('POST', '/users', { user_type: 'person' })).toMatchObject(
      refused("Email can't be blank"),
    );
    const { id } = await newServiceUser();
    const change = (user: object) => account.admin('PATCH', `/users/${id}`, { user });
    expect(await change({ email: 'a@example.com' })).toMatchObject(
      refused('Email must be left out for a service user'),
    );
    expect((await change({ password: 'correct horse battery' })).status).toBe(422);
    expect(await change({ first_name: null })).toMatchObject(refused("First name can't be blank"));
    expect((await change({ user_type: 'person' })).status).toBe(400);
    const person = await account.admin('POST', '/users', { email: 'person@example.com' });
    const become = await account.admin('PATCH', `/users/${person.body.id}`, { user_type: 'service' });
    expect(become.status).toBe(400);
    expect((await change({ last_name: 'for finance' })).body).toMatchObject({ last_name: 'for finance', email: '' });
  });

  it('can’t log in, and get no link for a password', async () => {
    const { id } = await newServiceUser();
    const { email_key } = await identity.context.prisma.user.findUniqueOrThrow({ where: { id } });
    for (const email of ['', email_key]) {
      const attempt = logInAlone(identity, { email, password: '' }, { account: String(account.account_id) });
      await expect(attempt).rejects.toThrow('Not logged in');
    }
    expect((await account.admin('POST', `/users/${id}/send_invitation`)).status).toBe(422);
    for (const purpose of ['invitation', 'password_reset']) {
      const asked = identity
        .rpc('jobs')
        .CreatePasswordLink({ accountId: account.account_id }, { user_id: id, purpose });
      await expect(asked).rejects.toMatchObject({ kind: 'not_found' });
    }
    const before = (await actsOf(identity, account, 'password_reset.requested')).length;
    const browser = new Browser();
    const page = await browser.open(`${identity.url}/oauth/password/forgot`);
    const [form] = page.forms;
    await browser.submit(page, formOf(page, form?.action ?? ''), { email: email_key });
    expect(await actsOf(identity, account, 'password_reset.requested')).toHaveLength(before);
    await expect(
      identity.context.prisma.user.update({ where: { id }, data: { password_hash: 'any' } }),
    ).rejects.toThrow(/user_type_check/);
  });

  it('have rights by groups, and are never the last administrator', async () => {
    const own = await identity.account();
    const user = await newServiceUser({}, own);
    const as = identity.as({ accountId: own.account_id, userId: user.id });
    expect((await as('GET', '/users')).status).toBe(403);
    const user_group_id = await administratorsOf(own);
    await own.admin('POST', '/user_group_assignments', { user_id: user.id, user_group_id });
    expect((await as('GET', '/users')).status).toBe(200);
    const last = refused('The account must keep at least one administrator.');
    expect(await as('DELETE', `/users/${own.admin_user_id}`)).toMatchObject(last);
    expect(await as('PATCH', `/users/${own.admin_user_id}`, { status: 'suspended' })).toMatchObject(last);
    const assignments = await own.admin('GET', `/user_group_assignments?q=user_id:eq:${own.admin_user_id}`);
    expect(await as('DELETE', `/user_group_assignments/${assignments.body.data[0].id}`)).toMatchObject(last);
    const caller = { accountId: own.account_id };
    const { users } = await identity.rpc('jobs').ListAdministrators(caller, {});
    expect(users.map(({ id }) => id)).toEqual([own.admin_user_id]);
    const approvers = await identity.rpc('metadata').ListApprovers(caller, { branch_id: 6 });
    expect(approvers.users.map(({ id }) => id)).toEqual([own.admin_user_id]);
    expect((await own.admin('DELETE', `/users/${user.id}`)).status).toBe(204);
  });

  describe('refresh tokens', () => {
    it('are issued once, listed without their text, and revoked', async () => {
      const { id } = await newServiceUser();
      const made = await issue(id, { refresh_token: { scopes: 'api:read api:write' } });
      expect(made.status).toBe(201);
      const { refresh_token, ...shown } = made.body;
      expect(refresh_token).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(shown).toEqual({
        id: expect.any(Number),
        oauth_application_id: applicationId,
        scopes: 'api:read api:write',
        created_at: expect.any(String),
        expires_at: expect.any(String),
        last_used_at: null,
      });
      const days = (Date.parse(shown.expires_at) - Date.parse(shown.created_at)) / 86_400_000;
      expect(Math.round(days)).toBe(365);
      const list = () => account.admin('GET', `/users/${id}/refresh_tokens`);
      expect((await list()).body).toMatchObject({ data: [shown], meta: { total_count: 1 } });
      const answer = await refresh(identity, account, refresh_token);
      expect(answer).toMatchObject({ status: 200, body: { scope: 'api:read api:write' } });
      await refresh(identity, account, answer.body.refresh_token);
      expect((await list()).body.data).toMatchObject([{ id: shown.id, last_used_at: expect.any(String) }]);
      expect((await account.admin('DELETE', `/users/${id}/refresh_tokens/${shown.id}`)).status).toBe(204);
      expect((await account.admin('DELETE', `/users/${id}/refresh_tokens/${shown.id}`)).status).toBe(404);
      expect((await list()).body.data).toEqual([]);
      expect((await refresh(identity, account, refresh_token)).status).toBe(400);
      const acts = await Promise.all(
        ['issued', 'revoked'].map((change) => actsOf(identity, account, `user.refresh_token_${change}`)),
      );
      expect(acts.map((each) => each.filter(({ resource_id }) => resource_id === id))).toMatchObject([
        [{ user_id: account.admin_user_id, resource_type: 'user', after: { id: shown.id, scopes: shown.scopes } }],
        [{ before: { id: shown.id, oauth_application_id: applicationId } }],
      ]);
    });

    it('replace earlier ones with their access tokens, or work beside one of them', async () => {
      const { id } = await newServiceUser();
      const first = (await issue(id)).body.refresh_token;
      const { access_token } = (await refresh(identity, account, first)).body;
      const beside = (await issue(id, { keep_previous: true })).body.refresh_token;
      for (const token of [first, beside]) expect((await refresh(identity, account, token)).status).toBe(200);
      expect(await issue(id, { keep_previous: true })).toMatchObject(
        refused('A service user has at most 2 refresh tokens; revoke one first.'),
      );
      const { client_id, client_secret } = account;
      const isActive = async (token: string) => {
        const answer = await fetch(`${identity.url}/oauth/introspect`, {
          method: 'POST',
          body: new URLSearchParams({ client_id, client_secret, token }),
        });
        return ((await answer.json()) as { active: boolean }).active;
      };
      expect(await isActive(access_token)).toBe(true);
      const last = (await issue(id)).body.refresh_token;
      expect(await isActive(access_token)).toBe(false);
      for (const token of [first, beside]) expect((await refresh(identity, account, token)).status).toBe(400);
      expect((await refresh(identity, account, last)).status).toBe(200);
    });

    it('end when the administrator has said, within the setting', async () => {
      const { id } = await newServiceUser();
      const at = (ms: number) => new Date(Date.now() + ms).toISOString();
      const soon = at(3_600_000);
      const made = await issue(id, { expires_at: soon });
      expect(made.body.expires_at).toBe(soon);
      expect(await issue(id, { expires_at: at(-1_000) })).toMatchObject(refused('Expires at must be in the future'));
      expect((await issue(id, { expires_at: at(400 * 86_400_000) })).body.errors).toEqual([
        expect.stringMatching(/^Expires at must be at most \d{4}-/),
      ]);
      expect((await issue(id, { expires_at: 'tomorrow' })).status).toBe(422);
      expect((await refresh(identity, account, made.body.refresh_token)).status).toBe(200);
      await identity.context.prisma.token_family.updateMany({ where: { user_id: id }, data: { ends_at: new Date() } });
      expect(await refresh(identity, account, made.body.refresh_token)).toMatchObject({
        status: 400,
        body: {
          error: 'invalid_grant',
          error_description: 'The refresh token has ended: an administrator has to issue a new one.',
        },
      });
    });

    it('are for active service users, by a confidential application of the account within its scopes', async () => {
      const { id } = await newServiceUser();
      const newApplication = async (more: object, of = account) =>
        (await of.admin('POST', '/oauth_applications', { name: 'Pipeline', ...more })).body.id as number;
      const reading = await newApplication({ scopes: 'api:read' });
      expect((await issue(id, { oauth_application_id: reading })).body.scopes).toBe('api:read');
      expect(await issue(id, { oauth_application_id: reading, scopes: 'api:read api:write' })).toMatchObject(
        refused('Scopes must be among those of the application (api:read)'),
      );
      const open = await newApplication({ confidential: false });
      expect(await issue(id, { oauth_application_id: open })).toMatchObject(
        refused('The application must be confidential: the refresh token works only with its secret.'),
      );
      expect(await issue(account.admin_user_id, {}, account.machine)).toMatchObject(
        refused('Only a service user has refresh tokens here; a person gets one by logging in.'),
      );
      expect((await issue(id, { oauth_application_id: undefined })).status).toBe(400);
      await account.admin('PATCH', `/users/${id}`, { status: 'suspended' });
      expect(await issue(id)).toMatchObject({ status: 422, body: { errors: ['The user is suspended, not active.'] } });
      const other = await identity.account();
      const theirs = await newApplication({}, other);
      const own = await newServiceUser();
      const foreign = await issue(own.id, { oauth_application_id: theirs });
      expect(foreign).toMatchObject({ status: 404, body: { errors: ['OAuth application not found'] } });
      const { body } = await issue(own.id);
      const elsewhere = `/users/${own.id}/refresh_tokens`;
      expect((await other.admin('GET', elsewhere)).status).toBe(404);
      expect((await other.admin('POST', elsewhere, { oauth_application_id: theirs })).status).toBe(404);
      expect((await other.admin('DELETE', `${elsewhere}/${body.id}`)).status).toBe(404);
      const otherUser = await newServiceUser();
      expect((await account.admin('DELETE', `/users/${otherUser.id}/refresh_tokens/${body.id}`)).status).toBe(404);
      expect((await refresh(identity, other, body.refresh_token)).status).toBe(400);
      expect((await refresh(identity, account, body.refresh_token)).status).toBe(200);
    });

    it('are for administrators to issue, and not for the service user itself', async () => {
      const { id } = await newServiceUser();
      const { body } = await issue(id);
      const as = identity.as({ accountId: account.account_id, userId: id });
      const path = `/users/${id}/refresh_tokens`;
      const body_ = { oauth_application_id: applicationId };
      for (const answer of [
        await as('GET', path),
        await as('POST', path, body_),
        await as('DELETE', `${path}/${body.id}`),
      ])
        expect(answer.status).toBe(403);
      const user_group_id = await administratorsOf(account);
      await account.admin('POST', '/user_group_assignments', { user_id: id, user_group_id });
      expect(await issue(id, {}, as)).toMatchObject(refused("You can't issue a refresh token for yourself."));
      expect((await refresh(identity, account, body.refresh_token)).status).toBe(200);
    });

    it('end with a suspension for good, with the user, and with the application’s confidence', async () => {
      const [suspended, deleted, exposed] = [await newServiceUser(), await newServiceUser(), await newServiceUser()];
      const application = await account.admin('POST', '/oauth_applications', { name: 'Becomes public', scopes: 'api' });
      const { client_id, client_secret } = application.body;
      const tokens = {
        suspended: (await issue(suspended.id)).body.refresh_token,
        deleted: (await issue(deleted.id)).body.refresh_token,
        exposed: (await issue(exposed.id, { oauth_application_id: application.body.id })).body.refresh_token,
      };
      await account.admin('PATCH', `/users/${suspended.id}`, { status: 'suspended' });
      expect((await refresh(identity, account, tokens.suspended)).status).toBe(400);
      const reactivated = await account.admin('PATCH', `/users/${suspended.id}`, { status: 'active' });
      expect(reactivated.body.status).toBe('active');
      expect((await refresh(identity, account, tokens.suspended)).status).toBe(400);
      expect((await account.admin('GET', `/users/${suspended.id}/refresh_tokens`)).body.data).toEqual([]);
      expect((await account.admin('DELETE', `/users/${deleted.id}`)).status).toBe(204);
      expect((await refresh(identity, account, tokens.deleted)).status).toBe(400);
      const exposing = { client_id, client_secret };
      expect((await refresh(identity, exposing, tokens.exposed)).status).toBe(200);
      await account.admin('PATCH', `/oauth_applications/${application.body.id}`, { confidential: false });
      const form = new URLSearchParams({ grant_type: 'refresh_token', client_id, refresh_token: tokens.exposed });
      const answer = await fetch(`${identity.url}/oauth/token`, { method: 'POST', body: form });
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
    });

    it('are issued once for one Idempotency-Key', async () => {
      const { id } = await newServiceUser();
      const call = () =>
        account.admin(
          'POST',
          `/users/${id}/refresh_tokens`,
          { oauth_application_id: applicationId },
          { 'Idempotency-Key': 'issue-once' },
        );
      const [first, second] = [await call(), await call()];
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(second.body).toEqual(first.body);
      expect((await refresh(identity, account, first.body.refresh_token)).status).toBe(200);
    });
  });

  it('are suspended in between: a refresh token is not issued to a user who is suspended at the same time', async () => {
    for (let i = 0; i < 5; i += 1) {
      const { id } = await newServiceUser();
      const [suspended] = await Promise.all([
        account.admin('PATCH', `/users/${id}`, { status: 'suspended' }),
        issue(id),
        issue(id),
      ]);
      expect(suspended.status).toBe(200);
      const alive = { user_id: id, revoked_at: null };
      expect(await identity.context.prisma.token_family.count({ where: alive })).toBe(0);
    }
  });
});
