// A promotion merges the revision that the promoter was shown, or that approval was requested for.
import { givenUser } from '../../given.ts';
import { givenConflict, lengthOfName, metadata, useWork, work } from '../../promotion-given.ts';

useWork();

describe('the reviewed revision', () => {
  it('is all that is promoted of other users’ proposals: after a change one request is refused, naming it', async () => {
    const { main, feature } = await work.both();
    await work.changeColumn(await work.columnId(feature.id, 'name'), { length: 80 });
    const { id, revision } = await work.propose(work.creator, feature.id);
    await work.changeColumn(await work.columnId(main.id, 'code'), { length: 12 });
    const stale = await work.act(work.admin, id, 'promote');
    expect(stale).toMatchObject({
      status: 422,
      body: { error: 'Wrong state', errors: ['Countries has changed since the diffs were shown', expect.any(String)] },
    });
    expect((await work.columns(main.id)).name.length).toBe(50);
    const shown = await work.admin.get(`/promotions/${id}`);
    expect(shown.status).toBe('created');
    expect(shown.revision).not.toBe(revision);
    // A user who has not been shown the new diffs insists on the old revision.
    expect((await work.act(work.admin, id, 'promote', { revision })).status).toBe(422);
    expect((await work.act(work.admin, id, 'promote')).status).toBe(200);
    expect((await work.columns(main.id)).name.length).toBe(80);
  });

  it('is shown by the refusal itself, which names the revision to promote', async () => {
    const { main, feature } = await givenConflict(work);
    const { id } = await work.propose(work.creator, feature.id);
    await work.changeColumn(await work.columnId(main.id, 'name'), { length: 120 });
    const { body } = await work.act(work.admin, id, 'promote');
    const { diffs, conflicts, revision } = await work.admin.get(`/promotions/${id}`);
    expect(body).toEqual({
      error: 'Wrong state',
      errors: expect.any(Array),
      problems: expect.any(Array),
      diffs,
      conflicts,
      revision,
    });
    for (const { code } of body.problems) expect(code).toBe('not_reviewed');
    expect(body.conflicts).toMatchObject([{ ...lengthOfName, target: 120 }]);
    const resolutions = [{ ...lengthOfName, resolution: 'target' }];
    const answer = await work.act(work.admin, id, 'promote', { revision: body.revision, resolutions });
    expect(answer).toMatchObject({ status: 200, body: { status: 'promoted' } });
    expect((await work.act(work.admin, id, 'promote')).body).toEqual({
      error: 'Wrong state',
      errors: [expect.stringContaining('promoted')],
      problems: [expect.objectContaining({ code: 'wrong_state', params: { state: 'promoted' } })],
    });
  });

  it('follows a table that moves: users who no longer see it are not shown it, developers without a right there can’t promote it', async () => {
    const { account, admin, featureId } = work;
    const feature = await work.onFeature('Only here');
    const inDomain = givenUser(metadata, account.id, [['develop', 'domain', account.domainId]]);
    const secret = await account.api.post('/domains', { name: 'Secret' });
    const shared = (await admin.post('/branches', { name: 'shared' })).id;
    const branches = { from_branch_id: featureId, to_branch_id: shared };
    const { id } = await inDomain.post('/promotions', { ...branches, table_definition_ids: [feature.id] });
    const there = await work.clone(feature.id, shared);
    await admin.send('PATCH', `/table_definitions/${there.id}`, { domain_id: secret.id });
    await work.addColumn(feature.id, { name: 'more', data_type: 'text' });
    expect((await inDomain.send('GET', `/promotions/${id}`)).status).toBe(403);
    for (const action of ['rehearse', 'promote'])
      expect(await work.act(inDomain, id, action)).toEqual({
        status: 403,
        body: {
          error: 'Forbidden',
          errors: [expect.any(String)],
          problems: [expect.objectContaining({ code: 'missing_right' })],
        },
      });
    expect(await work.columns(there.id)).not.toHaveProperty('more');
  });

  it('is the one that approval was requested for, or the one that is named', async () => {
    const { feature } = await work.both();
    const { id } = await work.propose(work.creator, feature.id);
    await work.addColumn(feature.id, { name: 'one', data_type: 'text' });
    await work.act(work.creator, id, 'send_request');
    expect((await work.act(work.approver, id, 'promote')).status).toBe(200);
    const other = await work.propose(work.creator, feature.id);
    await work.addColumn(feature.id, { name: 'two', data_type: 'text' });
    const { revision } = await work.approver.get(`/promotions/${other.id}`);
    expect((await work.act(work.approver, other.id, 'promote', { revision })).status).toBe(200);
  });
});
