// Restoring removed tables: definition, columns and deployed definition, under the ids they had;
// and what blocks it.
import { ServiceError } from '@almanac/service-kit/errors';
import { eventually } from '@almanac/testkit/eventually';
import { givenUser, keyColumn } from '../given.ts';
import { givenWork, metadata, useWork, type Work, work } from '../promotion-given.ts';

useWork();
afterEach(() => {
  metadata.neighbours.data.before = {};
  metadata.neighbours.data.after = {};
});

const deploy = async (...ids: number[]) => {
  const { id } = await work.admin.post('/deployments', { branch_id: work.account.mainId, table_definition_ids: ids });
  return work.admin.post(`/deployments/${id}/deploy`);
};
const remove = async (id: number) =>
  expect((await work.admin.send('POST', `/table_definitions/${id}/remove`)).status).toBe(204);
const restore = (id: number, user: { send: Work['admin']['send'] } = work.admin) =>
  user.send('POST', `/table_definitions/${id}/restore`);
const show = (id: number) => work.admin.send('GET', `/table_definitions/${id}`);

describe('a removed table', () => {
  it('is restored as it was, under its id, once', async () => {
    const table = await work.table('Codes', [keyColumn, { name: 'name', data_type: 'text', valid_values: 'A|B' }]);
    await work.admin.send('PATCH', `/table_definitions/${table.id}`, {
      lookup_display_column_id: table.column_definitions[1].id,
    });
    await deploy(table.id);
    await work.admin.send('PATCH', `/table_definitions/${table.id}`, { description: 'drafted since' });
    const { body: before } = await show(table.id);
    const deployed = await work.admin.get(`/deployed_table_definitions/${table.id}`);
    await remove(table.id);
    const answers = await Promise.all([1, 2, 3].map(() => restore(table.id)));
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
    expect(answers.every(({ status }) => [200, 404, 422].includes(status))).toBe(true);
    expect((await show(table.id)).body).toEqual(before);
    expect(await work.admin.get(`/deployed_table_definitions/${table.id}`)).toEqual(deployed);
    expect(metadata.neighbours.data.deployed.has(table.id)).toBe(true);
    expect((await restore(table.id)).status).toBe(404);
    await eventually(() =>
      expect(metadata.acts.map(({ action, resource_id }) => [action, resource_id])).toContainEqual([
        'table_definition.restored',
        table.id,
      ]),
    );
    await remove(table.id);
    expect((await restore(table.id)).status).toBe(200);
  });

  it('whose draft was deleted before is restored with a draft of the deployed definition', async () => {
    const table = await work.table('Codes');
    await deploy(table.id);
    await work.admin.send('DELETE', `/table_definitions/${table.id}`);
    await remove(table.id);
    expect((await restore(table.id)).body).toMatchObject({
      id: table.id,
      key: 'codes',
      needs_deployment: false,
      deployed_version: 2,
    });
    expect(await work.columns(table.id)).toMatchObject({ code: { is_primary_key: true, length: 10 } });
  });

  it('that was never deployed is restored without a call of data', async () => {
    const table = await work.table('Draft');
    await remove(table.id);
    metadata.neighbours.data.before.RestoreTable = () => {
      throw new Error('asked');
    };
    expect((await restore(table.id)).status).toBe(200);
  });

  it('can be promoted once restored, and its deletion no more', async () => {
    const table = await work.table('Codes');
    const copy = await work.clone(table.id);
    await remove(copy.id);
    expect((await work.propose(work.admin, copy.id)).diffs[0].change).toBe('deleted');
    await restore(copy.id);
    expect((await work.propose(work.admin, copy.id)).diffs[0].change).toBe('unchanged');
  });

  it('is 404 after a week, to other accounts, and when it was not removed; 403 to users who may not develop', async () => {
    const table = await work.table('Codes');
    expect((await restore(table.id)).status).toBe(404);
    await remove(table.id);
    const outsider = await givenWork(metadata);
    expect(await restore(table.id, outsider.admin)).toEqual(await restore(999_999));
    expect(
      (await restore(table.id, givenUser(metadata, work.account.id, [['edit', 'account', work.account.id]]))).status,
    ).toBe(403);
    expect((await work.admin.send('POST', `/table_definitions/${table.id}/restore`, { x: 1 })).status).toBe(400);
    await metadata.pool.query(
      "update table_removal set removed_at = now() - interval '8 days' where table_definition_id = $1",
      [table.id],
    );
    expect((await restore(table.id)).status).toBe(404);
  });

  it('is 422 when its name is taken, or its domain or a table that it refers to was deleted', async () => {
    const domain = await work.account.api.post('/domains', { name: 'Passing' });
    const countries = await work.table('Countries');
    const regions = await work.table('Regions', [{ ...keyColumn, foreign_key_table_id: countries.id }]);
    await work.admin.send('PATCH', `/table_definitions/${regions.id}`, { domain_id: domain.id });
    await deploy(countries.id, regions.id);
    await remove(regions.id);
    await remove(countries.id);
    await work.account.api.send('DELETE', `/domains/${domain.id}`);
    await work.table('Regions');
    expect((await restore(regions.id)).body.errors).toEqual([
      'A table with this key or name, or a copy of the same one, is on the branch by now',
      'The domain of the table has been deleted',
      'Column code refers to a table that does not exist any more',
    ]);
    expect(metadata.neighbours.data.retired.has(regions.id)).toBe(true);
    expect((await restore(countries.id)).status).toBe(200);
  });
});

describe('a restoration', () => {
  it('that data refuses changes nothing', async () => {
    const table = await work.table('Codes');
    await deploy(table.id);
    await remove(table.id);
    metadata.neighbours.data.before.RestoreTable = () => {
      throw new ServiceError('validation_failed', {
        code: 'invalid',
        message: 'Rows refer to rows that do not exist.',
      });
    };
    expect((await restore(table.id)).body.errors).toEqual(['Rows refer to rows that do not exist.']);
    expect((await show(table.id)).status).toBe(404);
    metadata.neighbours.data.before = {};
    expect((await restore(table.id)).status).toBe(200);
  });

  it('that a crash interrupted is finished by the reconciler', async () => {
    const [one, two] = [await work.table('One'), await work.table('Two')];
    await deploy(one.id, two.id);
    for (const { id } of [one, two]) await remove(id);
    let lost = 2;
    metadata.neighbours.data.after.RestoreTable = () => {
      if (lost-- > 0) throw new ServiceError('unavailable', 'the answer is lost');
    };
    const [first, second] = [await restore(one.id), await restore(two.id)];
    expect([first.status, second.status]).toEqual([503, 503]);
    await eventually(async () => expect((await show(one.id)).status).toBe(200));
    await eventually(async () => expect((await show(two.id)).status).toBe(200));
    const left = () => metadata.context.prisma.table_removal.count({ where: { account_id: work.account.id } });
    await eventually(async () => expect(await left()).toBe(0));
  });
});
