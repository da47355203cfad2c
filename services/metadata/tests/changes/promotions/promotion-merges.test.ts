// Promotions merge definitions, on a real database, over HTTP. table-merge.test.ts tests the merge
// of one table.
import { keyColumn } from '../../given.ts';
import { givenConflict, lengthOfName, metadata, nameColumn, useWork, work } from '../../promotion-given.ts';

useWork();

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
    await work.changeColumn(await work.columnId(units.id, 'parent'), { is_hierarchy: false });
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
    await work.changeColumn(await work.columnId(regions.id, 'parent'), { foreign_key_table_id: regions.id });
    await work.addColumn(countries.id, {
      name: 'capital',
      data_type: 'string',
      length: 10,
      foreign_key_table_id: regions.id,
    });
    await work.admin.send('PATCH', `/table_definitions/${countries.id}`, {
      lookup_display_column_id: await work.columnId(countries.id, 'name'),
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
      lookup_display_column_id: await work.columnId(c, 'name'),
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
    expect(await work.definitions()).toHaveLength(2);
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
    const { main, feature } = await work.both();
    await work.changeColumn(await work.columnId(feature.id, 'name'), {
      name: 'title',
      length: 80,
      valid_values: 'A|B',
    });
    await work.addColumn(feature.id, { name: 'year', data_type: 'integer', is_primary_key: true });
    await work.admin.send('PATCH', `/table_definitions/${feature.id}`, { name: 'Nations' });
    await work.changeColumn(await work.columnId(main.id, 'name'), { description: 'As people say it' });
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
    const [one, two] = [await work.both('One'), await work.both('Two')];
    const [code, name] = [await work.columnId(one.feature.id, 'code'), await work.columnId(one.feature.id, 'name')];
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
    const { main, feature } = await work.both();
    await work.changeColumn(await work.columnId(feature.id, 'name'), { data_type: 'integer' });
    await work.changeColumn(await work.columnId(main.id, 'name'), { valid_values: 'A|B' });
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
    const { main, feature } = await work.both();
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
    await work.changeColumn(await work.columnId(feature.id, 'name'), { length: 60 });
    await between(featureId, otherId, feature.id);
    expect((await work.columns(other.id)).name.length).toBe(60);
    await work.changeColumn(await work.columnId(main.id, 'code'), { description: 'ISO' });
    await between(account.mainId, featureId, main.id);
    expect(await work.columns(feature.id)).toMatchObject({ code: { description: 'ISO' }, name: { length: 60 } });
    await between(featureId, account.mainId, feature.id);
    expect((await work.columns(main.id)).name.length).toBe(60);
  });

  it('of a deletion are merged only when it is named; the deployed table stays in service', async () => {
    const { main, feature } = await work.both();
    const { main: kept, feature: keptCopy } = await work.both('Kept');
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
    const { main, feature } = await work.both();
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

describe('conflicts', () => {
  it('are listed, and refuse the promotion until each is resolved', async () => {
    const { main, promotion } = await givenConflict(work);
    expect(promotion.conflicts).toEqual([{ ...lengthOfName, base: 50, source: 80, target: 100, resolution: null }]);
    const before = await work.definitions();
    const refused = await work.act(work.admin, promotion.id, 'promote');
    expect(refused).toMatchObject({
      status: 422,
      body: {
        errors: ['Conflict about length of name of countries: it was 50, is 80 on the source and 100 on the target'],
      },
    });
    expect(await work.definitions()).toEqual(before);
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
    const { main, feature, promotion } = await givenConflict(work);
    await work.act(work.admin, promotion.id, 'promote', { resolutions: [{ ...lengthOfName, resolution: 'target' }] });
    expect((await work.columns(main.id)).name.length).toBe(100);
    expect(await work.propose(work.admin, feature.id)).toMatchObject({
      conflicts: [],
      diffs: [{ change: 'unchanged' }],
    });
  });
});
