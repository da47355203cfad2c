// Idempotency-Key: every POST of identity has its effect once for a key, and a repetition gets the
// same answer.
import { sweep } from '../src/housekeeping.ts';
import { identityRoutes } from '../src/http.ts';
import { type Account, basic, givenIdentity, type Identity, postForm } from './given.ts';

let identity: Identity;
let account: Account;
let made = 0;

beforeAll(async () => {
  identity = await givenIdentity();
});
afterAll(() => identity.close());
beforeEach(async () => {
  account = await identity.account();
});

const next = (word: string) => {
  made += 1;
  return `${word}${made}`;
};
const post = (path: string, body: unknown, key: string, as = account.admin) =>
  as('POST', path, body, { 'idempotency-key': key });
const count = async (table: 'user' | 'user_group' | 'oauth_application') => {
  const of = { where: { account_id: account.account_id } };
  if (table === 'user') return identity.context.prisma.user.count(of);
  return table === 'user_group'
    ? identity.context.prisma.user_group.count(of)
    : identity.context.prisma.oauth_application.count(of);
};
const acts = () => identity.context.prisma.audit_event.count({ where: { account_id: account.account_id } });
const invited = async () => (await account.admin('POST', '/users', { email: `${next('ada')}@example.com` })).body;
const application = async () => (await account.admin('POST', '/oauth_applications', { name: next('Ours') })).body;
const works = async (client_id: string, secret: string) => {
  const answer = await postForm(
    `${identity.url}/oauth/token`,
    { grant_type: 'client_credentials' },
    basic(client_id, secret),
  );
  return answer.status === 200;
};

type Case = { path: string; body?: object };

const cases: Record<string, () => Promise<Case>> = {
  'invite a user': async () => ({ path: '/users', body: { email: `${next('eve')}@example.com` } }),
  'send an invitation': async () => ({ path: `/users/${(await invited()).id}/send_invitation` }),
  'create a group': async () => ({ path: '/user_groups', body: { name: next('Group') } }),
  'put a user into a group': async () => {
    const group = (await account.admin('POST', '/user_groups', { name: next('Group') })).body;
    return { path: '/user_group_assignments', body: { user_id: (await invited()).id, user_group_id: group.id } };
  },
  'create an application': async () => ({ path: '/oauth_applications', body: { name: next('Ours') } }),
  'regenerate a secret': async () => ({ path: `/oauth_applications/${(await application()).id}/regenerate_secret` }),
  'issue a refresh token': async () => {
    const robot = { user_type: 'service', first_name: next('Robot') };
    const { id } = (await account.admin('POST', '/users', robot)).body;
    const body = { oauth_application_id: (await application()).id };
    return { path: `/users/${id}/refresh_tokens`, body };
  },
  'add a secret': async () => ({ path: `/oauth_applications/${(await application()).id}/secrets` }),
};

describe('a repeated request', () => {
  it.each(Object.keys(cases))('to %s has one effect and one answer, also concurrently', async (name) => {
    const { path, body } = await (cases[name] as () => Promise<Case>)();
    const key = next('key-');
    const before = await acts();
    const answers = await Promise.all([1, 2, 3].map(() => post(path, body, key)));
    answers.push(await post(path, body, key));
    const seen = answers.map(({ status, body }) => ({ status, body }));
    expect(seen).toEqual(seen.map(() => seen[0]));
    expect(seen[0]?.status).toBeLessThan(300);
    expect((await acts()) - before).toBe(1);
    const other = await post('/users', { email: `${next('other')}@example.com` }, key);
    expect(other).toMatchObject({
      status: 422,
      body: { errors: ['Idempotency-Key was used before with another request.'] },
    });
  });

  it('is supported by every POST', () => {
    const posts = identityRoutes(identity.context).filter(({ method }) => method === 'POST');
    const without = posts.filter(({ requestHeaders }) => requestHeaders?.['Idempotency-Key'] === undefined);
    expect(without.map(({ path }) => path)).toEqual([]);
    expect(posts).toHaveLength(Object.keys(cases).length);
  });

  it('gets the secret of the first one again, which the database doesn’t show', async () => {
    const key = next('key-');
    const body = { name: 'Warehouse', scopes: 'api:read' };
    const [first, again] = [await post('/oauth_applications', body, key), await post('/oauth_applications', body, key)];
    expect(again.body).toEqual(first.body);
    expect(await works(first.body.client_id, again.body.client_secret)).toBe(true);
    expect(await count('oauth_application')).toBe(2);
    const [kept] = await identity.context.prisma.idempotent_answer.findMany({ where: { key } });
    for (const hidden of [first.body.client_secret, first.body.client_id, 'Warehouse'])
      for (const text of [kept?.body, Buffer.from(kept?.body ?? '', 'base64').toString('latin1')])
        expect(text).not.toContain(hidden);
  });

  it('of another caller, or with another key, is a new request', async () => {
    const key = next('key-');
    const body = { name: next('Group') };
    expect((await post('/user_groups', body, key)).status).toBe(201);
    const taken = { status: 422, body: { errors: ['Name has already been taken'] } };
    expect(await post('/user_groups', body, key, account.machine)).toMatchObject(taken);
    expect(await post('/user_groups', body, next('key-'))).toMatchObject(taken);
    const other = await identity.account();
    expect((await post('/user_groups', body, key, other.admin)).status).toBe(201);
  });

  it('that was refused at first is executed when the reason has ended', async () => {
    const key = next('key-');
    const body = { name: next('Group') };
    const { id } = (await account.admin('POST', '/user_groups', body)).body;
    expect((await post('/user_groups', body, key)).status).toBe(422);
    await account.admin('DELETE', `/user_groups/${id}`);
    expect((await post('/user_groups', body, key)).status).toBe(201);
  });

  it('is refused to a caller who has lost the right, and once its application is deleted', async () => {
    const { id } = await application();
    const [group] = (await account.admin('GET', '/user_groups?q=Administrators')).body.data;
    const member = { user_id: (await invited()).id, user_group_id: group.id };
    const assignment = (await account.admin('POST', '/user_group_assignments', member)).body;
    const other = identity.as({ accountId: account.account_id, userId: member.user_id, scopes: ['api'] });
    const key = next('key-');
    const add = async (as = account.admin) =>
      (await post(`/oauth_applications/${id}/secrets`, undefined, key, as)).status;
    expect(await add(other)).toBe(201);
    expect(await add(other)).toBe(201);
    await account.admin('DELETE', `/user_group_assignments/${assignment.id}`);
    expect(await add(other)).toBe(403);
    await account.admin('POST', `/oauth_applications/${id}/regenerate_secret`);
    expect(await add()).toBe(201);
    await account.admin('DELETE', `/oauth_applications/${id}`);
    expect(await add()).toBe(404);
  });

  it('is a new request after a day', async () => {
    const key = next('key-');
    const create = () => post('/oauth_applications', { name: 'Daily' }, key);
    const first = await create();
    await identity.context.prisma
      .$executeRaw`update idempotent_answer set created_at = created_at - interval '24 hours' where key = ${key}`;
    const second = await create();
    expect(second.body.id).not.toBe(first.body.id);
    await identity.context.prisma
      .$executeRaw`update idempotent_answer set created_at = created_at - interval '25 hours' where key = ${key}`;
    await sweep(identity.context.prisma, { accessTokenSeconds: 60, grantSeconds: 7_776_000 });
    expect(await identity.context.prisma.idempotent_answer.count({ where: { key } })).toBe(0);
  });

  it('needs a key of visible characters', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256)])
      expect((await post('/user_groups', { name: 'Never' }, key)).status).toBe(400);
    expect(await count('user_group')).toBe(2);
  });
});
