import { eventually } from '@almanac/testkit/eventually';
import { ended, givenJobs, type Jobs, runImport } from './given.ts';

let jobs: Jobs;

beforeAll(async () => {
  jobs = await givenJobs();
  jobs.neighbours.addTable({ key: 'countries' });
});
afterAll(() => jobs.close());

const all = { accountId: 0 };
const list = (state = '', accountId = 0) => jobs.operator.ListJobs({ accountId }, { state, limit: 0 });

// The right to load was taken away: a reason that the next attempt would meet again.
async function givenFailed(): Promise<string> {
  jobs.neighbours.refusal = 'You may not.';
  const { import_tables } = await runImport(jobs, { countries: 'code,name\nO1,x\n' });
  jobs.neighbours.refusal = undefined;
  return `import-table-${import_tables[0].id}`;
}

describe('operators', () => {
  it('find what has failed with its reason, look at it, and have it tried again', async () => {
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

  it('see the work of all accounts, or of one, and nothing that is over unless they ask for it', async () => {
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

  it('see messages that nobody could handle, and have them tried again', async () => {
    await jobs.announce('identity.mail.requested', { account_id: 1, template: 'unheard_of', user_ids: [1] });
    const dead = async () => (await list()).dead_letters;
    await eventually(async () => expect(await dead()).toEqual([{ queue: 'jobs.mail', messages: 1 }]));
    const metrics = await (await fetch(`${jobs.url}/metrics`)).text();
    expect(metrics).toMatch(/^almanac_dead_letters\{queue="jobs.mail",service="jobs"\} 1$/m);
    expect(await jobs.retry('dead-letters')).toBe('1 messages');
    await eventually(async () => expect(await dead()).toEqual([{ queue: 'jobs.mail', messages: 1 }])); // as bad as before
  });

  it('see in the metrics how much waits and since when', async () => {
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
});
