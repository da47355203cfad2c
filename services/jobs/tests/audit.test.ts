// The audit log of jobs: exports and imports with their users, and refused calls.
import { eventually } from '@almanac/testkit/eventually';
import { givenJobs, type Jobs } from './given.ts';

let jobs: Jobs;

beforeAll(async () => {
  jobs = await givenJobs();
  jobs.neighbours.addTable({ key: 'countries' });
});
afterAll(() => jobs.close());
beforeEach(() => {
  jobs.acts.length = 0;
});

const wanted = { branch_id: 1, table_definition_key: 'countries', pattern: 'full', correlation_code: `\${jndi:x}\r\n` };
const acts = (count: number) =>
  eventually(() => {
    expect(jobs.acts).toHaveLength(count);
    return jobs.acts;
  });

describe('the audit log records', () => {
  it('an export and an import once each, however often the request is repeated', async () => {
    const edit = { action: 'edit', resource_type: 'account', resource_id: 1 };
    jobs.neighbours.permissions.set(5, { license_type: 'developer', permissions: [edit] });
    const headers = { 'idempotency-key': 'once', 'x-forwarded-for': '192.0.2.7', 'x-request-id': 'request-0001' };
    const exported = await jobs.call('POST', '/api/v1/exports', wanted, headers);
    await jobs.call('POST', '/api/v1/exports', wanted, headers);
    const imported = await jobs.as({ userId: 5 })('POST', '/api/v1/imports', { branch_id: 1 });
    expect([exported.status, imported.status]).toEqual([201, 201]);
    const { correlation_code, high_water_mark, as_of, table_definition_id } = exported.body;
    const table = { table_definition_id, table_definition_key: 'countries' };
    expect(await acts(2)).toEqual([
      {
        action: 'export.created',
        resource_type: 'export',
        resource_id: exported.body.id,
        after: { branch_id: 1, ...table, pattern: 'full', correlation_code, high_water_mark, as_of, criteria: null },
        account_id: 1,
        application_id: 9,
        address: '192.0.2.7',
        request_id: 'request-0001',
      },
      expect.objectContaining({
        action: 'import.created',
        resource_id: imported.body.id,
        user_id: 5,
        after: { branch_id: 1, correlation_code: imported.body.correlation_code },
      }),
    ]);
  });

  it('calls refused for a missing right, and no calls that failed otherwise', async () => {
    jobs.neighbours.permissions.set(62, { license_type: 'developer', permissions: [] });
    expect((await jobs.call('POST', '/api/v1/exports', { ...wanted, pattern: 'half' })).status).toBe(422);
    expect((await jobs.as({ userId: 62 })('POST', '/api/v1/exports', wanted)).status).toBe(403);
    expect(await acts(1)).toMatchObject([
      {
        action: 'access.refused',
        result: 'refused',
        user_id: 62,
        after: { method: 'POST', path: '/exports', errors: [expect.stringContaining('You need the right "view"')] },
      },
    ]);
  });
});
