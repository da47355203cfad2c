// /oauth_applications/{id}/secrets: two that work side by side, what is seen of them, and the last
// one that stays.
import { eventually } from '@almanac/testkit/eventually';
import { type Account, actsOf, basic, givenIdentity, type Identity, postForm } from '../given.ts';

type Made = { id: number; client_id: string; client_secret: string };

describe('the secrets of an application', () => {
  let identity: Identity;
  let account: Account;

  beforeAll(async () => {
    identity = await givenIdentity();
    account = await identity.account();
  });
  afterAll(() => identity.close());

  const given = async (attributes: Record<string, unknown> = {}) =>
    (await account.admin('POST', '/oauth_applications', { name: 'Given', scopes: 'api', ...attributes })).body as Made;
  const secretsOf = async ({ id }: Pick<Made, 'id'>) =>
    (await account.admin('GET', `/oauth_applications/${id}/secrets`)).body.data as Record<string, unknown>[];
  const add = ({ id }: Pick<Made, 'id'>) => account.admin('POST', `/oauth_applications/${id}/secrets`);
  const remove = ({ id }: Pick<Made, 'id'>, secretId: unknown) =>
    account.admin('DELETE', `/oauth_applications/${id}/secrets/${secretId}`);
  const works = async ({ client_id }: Pick<Made, 'client_id'>, secret: string, url = identity.url) =>
    (await postForm(`${url}/oauth/token`, { grant_type: 'client_credentials' }, basic(client_id, secret))).status ===
    200;

  it('are two while one replaces the other', async () => {
    const made = await given();
    const added = await add(made);
    expect(added).toMatchObject({
      status: 201,
      body: {
        id: expect.any(Number),
        hint: added.body.client_secret.slice(-4),
        last_used_at: null,
        client_secret: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      },
    });
    expect([await works(made, made.client_secret), await works(made, added.body.client_secret)]).toEqual([true, true]);
    const [first, second] = await secretsOf(made);
    expect(first).toMatchObject({ hint: made.client_secret.slice(-4), created_at: expect.any(String) });
    expect(second?.id).toBe(added.body.id);
    expect((await remove(made, first?.id)).status).toBe(204);
    expect([await works(made, made.client_secret), await works(made, added.body.client_secret)]).toEqual([false, true]);
  });

  it('set the application’s updated_at when they are regenerated', async () => {
    const { id } = await given();
    const past = new Date('2026-01-02T03:04:05.678Z');
    await identity.context.prisma.oauth_application.update({ where: { id }, data: { updated_at: past } });
    const { body } = await account.admin('POST', `/oauth_applications/${id}/regenerate_secret`);
    const shown = (await account.admin('GET', `/oauth_applications/${id}`)).body;
    expect([body.updated_at === past.toISOString(), body.updated_at]).toEqual([false, shown.updated_at]);
  });

  it('are refused at once on every instance when they are deleted or regenerated', async () => {
    const another = await identity.another();
    const made = await given();
    const added = await add(made);
    const urls = [identity.url, another.url];
    const eachWorks = (secret: string) => Promise.all(urls.map((url) => works(made, secret, url)));
    expect(await eachWorks(added.body.client_secret)).toEqual([true, true]);
    await remove(made, added.body.id);
    expect(await eachWorks(added.body.client_secret)).toEqual([false, false]);
    await add(made);
    const renewed = await account.admin('POST', `/oauth_applications/${made.id}/regenerate_secret`);
    expect(await eachWorks(made.client_secret)).toEqual([false, false]);
    expect(await eachWorks(renewed.body.client_secret)).toEqual([true, true]);
    expect(await secretsOf(made)).toHaveLength(1);
  });

  it('are never shown again', async () => {
    const made = await given();
    const added = await add(made);
    const listed = await account.admin('GET', `/oauth_applications/${made.id}/secrets`);
    expect(Object.keys(listed.body.data[0]).toSorted()).toEqual(['created_at', 'hint', 'id', 'last_used_at']);
    for (const secret of [made.client_secret, added.body.client_secret])
      expect(JSON.stringify(listed.body)).not.toContain(secret);
  });

  it('are at most two, also when many are created concurrently', async () => {
    const made = await given();
    const answers = await Promise.all(Array.from({ length: 8 }, () => add(made)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(422)]);
    expect(await secretsOf(made)).toHaveLength(2);
  });

  it('are at least one for a confidential application, also when all are deleted concurrently', async () => {
    const made = await given();
    await add(made);
    const ids = (await secretsOf(made)).map(({ id }) => id);
    const answers = await Promise.all(ids.map((id) => remove(made, id)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 422]);
    expect(await secretsOf(made)).toHaveLength(1);
  });

  it('are none for a public application, and can be added when it becomes confidential', async () => {
    const made = await given({ confidential: false });
    expect((await add(made)).status).toBe(422);
    expect(await secretsOf(made)).toEqual([]);
    await account.admin('PATCH', `/oauth_applications/${made.id}`, { confidential: true });
    const added = await add(made);
    expect(await works(made, added.body.client_secret)).toBe(true);
  });

  it('of other applications and accounts are not found', async () => {
    const [made, sibling] = [await given(), await given()];
    await add(made);
    await add(sibling);
    const otherAccount = await identity.account();
    const [secret] = await secretsOf(sibling);
    expect((await remove(made, secret?.id)).status).toBe(404);
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['DELETE', `/${secret?.id}`],
    ] as const) {
      const foreign = await otherAccount.admin(method, `/oauth_applications/${sibling.id}/secrets${path}`);
      const unknown = await otherAccount.admin(method, `/oauth_applications/2147483647/secrets${path}`);
      expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
    }
    expect(await secretsOf(sibling)).toHaveLength(2);
  });

  it('are for administrators only', async () => {
    const made = await given();
    const user = await account.admin('POST', '/users', { email: 'member@example.com' });
    const ordinary = identity.as({ accountId: account.account_id, userId: user.body.id });
    const [secret] = await secretsOf(made);
    expect((await ordinary('GET', `/oauth_applications/${made.id}/secrets`)).status).toBe(403);
    expect((await ordinary('POST', `/oauth_applications/${made.id}/secrets`)).status).toBe(403);
    expect((await ordinary('DELETE', `/oauth_applications/${made.id}/secrets/${secret?.id}`)).status).toBe(403);
  });

  it('show the hour of their last use', async () => {
    const made = await given();
    const added = await add(made);
    await Promise.all(Array.from({ length: 10 }, () => works(made, added.body.client_secret)));
    const used = await eventually(async () => {
      const [unused, secret] = await secretsOf(made);
      expect(unused?.last_used_at).toBeNull();
      expect(secret?.last_used_at).toMatch(/:00:00\.000Z$/);
      return String(secret?.last_used_at);
    });
    expect(Date.now() - Date.parse(used)).toBeLessThan(2 * 3_600_000);
    const { prisma } = identity.context;
    const earlier = new Date(Date.parse(used) - 7_200_000);
    await prisma.oauth_secret.update({ where: { id: added.body.id }, data: { last_used_at: earlier } });
    await works(made, added.body.client_secret);
    await eventually(async () => expect((await secretsOf(made))[1]?.last_used_at).not.toBe(earlier.toISOString()));
  });

  it('work also when their use can’t be recorded', async () => {
    const made = await given();
    const { prisma } = identity.context;
    await prisma.$executeRaw`
      create function refuse_notes() returns trigger language plpgsql as $$ begin raise 'no notes'; end $$`;
    await prisma.$executeRaw`
      create trigger no_notes before update on oauth_secret for each row execute function refuse_notes()`;
    expect(await works(made, made.client_secret)).toBe(true);
    await eventually(() => expect(identity.log()).toContain('the use of a client secret could not be recorded'));
    await prisma.$executeRaw`drop trigger no_notes on oauth_secret`;
    expect((await secretsOf(made))[0]?.last_used_at).toBeNull();
  });

  it('leave their changes in the audit log, but not their text', async () => {
    const made = await given();
    const added = await add(made);
    await remove(made, added.body.id);
    await account.admin('POST', `/oauth_applications/${made.id}/regenerate_secret`);
    const secret = { secret_id: added.body.id, hint: added.body.hint };
    const about = { user_id: account.admin_user_id, resource_type: 'oauth_application', resource_id: made.id };
    const last = async (what: string) => (await actsOf(identity, account, `oauth_application.secret_${what}`)).at(-1);
    expect(await last('added')).toMatchObject({ ...about, result: 'succeeded', after: secret });
    expect(await last('deleted')).toMatchObject({ ...about, before: secret });
    expect(await last('regenerated')).toMatchObject({ ...about, after: { hint: expect.any(String) } });
    const log = JSON.stringify(await identity.context.prisma.audit_event.findMany(), (_key, value) =>
      typeof value === 'bigint' ? Number(value) : value,
    );
    for (const text of [made.client_secret, added.body.client_secret]) expect(log).not.toContain(text);
  });
});
