// Streams of events: what happens arrives as it happens, once and in order, and a reader that
// reconnects goes on where it was.
import { eventually } from '@almanac/testkit/eventually';
import { createAppends } from '../../src/events/appends.ts';
import { EventHub } from '../../src/events/event-hub.ts';
import { givenJobs, type Jobs } from '../given.ts';
import { follow, type Reader } from './follow.ts';
import { append, endOfLog, rowsChanged } from './given.ts';

let jobs: Jobs;
const readers: Reader[] = [];
beforeAll(async () => {
  jobs = await givenJobs({ eventStreams: { total: 6, perAccount: 4, heartbeatMs: 300 } });
});
afterAll(() => jobs.close());
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  // The places are free again when the server has seen the end.
  await eventually(async () => expect(await openStreams()).toBe(0));
});

const open = async (options: Parameters<typeof follow>[1] = {}) => {
  const reader = await follow(jobs, options);
  readers.push(reader);
  return reader;
};
const openStreams = async () => {
  const text = await (await fetch(`${jobs.url}/metrics`)).text();
  return Number(/^almanac_event_streams_open\S* (\d+)/m.exec(text)?.[1]);
};
const resources = (events: { resource: { id: number | null } }[]) => events.map(({ resource }) => resource.id);

describe('a stream', () => {
  it('begins with what comes after it was opened, from whatever instance', async () => {
    await append(jobs, 'rows.changed', { id: 1 });
    const reader = await open();
    expect([reader.status, reader.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(reader.headers['content-encoding']).toBeUndefined();
    const other = await jobs.another();
    try {
      // One after the other: two instances may take what is announced at once in any order.
      await jobs.announce('data.rows.changed', rowsChanged(2));
      await reader.until(1);
      await jobs.announce('data.rows.changed', rowsChanged(3));
      const events = await reader.until(2);
      expect(resources(events)).toEqual([2, 3]);
      expect(reader.lastId()).toBe(events.at(-1)?.id);
    } finally {
      await other.stop();
    }
  });

  it('goes on after Last-Event-ID, before `after`, without a gap or a repetition while more come', async () => {
    const after = await endOfLog(jobs);
    for (let id = 1; id <= 250; id += 1) await append(jobs, 'rows.changed', { id });
    const reading = open({ lastEventId: after, path: '?after=0' });
    for (let id = 251; id <= 300; id += 1) await append(jobs, 'rows.changed', { id });
    const reader = await reading;
    const events = await reader.until(300);
    expect(resources(events)).toEqual(Array.from({ length: 300 }, (_, n) => n + 1));
    const half = events[149]?.id as number;
    const again = await open({ path: `?after=${half}` });
    expect(resources(await again.until(150))).toEqual(Array.from({ length: 150 }, (_, n) => n + 151));
  });

  it('begins as far back as is asked, unless the client has a last event', async () => {
    const age = (id: number | undefined, seconds: number) =>
      jobs.context.pool.query(
        'update account_event set recorded_at = now() - make_interval(secs => $2) where id = $1',
        [id, seconds],
      );
    for (const id of [1, 2, 3]) {
      await append(jobs, 'rows.changed', { id });
      await age(await endOfLog(jobs), 300 - 100 * id);
    }
    const last = await endOfLog(jobs);
    expect(resources(await (await open({ path: '?replay_seconds=150' })).until(2))).toEqual([2, 3]);
    const [later, none] = [
      await open({ path: '?replay_seconds=150', lastEventId: last }),
      await open({ path: '?replay_seconds=0' }),
    ];
    await append(jobs, 'rows.changed', { id: 4 });
    for (const reader of [later, none]) expect(resources(await (reader as Reader).until(1))).toEqual([4]);
  });

  it('gives all streams of an account the same events, and other accounts theirs', async () => {
    const own = [await open(), await open(), await open({ path: '?type=deployment.*' })];
    const other = await open({ claims: { accountId: 2 } });
    await append(jobs, 'rows.changed', { id: 1 });
    await append(jobs, 'deployment.created', { id: 2 });
    await append(jobs, 'rows.changed', { accountId: 2, id: 3 });
    expect(resources(await (own[0] as Reader).until(2))).toEqual([1, 2]);
    expect(resources(await (own[1] as Reader).until(2))).toEqual([1, 2]);
    expect(resources(await (own[2] as Reader).until(1))).toEqual([2]);
    expect(resources(await other.until(1))).toEqual([3]);
  });

  it('has a heartbeat, which moves the id over events that it does not show', async () => {
    const reader = await open({ path: '?type=deployment.*' });
    await eventually(() => expect(reader.text()).toContain('\n: \n\n'));
    await append(jobs, 'rows.changed');
    const last = await endOfLog(jobs);
    await eventually(() => expect(reader.lastId()).toBe(last));
    expect(reader.events()).toEqual([]);
  });

  it('follows the rights of its user while it is open', async () => {
    const permission = { action: 'view', resource_type: 'domain', resource_id: 1 };
    jobs.neighbours.permissions.set(51, { license_type: 'end_user', permissions: [permission] });
    const reader = await open({ claims: { userId: 51 } });
    await append(jobs, 'deployment.created', { id: 1 });
    await append(jobs, 'rows.changed', { id: 2 });
    expect(resources(await reader.until(1))).toEqual([2]);
    jobs.neighbours.permissions.set(51, { license_type: 'end_user', permissions: [] });
    await jobs.announce('identity.permission.changed', { account_id: 1, user_id: 51 });
    await append(jobs, 'rows.changed', { id: 3 });
    const last = await endOfLog(jobs);
    await eventually(() => expect(reader.lastId()).toBeGreaterThanOrEqual(last));
    expect(resources(reader.events())).toEqual([2]);
  });

  it('that its client does not read is closed, and holds back no other', async () => {
    const slow = await open();
    slow.pause();
    const quick = await open();
    const text = 'x'.repeat(60_000);
    for (let id = 1; id <= 150; id += 1) await append(jobs, 'rows.changed', { id, data: { text } });
    expect(resources(await quick.until(150))).toEqual(Array.from({ length: 150 }, (_, n) => n + 1));
    await eventually(async () => expect(await openStreams()).toBe(1));
  });

  it('that reads slowly gets everything all the same', async () => {
    const after = await endOfLog(jobs);
    const text = 'x'.repeat(30_000);
    for (let id = 1; id <= 100; id += 1) await append(jobs, 'rows.changed', { id, data: { text } });
    const reader = await open({ path: `?after=${after}` });
    for (let id = 101; id <= 200; id += 1) await append(jobs, 'rows.changed', { id, data: { text } });
    expect(resources(await reader.until(200))).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
  });
});

describe('opening a stream', () => {
  it('is refused beyond the limits of an account and of the process, until one ends', async () => {
    const own = [await open(), await open(), await open(), await open()];
    const [full] = [await open()];
    expect([full?.status, full?.headers['retry-after']]).toEqual([429, '10']);
    const others = [2, 3].map((accountId) => open({ claims: { accountId } }));
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await open({ claims: { accountId: 4 } })).status).toBe(429);
    own[0]?.close();
    await eventually(async () => expect((await open({ claims: { accountId: 4 } })).status).toBe(200));
  });

  it.each([
    ['?after=999999999', 410],
    ['?after=x', 400],
    ['?type=%20', 400],
    ['?limit=1', 400],
    ['?replay_seconds=601', 400],
    ['?replay_seconds=-1', 400],
  ])('with %s is %i', async (path, status) => {
    expect((await open({ path })).status).toBe(status);
  });

  it('with a Last-Event-ID that is none is 400', async () => {
    expect((await open({ lastEventId: Number.NaN })).status).toBe(400);
  });
});

it('takes no stream that has not read what the others were given', async () => {
  const { pool, logger } = jobs.context;
  const appends = createAppends(pool, logger);
  const hub = new EventHub(pool, logger, appends);
  const given: number[] = [];
  const first = { accountId: 1, offer: (_events: unknown, cursor: number) => void given.push(cursor) };
  const start = await endOfLog(jobs);
  await appends.start();
  try {
    expect(hub.join(first, start)).toBe(true);
    await append(jobs, 'rows.changed');
    const end = await endOfLog(jobs);
    await eventually(() => expect(given.at(-1)).toBe(end));
    const late = { accountId: 1, offer: () => {} };
    expect([hub.join(late, start), hub.join(late, end)]).toEqual([false, true]);
  } finally {
    await hub.stop();
    await appends.stop();
  }
});

it('an instance that stops ends its streams at once, and they go on at another', async () => {
  const other = await jobs.another({ eventStreams: { heartbeatMs: 60_000 } });
  const reader = await open({ url: other.url });
  await append(jobs, 'rows.changed', { id: 1 });
  await reader.until(1);
  await other.stop();
  expect(await reader.ended).toBe(true);
  await append(jobs, 'rows.changed', { id: 2 });
  const again = await open({ lastEventId: reader.lastId() });
  expect(resources(await again.until(1))).toEqual([2]);
});
