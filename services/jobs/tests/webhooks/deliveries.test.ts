// Deliveries: what is sent, in which order, how often, and what becomes of receivers that fail.
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@almanac/testkit/eventually';
import { accept, givenReceiver, hang, type Receiver, status } from '@almanac/testkit/messaging/webhook-receiver';
import { givenJobs, type Jobs } from '../given.ts';
import { deleteEndpoints, deliveriesOf, type Endpoint, givenEndpoint, givenEvent, settled } from './given.ts';

let jobs: Jobs;
let receiver: Receiver;
let other: Receiver;

beforeAll(async () => {
  [receiver, other] = await Promise.all([givenReceiver(), givenReceiver()]);
  jobs = await givenJobs({ webhooks: { sendMs: 2_000 } });
  jobs.neighbours.addTable({ key: 'countries', table_definition_id: 10 });
  jobs.neighbours.addTable({ key: 'regions', table_definition_id: 11 });
});
afterAll(async () => {
  await jobs.close();
  await Promise.all([receiver.stop(), other.stop()]);
});
beforeEach(async () => {
  await deleteEndpoints(jobs);
  for (const each of [receiver, other]) {
    each.answer = accept;
    each.received.length = 0;
  }
});

const given = (attributes: Record<string, unknown> = {}) => givenEndpoint(jobs, { url: receiver.url, ...attributes });
const change = (endpoint: Endpoint, data: object) =>
  jobs.context.prisma.webhook_endpoint.update({ where: { id: endpoint.id }, data });

describe('an event', () => {
  it('is sent as the log has it, with its id, and verified by the library of the specification', async () => {
    const endpoint = await given();
    const at = new Date('2026-11-20T10:20:30.123Z');
    const id = await givenEvent(jobs, { table: 10, at, data: { inserted: 2, name: 'Ünï ☂' } });
    const [delivery] = await settled(jobs, endpoint);
    const [message] = receiver.received as [Receiver['received'][0]];
    receiver.verify(endpoint.secret, message);
    expect(message.id).toBe(id);
    expect(message.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Almanac-Webhooks/1' });
    expect(message.event).toEqual({
      id: Number(id),
      type: 'rows.changed',
      time: at.toISOString(),
      timestamp: at.toISOString(),
      actor: { type: 'user', id: 5 },
      resource: { type: 'table', id: 10, domain_id: 5, branch_id: 1 },
      api_version: 'v1',
      data: { inserted: 2, name: 'Ünï ☂' },
    });
    expect(delivery).toMatchObject({
      webhook_id: id,
      event_id: Number(id),
      event_type: 'rows.changed',
      status: 'delivered',
      attempts: 1,
      next_attempt_at: null,
      response_status: 200,
      response_body: 'ok',
      error: null,
      duration_ms: expect.any(Number),
    });
  });

  describe('about few changed rows', () => {
    const data = {
      ...{ inserted: 1, updated: 98, deleted: 1 },
      changed_after: '2026-11-20T10:20:29.000Z',
      changed_until: '2026-11-20T10:20:30.000Z',
    };
    const changes = '[{"change":"created","record":{"amount":12345678901234567890.10}}]';
    const messageOf = async (endpoint: Endpoint, event: object) => {
      await givenEvent(jobs, { table: 10, ...event });
      await settled(jobs, endpoint);
      const [message] = receiver.received as [Receiver['received'][0]];
      receiver.verify(endpoint.secret, message);
      return message;
    };
    beforeEach(() => {
      jobs.neighbours.changes = changes;
      jobs.neighbours.changesListed.length = 0;
    });
    afterAll(() => {
      jobs.neighbours.changes = undefined;
      jobs.neighbours.dataIsAway = false;
    });

    it('has the rows, to the last digit', async () => {
      const { body } = await messageOf(await given(), { data });
      expect(body).toContain(`"changes":${changes}}`);
      expect(jobs.neighbours.changesListed).toEqual([
        {
          ...{ accountId: 1, table_definition_id: 10, most: 100, most_bytes: 262_144 },
          ...{ after: data.changed_after, until: data.changed_until },
        },
      ]);
    });

    it('has none where the endpoint wants none', async () => {
      const { event } = await messageOf(await given({ include_rows: false }), { data });
      expect(event).not.toHaveProperty('changes');
      expect(jobs.neighbours.changesListed).toEqual([]);
    });

    it('has none when they are more, or too large, and is complete without', async () => {
      const endpoint = await given();
      const { event } = await messageOf(endpoint, { data: { ...data, inserted: 2 } });
      expect(event.data).toMatchObject({ inserted: 2, changed_after: data.changed_after });
      expect(event).not.toHaveProperty('changes');
      expect(jobs.neighbours.changesListed).toEqual([]);
      receiver.received.length = 0;
      jobs.neighbours.changes = undefined;
      expect((await messageOf(endpoint, { data })).event).not.toHaveProperty('changes');
      expect(jobs.neighbours.changesListed).toHaveLength(1);
    });

    it('has none while data is away, and is sent', async () => {
      jobs.neighbours.dataIsAway = true;
      expect((await messageOf(await given(), { data })).event).not.toHaveProperty('changes');
      jobs.neighbours.dataIsAway = false;
    });
  });

  it('is sent to the endpoints that have chosen its type and its table', async () => {
    const endpoints = {
      exact: await given({ event_types: ['rows.changed'] }),
      prefix: await given({ event_types: ['user.*', 'deployment.*'] }),
      table: await given({ table_definition_ids: [11] }),
      off: await given({ enabled: false }),
    };
    const ids = {
      rows10: await givenEvent(jobs, { table: 10 }),
      rows11: await givenEvent(jobs, { table: 11 }),
      user: await givenEvent(jobs, { type: 'user.created' }),
      users: await givenEvent(jobs, { type: 'user_group.created' }),
    };
    const got = async (name: keyof typeof endpoints) =>
      (await settled(jobs, endpoints[name])).map((each: { webhook_id: string }) => each.webhook_id);
    await eventually(async () => expect(await got('table')).toEqual([ids.rows11, ids.user, ids.users]));
    expect(await got('exact')).toEqual([ids.rows10, ids.rows11]);
    expect(await got('prefix')).toEqual([ids.user]);
    expect(await got('off')).toEqual([]);
  });

  it('that happened before the endpoint was created is not sent', async () => {
    await givenEvent(jobs);
    const endpoint = await given();
    const id = await givenEvent(jobs);
    await settled(jobs, endpoint);
    await eventually(() => expect(receiver.ids()).toEqual([id]));
  });

  it('is sent at once, not at the next look at the queue', async () => {
    const prompt = await givenJobs({ work: { pollMs: 3_600_000 } });
    try {
      await givenEndpoint(prompt, { url: receiver.url });
      await givenEvent(prompt);
      await eventually(() => expect(receiver.received).toHaveLength(1));
      await givenEvent(prompt);
      await eventually(() => expect(receiver.received).toHaveLength(2));
    } finally {
      await prompt.close();
    }
  });
});

describe('a receiver that fails', () => {
  it('gets the event again, with the same id, until it takes it', async () => {
    const endpoint = await given();
    receiver.answer = (response, message) => {
      (receiver.ids().filter((id) => id === message.id).length < 3 ? status(503, 'later') : accept)(response, message);
    };
    const id = await givenEvent(jobs);
    const [delivery] = await settled(jobs, endpoint);
    expect(receiver.ids()).toEqual([id, id, id]);
    expect(delivery).toMatchObject({ status: 'delivered', attempts: 3, response_status: 200, error: null });
    for (const message of receiver.received) receiver.verify(endpoint.secret, message);
    expect((await jobs.call('GET', endpoint.path)).body.failing_since).toBeNull();
  });

  it('gets the events of one table in their order, while those of others go on', async () => {
    const endpoint = await given();
    let fails = true;
    receiver.answer = (response, message) =>
      (fails && message.event.resource.id === 10 ? status(500) : accept)(response, message);
    const ids: Record<number, string[]> = { 10: [], 11: [] };
    for (const table of [10, 11, 10, 11, 10, 11]) ids[table]?.push(await givenEvent(jobs, { table }));
    const taken = (table: number) =>
      receiver.received.filter(({ event }) => event.resource.id === table).map(({ id }) => id);
    await eventually(() => expect(taken(11)).toEqual(ids[11]));
    expect(new Set(taken(10))).toEqual(new Set([ids[10]?.[0]]));
    fails = false;
    await settled(jobs, endpoint);
    expect([...new Set(taken(10))]).toEqual(ids[10]);
    expect(taken(10).slice(-3)).toEqual(ids[10]);
  });

  it.each<[string, Receiver['answer']]>([
    ['hangs', hang],
    ['fails', status(500)],
  ])('and %s does not hold up other endpoints, nor other accounts', async (_, answer) => {
    // Receivers that hang hold their places for longer than this test takes.
    const patient = await givenJobs({ webhooks: { sendMs: 300_000 } });
    try {
      receiver.answer = answer;
      const slow = async (count: number) => {
        for (let made = 0; made < count; made += 1)
          await givenEndpoint(patient, { url: receiver.url, event_types: ['rows.*'] });
        for (const table of [10, 11]) await givenEvent(patient, { table });
        await eventually(() => expect(receiver.received.length).toBeGreaterThan(count));
      };
      await givenEndpoint(patient, { url: other.url, event_types: ['user.*'] });
      await givenEndpoint(patient, { url: other.url }, patient.as({ accountId: 2 }));
      await slow(4);
      const own = await givenEvent(patient, { type: 'user.created' });
      await eventually(() => expect(other.ids()).toContain(own));
      await slow(8); // now they hold all places of the account
      const theirs = await givenEvent(patient, { accountId: 2 });
      await eventually(() => expect(other.ids()).toContain(theirs));
    } finally {
      await patient.close();
    }
  });

  it('and asks to wait for longer gets its messages that much later', async () => {
    const endpoint = await given();
    receiver.answer = (response) => response.writeHead(429, { 'retry-after': '7200' }).end();
    await givenEvent(jobs);
    const waiting = await eventually(async () => {
      const [delivery] = await deliveriesOf(jobs, endpoint);
      expect(delivery).toMatchObject({ status: 'pending', response_status: 429 });
      return delivery;
    });
    const pauseMs = Date.parse(waiting.next_attempt_at) - Date.parse(waiting.last_attempt_at);
    expect(pauseMs).toBeGreaterThanOrEqual(7_200_000);
  });

  it('for three days is switched off, with a mail to the administrators', async () => {
    jobs.neighbours.users.push({ id: 70, account_id: 1, first_name: 'Ada', last_name: '', email: 'ada@a.test' });
    jobs.neighbours.administrators.add(70);
    const endpoint = await given({ url: `${receiver.url}?token=path-secret` });
    receiver.answer = status(500, 'broken');
    await givenEvent(jobs, { table: 10 });
    await givenEvent(jobs, { table: 10 });
    await eventually(async () => expect((await deliveriesOf(jobs, endpoint))[0]?.attempts).toBeGreaterThan(1));
    jobs.acts.length = 0;
    const since = new Date(Date.now() - 3 * 86_400_000 - 1000);
    await change(endpoint, { failing_since: new Date(since.getTime() + 60_000) });
    await sleep(500);
    expect((await jobs.call('GET', endpoint.path)).body.enabled).toBe(true);
    await change(endpoint, { failing_since: since });
    await jobs.context.prisma.webhook_delivery.updateMany({ data: { next_attempt_at: new Date() } });
    await eventually(async () =>
      expect((await jobs.call('GET', endpoint.path)).body).toMatchObject({
        enabled: false,
        disabled_reason: 'failures',
        failing_since: since.toISOString(),
      }),
    );
    const reason = 'The endpoint was switched off, because it failed for three days.';
    expect(await settled(jobs, endpoint)).toMatchObject([
      { status: 'failed', response_status: 500, response_body: 'broken', error: reason },
      { status: 'failed', attempts: 0, error: reason },
    ]);
    const mails = () => jobs.context.prisma.mail.findMany({ where: { template: 'webhook_switched_off' } });
    const [mail] = await eventually(async () => {
      expect(await mails()).toHaveLength(1);
      return mails();
    });
    expect(mail).toMatchObject({
      user_id: 70,
      values: { host: `127.0.0.1:${receiver.port}`, failing_since: since.toISOString() },
    });
    const acts = await eventually(() => {
      expect(jobs.acts).toHaveLength(1);
      return jobs.acts;
    });
    expect(acts[0]).toMatchObject({ action: 'webhook_endpoint.switched_off', resource_id: endpoint.id });
    expect(acts[0]).not.toHaveProperty('user_id');

    const { length } = receiver.received;
    await givenEvent(jobs, { table: 10 });
    for (const act of ['test', 'replay']) {
      const refused = await jobs.call('POST', `${endpoint.path}/${act}`, { since: '2026-01-01T00:00:00Z' });
      expect([refused.status, refused.body.error]).toEqual([422, 'Wrong state']);
    }
    receiver.answer = accept;
    await jobs.call('PATCH', endpoint.path, { enabled: true });
    const id = await givenEvent(jobs, { table: 10 });
    await settled(jobs, endpoint);
    expect(receiver.ids().slice(length)).toEqual([id]);
  });

  it('is given up after three days for one event, while it takes others', async () => {
    const endpoint = await given();
    receiver.answer = (response, { event }) => response.writeHead(event.resource.id === 10 ? 400 : 200).end();
    await givenEvent(jobs, { table: 10 });
    const next = await givenEvent(jobs, { table: 10 });
    await eventually(async () => expect((await deliveriesOf(jobs, endpoint))[0]?.attempts).toBeGreaterThan(0));
    await jobs.context.prisma.webhook_delivery.updateMany({
      where: { endpoint_id: endpoint.id, attempts: { gt: 0 } },
      data: { give_up_at: new Date(), next_attempt_at: new Date() },
    });
    await eventually(async () =>
      expect(await deliveriesOf(jobs, endpoint)).toMatchObject([
        { status: 'failed', response_status: 400, finished_at: expect.any(String), next_attempt_at: null },
        { status: 'pending', webhook_id: next },
      ]),
    );
    expect((await jobs.call('GET', endpoint.path)).body.enabled).toBe(true);
  });
});

it('endpoints that fail leave half of the places of their account to others', async () => {
  const failing = await Promise.all(Array.from({ length: 10 }, () => given()));
  const healthy = await givenEndpoint(jobs, { url: other.url });
  for (const endpoint of failing) await change(endpoint, { failing_since: new Date() });
  receiver.answer = hang;
  let hanging = 0;
  other.answer = (response) => {
    hanging = receiver.received.length;
    accept(response, other.received[0] as Receiver['received'][0]);
  };
  const id = await givenEvent(jobs, { table: 10 });
  await eventually(() => expect(other.ids()).toEqual([id]));
  expect(hanging).toBeLessThanOrEqual(5);
  expect(await settled(jobs, healthy)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
});

describe('a delivery', () => {
  it('is sent again one by one: ended ones as new deliveries, waiting ones at once', async () => {
    const endpoint = await given();
    const id = await givenEvent(jobs);
    const [delivered] = await settled(jobs, endpoint);
    const again = await jobs.call('POST', `${endpoint.path}/deliveries/${delivered.id}/resend`);
    expect([again.status, again.body]).toMatchObject([200, { webhook_id: id, status: 'pending', attempts: 0 }]);
    expect(again.body.id).not.toBe(delivered.id);
    await settled(jobs, endpoint);
    expect(receiver.ids()).toEqual([id, id]);

    receiver.answer = status(500);
    await givenEvent(jobs);
    const waiting = await eventually(async () => {
      const found = (await deliveriesOf(jobs, endpoint)).at(-1);
      expect(found.status).toBe('pending');
      expect(found.attempts).toBeGreaterThan(0);
      return found;
    });
    const later = { next_attempt_at: new Date(Date.now() + 3_600_000) };
    await eventually(async () => {
      const where = { id: waiting.id, run_id: null };
      expect(await jobs.context.prisma.webhook_delivery.updateMany({ where, data: later })).toEqual({ count: 1 });
    });
    receiver.answer = accept;
    const sooner = await jobs.call('POST', `${endpoint.path}/deliveries/${waiting.id}/resend`);
    expect(sooner.body.id).toBe(waiting.id);
    await settled(jobs, endpoint);
  });

  it('of a test is sent once, whether it is taken or not', async () => {
    const endpoint = await given({ event_types: ['user.*'] });
    receiver.answer = status(500, 'no');
    const { status: made, body } = await jobs.call('POST', `${endpoint.path}/test`);
    expect([made, body]).toMatchObject([201, { event_type: 'webhook.test', event_id: null, status: 'pending' }]);
    expect(await settled(jobs, endpoint)).toMatchObject([{ status: 'failed', attempts: 1, response_body: 'no' }]);
    const message = receiver.received.find(({ id }) => id === body.webhook_id) as Receiver['received'][0];
    receiver.verify(endpoint.secret, message);
    expect(message.event).toMatchObject({ id: message.id, type: 'webhook.test', resource: { id: endpoint.id } });
  });

  it('is listed by status and type, the latest first', async () => {
    const endpoint = await given();
    const [first, second] = [await givenEvent(jobs), await givenEvent(jobs, { type: 'user.created' })];
    await settled(jobs, endpoint);
    const listed = async (query: string) =>
      (await jobs.call('GET', `${endpoint.path}/deliveries?${query}`)).body.data.map(
        (each: { webhook_id: string }) => each.webhook_id,
      );
    expect(await listed('')).toEqual([second, first]);
    expect(await listed('q=status:eq:delivered&q=event_type:starts_with:user')).toEqual([second]);
    expect(await listed('q=status:eq:failed')).toEqual([]);
    expect((await jobs.call('GET', `${endpoint.path}/deliveries?q=secret:eq:x`)).status).toBe(400);
  });
});

describe('a replay', () => {
  it('sends every event since a moment again, in order, and no earlier one', async () => {
    const endpoint = await given({ event_types: ['rows.*'] });
    const day = (days: number) => new Date(Date.now() - days * 86_400_000);
    const ids: string[] = [];
    for (const days of [9, 8, 7, 6, 5]) ids.push(await givenEvent(jobs, { table: 10, at: day(days) }));
    await givenEvent(jobs, { type: 'user.created' });
    await eventually(() => expect(receiver.ids()).toEqual(ids));
    receiver.received.length = 0;
    const since = day(7.5).toISOString();
    const { status: answered, body } = await jobs.call('POST', `${endpoint.path}/replay`, { since });
    expect([answered, body]).toEqual([200, { since, events: 3 }]);
    await eventually(() => expect(receiver.ids()).toEqual(ids.slice(2)));
    const next = await givenEvent(jobs, { table: 10 });
    await eventually(() => expect(receiver.ids()).toEqual([...ids.slice(2), next]));
    receiver.received.length = 0;
    await jobs.call('POST', `${endpoint.path}/replay`, { since: '2020-01-01T00:00:00+02:00' });
    await eventually(() => expect(receiver.ids().slice(-6)).toEqual([...ids, next]));
    expect((await jobs.call('POST', `${endpoint.path}/replay`, { since: '2999-01-01T00:00:00Z' })).status).toBe(422);
    expect((await jobs.call('POST', `${endpoint.path}/replay`, { since: 'yesterday' })).status).toBe(400);
    expect((await jobs.call('POST', `${endpoint.path}/replay`, {})).status).toBe(400);
  });

  it('of more events than are read at once loses none', async () => {
    const endpoint = await given();
    await jobs.context.prisma.$executeRawUnsafe(
      `insert into account_event (account_id, message_id, type, occurred_at, actor, resource, api_version)
       select 1, gen_random_uuid(), 'rows.changed', now(), '{}', json_build_object('type', 'table', 'id', n % 40), 'v1'
       from generate_series(1, 620) n`,
    );
    const { body } = await jobs.call('POST', `${endpoint.path}/replay`, {
      since: new Date(Date.now() - 3_600_000).toISOString(),
    });
    expect(body.events).toBeGreaterThanOrEqual(620);
    await eventually(() => expect(new Set(receiver.ids()).size).toBeGreaterThanOrEqual(620), { withinMs: 60_000 });
    const ofOne = receiver.received.filter(({ event }) => event.resource.id === 7).map(({ event }) => event.id);
    // The replay may begin when some were sent already: each came last in the order of the log.
    const last = ofOne.filter((id, place) => ofOne.lastIndexOf(id) === place);
    expect(last).toEqual(last.toSorted((a, b) => a - b));
  });
});

it('a process that is killed while it sends loses nothing', async () => {
  const endpoint = await given();
  const before = receiver.received.length;
  receiver.answer = hang;
  const child = await jobs.anotherProcess();
  const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => givenEvent(jobs, { table: n + 1 })));
  await eventually(() => expect(receiver.received.length).toBeGreaterThan(before));
  child.kill('SIGKILL');
  receiver.answer = accept;
  await settled(jobs, endpoint);
  expect(ids.filter((id) => !receiver.ids().includes(id))).toEqual([]);
});
