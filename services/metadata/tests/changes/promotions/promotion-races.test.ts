// Promotions beside each other and beside edits, and one that breaks off.
import { promote } from '../../../src/changes/promotions/promote.ts';
import { metadata, useWork, work } from '../../promotion-given.ts';

useWork();

describe('concurrently', () => {
  it('two promotions to one table run one after the other: the second compares with the first’s outcome', async () => {
    const { main, feature } = await work.both();
    const { admin, account } = work;
    const otherId = (await admin.post('/branches', { name: 'other' })).id;
    const other = await work.clone(main.id, otherId);
    await work.changeColumn(await work.columnId(feature.id, 'name'), { length: 80 });
    await work.changeColumn(await work.columnId(other.id, 'name'), { length: 100 });
    const first = await work.propose(admin, feature.id);
    const body = { from_branch_id: otherId, to_branch_id: account.mainId, table_definition_ids: [other.id] };
    const second = await admin.post('/promotions', body);
    const answers = await Promise.all([first, second].map(({ id }) => work.act(admin, id, 'promote')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
    const [late] = [first, second].filter((_, index) => answers[index]?.status === 422);
    expect(await admin.get(`/promotions/${late.id}`)).toMatchObject({
      status: 'created',
      conflicts: [{ attribute: 'length' }],
    });
    expect([80, 100]).toContain((await work.columns(main.id)).name.length);
  });

  it('promotions in opposite directions, edits and a clone of the same table finish, and nothing is lost', async () => {
    const { main, feature } = await work.both();
    const { admin, account, featureId } = work;
    await work.addColumn(feature.id, { name: 'up', data_type: 'text' });
    await work.addColumn(main.id, { name: 'down', data_type: 'text' });
    const up = await work.propose(admin, feature.id);
    const down = await admin.post('/promotions', {
      from_branch_id: account.mainId,
      to_branch_id: featureId,
      table_definition_ids: [main.id],
    });
    const answers = await Promise.all([
      work.act(admin, up.id, 'promote'),
      work.act(admin, down.id, 'promote'),
      admin.send('POST', '/column_definitions', { table_definition_id: main.id, name: 'edit', data_type: 'text' }),
      admin.send('POST', `/table_definitions/${main.id}/clone`, { target_branch_id: featureId }),
    ]);
    expect(answers.every(({ status }) => [200, 201, 422].includes(status))).toBe(true);
    for (const { id } of [up, down]) for (let tries = 0; tries < 3; tries++) await work.act(admin, id, 'promote');
    for (const id of [main.id, feature.id])
      expect(Object.keys(await work.columns(id))).toEqual(expect.arrayContaining(['code', 'name', 'up', 'down']));
  });
});

describe('an interrupted promotion', () => {
  it('leaves nothing behind and can be promoted again', async () => {
    const { main, feature } = await work.both();
    await work.addColumn(feature.id, { name: 'more', data_type: 'text' });
    const added = await work.onFeature('Added');
    const { id } = await work.propose(work.admin, feature.id, added.id);
    const before = await work.definitions();
    // The last write of the promotion fails, as if the process had been killed there.
    await metadata.pool.query(`
      create function break_off() returns trigger language plpgsql as $$ begin raise exception 'broken off'; end $$;
      create trigger break_off before insert on promotion_action for each row when (new.action = 'succeed') execute function break_off()`);
    try {
      const call = { accountId: work.account.id, userId: work.admin.id, scopes: ['api'], branching: true };
      await expect(promote(metadata.context, call as never, id, () => ({}))).rejects.toThrow();
    } finally {
      await metadata.pool.query('drop trigger break_off on promotion_action; drop function break_off()');
    }
    expect(await work.definitions()).toEqual(before);
    expect(await work.admin.get(`/promotions/${id}`)).toMatchObject({
      status: 'created',
      actions: [{ action: 'create' }],
    });
    expect((await work.act(work.admin, id, 'promote')).status).toBe(200);
    expect(Object.keys(await work.columns(main.id))).toContain('more');
  });
});
