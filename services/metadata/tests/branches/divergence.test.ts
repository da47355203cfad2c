// How far a branch and its parent have diverged. What data counts of rows is in its own tests, and
// the whole in tests/acceptance/promotion.test.ts.
import { type Api, givenUser } from '../given.ts';
import { metadata, nameColumn, useWork, work } from '../promotion-given.ts';

useWork();

const divergence = (id = work.featureId, user: Api = work.admin) => user.get(`/branches/${id}/divergence`);
const same = { definition: false, rows: null };
const none = { tables: 0, rows: 0 };
/** What the fake data counts of each pair, in each direction. */
const counted = 6;

it('has a table of the branch that is new, or has changed on one of the two, or on both', async () => {
  const { main, feature } = await work.both();
  const table = { table_definition_id: feature.id, parent_table_definition_id: main.id, key: 'countries' };
  expect(await divergence()).toEqual({
    branch_id: work.featureId,
    parent_branch_id: work.account.mainId,
    ahead: none,
    behind: none,
    tables: [{ ...table, name: 'Countries', ahead: same, behind: same }],
  });
  const changed = { definition: true, rows: null };
  await work.addColumn(feature.id, { ...nameColumn, name: 'capital' });
  expect(await divergence()).toMatchObject({
    ahead: { tables: 1, rows: 0 },
    behind: none,
    tables: [{ ahead: changed, behind: same }],
  });
  await work.changeColumn(await work.columnId(main.id, 'name'), { length: 60 });
  await work.onFeature('Airports');
  expect(await divergence()).toMatchObject({
    ahead: { tables: 2, rows: 0 },
    behind: { tables: 1, rows: 0 },
    tables: [
      { key: 'airports', parent_table_definition_id: null, ahead: changed, behind: same },
      { ...table, ahead: changed, behind: changed },
    ],
  });
});

it('has nothing ahead once it was promoted', async () => {
  const { feature } = await work.both();
  await work.addColumn(feature.id, { ...nameColumn, name: 'capital' });
  const { id } = await work.propose(work.creator, feature.id);
  await work.act(work.creator, id, 'send_request');
  expect(await work.act(work.approver, id, 'promote')).toMatchObject({ status: 200 });
  expect(await divergence()).toMatchObject({ ahead: none, behind: none });
});

it('counts the rows of tables in service on both branches, as far as the caller may view them on both', async () => {
  const { main } = await work.deployedPair();
  const both = { definition: false, rows: counted };
  const whole = { ahead: { tables: 1, rows: counted }, behind: { tables: 1, rows: counted } };
  expect(await divergence()).toMatchObject({ ...whole, tables: [{ ahead: both, behind: both }] });
  for (const caller of [work.outsider, work.account.api])
    expect(await divergence(work.featureId, caller)).toMatchObject(whole);
  const { id: accountId, mainId } = work.account;
  const viewer = givenUser(metadata, accountId, [
    ['view', 'branch', work.featureId],
    ['approve', 'branch', mainId],
  ]);
  expect(await divergence(work.featureId, viewer)).toMatchObject(whole);
  const judge = givenUser(metadata, accountId, [
    ['approve', 'branch', work.featureId],
    ['view', 'table_definition', main.id],
  ]);
  const blind = { ahead: none, behind: none, tables: [{ ahead: same, behind: same }] };
  expect(await divergence(work.featureId, judge)).toMatchObject(blind);
  const elsewhere = givenUser(metadata, accountId, [['view', 'branch', work.featureId]]);
  expect(await divergence(work.featureId, elsewhere)).toMatchObject({ ahead: none, tables: [] });
});

it('is empty without a parent that the caller sees, and 404 for a branch that they do not see', async () => {
  const { mainId, id: accountId } = work.account;
  const empty = { parent_branch_id: null, ahead: none, behind: none, tables: [] };
  expect(await divergence(mainId)).toEqual({ branch_id: mainId, ...empty });
  const hidden = await work.creator.post('/branches', { name: 'mine', branch_type: 'private' });
  const child = await work.creator.post('/branches', { name: 'ours', parent_branch_id: hidden.id });
  await work.creator.post('/table_definitions', {
    branch_id: child.id,
    table_definition: { name: 'Ports', domain_id: work.account.domainId },
  });
  const other = givenUser(metadata, accountId, [['view', 'account', accountId]]);
  const known = metadata.neighbours.identity.users;
  Object.assign(known.get(other.id) ?? {}, { private_branch_ids: [hidden.id] });
  expect(await divergence(child.id, other)).toEqual({ branch_id: child.id, ...empty });
  expect(await other.send('GET', `/branches/${hidden.id}/divergence`)).toMatchObject({ status: 404 });
});
