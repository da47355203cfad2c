// Idempotency-Key: a POST of jobs takes effect once for a key, and its result can be read again.
import type { EventStreams } from '../src/events/event-streams.ts';
import { jobsRoutes } from '../src/http.ts';
import { givenImport, givenJobs, type Jobs, runImport } from './given.ts';

let jobs: Jobs;
let made = 0;

beforeAll(async () => {
  jobs = await givenJobs();
  jobs.neighbours.addTable({ key: 'countries' });
  jobs.neighbours.addTable({ key: 'regions' });
  jobs.neighbours.hold(); // no job ends
});
afterAll(() => jobs.close());

const next = (word: string) => {
  made += 1;
  return `${word}${made}`;
};
const send = (path: string, body: unknown, key: string) =>
  jobs.call('POST', `/api/v1${path}`, body, { 'idempotency-key': key });
const openImport = async (file?: string) => (await givenImport(jobs, { countries: file })).id as number;
const query = async (text: string, values: unknown[] = []) => (await jobs.context.pool.query(text, values)).rows[0].n;
const lastImport = () => query('select coalesce(max(id), 0) as n from data_import');
/** How much there is; of actions those of later imports: the jobs of earlier ones may still end. */
const everything = async (since: number) =>
  Promise.all([
    ...[
      'data_import',
      'import_table',
      'import_mapping',
      'data_export',
      'job',
      'webhook_endpoint',
      'webhook_delivery',
    ].map((table) => query(`select count(*)::int as n from ${table}`)),
    query('select count(*)::int as n from import_action where import_id > $1', [since]),
  ]);
const newExport = { branch_id: 1, table_definition_key: 'countries', pattern: 'full' };
// No event has this type, so nothing is sent but tests.
const newEndpoint = { url: 'https://hooks.example/almanac', event_types: ['webhook.test'] };
const givenWebhook = async () =>
  `/webhook_endpoints/${(await jobs.call('POST', '/api/v1/webhook_endpoints', newEndpoint)).body.id}`;
const mappings = '/import_mappings';
/** The path of an import table that has ended. */
const givenDryRun = async (content: string) => {
  jobs.neighbours.release(); // this one ends
  const { id, import_tables } = await runImport(jobs, { countries: content }, { dry_run: true });
  jobs.neighbours.hold();
  return `/imports/${id}/tables/${import_tables[0].id}`;
};

type Case = { path: string; body?: object };

const cases: Record<string, () => Promise<Case>> = {
  'open an import': async () => ({ path: '/imports', body: { branch_id: 1 } }),
  'add a table': async () => ({
    path: `/imports/${await openImport()}/tables`,
    body: { table_definition_key: 'regions', pattern: 'full' },
  }),
  'end the uploads': async () => ({ path: `/imports/${await openImport('code,name\nDE,Germany\n')}/upload_complete` }),
  'complete an import': async () => ({ path: `/imports/${await openImport()}/complete` }),
  'cancel an import': async () => ({ path: `/imports/${await openImport()}/cancel` }),
  'apply a dry run': async () => ({
    path: `${await givenDryRun('code,name\nDE,Germany\n')}/apply`,
    body: { as: 'change_request' },
  }),
  'correct rejected rows': async () => ({
    path: `${await givenDryRun('code,name\nDE,BAD\n')}/correct`,
    body: { rows: [{ row: 2, cells: { name: 'Germany' } }] },
  }),
  'create an export': async () => ({ path: '/exports', body: newExport }),
  'cancel an export': async () => {
    const { body } = await jobs.call('POST', '/api/v1/exports', newExport);
    return { path: `/exports/${body.id}/cancel` };
  },
  'create a mapping': async () => ({
    path: mappings,
    body: { table_definition_id: 10, name: next('From the ERP '), is_default: true },
  }),
  'create a webhook endpoint': async () => ({ path: '/webhook_endpoints', body: newEndpoint }),
  'replace a secret': async () => ({ path: `${await givenWebhook()}/rotate_secret` }),
  'send a test': async () => ({ path: `${await givenWebhook()}/test` }),
  'replay events': async () => ({ path: `${await givenWebhook()}/replay`, body: { since: '2026-01-01T00:00:00Z' } }),
  'send a delivery again': async () => {
    const webhook = await givenWebhook();
    const { body } = await jobs.call('POST', `/api/v1${webhook}/test`);
    await jobs.context.prisma.webhook_delivery.update({ where: { id: body.id }, data: { status: 'failed' } });
    return { path: `${webhook}/deliveries/${body.id}/resend` };
  },
};

afterEach(async () => {
  for (const { id, status } of (await jobs.call('GET', '/api/v1/imports?per_page=1000')).body.data)
    if (!/^(completed|failed|cancelled)/.test(status)) await jobs.call('POST', `/api/v1/imports/${id}/cancel`);
});

describe('a repeated request', () => {
  it.each(Object.keys(cases))('to %s has one effect and one answer, even when several arrive at once', async (name) => {
    const since = await lastImport();
    const { path, body } = await (cases[name] as () => Promise<Case>)();
    const key = next('key-');
    const answers = await Promise.all([1, 2, 3, 4].map(() => send(path, body, key)));
    const after = await everything(since);
    answers.push(await send(path, body, key));
    const seen = answers.map(({ status, body }) => ({ status, id: body?.id, errors: body?.errors }));
    expect(seen).toEqual(seen.map(() => seen[0]));
    expect(seen[0]?.status).toBeLessThan(300);
    expect(await everything(since)).toEqual(after);
    const others = path === mappings ? { ...body, name: 'Other' } : { branch_id: 1, correlation_code: 'other' };
    expect(await send(path === mappings ? path : '/imports', others, key)).toMatchObject({
      status: 422,
      body: { errors: ['Idempotency-Key was used before with another request.'] },
    });
  });

  it('is supported by every POST that has an effect', () => {
    const posts = jobsRoutes(jobs.context, {} as EventStreams).filter(({ method }) => method === 'POST');
    const without = posts.filter(({ requestHeaders }) => requestHeaders?.['Idempotency-Key'] === undefined);
    expect(without.map(({ path }) => path).sort()).toEqual([
      '/import_mappings/suggest',
      '/table_definitions/{id}/infer_columns',
    ]);
    expect(posts.length - without.length).toBe(Object.keys(cases).length);
  });

  it('to add a table gets a URL for the same key, even after a file arrived another way', async () => {
    const key = next('key-');
    const path = `/imports/${await openImport()}/tables`;
    const add = () => send(path, { table_definition_key: 'regions', pattern: 'full' }, key);
    const first = (await add()).body;
    await jobs.send('PUT', `/api/v1${path}/${first.id}/file`, 'code,name\nR1,one\n');
    const again = (await add()).body;
    const placeOf = ({ upload_url }: { upload_url: string }) => new URL(upload_url).pathname;
    expect([again.status, again.upload_expires_at, placeOf(again)]).toEqual([
      'uploaded',
      first.upload_expires_at,
      placeOf(first),
    ]);
  });

  it('does not take the default from a mapping that became it since', async () => {
    const [key, table_definition_id] = [next('key-'), 10];
    const body = { table_definition_id, name: next('One '), is_default: true };
    const first = (await send(mappings, body, key)).body;
    const second = await jobs.call('POST', `/api/v1${mappings}`, { ...body, name: next('Two ') });
    expect((await send(mappings, body, key)).body).toMatchObject({ id: first.id, is_default: false });
    expect((await jobs.call('GET', `/api/v1${mappings}/${second.body.id}`)).body.is_default).toBe(true);
    await jobs.call('DELETE', `/api/v1${mappings}/${first.id}`);
    expect((await send(mappings, body, key)).status).toBe(404);
  });
});

it('a made resource has one id for a key, and one each without a key', async () => {
  const key = next('key-');
  const answers = [
    await send('/exports', newExport, key),
    await send('/exports', newExport, key),
    await jobs.call('POST', '/api/v1/exports', newExport),
    await jobs.call('POST', '/api/v1/exports', newExport),
  ];
  const ids = answers.map(({ body }) => body.id);
  expect([ids[0] === ids[1], new Set(ids).size]).toEqual([true, 3]);
  for (const id of new Set(ids)) await jobs.call('POST', `/api/v1/exports/${id}/cancel`);
});
