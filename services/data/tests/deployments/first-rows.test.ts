// First rows of a copy: inserted in the transaction of its first deployment, as the original has
// them then.
import { samePayload } from '@almanac/service-kit/messaging/bus/received-message';
import { eventually } from '@almanac/testkit/eventually';
import { anyPayload, startBus } from '@almanac/testkit/messaging/bus';
import { plan } from '../columns.ts';
import { create, type DataNet, deploy, failureOf, givenData, type TableInput, wanted } from '../given.ts';
import {
  codeColumn,
  copyOf,
  edit,
  givenCopy,
  merge,
  nextId,
  recordsOf,
  rowsOf,
  withLineages,
} from '../merges/row-merges.ts';
import { versionsOf } from '../versions.ts';

let net: DataNet;

beforeAll(async () => {
  net = await givenData();
});

afterAll(() => net.stop());

const columns: TableInput['columns'] = [codeColumn, { name: 'name', length: 20 }];

async function givenOriginal(rows: Parameters<typeof edit>[2], own = columns): Promise<TableInput> {
  const main: TableInput = { id: nextId(), columns: own };
  await deploy(net, [main]);
  await edit(net, main.id, rows);
  return main;
}

it('are the live rows, as first versions from a promotion, and are announced', async () => {
  const main = await givenOriginal({ A: { name: 'a' }, B: { name: 'b' }, C: { name: 'c' } });
  await edit(net, main.id, { A: { name: 'aa' }, B: null });
  await deploy(net, [copyOf(main)]);
  expect(await rowsOf(net, main.id + 1)).toEqual({ A: { name: 'aa' }, C: { name: 'c' } });
  const [row] = await recordsOf(net, main.id + 1);
  expect(await versionsOf(net.call, main.id + 1, row?.svc_sk as number)).toMatchObject([
    { svc_version: 1, action: 'created', channel: 'promotion', application_id: 9 },
  ]);
});

it('are announced like any others', async () => {
  const main = await givenOriginal({ A: { name: 'a' }, B: { name: 'b' } });
  const heard: Record<string, unknown>[] = [];
  const bus = await startBus(net.database.url, 'jobs');
  await bus.subscribe(samePayload(['data.rows.changed'], anyPayload), async ({ payload }) => void heard.push(payload));
  await deploy(net, [copyOf(main)]);
  const ofCopy = expect.objectContaining({ table_definition_id: main.id + 1, inserted: 2, updated: 0, deleted: 0 });
  await eventually(() => expect(heard).toContainEqual(ofCopy));
  await bus.stop();
});

it('are copied once: another deployment copies nothing', async () => {
  const { main, copy } = await givenCopy(net, { A: { name: 'a', size: 1 } });
  await edit(net, main.id, { B: { name: 'b' } });
  await deploy(net, [{ ...copy, version: 2, name: 'Renamed' }]);
  expect(Object.keys(await rowsOf(net, copy.id))).toEqual(['A']);
});

it('are shown by the plan as a statement, which changes nothing', async () => {
  const main = await givenOriginal({ A: { name: 'a' } });
  const { diffs } = await plan(net, [copyOf(main)]);
  expect(diffs[0]).toMatchObject({ change: 'new', warnings: [], blockers: [] });
  expect(diffs[0]?.statements.some((text) => text.startsWith(`insert into b_2.t_${main.id} `))).toBe(true);
  expect(await net.query('select 1 from row_base where table_definition_id = $1', [main.id])).toEqual([]);
});

it('take the types of the copy’s columns; broken and lost values are counted before', async () => {
  const main = await givenOriginal({ A: { name: 'a long name' }, B: { name: '7' }, C: { name: null } });
  const changed = (column: Partial<TableInput['columns'][number]>, more: TableInput['columns'] = []) => {
    const own = withLineages(main);
    Object.assign(own[1] as object, column);
    return copyOf(main, { columns: [...own, ...more] });
  };
  const counted = async (table: TableInput) => {
    const { diffs } = await plan(net, [table]);
    return [diffs[0]?.warnings.map(({ rows }) => rows), diffs[0]?.blockers.map(({ rows }) => rows)];
  };
  expect(await counted(changed({ length: 3 }))).toEqual([[1], []]);
  expect(await counted(changed({ data_type: 'integer', length: undefined }))).toEqual([[], [1]]);
  expect(await counted(changed({ is_required: true }))).toEqual([[], [1]]);
  expect(await counted(changed({}, [{ name: 'new', is_required: true, lineage_id: 999_999 }]))).toEqual([[], [3]]);
  const refused = await failureOf(deploy(net, [changed({ is_required: true })]));
  expect(refused).toMatchObject({ kind: 'validation_failed', errors: [expect.stringContaining('(1 row)')] });
  await deploy(net, [changed({ length: 3 })]);
  expect(await rowsOf(net, main.id + 1)).toEqual({ A: { name: 'a l' }, B: { name: '7' }, C: { name: null } });
  // A shortened value is no change, so it is not merged back.
  expect(await merge(net, [[main.id + 1, main.id]])).toMatchObject({ status: 'merged', tables: [{ updated: 0 }] });
});

it('must find the rows they refer to on the branch: their parents are copied too, or counted as missing', async () => {
  const parents = await givenOriginal({ P: { name: 'p' } });
  const children = await givenOriginal({ c: { parent: 'P' }, d: { parent: null } }, [
    codeColumn,
    { name: 'parent', length: 10, foreign_key_table_id: parents.id },
  ]);
  const own = withLineages(children);
  Object.assign(own[1] as object, { foreign_key_table_id: parents.id + 1 });
  const copy = copyOf(children, { columns: own });
  const { diffs } = await plan(net, [copyOf(parents, { rows_from_table_id: undefined }), copy]);
  expect(diffs[1]?.blockers).toMatchObject([{ rows: 1 }]);
  await deploy(net, [copy, copyOf(parents)], { branchId: 2 });
  expect(await rowsOf(net, copy.id)).toEqual({ c: { parent: 'P' }, d: { parent: null } });
});

it('are none when the original is out of service, with a warning', async () => {
  const main = await givenOriginal({ A: { name: 'a' } });
  await net.metadata.DropTable({ accountId: 1 }, { table_definition_id: main.id });
  const { diffs } = await plan(net, [copyOf(main)]);
  expect(diffs[0]).toMatchObject({
    blockers: [],
    warnings: [{ message: expect.stringContaining('not in service any more') }],
  });
  await deploy(net, [copyOf(main)]);
  expect(await rowsOf(net, main.id + 1)).toEqual({});
});

it('never come from another account', async () => {
  const main = await givenOriginal({ A: { name: 'a' } });
  await deploy(net, [{ ...copyOf(main), branch_id: 77 }], { accountId: 2, branchId: 77 });
  expect(await net.query(`select count(*)::int as n from b_77.t_${main.id}`)).toEqual([{ n: 0 }]);
});

it('are those of one instant, while others write: later rows are in the next merge', async () => {
  const main = await givenOriginal({ A: { name: 'a' } });
  const writing = Array.from({ length: 30 }, (_, i) => create(net, main.id, { code: `w${i}`, name: 'w' }));
  await Promise.all([deploy(net, [copyOf(main)]), ...writing]);
  const merged = await merge(net, [[main.id, main.id + 1]]);
  expect(merged).toMatchObject({ status: 'merged', conflict_count: 0, tables: [{ updated: 0, deleted: 0 }] });
  expect(await rowsOf(net, main.id + 1)).toEqual(await rowsOf(net, main.id));
});

describe('of an original that may not be viewed by all', () => {
  const viewer = 51;
  const formerViewer = 52;
  const formerUser = 53;
  const cachedUser = 54;
  const developsCopies = { action: 'develop', resource_type: 'branch', resource_id: 2 };
  const developer = (...permissions: (typeof developsCopies)[]) => ({ license_type: 'developer', permissions });
  const mayView = developer(developsCopies, { action: 'view', resource_type: 'branch', resource_id: 1 });

  beforeEach(() => {
    net.rights.set(viewer, mayView);
    net.rights.set(formerViewer, developer(developsCopies));
    net.rights.set(formerUser, null);
  });

  const request = (table: TableInput) => ({ branch_id: 2, tables: [wanted(table)] });
  const planAs = async (userId: number | undefined, table: TableInput) =>
    (await net.metadata.PlanDeployment({ accountId: 1, userId }, request(table))).diffs[0];
  const deployAs = (userId: number | undefined, table: TableInput, deployment_id = `as-${userId}-${table.id}`) =>
    net.metadata.ApplyDeployment({ accountId: 1, userId }, { deployment_id, ...request(table) });
  const isDeployed = async ({ id }: TableInput) =>
    (await net.query('select 1 from deployed_table where table_definition_id = $1', [id])).length > 0;

  it.each([
    ['the requester deploys, but may not view it any more', formerViewer, formerViewer],
    ['the requester is unknown, and the deployer may not view it', formerViewer, undefined],
    ['the requester is no longer a user, and the deployer may not view it', formerViewer, formerUser],
  ])('are refused, and nothing of them is shown, when %s', async (_when, deployer, rows_asked_by) => {
    const main = await givenOriginal({ A: { name: 'secret' } });
    const own = withLineages(main);
    Object.assign(own[1] as object, { is_required: true, length: 3 });
    const copy = copyOf(main, { rows_asked_by, columns: own });
    const shown = await planAs(deployer, copy);
    expect(shown?.blockers).toEqual([{ message: expect.stringContaining('"view"'), rows: 0 }]);
    expect(shown?.warnings).toEqual([]);
    expect(shown?.statements.filter((text) => text.startsWith('insert'))).toEqual([]);
    expect(await failureOf(deployAs(deployer, copy))).toEqual({
      kind: 'forbidden',
      errors: [expect.stringContaining(`Table ${main.id}: `)],
    });
    expect(await isDeployed(copy)).toBe(false);
  });

  it.each([
    ['the deployer', viewer, formerViewer],
    ['the requester', formerViewer, viewer],
    ['a machine that deploys', undefined, formerViewer],
  ])('come when %s may', async (_who, deployer, rows_asked_by) => {
    const main = await givenOriginal({ A: { name: 'a' } });
    const copy = copyOf(main, { rows_asked_by });
    expect(await planAs(deployer, copy)).toMatchObject({ blockers: [] });
    await deployAs(deployer, copy);
    expect(await rowsOf(net, copy.id)).toEqual({ A: { name: 'a' } });
  });

  it('depend on the rights of that moment, not on cached ones', async () => {
    net.rights.set(cachedUser, mayView);
    const main = await givenOriginal({ A: { name: 'a' } });
    const reads = net.as({ userId: cachedUser, applicationId: undefined });
    const look = async () => (await reads('GET', `/api/v1/table_data?table_definition_id=${main.id}`)).status;
    expect(await look()).toBe(200);
    net.rights.set(cachedUser, developer(developsCopies));
    const copy = copyOf(main, { rows_asked_by: cachedUser });
    expect((await planAs(cachedUser, copy))?.blockers).toHaveLength(1);
    expect(await failureOf(deployAs(cachedUser, copy))).toMatchObject({ kind: 'forbidden' });
    expect(await isDeployed(copy)).toBe(false);
  });

  it('were copied, and a repeated or later deployment checks no right again', async () => {
    const main = await givenOriginal({ A: { name: 'a' } });
    const copy = copyOf(main, { rows_asked_by: viewer });
    const first = await deployAs(viewer, copy, `twice-${copy.id}`);
    net.rights.set(viewer, developer(developsCopies));
    expect(await deployAs(viewer, copy, `twice-${copy.id}`)).toEqual(first);
    await deployAs(viewer, { ...copy, version: 2, name: 'Renamed' }, `later-${copy.id}`);
    expect(await rowsOf(net, copy.id)).toEqual({ A: { name: 'a' } });
  });

  it('are not copied by a repeated deployment whose copy was removed', async () => {
    const main = await givenOriginal({ A: { name: 'a' } });
    const copy = copyOf(main, { rows_asked_by: viewer });
    const first = await deployAs(viewer, copy, `known-${copy.id}`);
    await net.metadata.DropTable({ accountId: 1 }, { table_definition_id: copy.id });
    net.rights.set(viewer, developer(developsCopies));
    expect(await deployAs(viewer, copy, `known-${copy.id}`)).toEqual(first);
    expect(await isDeployed(copy)).toBe(false);
  });

  it('are none written after the right was taken away, however long the deployment waits', async () => {
    const main = await givenOriginal({ A: { name: 'a' } });
    const copy = copyOf(main, { rows_asked_by: viewer });
    await net.query('begin');
    await net.query("select pg_advisory_xact_lock(hashtext('almanac.data.branch'), 2)");
    const deploying = deployAs(viewer, copy);
    await eventually(async () => {
      const waiting = await net.query(
        "select 1 from pg_locks where locktype = 'advisory' and not granted and objid = 2",
      );
      expect(waiting).toHaveLength(1);
    });
    net.rights.set(viewer, developer(developsCopies));
    await create(net, main.id, { code: 'B', name: 'secret' });
    await net.query('commit');
    await deploying;
    expect(await rowsOf(net, copy.id)).toEqual({ A: { name: 'a' } });
  });
});
