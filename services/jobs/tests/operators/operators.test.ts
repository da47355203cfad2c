import { eventually } from '@almanac/testkit/eventually';
import { ended, givenImport, givenJobs, type Jobs, runImport } from '../given.ts';

let jobs: Jobs;

beforeAll(async () => {
  jobs = await givenJobs();
  for (const key of ['countries', 'regions']) jobs.neighbours.addTable({ key });
});
afterAll(() => jobs.close());
afterEach(() => {
  jobs.neighbours.dataIsAway = false;
  jobs.neighbours.release();
});

const all = { accountId: 0 };
const list = (state = '', accountId = 0) => jobs.operator.ListJobs({ accountId }, { state, limit: 0 });

// The right to load was revoked: an error that a retry would meet again.
async function givenFailed(): Promise<string> {
  jobs.neighbours.refusal = 'You may not.';
  const { import_tables } = await runImport(jobs, { countries: 'code,name\nO1,x\n' });
  jobs.neighbours.refusal = undefined;
  return `import-table-${import_tables[0].id}`;
}

describe('operators', () => {
  it('find failed jobs with their errors, inspect them, and retry them', async () => {
    const name = await givenFailed();
    const failed = await list('failed');
    expect(failed).toMatchObject({ total: 1, jobs: [{ name, account_id: 1, state: 'failed', error: 'You may not.' }] });
    const shown = await jobs.operator.GetJob(all, { id: name });
    expect(shown).toEqual(failed.jobs[0]);
    expect(await jobs.operator.GetJob(all, { id: String(shown.id) })).toEqual(shown);
    expect(shown.import_id).toBeGreaterThan(0);
    await jobs.retry(name);
    expect((await ended(jobs, `/imports/${shown.import_id}`)).status).toBe('completed');
    await eventually(async () => expect((await list('failed')).total).toBe(0));
    expect((await list('done')).jobs.map((job) => job.name)).toContain(name);
  });

  it('see the jobs of all accounts, or of one, and finished ones only on request', async () => {
    const name = await givenFailed();
    const names = async (state?: string, accountId?: number) =>
      (await list(state, accountId)).jobs.map((job) => job.name);
    expect([await names(), await names('', 1), await names('', 2)]).toEqual([[name], [name], []]);
    await expect(jobs.operator.GetJob({ accountId: 2 }, { id: name })).rejects.toMatchObject({ kind: 'not_found' });
    for (const wrong of [
      { state: 'lost', limit: 0 },
      { state: '', limit: 1_001 },
      { state: '', limit: -1 },
    ])
      await expect(jobs.operator.ListJobs(all, wrong)).rejects.toMatchObject({ kind: 'bad_request' });
  });

  it('see dead letters, and retry them', async () => {
    await jobs.announce('identity.mail.requested', { account_id: 1, template: 'unknown', user_ids: [1] });
    const dead = async () => (await list()).dead_letters;
    await eventually(async () => expect(await dead()).toEqual([{ queue: 'jobs.mail', messages: 1 }]));
    const metrics = await (await fetch(`${jobs.url}/metrics`)).text();
    expect(metrics).toMatch(/^almanac_dead_letters\{queue="jobs.mail",service="jobs"\} 1$/m);
    expect(await jobs.retry('dead-letters')).toBe('1 messages');
    // As bad as before.
    await eventually(async () => expect(await dead()).toEqual([{ queue: 'jobs.mail', messages: 1 }]));
  });

  it('see in the metrics whose fault failed jobs are: a caller can mend what the system can not', async () => {
    const failed = async () => {
      const text = await (await fetch(`${jobs.url}/metrics`)).text();
      return Object.fromEntries(
        [...text.matchAll(/^almanac_jobs_failed{cause="(\w+)",service="jobs"} (\d+)$/gm)].map(([, cause, count]) => [
          cause,
          Number(count),
        ]),
      );
    };
    const before = await failed();
    const name = await givenFailed();
    expect(await failed()).toEqual({ caller: (before.caller ?? 0) + 1, system: 0 });
    const { id } = await jobs.operator.GetJob(all, { id: name });
    await jobs.context.prisma.job.update({ where: { id }, data: { failed_by: null } }); // by an earlier release
    expect(await failed()).toEqual({ caller: before.caller, system: 1 });
    await jobs.context.prisma.job.delete({ where: { id } });
  });

  it('see in the metrics when the latest backup was taken', async () => {
    const taken = async () => {
      const text = await (await fetch(`${jobs.url}/metrics`)).text();
      return Number(/^almanac_last_backup_timestamp_seconds{service="jobs"} (.+)$/m.exec(text)?.[1]);
    };
    expect(await taken()).toBe(0);
    await jobs.context.prisma.finished_backup.create({ data: { taken_at: new Date(1_800_000_000_500) } });
    expect(await taken()).toBe(1_800_000_000.5);
  });

  it('see in the metrics how many jobs wait and for how long', async () => {
    const metric = async (name: string) => {
      const text = await (await fetch(`${jobs.url}/metrics`)).text();
      return Number(new RegExp(`^almanac_jobs_${name}{service="jobs"} (.+)$`, 'm').exec(text)?.[1]);
    };
    expect([await metric('queued'), await metric('longest_wait_seconds')]).toEqual([0, 0]);
    jobs.neighbours.hold();
    for (const wish of [1, 2, 3]) {
      const made = await jobs.call('POST', '/api/v1/exports', {
        branch_id: 1,
        table_definition_key: 'countries',
        pattern: 'full',
      });
      expect([wish, made.status]).toEqual([wish, 201]);
    }
    await eventually(async () => {
      expect([await metric('running'), await metric('queued')]).toEqual([2, 1]); // the share of an account
      expect(await metric('longest_wait_seconds')).toBeGreaterThan(0);
    });
    jobs.neighbours.release();
    await eventually(async () => expect([await metric('running'), await metric('queued')]).toEqual([0, 0]));
  });

  it('cannot retry a table of a cancelled import, whose error stays', async () => {
    const { id, import_tables } = await givenImport(jobs, {
      countries: 'code,name,extra\n',
      regions: 'code,name\nO2,x\n',
    });
    const path = `/imports/${id}`;
    const post = (action: string) => jobs.call('POST', `/api/v1${path}/${action}`);
    const tables = async () => (await jobs.call('GET', `/api/v1${path}`)).body.import_tables;
    const retry = () => jobs.retry(`import-table-${import_tables[0].id}`);
    jobs.neighbours.hold();
    await post('upload_complete');
    await eventually(async () =>
      expect(await tables()).toMatchObject([{ status: 'failed' }, { status: 'processing' }]),
    );
    const [failed] = await tables();
    expect(failed.errors).toHaveLength(1);
    jobs.neighbours.dataIsAway = true; // the cancellation is asked for, and waits
    expect((await post('cancel')).status).toBe(200);
    const refused = (problem: string) => ({ kind: 'wrong_state', errors: [problem] });
    await expect(retry()).rejects.toMatchObject(
      refused('The import is being cancelled; its tables are not tried again.'),
    );
    jobs.neighbours.dataIsAway = false; // the load itself is held on
    expect((await ended(jobs, path)).status).toBe('cancelled');
    await expect(retry()).rejects.toMatchObject(refused('The import is cancelled; its tables are not tried again.'));
    expect((await tables())[0]).toEqual(failed);
  });

  it('see nothing of the failed attempt while the next one waits', async () => {
    const done = await runImport(jobs, { regions: 'code,name\nO3,BAD\nO4,x\n' });
    const [failed] = done.import_tables;
    expect(failed).toMatchObject({ status: 'failed', metrics: { rejected: 1 }, rejections: [{ column: 'name' }] });
    jobs.neighbours.dataIsAway = true;
    await jobs.retry(`import-table-${failed.id}`);
    const { body } = await jobs.call('GET', `/api/v1/imports/${done.id}`);
    expect(body.import_tables).toMatchObject([
      { metrics: null, rejections: [], errors: [], rejected_rows_url: null, finished_at: null },
    ]);
    expect(body.import_tables[0].progress).toMatchObject({ percent: 0, bytes_processed: 0, rows_processed: 0 });
    jobs.neighbours.dataIsAway = false;
    expect((await ended(jobs, `/imports/${done.id}`)).status).toBe('failed');
  });
});
