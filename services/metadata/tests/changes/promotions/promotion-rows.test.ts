// Rows that are promoted with definitions: the calls of data, its answers, and crashes in between.
import { ServiceError } from '@almanac/service-kit/errors';
import { eventually } from '@almanac/testkit/eventually';
import { reconcile } from '../../../src/maintenance/reconciler.ts';
import { givenUser, keyColumn } from '../../given.ts';
import { metadata, nameColumn, type User, useWork, work } from '../../promotion-given.ts';

useWork();
afterEach(() => {
  Object.assign(metadata.neighbours.data, { before: {}, after: {}, merging: undefined, merges: [] });
});

const merges = () => metadata.neighbours.data.merges;
const away = () => {
  throw new ServiceError('unavailable', 'data is away');
};

const propose = (user: User, ...table_definition_ids: number[]) =>
  user.post('/promotions', {
    from_branch_id: work.featureId,
    to_branch_id: work.account.mainId,
    table_definition_ids,
    include_data: true,
  });

const statusOf = async (id: number) => (await work.admin.get(`/promotions/${id}`)).status;
const everyAction = async (id: number) =>
  (await work.admin.get(`/promotions/${id}`)).actions.map(({ action }: { action: string }) => action);

const conflict = {
  table: 'countries',
  row_key: '{"code":"CH","number":12345678901234567890}',
  column: 'name',
  base: '"Swiss"',
  source: '"Suisse"',
  target: '"Schweiz"',
  resolution: '',
};

describe('a promotion with rows', () => {
  it('lets an approver deploy while its creator may view the rows, and only users with that right afterwards', async () => {
    const fresh = await work.onFeature('Cities');
    await work.deploy(work.featureId, fresh.id);
    const { creator, approver } = work;
    const { id } = await propose(creator, fresh.id);
    await work.act(creator, id, 'send_request');
    const { body: promoted } = await work.act(approver, id, 'promote');
    const target = promoted.table_definitions[0].target_table_definition_id;
    const { id: deployment } = await creator.post('/deployments', {
      branch_id: work.account.mainId,
      table_definition_ids: [target],
    });
    await creator.post(`/deployments/${deployment}/send_request`);
    const rights = metadata.neighbours.identity.users.get(creator.id) as { permissions: unknown[] };
    const before = rights.permissions;
    rights.permissions = [];
    expect(await approver.send('POST', `/deployments/${deployment}/deploy`)).toMatchObject({
      status: 403,
      body: { errors: [expect.stringContaining('Cities: ')] },
    });
    rights.permissions = before;
    expect((await approver.send('POST', `/deployments/${deployment}/deploy`)).status).toBe(200);
    expect(metadata.neighbours.data.deployed.get(target)).toMatchObject({
      rows_from_table_id: fresh.id,
      rows_asked_by: creator.id,
    });
  });

  it('has them merged once, then writes the definitions, and answers the outcome of both', async () => {
    const { main, feature } = await work.deployedPair();
    await work.addColumn(feature.id, { name: 'capital', data_type: 'string' });
    const { id, include_data, rows } = await propose(work.admin, feature.id);
    expect([include_data, rows]).toEqual([true, null]);
    const promoted = await work.act(work.admin, id, 'promote', {
      resolutions: [{ table: 'countries', column: null, attribute: 'row', resolution: 'target' }],
    });
    expect(promoted).toMatchObject({
      status: 200,
      body: { status: 'promoted', rows: [{ table: 'countries', created: 1, updated: 0, deleted: 0 }], error: null },
    });
    expect(merges()).toEqual([
      {
        merge_id: `metadata-${id}-1`,
        pairs: [{ source_table_id: feature.id, target_table_id: main.id }],
        resolutions: [{ table: 'countries', column: '', row_key: {}, is_row: true, resolution: 'target' }],
        rehearsal: false,
        revisions: [],
        has_revisions: false,
        promotion_id: id,
      },
    ]);
    expect(await work.columns(main.id)).toHaveProperty('capital');
    expect(await everyAction(id)).toEqual(['create', 'promote', 'succeed']);
    expect((await work.act(work.admin, id, 'promote')).status).toBe(422);
    expect(merges()).toHaveLength(1);
  });

  it('merges the rows of equal definitions, too', async () => {
    const { feature } = await work.deployedPair();
    const { id, diffs } = await propose(work.admin, feature.id);
    expect(diffs[0].change).toBe('unchanged');
    expect((await work.act(work.admin, id, 'promote')).body).toMatchObject({
      status: 'promoted',
      rows: [{ created: 1 }],
    });
  });

  it('merges those of a table that was created on the target after the proposal', async () => {
    const feature = await work.onFeature('Countries', [keyColumn, nameColumn]);
    await work.deploy(work.featureId, feature.id);
    const { id } = await propose(work.admin, feature.id);
    const main = await work.clone(feature.id, work.account.mainId);
    await work.deploy(work.account.mainId, main.id);
    expect((await work.act(work.admin, id, 'promote')).body).toMatchObject({ status: 'promoted' });
    expect(merges()).toMatchObject([{ pairs: [{ source_table_id: feature.id, target_table_id: main.id }] }]);
  });

  it('names conflicts of rows that are open, and returns to its state', async () => {
    const { feature } = await work.deployedPair();
    const { id } = await propose(work.creator, feature.id);
    await work.act(work.creator, id, 'send_request', {});
    metadata.neighbours.data.merging = {
      status: 'refused',
      conflicts: [conflict],
      conflict_count: 5,
      undecided_count: 3,
    };
    const named = '{"code":"CH","number":"12345678901234567890"}';
    expect(await work.act(work.approver, id, 'promote')).toMatchObject({
      status: 422,
      body: {
        errors: [
          `Conflict about value of name of countries ${named}: it was "Swiss", is "Suisse" on the source and "Schweiz" on the target`,
          '2 more conflicts of rows are not listed; a rehearsal shows the first 1,000',
        ],
      },
    });
    expect(await statusOf(id)).toBe('requested');
    expect(await everyAction(id)).toEqual(['create', 'send_request']);
    metadata.neighbours.data.merging = undefined;
    const row = { code: 'CH', number: '12345678901234567890' };
    const resolutions = [{ table: 'countries', column: 'name', attribute: 'value', row, resolution: 'source' }];
    expect((await work.act(work.approver, id, 'promote', { resolutions })).status).toBe(200);
    expect(merges()[1]).toMatchObject({
      merge_id: `metadata-${id}-2`,
      resolutions: [{ table: 'countries', column: 'name', row_key: row, is_row: false, resolution: 'source' }],
    });
  });

  it('names resolutions that match no conflict', async () => {
    const { feature } = await work.deployedPair();
    const { id } = await propose(work.admin, feature.id);
    metadata.neighbours.data.merging = { status: 'refused', unmatched_resolutions: [0] };
    const resolutions = [
      { table: 'countries', column: 'name', attribute: 'value', row: { code: 'X' }, resolution: 'source' },
    ];
    expect((await work.act(work.admin, id, 'promote', { resolutions })).body.errors).toEqual([
      'There is no conflict about value of name of countries {"code":"X"}',
    ]);
    expect(await statusOf(id)).toBe('created');
  });

  it('fails with the reasons when the rows would violate rules, writes no definition, and can be promoted again', async () => {
    const { main, feature } = await work.deployedPair();
    await work.addColumn(feature.id, { name: 'capital', data_type: 'string' });
    const { id } = await propose(work.admin, feature.id);
    metadata.neighbours.data.merging = {
      status: 'refused',
      violations: [{ table: 'Countries', message: "name can't be blank", rows: 3 }],
    };
    const errors = ["Countries: name can't be blank (3 rows)"];
    expect(await work.act(work.admin, id, 'promote')).toMatchObject({ status: 422, body: { errors } });
    expect(await work.admin.get(`/promotions/${id}`)).toMatchObject({ status: 'failed', error: errors[0], rows: null });
    expect(await work.columns(main.id)).not.toHaveProperty('capital');
    metadata.neighbours.data.merging = undefined;
    expect((await work.act(work.admin, id, 'promote')).body).toMatchObject({ status: 'promoted', error: null });
  });

  it('lets a table that is not in service on the target begin with the source’s rows', async () => {
    const made = await work.onFeature('Regions');
    const draft = await work.onFeature('Drafts');
    await work.deploy(work.featureId, made.id);
    const { id } = await propose(work.admin, made.id, draft.id);
    const rehearsed = await work.act(work.admin, id, 'rehearse', {});
    expect(rehearsed.body.warnings).toEqual([
      {
        table: 'Regions',
        message: 'The table is not deployed on the target branch; once it is, it begins with the source’s rows.',
        rows: 0,
      },
      { table: 'Drafts', message: 'The table is not deployed on the source branch and has no rows there.', rows: 0 },
    ]);
    const { body } = await work.act(work.admin, id, 'promote');
    const [first, second] = body.table_definitions.map(
      (each: Record<string, number>) => each.target_table_definition_id,
    );
    expect((await work.admin.get(`/table_definitions/${first}`)).rows_from_id).toBe(made.id);
    expect((await work.admin.get(`/table_definitions/${second}`)).rows_from_id).toBeNull();
    expect(merges().map(({ pairs }) => pairs)).toEqual([[], []]);
  });

  it('rehearses rows too, and shows every conflict, violation and warning', async () => {
    const { main, feature } = await work.deployedPair();
    const { id } = await propose(work.admin, feature.id);
    const violations = [{ table: 'Countries', message: 'name must be there', rows: 2 }];
    const warnings = [{ table: 'Countries', message: 'capital is not deployed', rows: 0 }];
    const tables = [
      { source_table_id: feature.id, target_table_id: main.id, table: 'countries', created: 1, updated: 2, deleted: 3 },
    ];
    metadata.neighbours.data.merging = {
      conflicts: [conflict],
      conflict_count: 7,
      undecided_count: 7,
      violations,
      warnings,
      tables,
    };
    expect(await work.act(work.admin, id, 'rehearse', {})).toMatchObject({
      status: 200,
      body: {
        conflicts: [
          {
            table: 'countries',
            column: 'name',
            attribute: 'value',
            row: { code: 'CH', number: '12345678901234567890' },
            base: 'Swiss',
            source: 'Suisse',
            target: 'Schweiz',
            resolution: null,
          },
        ],
        conflict_count: 7,
        violations,
        warnings,
        rows: [{ table: 'countries', created: 1, updated: 2, deleted: 3 }],
        row_counts: { created: 1, updated: 2, deleted: 3, conflicts: 4 },
      },
    });
    expect(merges()).toMatchObject([{ rehearsal: true }]);
    expect(await statusOf(id)).toBe('created');
  });

  it('shows rows only to those who may see them on the source, and to approvers of the target', async () => {
    const { feature } = await work.deployedPair();
    const { id } = await propose(work.admin, feature.id);
    const onTarget = givenUser(metadata, work.account.id, [['develop', 'branch', work.account.mainId]]);
    expect((await work.act(onTarget, id, 'rehearse', {})).status).toBe(403);
    expect((await work.act(work.approver, id, 'rehearse', {})).status).toBe(200);
    expect((await work.act(work.outsider, id, 'rehearse', {})).status).toBe(200);
  });

  it('fails when definitions were changed while the rows were merged, and continues from there', async () => {
    const { main, feature } = await work.deployedPair();
    const { id } = await propose(work.admin, feature.id);
    metadata.neighbours.data.after.MergeRows = async () => {
      metadata.neighbours.data.after = {};
      await work.addColumn(feature.id, { name: 'capital', data_type: 'string' });
    };
    const { body } = await work.act(work.admin, id, 'promote');
    expect(body.errors).toEqual([
      'The definitions have changed since promoting began.',
      'Its rows are merged; look at the diffs as they are now, then promote them.',
    ]);
    expect(body.diffs).toMatchObject([{ columns: [{}, {}, { name: 'capital', change: 'new' }] }]);
    expect(await work.admin.get(`/promotions/${id}`)).toMatchObject({ status: 'failed', rows: [{ created: 1 }] });
    expect((await work.act(work.admin, id, 'promote', { revision: body.revision })).body.status).toBe('promoted');
    expect(await work.columns(main.id)).toHaveProperty('capital');
  });
});

describe('unavailable data', () => {
  /** Fails this many times. */
  const awayFor = (times: number) => {
    let calls = 0;
    return () => {
      calls += 1;
      if (calls <= times) away();
    };
  };

  it.each(['before', 'after'] as const)(
    '%s the rows are merged leaves a promotion that is finished once, and asked again answers the same',
    async (when) => {
      const { main, feature } = await work.deployedPair();
      await work.addColumn(feature.id, { name: 'capital', data_type: 'string' });
      const { id } = await propose(work.admin, feature.id);
      metadata.neighbours.data[when].MergeRows = awayFor(2);
      const answer = await work.act(work.admin, id, 'promote');
      expect(answer).toMatchObject({ status: 200, body: { status: 'promoted', rows: [{ created: 1 }] } });
      expect(await work.columns(main.id)).toHaveProperty('capital');
      expect(await work.act(work.admin, id, 'promote')).toEqual(answer);
      expect(new Set(merges().map(({ merge_id }) => merge_id))).toEqual(new Set([`metadata-${id}-1`]));
      expect(await everyAction(id)).toEqual(['create', 'promote', 'succeed']);
    },
  );

  it('that then finds conflicts leaves the promotion as it was', async () => {
    const { feature } = await work.deployedPair();
    const { id } = await propose(work.admin, feature.id);
    metadata.neighbours.data.before.MergeRows = away;
    const promoting = work.act(work.admin, id, 'promote');
    await eventually(async () => expect(merges().length).toBeGreaterThan(1));
    metadata.neighbours.data.merging = {
      status: 'refused',
      conflicts: [conflict],
      conflict_count: 1,
      undecided_count: 1,
    };
    metadata.neighbours.data.before = {};
    expect((await promoting).body.errors).toEqual([
      'Promotion is created: conflicts of rows are undecided, or the rows have changed; rehearse it.',
    ]);
    expect(await everyAction(id)).toEqual(['create']);
  });

  it('leaves a promotion that the next request resumes', async () => {
    const { feature } = await work.deployedPair();
    const { id } = await propose(work.admin, feature.id);
    metadata.neighbours.data.before.MergeRows = away;
    const promoting = work.act(work.admin, id, 'promote');
    await eventually(async () => expect(merges().length).toBeGreaterThan(0));
    metadata.neighbours.data.before = {};
    await reconcile(metadata.context);
    await eventually(async () => expect(await statusOf(id)).toBe('promoted'));
    expect((await promoting).status).toBe(200);
  });

  it('that fails every time fails the promotion in the end', async () => {
    const { feature } = await work.deployedPair();
    const { id } = await propose(work.admin, feature.id);
    metadata.neighbours.data.before.MergeRows = () => {
      throw new Error('broken');
    };
    const promoting = work.act(work.admin, id, 'promote');
    const error = 'The rows could not be merged; try again.';
    await eventually(
      async () => {
        await metadata.pool.query(`update promotion set lease_until = now() where id = $1 and status = 'promoting'`, [
          id,
        ]);
        expect(await work.admin.get(`/promotions/${id}`)).toMatchObject({ status: 'failed', error });
      },
      { withinMs: 60_000 },
    );
    expect(await promoting).toMatchObject({ status: 422, body: { errors: [error] } });
  });
});
