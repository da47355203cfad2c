// Rows that are cloned with definitions, when the clone is first deployed.
import { ServiceError } from '@almanac/service-kit/errors';
import { givenUser } from '../../given.ts';
import { metadata, useWork, work } from '../../promotion-given.ts';

useWork();
afterEach(() => {
  metadata.neighbours.data.before = {};
});

describe('a clone with rows', () => {
  it('begins with those of its original when it is first deployed', async () => {
    const { main, feature } = await work.deployedPair();
    expect(feature).toMatchObject({ rows_from_id: main.id, cloned_from_id: main.id });
    expect(metadata.neighbours.data.deployed.get(feature.id)?.rows_from_table_id).toBe(main.id);
    const plain = await work.clone(main.id, (await work.admin.post('/branches', { name: 'other' })).id);
    expect(plain.rows_from_id).toBeNull();
  });

  it('of a table that is not in service is refused: it has none', async () => {
    const draft = await work.table('Drafts');
    expect(await work.cloneWithRows(draft.id)).toMatchObject({
      status: 422,
      body: { errors: ['Table definition is not deployed, so it has no rows to include'] },
    });
    expect((await work.admin.get(`/table_definitions?branch_id=${work.featureId}`)).data).toEqual([]);
  });

  it('needs the right to view them, which an approver need not have', async () => {
    const main = await work.table('Countries');
    await work.deploy(work.account.mainId, main.id);
    const user = givenUser(metadata, work.account.id, [
      ['approve', 'branch', work.account.mainId],
      ['develop', 'branch', work.featureId],
    ]);
    expect((await work.cloneWithRows(main.id, user)).status).toBe(403);
    expect(
      (await user.send('POST', `/table_definitions/${main.id}/clone`, { target_branch_id: work.featureId })).status,
    ).toBe(201);
  });

  it('needs that right again when it is deployed, of the deployer or of the user who requested the rows', async () => {
    const main = await work.table('Countries');
    await work.deploy(work.account.mainId, main.id);
    const rightTo = (action: string, id: number) => ({ action, resource_type: 'branch', resource_id: id });
    const user = givenUser(metadata, work.account.id, [
      ['view', 'branch', work.account.mainId],
      ['develop', 'branch', work.featureId],
    ]);
    const colleague = givenUser(metadata, work.account.id, [['develop', 'branch', work.featureId]]);
    const other = (await work.admin.post('/branches', { name: 'other' })).id;
    const held = (id: number) => metadata.neighbours.identity.users.get(id) as { permissions: unknown[] };
    held(user.id).permissions.push(rightTo('develop', other));
    held(colleague.id).permissions.push(rightTo('develop', other));
    const [first, second] = [
      (await work.cloneWithRows(main.id, user)).body,
      (await work.cloneWithRows(main.id, user, other)).body,
    ];
    const propose = (branch_id: number, { id }: { id: number }) =>
      user.post('/deployments', { branch_id, table_definition_ids: [id] });
    const [one, two] = [await propose(work.featureId, first), await propose(other, second)];
    // Deployed by a user who may not view it, while the user who requested the rows may.
    expect((await colleague.send('POST', `/deployments/${one.id}/deploy`)).status).toBe(200);
    held(user.id).permissions = [rightTo('develop', work.featureId), rightTo('develop', other)];
    for (const each of [user, colleague]) {
      expect(await each.send('POST', `/deployments/${two.id}/deploy`)).toMatchObject({
        status: 403,
        body: { errors: [expect.stringContaining('Countries: ')] },
      });
      expect(await each.get(`/deployments/${two.id}`)).toMatchObject({ status: 'created', error: null });
    }
    expect(metadata.neighbours.data.deployed.has(second.id)).toBe(false);
    expect(metadata.neighbours.data.deployed.get(first.id)?.rows_asked_by).toBe(user.id);
    // The rows are there: later deployments copy nothing.
    await work.addColumn(first.id, { name: 'more', data_type: 'string' });
    const later = await propose(work.featureId, first);
    expect((await user.send('POST', `/deployments/${later.id}/deploy`)).status).toBe(200);
    // Deployed by a user who may view it, whatever rights the user who requested the rows has left.
    metadata.neighbours.identity.users.delete(user.id);
    expect((await work.admin.send('POST', `/deployments/${two.id}/deploy`)).status).toBe(200);
  });

  it('that is resumed after data was unavailable fails when the right is missing by then', async () => {
    const main = await work.table('Countries');
    await work.deploy(work.account.mainId, main.id);
    const copy = (await work.cloneWithRows(main.id)).body;
    const { id } = await work.admin.post('/deployments', {
      branch_id: work.featureId,
      table_definition_ids: [copy.id],
    });
    metadata.neighbours.data.before.ApplyDeployment = () => {
      metadata.neighbours.data.before.ApplyDeployment = () => {
        throw new ServiceError('forbidden', {
          code: 'missing_right',
          message: 'Countries: You need the right "view" …',
        });
      };
      throw new ServiceError('unavailable', 'data is away');
    };
    const answer = await work.admin.send('POST', `/deployments/${id}/deploy`);
    expect(answer).toMatchObject({ status: 422, body: { errors: ['Countries: You need the right "view" …'] } });
    expect(await work.admin.get(`/deployments/${id}`)).toMatchObject({
      status: 'failed',
      error: answer.body.errors[0],
    });
  });
});
