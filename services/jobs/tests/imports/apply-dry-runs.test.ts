// Dry runs that are applied: their file is loaded, or their rows are proposed.
import { ServiceError } from '@almanac/service-kit/errors';
import type { Call } from '@almanac/testkit/calls/call';
import { ended, givenImport, givenJobs, type Jobs, personOf, runImport } from '../given.ts';

let jobs: Jobs;

beforeAll(async () => {
  jobs = await givenJobs();
});
afterAll(() => jobs.close());

const file = 'code,name\nDE,Germany\nFR,BAD\n';
let tables = 0;

/** A dry run that has ended, of a table of its own. */
async function givenDryRun(options: Record<string, unknown> = {}, content = file) {
  tables += 1;
  const table = jobs.neighbours.addTable({ key: `table_${tables}` });
  const { id, import_tables } = await runImport(
    jobs,
    { [table.key]: content },
    { dry_run: true, on_error: 'reject_rows', ...options },
  );
  const load = jobs.neighbours.loads.at(-1);
  return { id: id as number, tableId: import_tables[0].id as number, definition: table.table_definition_id, load };
}

const apply = (
  { id, tableId }: { id: number; tableId: number },
  body: Record<string, unknown>,
  call: Call = jobs.call,
  headers: Record<string, string> = {},
) => call('POST', `/api/v1/imports/${id}/tables/${tableId}/apply`, body, headers);

const messageOf = ({ status, body }: { status: number; body: { problems?: { message: string }[] } }) => [
  status,
  body.problems?.[0]?.message,
];

describe('a dry run applied as rows', () => {
  it('loads its file with the same options, as a load of its own, by who applies it', async () => {
    const dry = await givenDryRun({ pattern: 'full', allow_mass_delete: true });
    const before = (await jobs.call('GET', `/api/v1/imports/${dry.id}`)).body;
    expect(before).toMatchObject({ status: 'completed_with_errors', import_tables: [{ applied_as: null }] });
    const user = personOf(jobs, 31, 'edit', dry.definition);
    const { status, body } = await apply(dry, { as: 'rows' }, user);
    expect([status, body.dry_run, body.applied_as, body.change_request_id]).toEqual([200, false, 'rows', null]);
    const after = await ended(jobs, `/imports/${dry.id}`);
    expect(after).toMatchObject({
      status: 'completed_with_errors',
      import_tables: [{ metrics: { rows_read: 2, inserted: 0, rejected: 1 }, rejections: [{ value: 'BAD' }] }],
    });
    expect(after.actions.map(({ action }: { action: string }) => action)).toEqual([
      ...before.actions.map(({ action }: { action: string }) => action),
      ...['apply', 'completed_with_errors'],
    ]);
    expect(after.import_tables[0].rejected_rows_url).not.toBe(before.import_tables[0].rejected_rows_url);
    const load = jobs.neighbours.loads.at(-1);
    expect(load?.from).toMatchObject({ userId: 31 });
    expect(load?.from.applicationId).toBeUndefined();
    expect(load?.load_id).not.toBe(dry.load?.load_id);
    expect(load?.options).toEqual({
      ...dry.load?.options,
      load_id: load?.load_id,
      dry_run: false,
      most_bytes: load?.options.most_bytes,
    });
    expect(load?.options).toMatchObject({ import_table_id: dry.tableId, pattern: 'full', allow_mass_delete: true });
  });

  it('happens once, also when the request is repeated', async () => {
    const dry = await givenDryRun();
    const key = { 'idempotency-key': `apply-${dry.id}` };
    const answers = await Promise.all([1, 2, 3].map(() => apply(dry, { as: 'rows' }, jobs.call, key)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await apply(dry, { as: 'rows' }, jobs.call, key)).status).toBe(200);
    await ended(jobs, `/imports/${dry.id}`);
    for (const as of ['rows', 'change_request'])
      expect(messageOf(await apply(dry, { as }))).toEqual([422, 'The dry run was applied already, as rows.']);
    expect(jobs.neighbours.loads.filter(({ key: of }) => of === dry.load?.key)).toHaveLength(2);
  });

  it('is refused of another table, of one that has not ended, failed, or whose import was cancelled', async () => {
    const loaded = await givenDryRun({ dry_run: false });
    expect(messageOf(await apply(loaded, { as: 'rows' }))).toEqual([
      ...[422, 'The import table is no dry run; its rows are loaded.'],
    ]);
    const failed = await givenDryRun({ on_error: 'reject_file' });
    expect(messageOf(await apply(failed, { as: 'rows' }))).toEqual([
      ...[422, 'The dry run is failed; correct its rows in place, or the file, and import it again.'],
    ]);
    jobs.neighbours.addTable({ key: 'open' });
    const open = await givenImport(jobs, { open: file }, { dry_run: true });
    const place = { id: open.id, tableId: open.import_tables[0].id };
    for (const as of ['rows', 'change_request'])
      expect(messageOf(await apply(place, { as }))).toEqual([422, 'The dry run has not ended yet.']);
    await jobs.call('POST', `/api/v1/imports/${open.id}/cancel`);
    expect((await apply(place, { as: 'rows' })).status).toBe(422);
    expect((await apply({ ...loaded, tableId: failed.tableId }, { as: 'rows' })).status).toBe(404);
    expect((await apply(failed, { as: 'rows' }, jobs.as({ accountId: 2 }))).status).toBe(404);
  });

  it('is refused when the file was deleted', async () => {
    const dry = await givenDryRun();
    const { object_key } = await jobs.context.prisma.import_table.findFirstOrThrow({ where: { id: dry.tableId } });
    await jobs.context.store.remove(object_key);
    expect(messageOf(await apply(dry, { as: 'rows' }))).toEqual([
      ...[422, 'The file is no longer stored; upload it again, in a new import.'],
    ]);
    expect((await jobs.call('GET', `/api/v1/imports/${dry.id}`)).body.import_tables[0]).toMatchObject({
      dry_run: true,
      applied_as: null,
      metrics: { rows_read: 2 },
    });
    // Its rows can still be proposed.
    expect((await apply(dry, { as: 'change_request' })).status).toBe(200);
  });

  it('takes the right to edit, a policy that lets one load, and for mass deletion what allowing that takes', async () => {
    const dry = await givenDryRun({ allow_mass_delete: true });
    expect((await apply(dry, { as: 'rows' }, personOf(jobs, 41, 'view', dry.definition))).status).toBe(403);
    const user = personOf(jobs, 42, 'edit', dry.definition);
    jobs.neighbours.proposedOnly.add(dry.definition);
    expect(messageOf(await apply(dry, { as: 'rows' }, user))).toEqual([422, 'Changes are proposed.']);
    jobs.neighbours.proposedOnly.delete(dry.definition);
    jobs.neighbours.protectedBranches.add(1);
    const branching = jobs.as({ userId: 42, branching: true });
    expect((await apply(dry, { as: 'rows' }, branching)).status).toBe(403);
    jobs.neighbours.protectedBranches.delete(1);
    expect((await apply(dry, { as: 'rows' }, user)).status).toBe(200);
    await ended(jobs, `/imports/${dry.id}`);
  });

  it('is 400 with the attributes of a change request, and with another word', async () => {
    const dry = await givenDryRun();
    const fieldOf = async (body: Record<string, unknown>) => {
      const answer = await apply(dry, body);
      return [answer.status, answer.body.problems?.[0]?.field];
    };
    expect(await fieldOf({ as: 'rows', title: 'Prices' })).toEqual([400, 'title']);
    expect(await fieldOf({ as: 'rows', description: 'Prices' })).toEqual([400, 'description']);
    expect(await fieldOf({ as: 'file' })).toEqual([400, 'as']);
    expect(await fieldOf({})).toEqual([400, 'as']);
  });
});

describe('a dry run applied as a change request', () => {
  it('is named by it', async () => {
    const dry = await givenDryRun();
    const user = personOf(jobs, 51, 'edit', dry.definition);
    const request = { as: 'change_request', title: 'Prices of 2027', description: 'As agreed' };
    const { status, body } = await apply(dry, request, user);
    const { proposed } = jobs.neighbours;
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ status: 'completed_with_errors', dry_run: true, applied_as: 'change_request' },
      change_request_id: proposed.length,
    });
    expect(proposed.at(-1)).toMatchObject({
      ...{ load_id: dry.load?.load_id, branch_id: 1, title: 'Prices of 2027', description: 'As agreed' },
      from: { userId: 51 },
    });
    for (const as of ['rows', 'change_request'])
      expect(messageOf(await apply(dry, { as }))).toEqual([422, 'The dry run was applied already, as change_request.']);
    const changes = `/api/v1/imports/${dry.id}/tables/${dry.tableId}/changes`;
    expect((await jobs.call('GET', changes)).status).toBe(200);
    const { actions } = (await jobs.call('GET', `/api/v1/imports/${dry.id}`)).body;
    expect(actions.at(-1)).toMatchObject({ action: 'propose', user_id: 51 });
  });

  it('has a title from its table, and lets nothing else happen when it is refused', async () => {
    const dry = await givenDryRun();
    jobs.neighbours.proposalError = new ServiceError('wrong_state', { code: 'wrong_state', message: 'Not kept.' });
    expect(messageOf(await apply(dry, { as: 'change_request' }))).toEqual([422, 'Not kept.']);
    jobs.neighbours.proposalError = new ServiceError('not_found', { code: 'not_found', message: 'No load.' });
    expect(messageOf(await apply(dry, { as: 'change_request' }))[0]).toBe(422);
    expect((await apply(dry, { as: 'change_request' })).status).toBe(200);
    expect(jobs.neighbours.proposed.at(-1)?.title).toBe(`Import of ${dry.load?.key}`);
  });

  it('is the same one when the answer was lost, and no load in the meantime', async () => {
    const dry = await givenDryRun();
    jobs.neighbours.proposalAnswersToLose = 1;
    const made = jobs.neighbours.proposed.length;
    expect((await apply(dry, { as: 'change_request' })).status).toBe(503);
    expect(messageOf(await apply(dry, { as: 'rows' }))[0]).toBe(422);
    expect((await apply(dry, { as: 'change_request' })).body.change_request_id).toBe(made + 1);
    expect(jobs.neighbours.proposed).toHaveLength(made + 1);
  });
});

describe('a table whose changes are proposed', () => {
  it('is not added to an import by a person, unless for a dry run', async () => {
    tables += 1;
    const { key, table_definition_id } = jobs.neighbours.addTable({ key: `table_${tables}` });
    jobs.neighbours.proposedOnly.add(table_definition_id);
    const user = personOf(jobs, 61, 'edit', table_definition_id);
    const { id } = (await jobs.call('POST', '/api/v1/imports', { branch_id: 1 })).body;
    const add = (call: Call, options = {}) =>
      call('POST', `/api/v1/imports/${id}/tables`, { table_definition_key: key, pattern: 'incremental', ...options });
    expect(messageOf(await add(user))).toEqual([422, 'Changes are proposed.']);
    const outsider = personOf(jobs, 62, 'view', table_definition_id);
    expect((await add(outsider)).status).toBe(403);
    expect((await add(user, { dry_run: true })).status).toBe(201);
    await jobs.call('POST', `/api/v1/imports/${id}/cancel`);
    const second = (await jobs.call('POST', '/api/v1/imports', { branch_id: 1 })).body.id;
    const machine = { table_definition_key: key, pattern: 'incremental' };
    expect((await jobs.call('POST', `/api/v1/imports/${second}/tables`, machine)).status).toBe(201);
    await jobs.call('POST', `/api/v1/imports/${second}/cancel`);
  });

  it('is not loaded once the policy is known when the uploads are complete', async () => {
    tables += 1;
    const { key, table_definition_id } = jobs.neighbours.addTable({ key: `table_${tables}` });
    const user = personOf(jobs, 63, 'edit', table_definition_id);
    const permissions = [{ action: 'edit' as const, resource_type: 'account' as const, resource_id: 1 }];
    jobs.neighbours.permissions.set(63, { license_type: 'end_user', permissions });
    const { id, import_tables } = await givenImport(jobs, { [key]: file }, {}, user);
    jobs.neighbours.proposedOnly.add(table_definition_id);
    const { status, body } = await user('POST', `/api/v1/imports/${id}/upload_complete`);
    expect([status, body.problems]).toEqual([
      422,
      [{ code: 'proposals_only', message: 'Changes are proposed.', params: { import_table_id: import_tables[0].id } }],
    ]);
    expect((await user('GET', `/api/v1/imports/${id}`)).body.status).toBe('uploading');
    jobs.neighbours.proposedOnly.delete(table_definition_id);
    // Data is asked again when it loads the file.
    jobs.neighbours.dataIsAway = true;
    expect((await user('POST', `/api/v1/imports/${id}/upload_complete`)).status).toBe(200);
    jobs.neighbours.dataIsAway = false;
    await ended(jobs, `/imports/${id}`, user);
  });
});
