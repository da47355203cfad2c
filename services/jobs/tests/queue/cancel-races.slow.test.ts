// Cancelling at the moment when the work ends: the first to commit decides, and all answers agree
// afterwards.
import { eventually } from '@almanac/testkit/eventually';
import { ended, givenImport, givenJobs, type Jobs } from '../given.ts';

let jobs: Jobs;

beforeAll(async () => {
  jobs = await givenJobs();
  jobs.neighbours.addTable({ key: 'countries' });
});
afterAll(() => jobs.close());

const rounds = Array.from({ length: 12 }, (_, round) => round);
const post = (path: string, body?: unknown) => jobs.call('POST', `/api/v1${path}`, body);
const endsAnnounced = (type: string, id: number) =>
  new Map(
    jobs.events
      .filter((event) => event.type === type && event.payload.id === id)
      .map((event) => [event.id, event.payload.status]), // a message may come twice
  );

// Held until both have begun, so that the cancellation and the end collide.
const meet = async <T>(isBegun: () => Promise<void> | void, cancel: () => Promise<T>): Promise<T> => {
  await eventually(isBegun);
  const [answer] = await Promise.all([cancel(), jobs.neighbours.release()]);
  return answer;
};

describe('cancelling beside the end of', () => {
  it('an export leaves one outcome', async () => {
    const wish = { branch_id: 1, table_definition_key: 'countries', pattern: 'full' };
    for (const round of rounds) {
      const reads = jobs.neighbours.readsAsOf.length;
      if (round % 3 > 0) jobs.neighbours.hold();
      const { id } = (await post('/exports', wish)).body;
      const isBegun = () =>
        expect(jobs.neighbours.readsAsOf.length).toBeGreaterThan(round % 3 === 1 ? reads : reads - 1);
      const { status } = await meet(isBegun, () => post(`/exports/${id}/cancel`));
      const done = await ended(jobs, `/exports/${id}`);
      expect([status, done.status, done.download_url !== null]).toEqual(
        status === 200 ? [200, 'cancelled', false] : [422, 'completed', true],
      );
      await eventually(() => expect([...endsAnnounced('jobs.export.finished', id).values()]).toEqual([done.status]));
    }
  });

  it('an import leaves one outcome, which is that of its rows', async () => {
    const { rows } = jobs.neighbours.tables[0] as { rows: Map<string, unknown> };
    for (const round of rounds) {
      const loads = jobs.neighbours.loads.length;
      if (round % 3 > 0) jobs.neighbours.hold();
      const { id } = await givenImport(jobs, { countries: `code,name\nK${round},x\n` });
      await post(`/imports/${id}/upload_complete`);
      const isBegun = () => expect(jobs.neighbours.loads.length).toBeGreaterThan(round % 3 === 1 ? loads : loads - 1);
      const { status } = await meet(isBegun, () => post(`/imports/${id}/cancel`));
      const done = await ended(jobs, `/imports/${id}`);
      expect(status === 200 ? ['completed', 'cancelled'] : ['completed']).toContain(done.status);
      expect(done.import_tables[0].status).toBe(done.status);
      expect(done.import_tables[0].metrics?.inserted ?? 0).toBe(done.status === 'completed' ? 1 : 0);
      await eventually(() => expect([...endsAnnounced('jobs.import.finished', id).values()]).toEqual([done.status]));
      expect(rows.has(`["K${round}"]`)).toBe(done.status === 'completed');
    }
  });
});
