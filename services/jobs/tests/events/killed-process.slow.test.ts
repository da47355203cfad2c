// An instance that is killed while it appends: no event is lost, and none is in the log twice.
import { eventually } from '@almanac/testkit/eventually';
import { givenJobs, type Jobs } from '../given.ts';
import { endOfLog, readAll, rowsChanged } from './given.ts';

let jobs: Jobs;
beforeAll(async () => {
  jobs = await givenJobs();
});
afterAll(() => jobs.close());

it('an instance that is killed loses no event', async () => {
  const after = await endOfLog(jobs);
  const child = await jobs.anotherProcess();
  const tables = Array.from({ length: 60 }, (_, n) => 100 + n);
  for (const table of tables) {
    await jobs.announce('data.rows.changed', rowsChanged(table));
    if (table === 130) child.kill('SIGKILL');
  }
  const found = await eventually(
    async () => {
      const events = await readAll(jobs, '', after);
      expect(events.length).toBeGreaterThanOrEqual(tables.length);
      return events;
    },
    { withinMs: 60_000 },
  );
  expect(found.map(({ resource }) => resource.id as number).toSorted((a, b) => a - b)).toEqual(tables);
});
