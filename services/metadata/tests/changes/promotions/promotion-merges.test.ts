// Promotions merge definitions, on a real database, over HTTP. table-merge.test.ts tests the merge
// of one table.
import { promote } from '../../../src/changes/promotions/promote.ts';
import { givenUser, keyColumn, type Metadata, startMetadata } from '../../given.ts';
import { givenWork, type Work } from '../../promotion-given.ts';

let metadata: Metadata;
let work: Work;
const nameColumn = { name: 'name', data_type: 'string', length: 50 };

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());
beforeEach(async () => {
  work = await givenWork(metadata);
});
afterEach(() => {
  metadata.neighbours.data.blockers.clear();
});

/** A table on `main` with its clone on the feature branch. */
async function givenBoth(name = 'Countries', columns = [keyColumn, nameColumn]) {
  const main = await work.table(name, columns);
  const feature = await work.clone(main.id);
  return { main, feature };
}
const columnId = async (tableId: number, name: string) => (await work.columns(tableId))[name].id as number;
const everything = async () => {
  const { data } = await work.admin.get('/table_definitions?per_page=1000');
  return Promise.all(data.map(({ id }: { id: number }) => work.admin.get(`/table_definitions/${id}`)));
};

describe('hierarchies', () => {
  it('are cloned, compared and promoted', async () => {
    const units = await work.onFeature('Units', [keyColumn]);
    await work.addColumn(units.id, {
      name: 'parent',
      data_type: 'string',
      length: 10,
      foreign_key_table_id: units.id,
      is_hierarchy: true,
    });
    const first = await work.propose(work.admin, units.id);
    const { body } = await work.act(work.admin, first.id, 'promote');
    const target = body.table_definitions[0].target_table_definition_id;
    expect((await work.columns(target)).parent).toMatchObject({ foreign_key_table_id: target, is_hierarchy: true });
    await work.changeColumn(await columnId(units.id, 'parent'), { is_hierarchy: false });
    const second = await work.propose(work.admin, units.id);
    expect(second.diffs[0].columns.find(({ name }: { name: string }) => name === 'parent')).toMatchObject({
      change: 'modified',
      attributes: [{ name: 'is_hierarchy', from: true, to: false }],
    });
    await work.act(work.admin, second.id, 'promote');
    expect((await work.columns(target)).parent.is_hierarchy).toBe(false);
  });
});

describe('new tables', () => {
  it('are cloned with lineage and foreign keys, in any order of their ids, also in circles', async () => {
    const countries = await work.onFeature('Countries', [keyColumn, nameColumn]);
    const regions = await work.onFeature('Regions', [
      keyColumn,
      { name: 'country', data_type: 'string', length: 10, foreign_key_table_id: countries.id },
      { name: 'parent', data_type: 'string', length: 10 },
    ]);
    await work.changeColumn(await columnId(regions.id, 'parent'), { foreign_key_table_id: regions.id });
    await work.addColumn(countries.id, {
      name: 'capital',
      data_type: 'string',
      length: 10,
      foreign_key_table_id: regions.id,
    });
    await work.admin.send('PATCH', `/table_definitions/${countries.id}`, {
      lookup_display_column_id: await columnId(countries.id, 'name'),
    });
    const { id, diffs } = await work.propose(work.admin, regions.id, countries.id);
    expect(diffs).toMatchObject([
      {
        change: 'new',
        target_table_definition_id: null,
        attributes: expect.arrayContaining([{ name: 'lookup_display_column', from: null, to: 'name' }]),
      },
      { change: 'new' },
    ]);
    const { body: promoted } = await work.act(work.admin, id, 'promote');
    const [c, r] = promoted.table_definitions.map((each: Record<string, number>) => each.target_table_definition_id);
    expect(await work.columns(r)).toMatchObject({
      country: { foreign_key_table_id: c },
      parent: { foreign_key_table_id: r },
      code: { is_primary_key: true },
    });
    expect((await work.columns(c)).capital.foreign_key_table_id).toBe(r);
    expect(await work.admin.get(`/table_definitions/${c}`)).toMatchObject({
      branch_id: work.account.mainId,
      key: 'countries',
      version: 1,
      needs_deployment: true,
      deployed_version: null,
      cloned_from_id: countries.id,
      lookup_display_column_id: await columnId(c, 'name'),
    });
    const stored = await metadata.context.prisma.table_definition.findMany({
      where: { key: 'countries', account_id: work.account.id },
    });
    expect(new Set(stored.map(({ lineage_id }) => lineage_id)).size).toBe(1);
  });

  it('that refer to a table which is not on the target are blocked, naming it', async () => {
    const countries = await work.onFeature('Countries');
    const link = { name: 'country', data_type: 'string', length: 10, foreign_key_table_id: countries.id };
    const regions = await work.onFeature('Regions', [keyColumn, link]);
    const { id, diffs } = await work.propose(work.admin, regions.id);
    const message = 'Column country refers to the table countries, which is not on the branch main; promote that too';
    expect(diffs[0].blockers).toEqual([{ message, rows: 0 }]);
    expect((await work.act(work.admin, id, 'promote')).body.errors).toEqual([`Regions: ${message}`]);
    expect(await work.admin.get(`/promotions/${id}`)).toMatchObject({ status: 'failed', error: `Regions: ${message}` });
    expect(await everything()).toHaveLength(2);
    const first = await work.propose(work.admin, countries.id);
    await work.act(work.admin, first.id, 'promote');
    expect((await work.act(work.admin, id, 'promote')).body).toMatchObject({ status: 'promoted', error: null });
  });

  it('with a key or name that another table on the target has are blocked', async () => {
    await work.table('Countries');
    const other = await work.onFeature('Countries');
    const { diffs } = await work.propose(work.admin, other.id);
    expect(diffs[0].blockers).toHaveLength(2);
  });
});

describe('changes', () => {
  it('of columns, keys, values, types, names and order are merged; changes of the target stay', async () => {
    const { main, feature } = await givenBoth();
    await work.changeColumn(await columnId(feature.id, 'name'), { name: 'title', length: 80, valid_values: 'A|B' });
    await work.addColumn(feature.id, { name: 'year', data_type: 'integer', is_primary_key: true });
    await work.admin.send('PATCH', `/table_definitions/${feature.id}`, { name: 'Nations' });
    await work.changeColumn(await columnId(main.id, 'name'), { description: 'As people say it' });
    await work.addColumn(main.id, { name: 'own', data_type: 'text' });
    const { id, conflicts } = await work.propose(work.admin, feature.id);
    expect(conflicts).toEqual([]);
    expect((await work.act(work.admin, id, 'promote')).status).toBe(200);
    expect(await work.columns(main.id)).toMatchObject({
      code: { position: 1 },
      title: { length: 80, valid_values: 'A|B', description: 'As people say it' },
      year: { is_primary_key: true, is_required: true },
      own: { data_type: 'text' },
    });
    expect(await work.admin.get(`/table_definitions/${main.id}`)).toMatchObject({ name: 'Nations', key: 'countries' });
    const again = await work.propose(work.admin, feature.id);
    expect(again.diffs[0].change).toBe('unchanged');
    const { version } = await work.admin.get(`/table_definitions/${main.id}`);
    await work.act(work.admin, again.id, 'promote');
    expect((await work.admin.get(`/table_definitions/${main.id}`)).version).toBe(version);
  });

  it('may exchange names of columns and of tables', async () => {
    const [one, two] = [await givenBoth('One'), await givenBoth('Two')];
    const [code, name] = [await columnId(one.feature.id, 'code'), await columnId(one.feature.id, 'name')];
    for (const [id, to] of [
      [code, 'x'],
      [name, 'code'],
      [code, 'name'],
    ] as const)
      await work.changeColumn(id, { name: to });
    for (const [id, to] of [
      [one.feature.id, 'X'],
      [two.feature.id, 'One'],
      [one.feature.id, 'Two'],
    ] as const)
      await work.admin.send('PATCH', `/table_definitions/${id}`, { name: to });
    const { id } = await work.propose(work.admin, one.feature.id, two.feature.id);
    expect((await work.act(work.admin, id, 'promote')).status).toBe(200);
    expect(await work.columns(one.main.id)).toMatchObject({
      name: { is_primary_key: true },
      code: { is_primary_key: false },
    });
    expect((await work.admin.get(`/table_definitions/${one.main.id}`)).name).toBe('Two');
    // Their normalised names are correct again.
    expect((await work.admin.send('PATCH', `/table_definitions/${two.main.id}`, { name: 'two' })).status).toBe(422);
  });

  it('that are valid on each side but not merged are blocked', async () => {
    const { main, feature } = await givenBoth();
    await work.changeColumn(await columnId(feature.id, 'name'), { data_type: 'integer' });
    await work.changeColumn(await columnId(main.id, 'name'), { valid_values: 'A|B' });
    await work.addColumn(feature.id, { name: 'added', data_type: 'text' });
    await work.addColumn(main.id, { name: 'Added', data_type: 'text' });
    const { diffs } = await work.propose(work.admin, feature.id);
    expect(diffs[0].blockers.map(({ message }: { message: string }) => message)).toEqual([
      'There are different columns with the name added on the two branches; rename or delete one',
      'Column name: Valid values holds "A", which is no integer',
      'Column name: Valid values holds "B", which is no integer',
    ]);
  });

  it('go in both directions between branches, and between two clones of one table', async () => {
    const { main, feature } = await givenBoth();
    const { admin, account, featureId } = work;
    const otherId = (await admin.post('/branches', { name: 'other' })).id;
    const other = await work.clone(main.id, otherId);
    const between = async (from: number, to: number, id: number) => {
      const promotion = await admin.post('/promotions', {
        from_branch_id: from,
        to_branch_id: to,
        table_definition_ids: [id],
      });
      expect(promotion.conflicts).toEqual([]);
      return (await work.act(admin, promotion.id, 'promote')).body;
    };
    await work.changeColumn(await columnId(feature.id, 'name'), { length: 60 });
    await between(featureId, otherId, feature.id);
    expect((await work.columns(other.id)).name.length).toBe(60);
    await work.changeColumn(await columnId(main.id, 'code'), { description: 'ISO' });
    await between(account.mainId, featureId, main.id);
    expect(await work.columns(feature.id)).toMatchObject({ code: { description: 'ISO' }, name: { length: 60 } });
    await between(featureId, account.mainId, feature.id);
    expect((await work.columns(main.id)).name.length).toBe(60);
  });

  it('of a deletion are merged only when it is named; the deployed table stays in service', async () => {
    const { main, feature } = await givenBoth();
    const { main: kept, feature: keptCopy } = await givenBoth('Kept');
    const { admin } = work;
    for (const { id } of [feature, keptCopy]) await admin.send('DELETE', `/table_definitions/${id}`);
    const { id, diffs } = await work.propose(admin, feature.id);
    expect(diffs).toMatchObject([
      { table_definition_id: feature.id, target_table_definition_id: main.id, change: 'deleted' },
    ]);
    expect((await work.act(admin, id, 'promote')).status).toBe(200);
    expect((await admin.send('GET', `/table_definitions/${main.id}`)).status).toBe(404);
    expect((await admin.send('GET', `/table_definitions/${kept.id}`)).status).toBe(200);
    const nowhere = await admin.send('POST', '/promotions', {
      from_branch_id: work.featureId,
      to_branch_id: work.account.mainId,
      table_definition_ids: [feature.id],
    });
    expect(nowhere.body.errors).toEqual([
      `Table definition ${feature.id} has been deleted, and is not on the target branch either`,
    ]);
  });

  it('of a deletion are blocked while other tables refer to the table, and in conflict when it was changed', async () => {
    const { main, feature } = await givenBoth();
    const link = { name: 'country', data_type: 'string', length: 10, foreign_key_table_id: main.id };
    const regions = await work.table('Regions', [keyColumn, link]);
    const { admin } = work;
    await admin.send('DELETE', `/table_definitions/${feature.id}`);
    const { id, diffs } = await work.propose(admin, feature.id);
    expect(diffs[0].blockers[0].message).toBe('Columns of other tables refer to the table: Regions.country');
    await admin.send('DELETE', `/table_definitions/${regions.id}`);
    await work.addColumn(main.id, { name: 'more', data_type: 'text' });
    const shown = await admin.get(`/promotions/${id}`);
    expect(shown.conflicts).toMatchObject([
      { table: 'countries', column: null, attribute: 'exists', source: false, target: true },
    ]);
    const resolutions = [{ table: 'countries', column: null, attribute: 'exists', resolution: 'source' }];
    expect((await work.act(admin, id, 'promote', { revision: shown.revision, resolutions })).status).toBe(200);
    expect((await admin.send('GET', `/table_definitions/${main.id}`)).status).toBe(404);
  });
});

const lengthOfName = { table: 'countries', column: 'name', attribute: 'length' };

async function givenConflict() {
  const both = await givenBoth();
  await work.changeColumn(await columnId(both.feature.id, 'name'), { length: 80 });
  await work.changeColumn(await columnId(both.main.id, 'name'), { length: 100 });
  const promotion = await work.propose(work.admin, both.feature.id);
  return { ...both, promotion };
}

describe('conflicts', () => {
  it('are listed, and refuse the promotion until each is resolved', async () => {
    const { main, promotion } = await givenConflict();
    expect(promotion.conflicts).toEqual([{ ...lengthOfName, base: 50, source: 80, target: 100, resolution: null }]);
    const before = await everything();
    const refused = await work.act(work.admin, promotion.id, 'promote');
    expect(refused).toMatchObject({
      status: 422,
      body: {
        errors: ['Conflict about length of name of countries: it was 50, is 80 on the source and 100 on the target'],
      },
    });
    expect(await everything()).toEqual(before);
    expect(await work.admin.get(`/promotions/${promotion.id}`)).toEqual(promotion);
    const unmatched = { ...lengthOfName, attribute: 'scale', resolution: 'source' };
    const wrong = await work.act(work.admin, promotion.id, 'promote', { resolutions: [unmatched] });
    expect(wrong.body.errors[0]).toBe('There is no conflict about scale of name of countries');
    const { body } = await work.act(work.admin, promotion.id, 'promote', {
      resolutions: [{ ...lengthOfName, resolution: 'source' }],
    });
    expect(body).toMatchObject({ status: 'promoted', conflicts: [{ resolution: 'source' }] });
    expect((await work.columns(main.id)).name.length).toBe(80);
  });

  it('that were resolved for the target do not return the next time', async () => {
    const { main, feature, promotion } = await givenConflict();
    await work.act(work.admin, promotion.id, 'promote', { resolutions: [{ ...lengthOfName, resolution: 'target' }] });
    expect((await work.columns(main.id)).name.length).toBe(100);
    expect(await work.propose(work.admin, feature.id)).toMatchObject({
      conflicts: [],
      diffs: [{ change: 'unchanged' }],
    });
  });
});

describe('the reviewed revision', () => {
  it('is all that is promoted of other users’ proposals: after a change one request is refused, naming it', async () => {
    const { main, feature } = await givenBoth();
    await work.changeColumn(await columnId(feature.id, 'name'), { length: 80 });
    const { id, revision } = await work.propose(work.creator, feature.id);
    await work.changeColumn(await columnId(main.id, 'code'), { length: 12 });
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
    const { main, feature } = await givenConflict();
    const { id } = await work.propose(work.creator, feature.id);
    await work.changeColumn(await columnId(main.id, 'name'), { length: 120 });
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
    const { feature } = await givenBoth();
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

describe('concurrently', () => {
  it('two promotions to one table run one after the other: the second compares with the first’s outcome', async () => {
    const { main, feature } = await givenBoth();
    const { admin, account } = work;
    const otherId = (await admin.post('/branches', { name: 'other' })).id;
    const other = await work.clone(main.id, otherId);
    await work.changeColumn(await columnId(feature.id, 'name'), { length: 80 });
    await work.changeColumn(await columnId(other.id, 'name'), { length: 100 });
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
    const { main, feature } = await givenBoth();
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
    const { main, feature } = await givenBoth();
    await work.addColumn(feature.id, { name: 'more', data_type: 'text' });
    const added = await work.onFeature('Added');
    const { id } = await work.propose(work.admin, feature.id, added.id);
    const before = await everything();
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
    expect(await everything()).toEqual(before);
    expect(await work.admin.get(`/promotions/${id}`)).toMatchObject({
      status: 'created',
      actions: [{ action: 'create' }],
    });
    expect((await work.act(work.admin, id, 'promote')).status).toBe(200);
    expect(Object.keys(await work.columns(main.id))).toContain('more');
  });
});

describe('a rehearsal', () => {
  it('answers what promoting would do, and what would block deploying the outcome, and changes nothing', async () => {
    const { main, feature } = await givenBoth();
    await work.changeColumn(await columnId(feature.id, 'name'), { is_required: true });
    const added = await work.onFeature('Added', [{ ...keyColumn, foreign_key_table_id: feature.id }]);
    const { id, diffs, conflicts } = await work.propose(work.admin, feature.id, added.id);
    metadata.neighbours.data.blockers.set(main.id, [{ message: 'name holds NULL', rows: 3 }]);
    const before = await everything();
    const { status, body } = await work.act(work.outsider, id, 'rehearse');
    expect(status).toBe(200);
    expect(body).toMatchObject({ diffs, conflicts });
    expect(body.violations).toEqual(
      expect.arrayContaining([{ table: 'Countries', message: 'name holds NULL', rows: 3 }]),
    );
    expect(await everything()).toEqual(before);
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
    const { feature } = await givenBoth();
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
    const { main, feature } = await givenBoth();
    await work.changeColumn(await columnId(feature.id, 'name'), { length: 80 });
    await work.changeColumn(await columnId(main.id, 'name'), { length: 100 });
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
