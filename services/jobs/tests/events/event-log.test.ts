// The log of an account: what is announced is in it once, in an order that readers can rely on.
import { randomUUID } from 'node:crypto';
import { pgSql } from '@almanac/service-kit/postgres/database';
import { sweepEvents } from '../../src/events/append-events.ts';
import { readEvents } from '../../src/events/read-events.ts';
import { ended, givenJobs, type Jobs, runImport } from '../given.ts';
import { append, endOfLog, readAll, rowsChanged, untilLogged } from './given.ts';

let jobs: Jobs;
beforeAll(async () => {
  jobs = await givenJobs();
  jobs.neighbours.addTable({ key: 'countries' });
});
afterAll(() => jobs.close());

const sql = (text: string, values: unknown[] = []) => pgSql(jobs.context.pool)(text, values);
const age = (days: number, where = 'account_id = 1') =>
  sql(`update account_event set recorded_at = recorded_at - make_interval(days => $1::int) where ${where}`, [days]);
const act = (more: Record<string, unknown>) => ({ account_id: 1, user_id: 7, application_id: 2, ...more });

describe('the log of an account', () => {
  it.each([
    ['user:5', { type: 'user', id: 5 }],
    ['application:7', { type: 'application', id: 7 }],
    ['data', { type: 'system', id: null }],
    [null, { type: 'system', id: null }],
  ])('names who has changed rows, when that is one: %s', async (by, actor) => {
    const after = await endOfLog(jobs);
    await jobs.announce('data.rows.changed', rowsChanged(11, { by }));
    const events = await untilLogged(jobs, 1, '', after);
    expect(events).toMatchObject([{ type: 'rows.changed', actor }]);
    expect(events[0]?.data).not.toHaveProperty('by');
  });

  it('has what the services announce, with its actor, its resource and its place', async () => {
    const after = await endOfLog(jobs);
    await jobs.announce('data.rows.changed', rowsChanged(11, { deleted: 2 }));
    await jobs.announce(
      'metadata.audit.requested',
      act({
        action: 'deployment.approved',
        resource_type: 'deployment',
        resource_id: 5,
        before: { status: 'requested' },
        after: { status: 'approved', branch_id: 3 },
      }),
    );
    await jobs.announce('metadata.table_definition.updated', {
      account_id: 1,
      table_definition_id: 11,
      branch_id: 3,
      by: { user_id: null, application_id: 2 },
    });
    await jobs.announce(
      'identity.audit.recorded',
      act({ action: 'user.created', resource_type: 'user', resource_id: 8 }),
    );
    const events = await untilLogged(jobs, 4, '', after);
    expect(events).toEqual([
      expect.objectContaining({
        type: 'rows.changed',
        api_version: 'v1',
        actor: { type: 'system', id: null },
        resource: { type: 'table', id: 11, domain_id: 1, branch_id: 1 },
        data: {
          table_definition_key: 't11',
          inserted: 1,
          updated: 0,
          deleted: 2,
          changed_after: '2026-11-27T00:00:00.000Z',
          changed_until: '2026-11-27T00:00:01.000Z',
        },
      }),
      expect.objectContaining({
        type: 'deployment.approved',
        actor: { type: 'user', id: 7 },
        resource: { type: 'deployment', id: 5, branch_id: 3 },
        data: { result: 'succeeded', before: { status: 'requested' }, after: { status: 'approved', branch_id: 3 } },
      }),
      expect.objectContaining({
        type: 'table_definition.updated',
        actor: { type: 'application', id: 2 },
        resource: { type: 'table_definition', id: 11, branch_id: 3 },
      }),
      expect.objectContaining({ type: 'user.created', resource: { type: 'user', id: 8 } }),
    ]);
    for (const { id, time } of events) {
      expect(Number.isSafeInteger(id)).toBe(true);
      expect(new Date(time).toISOString()).toBe(time);
    }
  });

  it('has no log-ins, no refusals, and no second entry of a definition', async () => {
    const after = await endOfLog(jobs);
    await jobs.announce('gateway.audit.requested', act({ action: 'access.refused', result: 'refused' }));
    await jobs.announce('identity.audit.recorded', act({ action: 'login.failed', result: 'failed' }));
    await jobs.announce('metadata.audit.requested', act({ action: 'table_definition.updated', resource_id: 1 }));
    await jobs.announce('data.rows.changed', rowsChanged(12));
    expect((await untilLogged(jobs, 1, '', after)).map(({ type }) => type)).toEqual(['rows.changed']);
  });

  it('has the imports and exports of this service, with their callers', async () => {
    const after = await endOfLog(jobs);
    const { id } = await runImport(jobs, { countries: 'code,name\nFR,France\n' });
    const wanted = { branch_id: 1, table_definition_key: 'countries', pattern: 'full' };
    const { body } = await jobs.call('POST', '/api/v1/exports', wanted);
    await ended(jobs, `/exports/${body.id}`);
    const events = await untilLogged(jobs, 4, '&type=import.*&type=export.*', after);
    expect(events.map(({ type, resource, actor }) => [type, resource.id, actor.type])).toEqual([
      ['import.created', id, 'application'],
      ['import.finished', id, 'application'],
      ['export.created', body.id, 'application'],
      ['export.finished', body.id, 'application'],
    ]);
    expect(events[1]?.data).toEqual({ status: 'completed' });
    expect(events[3]?.resource).toMatchObject({ branch_id: 1, table_definition_id: expect.any(Number) });
  });

  it('leaves out details that are too large', async () => {
    const after = await endOfLog(jobs);
    await append(jobs, 'deployment.created', { data: { text: 'x'.repeat(70_000) } });
    expect((await readAll(jobs, '', after)).map(({ data }) => data)).toEqual([{ left_out: 'too_large' }]);
  });
});

describe('readers of the log', () => {
  it('never miss an event while many are appended and delivered twice, and see none twice', async () => {
    const after = await endOfLog(jobs);
    const writers = 8;
    const each = 25;
    const total = writers * each;
    let isWriting = true;
    const seen: number[] = [];
    const reading = (async () => {
      for (let cursor = after; ; ) {
        const wasWriting = isWriting;
        const page = await readEvents(pgSql(jobs.context.pool), 1, { after: cursor, limit: 7 });
        seen.push(...page.events.map(({ resource }) => resource.id as number));
        cursor = page.cursor;
        if (!page.hasMore && !wasWriting) return;
      }
    })();
    const write = async (writer: number) => {
      for (let n = 0; n < each; n += 1) {
        const [id, messageId] = [writer * each + n, randomUUID()];
        await Promise.all([1, 2].map(() => append(jobs, 'rows.changed', { id, messageId })));
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
    isWriting = false;
    await reading;
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: total }, (_, id) => id));
  });

  it('get a message that is delivered again only once', async () => {
    const after = await endOfLog(jobs);
    const message = await jobs.announce('data.rows.changed', rowsChanged(21));
    await untilLogged(jobs, 1, '', after);
    await jobs.announce('data.rows.changed', {}, message);
    await jobs.announce('data.rows.changed', rowsChanged(22));
    expect((await untilLogged(jobs, 2, '', after)).map(({ resource }) => resource.id)).toEqual([21, 22]);
  });
});

describe('GET /events', () => {
  it('goes on with the cursor, which moves over an empty page too', async () => {
    const after = await endOfLog(jobs);
    for (const type of ['deployment.created', 'rows.changed', 'deployment.approved', 'domain.created'])
      await append(jobs, type);
    const get = async (query: string) => (await jobs.call('GET', `/api/v1/events?${query}`)).body;
    const first = await get(`after=${after}&limit=3`);
    expect(first.data.map(({ type }: { type: string }) => type)).toEqual([
      'deployment.created',
      'rows.changed',
      'deployment.approved',
    ]);
    expect(first).toMatchObject({ cursor: first.data[2].id, has_more: true });
    const last = await get(`after=${first.cursor}`);
    expect(last).toMatchObject({ cursor: last.data[0].id, has_more: false });
    expect(await get(`after=${last.cursor}`)).toEqual({ data: [], cursor: last.cursor, has_more: false });
    const filtered = await get(`after=${after}&type=export.finished`);
    expect(filtered).toEqual({ data: [], cursor: last.cursor, has_more: false });
  });

  it('answers events of the types, exact or by their beginning', async () => {
    const after = await endOfLog(jobs);
    for (const type of ['deployment.created', 'deployment_x.created', 'rows.changed', 'deployment.deployed'])
      await append(jobs, type);
    const typesOf = async (query: string) => (await readAll(jobs, query, after)).map(({ type }) => type);
    expect(await typesOf('&type=deployment.*')).toEqual(['deployment.created', 'deployment.deployed']);
    expect(await typesOf('&type=rows.changed&type=deployment.deployed')).toEqual([
      'rows.changed',
      'deployment.deployed',
    ]);
    expect(await typesOf('&type=*')).toHaveLength(4);
    expect(await typesOf('&type=deployment.*&limit=1')).toHaveLength(2);
  });

  it.each(['after=-1', 'after=x', 'limit=0', 'limit=1001', 'limit=x', 'type=', 'type=a%25', 'type=a.*.b', 'page=1'])(
    'refuses %s',
    async (query) => {
      expect((await jobs.call('GET', `/api/v1/events?${query}`)).status).toBe(400);
    },
  );

  it('reads past many events of other types page by page, each of which moves the cursor', async () => {
    const after = await endOfLog(jobs);
    await sql(
      `insert into account_event (account_id, message_id, type, occurred_at, actor, resource, api_version)
       select 1, gen_random_uuid(), 'rows.changed', now(), '{"type": "system", "id": null}', '{"type": "table", "id": 1}', 'v1'
       from generate_series(1, 10500)`,
    );
    await append(jobs, 'deployment.created');
    const { body } = await jobs.call('GET', `/api/v1/events?after=${after}&type=deployment.*`);
    expect(body).toMatchObject({ data: [], has_more: true });
    expect(body.cursor).toBeGreaterThan(after);
    expect((await readAll(jobs, '&type=deployment.*', after)).map(({ type }) => type)).toEqual(['deployment.created']);
  });

  it('never shows the events of another account', async () => {
    const after = await endOfLog(jobs);
    await append(jobs, 'rows.changed', { accountId: 2, id: 99 });
    const other = jobs.as({ accountId: 2 });
    expect((await readAll(jobs, '', 0, other)).map(({ resource }) => resource.id)).toEqual([99]);
    expect(await readAll(jobs, '', after)).toEqual([]);
  });

  it('takes the scope api:admin for events about people and applications', async () => {
    const after = await endOfLog(jobs);
    for (const type of ['user.created', 'oauth_application.updated', 'rows.changed']) await append(jobs, type);
    const readOnly = jobs.as({ scopes: ['api:read'] });
    expect((await readAll(jobs, '', after, readOnly)).map(({ type }) => type)).toEqual(['rows.changed']);
  });

  it('shows users who are no administrators the rows that changed in tables they may view', async () => {
    const after = await endOfLog(jobs);
    await append(jobs, 'deployment.created');
    await jobs.announce('data.rows.changed', rowsChanged(31));
    await jobs.announce('data.rows.changed', rowsChanged(32, { domain_id: 2 }));
    await untilLogged(jobs, 3, '', after);
    const permission = { action: 'view', resource_type: 'domain', resource_id: 1 };
    jobs.neighbours.permissions.set(41, { license_type: 'end_user', permissions: [permission] });
    jobs.neighbours.permissions.set(42, { license_type: 'developer', permissions: [] });
    const administers = { action: 'admin', resource_type: 'account', resource_id: 1 };
    jobs.neighbours.permissions.set(43, { license_type: 'developer', permissions: [administers] });
    const idsFor = async (userId: number, query = '') =>
      (await readAll(jobs, query, after, jobs.as({ userId }))).map(({ resource }) => resource.id);
    expect(await idsFor(41)).toEqual([31]);
    expect(await idsFor(41, '&type=deployment.*')).toEqual([]);
    expect(await idsFor(42)).toEqual([]);
    expect(await idsFor(43)).toEqual([1, 31, 32]);
  });
});

describe('events older than 30 days', () => {
  it('are removed, and a reader that still waits for them gets 410', async () => {
    const [old, oldest] = [await endOfLog(jobs), (await readAll(jobs))[0]?.id as number];
    await age(31);
    await append(jobs, 'domain.created');
    await sweepEvents(pgSql(jobs.context.pool));
    const { status, body } = await jobs.call('GET', `/api/v1/events?after=${oldest}`);
    expect([status, body.problems[0]]).toEqual([
      410,
      expect.objectContaining({ code: 'cursor_expired', field: 'after', params: { after: old } }),
    ]);
    expect((await readAll(jobs, '', old)).map(({ type }) => type)).toEqual(['domain.created']);
    const { body: fromStart } = await jobs.call('GET', '/api/v1/events');
    expect(fromStart.data.map(({ type }: { type: string }) => type)).toEqual(['domain.created']);
    // The whole log may be empty, and its place is still known.
    await age(31);
    await sweepEvents(pgSql(jobs.context.pool));
    expect((await jobs.call('GET', '/api/v1/events')).body).toMatchObject({ data: [], cursor: fromStart.cursor });
    expect((await jobs.call('GET', `/api/v1/events?after=${fromStart.cursor}`)).status).toBe(200);
  });

  it('are no others than those: an id that was never given is refused too', async () => {
    const { status, body } = await jobs.call('GET', '/api/v1/events?after=999999999');
    expect([status, body.problems[0].code]).toEqual([410, 'cursor_expired']);
  });
});
