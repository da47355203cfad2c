// Rights on imports, exports and mappings, and what becomes of work whose owner has lost them.
import type { Call } from '@almanac/testkit/calls/call';
import { eventually } from '@almanac/testkit/eventually';
import { ended, givenImport, givenJobs, type Jobs } from './given.ts';

let jobs: Jobs;

beforeAll(async () => {
  jobs = await givenJobs();
  jobs.neighbours.addTable({ key: 'countries', table_definition_id: 10, domain_id: 5 });
  jobs.neighbours.addTable({ key: 'salaries', table_definition_id: 11, domain_id: 6 });
  jobs.neighbours.find({ accountId: 1 } as never, { table_definition_id: 10 }).rows.set('A', { code: 'A', name: 'a' });
});
afterAll(() => jobs.close());
beforeEach(() => {
  jobs.neighbours.refusal = undefined;
});

let lastUser = 500;
type Grant = [action: string, resource_type: string, resource_id: number];
function person(...grants: Grant[]): Call {
  lastUser += 1;
  const permissions = grants.map(([action, resource_type, resource_id]) => ({ action, resource_type, resource_id }));
  jobs.neighbours.permissions.set(lastUser, { license_type: 'developer', permissions });
  const call = jobs.as({ userId: lastUser });
  return (method, path, body, headers) => call(method, `/api/v1${path}`, body, headers);
}
const listed = async (call: Call, resource: string): Promise<number[]> => {
  const { data, meta } = (await call('GET', `/${resource}?per_page=1000`)).body;
  expect(meta.total_count).toBe(data.length);
  return data.map(({ id }: { id: number }) => id);
};
const given = async (path: string, body: object) => {
  const answer = await jobs.call('POST', `/api/v1${path}`, body);
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return answer.body.id as number;
};

describe('lists', () => {
  /** One of each table, one of both, one of none. */
  async function givenThings() {
    const imports = await Promise.all(
      [['countries'], ['salaries'], ['countries', 'salaries'], []].map(
        async (keys) => (await givenImport(jobs, Object.fromEntries(keys.map((key) => [key, undefined])))).id as number,
      ),
    );
    const completed = await Promise.all(
      ['countries', 'salaries'].map((table_definition_key) =>
        given('/exports', { branch_id: 1, table_definition_key, pattern: 'full' }),
      ),
    );
    const import_mappings = await Promise.all(
      [10, 11].map((table_definition_id) =>
        given('/import_mappings', { table_definition_id, name: `for ${Math.random()}` }),
      ),
    );
    return { imports, exports: completed, import_mappings };
  }

  it('contain exactly what can be opened', async () => {
    const things = await givenThings();
    const viewers: [name: string, call: Call, sees: Record<keyof typeof things, number[]>][] = [
      ['account', person(['view', 'account', 1]), { imports: [0, 1, 2, 3], exports: [0, 1], import_mappings: [0, 1] }],
      ['branch', person(['edit', 'branch', 1]), { imports: [0, 1, 2, 3], exports: [0, 1], import_mappings: [0, 1] }],
      ['domain', person(['view', 'domain', 5]), { imports: [0, 3], exports: [0], import_mappings: [0] }],
      ['table', person(['develop', 'table_definition', 11]), { imports: [1, 3], exports: [1], import_mappings: [1] }],
      [
        'both domains',
        person(['view', 'domain', 5], ['view', 'domain', 6]),
        { imports: [0, 1, 2, 3], exports: [0, 1], import_mappings: [0, 1] },
      ],
      ['another branch', person(['edit', 'branch', 2]), { imports: [], exports: [], import_mappings: [] }],
      ['nothing', person(), { imports: [], exports: [], import_mappings: [] }],
    ];
    for (const [name, call, sees] of viewers)
      for (const resource of ['imports', 'exports', 'import_mappings'] as const) {
        const ids = things[resource];
        const inList = await listed(call, resource);
        const opened = await Promise.all(ids.map((id) => call('GET', `/${resource}/${id}`)));
        expect([name, resource, ids.flatMap((id, index) => (inList.includes(id) ? [index] : []))]).toEqual([
          name,
          resource,
          sees[resource],
        ]);
        expect([name, resource, opened.map(({ status }) => status)]).toEqual([
          name,
          resource,
          ids.map((_, index) => (sees[resource].includes(index) ? 200 : 403)),
        ]);
      }
    for (const id of things.imports) await jobs.call('POST', `/api/v1/imports/${id}/complete`);
  });

  it('of mappings omit tables that the caller may not view, even when they are named', async () => {
    await given('/import_mappings', { table_definition_id: 11, name: 'of salaries' });
    const call = person(['edit', 'domain', 5]);
    expect((await call('GET', '/import_mappings?table_definition_id=11')).body.meta.total_count).toBe(0);
    expect((await call('GET', '/import_mappings?q=name:eq:of salaries')).body.meta.total_count).toBe(0);
  });
});

describe('an import', () => {
  it('accepts a table only from callers who may edit all of its tables', async () => {
    const { id } = await givenImport(jobs, { salaries: undefined });
    const [outsider, steward] = [person(['edit', 'domain', 5]), person(['edit', 'domain', 5], ['edit', 'domain', 6])];
    const table = { table_definition_key: 'countries', pattern: 'incremental' };
    expect((await outsider('POST', `/imports/${id}/tables`, table)).status).toBe(403);
    expect((await outsider('POST', `/imports/${id}/tables`, { nonsense: true })).status).toBe(403);
    expect((await steward('POST', `/imports/${id}/tables`, table)).status).toBe(201);
    await jobs.call('POST', `/api/v1/imports/${id}/complete`);
  });

  it('reports a missing right before problems of the body', async () => {
    const { id } = await givenImport(jobs, { countries: undefined });
    const viewer = person(['view', 'domain', 5]);
    for (const step of ['upload_complete', 'complete'])
      expect((await viewer('POST', `/imports/${id}/${step}`, { nonsense: true })).status).toBe(403);
    await jobs.call('POST', `/api/v1/imports/${id}/complete`);
  });
});

describe('a right revoked a moment ago', () => {
  it('opens no file, not even by repeating the request that created it', async () => {
    const viewer = person(['view', 'domain', 5]);
    const userId = lastUser;
    const wanted = { branch_id: 1, table_definition_key: 'countries', pattern: 'full' };
    const request = () => viewer('POST', '/exports', wanted, { 'idempotency-key': `rights-${userId}` });
    const { id } = (await request()).body;
    await ended(jobs, `/exports/${id}`);
    expect((await request()).body).toMatchObject({ id, download_url: expect.any(String) });
    jobs.neighbours.permissions.delete(userId); // no event has reached jobs yet
    expect((await request()).status).toBe(403);
    expect((await viewer('GET', `/exports/${id}`)).status).toBe(403);
    expect(await listed(viewer, 'exports')).toEqual([]);
  });

  it('shows no import', async () => {
    const steward = person(['edit', 'domain', 5]);
    const userId = lastUser;
    const { id } = await givenImport(jobs, { countries: undefined });
    expect((await steward('GET', `/imports/${id}`)).status).toBe(200);
    jobs.neighbours.permissions.delete(userId);
    for (const [method, path] of [
      ['GET', `/imports/${id}`],
      ['POST', `/imports/${id}/upload_complete`],
      ['POST', `/imports/${id}/complete`],
    ] as const)
      expect((await steward(method, path)).status).toBe(403);
    await jobs.call('POST', `/api/v1/imports/${id}/complete`);
  });
});

describe('work whose owner no longer has the right', () => {
  const reason = 'You need the right "edit" on the table, its domain, its branch or the account.';

  it('fails an import with the reason, at once and permanently', async () => {
    const { id } = await givenImport(jobs, { countries: 'code,name\nX,x\n' });
    jobs.neighbours.refusal = reason;
    await jobs.call('POST', `/api/v1/imports/${id}/upload_complete`);
    const done = await ended(jobs, `/imports/${id}`);
    expect(done).toMatchObject({ status: 'failed', import_tables: [{ status: 'failed', errors: [reason] }] });
    const job = await jobs.context.prisma.job.findFirst({ where: { subject_id: done.import_tables[0].id } });
    expect(job).toMatchObject({ state: 'failed', attempts: 1 });
  });

  it('fails an export with the reason, and leaves no file', async () => {
    jobs.neighbours.refusal = reason;
    const id = await given('/exports', { branch_id: 1, table_definition_key: 'countries', pattern: 'full' });
    expect(await ended(jobs, `/exports/${id}`)).toMatchObject({ status: 'failed', error: reason, download_url: null });
  });
});

describe('a table that is deployed into another domain', () => {
  it('takes its imports and exports along', async () => {
    const table = jobs.neighbours.addTable({ key: 'moving', table_definition_id: 12, domain_id: 5 });
    const made = await given('/exports', { branch_id: 1, table_definition_key: 'moving', pattern: 'full' });
    const { id } = await givenImport(jobs, { moving: undefined });
    const [before, after] = [person(['view', 'domain', 5]), person(['view', 'domain', 7])];
    const seen = async (call: Call) => [
      (await call('GET', `/exports/${made}`)).status,
      (await call('GET', `/imports/${id}`)).status,
      (await listed(call, 'exports')).includes(made),
      (await listed(call, 'imports')).includes(id),
    ];
    expect([await seen(before), await seen(after)]).toEqual([
      [200, 200, true, true],
      [403, 403, false, false],
    ]);
    table.domain_id = 7;
    const payload = { account_id: 1, table_definition_id: 12, branch_id: 1 };
    await jobs.announce('metadata.table_definition.deployed', payload);
    await jobs.announce('metadata.table_definition.deployed', { ...payload, table_definition_id: 999 });
    await eventually(async () => expect(await seen(after)).toEqual([200, 200, true, true]));
    expect(await seen(before)).toEqual([403, 403, false, false]);
    await jobs.call('POST', `/api/v1/imports/${id}/complete`);
  });
});

describe('mass deletion on a protected branch', () => {
  beforeEach(() => void jobs.neighbours.protectedBranches.add(1));
  afterEach(() => jobs.neighbours.protectedBranches.clear());

  const machine =
    (...scopes: string[]): Call =>
    (method, path, body, headers) =>
      jobs.as({ scopes })(method, `/api/v1${path}`, body, headers);
  async function ask(call: Call, options: object) {
    const made = await call('POST', '/imports', { branch_id: 1 });
    const table = { table_definition_key: 'countries', pattern: 'full', ...options };
    const { status, body } = await call('POST', `/imports/${made.body.id}/tables`, table);
    await call('POST', `/imports/${made.body.id}/cancel`);
    return { status, error: body.error };
  }
  const forbidden = { status: 403, error: 'Forbidden' };
  const much = [{ allow_mass_delete: true }, { mass_delete_percent: 51 }];

  it('is allowed to administrators of the branch, not to everyone who may edit', async () => {
    for (const options of much) {
      expect(await ask(person(['develop', 'account', 1]), options)).toEqual(forbidden);
      expect(await ask(machine('api:write'), options)).toEqual(forbidden);
      expect((await ask(person(['admin', 'branch', 1]), options)).status).toBe(201);
      expect((await ask(machine('api'), options)).status).toBe(201);
    }
    expect((await ask(person(['edit', 'account', 1]), { mass_delete_percent: 50 })).status).toBe(201);
  });

  async function load(options: object, changeRights: (userId: number) => void) {
    const call = person(['admin', 'branch', 1], ['edit', 'account', 1]);
    const userId = lastUser;
    const absolute: Call = (method, path, body, headers) => call(method, path.replace('/api/v1', ''), body, headers);
    const { id } = await givenImport(
      jobs,
      { countries: 'code,name\nA,a\n' },
      { pattern: 'full', ...options },
      absolute,
    );
    changeRights(userId);
    await jobs.call('POST', `/api/v1/imports/${id}/upload_complete`);
    const { status, import_tables } = await ended(jobs, `/imports/${id}`);
    return [status, import_tables[0].errors];
  }
  const lose = (userId: number) => {
    const permissions = [{ action: 'edit', resource_type: 'account', resource_id: 1 }];
    jobs.neighbours.permissions.set(userId, { license_type: 'developer', permissions });
  };

  it('is authorized again when the load begins', async () => {
    const sentence =
      'Mass deletion was allowed by a user who is no longer an administrator of the branch or the account.';
    for (const options of much) {
      expect(await load(options, lose)).toEqual(['failed', [sentence]]);
      expect((await load(options, () => {}))[0]).toBe('completed');
    }
    expect((await load({}, lose))[0]).toBe('completed');
    jobs.neighbours.protectedBranches.clear();
    expect((await load({ allow_mass_delete: true }, lose))[0]).toBe('completed');
  });

  it('needs no administrator where the branch is not protected, and on plans without branching', async () => {
    const editor = person(['edit', 'account', 1]);
    const plain: Call = (method, path, body, headers) =>
      jobs.as({ branching: false, scopes: ['api:write'] })(method, `/api/v1${path}`, body, headers);
    expect((await ask(plain, { allow_mass_delete: true })).status).toBe(201);
    jobs.neighbours.protectedBranches.clear();
    expect((await ask(editor, { allow_mass_delete: true })).status).toBe(201);
  });
});
