// Jobs with the tables that the tests of import mappings map files to.
import { givenJobs, type Jobs, makeMapping } from '../given.ts';

export let jobs: Jobs;
export const table = 10;

/** Starts jobs before the tests of a file. */
export function useMappings(): void {
  beforeAll(async () => {
    jobs = await givenJobs();
    jobs.neighbours.addTable({ key: 'countries' });
    jobs.neighbours.addTable({ key: 'regions' });
    jobs.neighbours.addTable({ key: 'foreign', account_id: 2, branch_id: 3 });
    jobs.neighbours.addTable({ key: 'banks' });
  });
  afterAll(() => jobs.close());
}

export const call = (method: string, path: string, body?: unknown) =>
  jobs.call(method, `/api/v1/import_mappings${path}`, body);

export const entry = {
  ...{ target_column: null, format: null, default: null, trim: false, lookup: false },
  ...{ value_map: null, otherwise: 'keep', round: null },
};

export const make = (attributes?: Record<string, unknown>) => makeMapping(jobs, table, attributes);
