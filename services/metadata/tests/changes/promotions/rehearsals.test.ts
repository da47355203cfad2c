// Rehearsals of promotions and deployments: what would happen, and nothing does.
import { keyColumn } from '../../given.ts';
import { metadata, useWork, work } from '../../promotion-given.ts';

useWork();
afterEach(() => {
  metadata.neighbours.data.blockers.clear();
});

describe('a rehearsal', () => {
  it('answers what promoting would do, and what would block deploying the outcome, and changes nothing', async () => {
    const { main, feature } = await work.both();
    await work.changeColumn(await work.columnId(feature.id, 'name'), { is_required: true });
    const added = await work.onFeature('Added', [{ ...keyColumn, foreign_key_table_id: feature.id }]);
    const { id, diffs, conflicts } = await work.propose(work.admin, feature.id, added.id);
    metadata.neighbours.data.blockers.set(main.id, [{ message: 'name holds NULL', rows: 3 }]);
    const before = await work.definitions();
    const { status, body } = await work.act(work.outsider, id, 'rehearse');
    expect(status).toBe(200);
    expect(body).toMatchObject({ diffs, conflicts });
    expect(body.violations).toEqual(
      expect.arrayContaining([{ table: 'Countries', message: 'name holds NULL', rows: 3 }]),
    );
    expect(await work.definitions()).toEqual(before);
    expect((await work.admin.get(`/promotions/${id}`)).status).toBe('created');
    const { body: promoted } = await work.act(work.admin, id, 'promote');
    expect({ diffs: promoted.diffs, conflicts: promoted.conflicts }).toEqual({
      diffs: body.diffs,
      conflicts: body.conflicts,
    });
    expect((await work.act(work.admin, id, 'rehearse')).body.errors).toEqual([
      'Promotion is promoted; there is nothing to rehearse.',
    ]);
  });

  it('refuses resolutions with too many key columns, or with names that are too long', async () => {
    const { feature } = await work.both();
    const { id } = await work.propose(work.admin, feature.id);
    const row = Object.fromEntries(Array.from({ length: 32 }, (_, place) => [`c${place}`, place]));
    const named = { table: 'cities', column: null, attribute: 'value', resolution: 'source' };
    const refused = async (resolution: object) => {
      const { status, body } = await work.act(work.admin, id, 'rehearse', {
        resolutions: [{ ...named, ...resolution }],
      });
      return [status, body.errors];
    };
    expect(await refused({ row })).toEqual([400, ['resolutions.0.row must name at most 31 columns']]);
    expect(await refused({ table: 'x'.repeat(256) })).toEqual([
      400,
      ['resolutions.0.table must be at most 255 characters long'],
    ]);
  });

  it('takes resolutions, and names what blocks promoting itself', async () => {
    const { main, feature } = await work.both();
    await work.changeColumn(await work.columnId(feature.id, 'name'), { length: 80 });
    await work.changeColumn(await work.columnId(main.id, 'name'), { length: 100 });
    const { id } = await work.propose(work.admin, feature.id);
    const resolutions = [{ table: 'countries', column: 'name', attribute: 'length', resolution: 'source' }];
    const { body } = await work.act(work.admin, id, 'rehearse', { resolutions });
    expect(body).toMatchObject({ conflicts: [{ resolution: 'source' }], diffs: [{ change: 'modified' }] });
    expect((await work.act(work.admin, id, 'rehearse')).body).toMatchObject({
      conflicts: [{ resolution: null }],
      diffs: [{ change: 'unchanged' }],
    });
    const taken = await work.onFeature('Taken');
    await work.table('Taken');
    const blocked = await work.propose(work.admin, taken.id);
    expect((await work.act(work.admin, blocked.id, 'rehearse')).body.violations).toHaveLength(2);
  });

  it('of a deployment answers its plan and its blockers', async () => {
    const table = await work.table('Codes');
    const body = { branch_id: work.account.mainId, table_definition_ids: [table.id] };
    const { id } = await work.admin.post('/deployments', body);
    metadata.neighbours.data.blockers.set(table.id, [{ message: 'code holds NULL', rows: 2 }]);
    expect(await work.outsider.post(`/deployments/${id}/rehearse`)).toMatchObject({
      diffs: [{ change: 'new' }],
      violations: [{ table: 'Codes', message: 'code holds NULL', rows: 2 }],
    });
    await work.admin.send('DELETE', `/table_definitions/${table.id}`);
    expect((await work.admin.post(`/deployments/${id}/rehearse`)).violations).toEqual([
      { table: 'Codes', message: 'The definition has been deleted', rows: 0 },
    ]);
    await work.admin.post(`/deployments/${id}/cancel`);
    expect((await work.admin.send('POST', `/deployments/${id}/rehearse`)).status).toBe(422);
  });
});
