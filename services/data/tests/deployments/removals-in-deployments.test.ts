// Tables that a deployment takes out of service, beside those that it makes and changes.
import { caller, create, type DataNet, failureOf, givenData, type TableInput, wanted } from '../given.ts';

let net: DataNet;
let last = 0;
const nextId = () => (last += 10);

beforeAll(async () => {
  net = await givenData();
});
afterAll(() => net.stop());

const key = { name: 'id', data_type: 'integer', is_primary_key: true };
const reference = (id: number) => ({ name: 'p', data_type: 'integer', foreign_key_table_id: id });

type Change = { tables?: TableInput[]; removed?: number[]; branchId?: number; accountId?: number };
const requestOf = ({ tables = [], removed = [], branchId = 1 }: Change) => ({
  branch_id: branchId,
  tables: [
    ...tables.map(wanted),
    ...removed.map((id) => ({ ...wanted({ id, columns: [], branch_id: branchId }), is_removed: true })),
  ],
});
const callerOf = ({ accountId = 1 }: Change) => ({ ...caller, accountId });
const plan = async (change: Change) =>
  (await net.metadata.PlanDeployment(callerOf(change), requestOf(change))).diffs as NonNullable<
    Awaited<ReturnType<typeof net.metadata.PlanDeployment>>['diffs']
  >;
const apply = (id: string, change: Change) =>
  net.metadata.ApplyDeployment(callerOf(change), { deployment_id: id, ...requestOf(change) }, { deadlineMs: 60_000 });
const isServed = async (id: number) =>
  (await net.call('GET', `/api/v1/table_data?table_definition_id=${id}`)).status === 200;
const restore = (id: number) => net.metadata.RestoreTable(caller, { table_definition_id: id });

it('shows a table as deleted with its live rows, removes it with them, once, and it can be restored', async () => {
  const [retired, made] = [nextId(), nextId()];
  await apply('one-first', { tables: [{ id: retired, columns: [key] }] });
  await create(net, retired, { id: 1 });
  const { svc_sk } = await create(net, retired, { id: 2 });
  await net.call('POST', '/api/v1/table_data/delete_records', { table_definition_id: retired, ids: [svc_sk] });
  const change = { tables: [{ id: made, columns: [key] }], removed: [retired] };
  const diffs = await plan(change);
  expect(diffs.map((diff) => [diff.table_definition_id, diff.change])).toEqual([
    [made, 'new'],
    [retired, 'deleted'],
  ]);
  expect(diffs[1]).toMatchObject({
    key: `table_${retired}`,
    columns: [{ name: 'id', change: 'deleted' }],
    warnings: [
      { message: 'The table is taken out of service with its rows; they can be restored for seven days.', rows: 1 },
    ],
    blockers: [],
  });
  expect(await isServed(retired)).toBe(true);
  const first = await apply('one', change);
  expect([await isServed(retired), await isServed(made)]).toEqual([false, true]);
  expect(await restore(retired)).toEqual({ restored: true });
  expect(await apply('one', change)).toEqual(first);
  expect(await isServed(retired)).toBe(true);
  const applied = await net.metadata.GetAppliedDeployment(caller, { deployment_id: 'one' });
  expect(applied.plan).toEqual(first);
  const { body } = await net.call('GET', `/api/v1/table_data?table_definition_id=${retired}`);
  expect(body.data.map(({ id }: { id: number }) => id)).toEqual([1]);
});

it('is refused, all of it, while a table that stays refers to a removed one', async () => {
  const [target, referring, made] = [nextId(), nextId(), nextId()];
  await apply('two-first', {
    tables: [
      { id: target, columns: [key] },
      { id: referring, columns: [key, reference(target)] },
    ],
  });
  const change = { tables: [{ id: made, columns: [key] }], removed: [target] };
  const blocker = `Table ${referring} refers to this table.`;
  expect((await plan(change))[1]?.blockers).toEqual([{ message: blocker, rows: 0 }]);
  expect(await failureOf(apply('two', change))).toEqual({
    kind: 'validation_failed',
    errors: [`Table ${target}: ${blocker}`],
  });
  expect([await isServed(target), await isServed(made)]).toEqual([true, false]);
  const newlyReferring = { tables: [{ id: made, columns: [key, reference(target)] }], removed: [target, referring] };
  expect((await failureOf(apply('two-b', newlyReferring))).errors).toContain(
    `Table ${target}: Table ${made} refers to this table.`,
  );
});

it('removes tables that refer to each other, and one whose reference is removed in the same deployment', async () => {
  const [one, other, kept, target] = [nextId(), nextId(), nextId(), nextId()];
  await apply('three-first', {
    tables: [
      { id: one, columns: [key, reference(other)] },
      { id: other, columns: [key, reference(one)] },
      { id: target, columns: [key] },
      { id: kept, columns: [key, reference(target)] },
    ],
  });
  await create(net, target, { id: 1 });
  await create(net, kept, { id: 1, p: 1 });
  await apply('three', {
    tables: [{ id: kept, version: 2, columns: [key] }],
    removed: [other, target, one],
  });
  expect(await Promise.all([one, other, target, kept].map(isServed))).toEqual([false, false, false, true]);
  expect(await restore(target)).toEqual({ restored: true });
});

it('removes a table that refers to one whose key changes', async () => {
  const [target, referring] = [nextId(), nextId()];
  await apply('four-first', {
    tables: [
      { id: target, columns: [key] },
      { id: referring, columns: [key, reference(target)] },
    ],
  });
  const code = { name: 'code', is_primary_key: true };
  await apply('four', { tables: [{ id: target, version: 2, columns: [code] }], removed: [referring] });
  expect([await isServed(target), await isServed(referring)]).toEqual([true, false]);
});

it('knows no table of another branch or account, and does nothing about one that is out of service', async () => {
  const id = nextId();
  await apply('five-first', { tables: [{ id, columns: [key] }] });
  const blocked = [{ message: 'The table definition is deployed on another branch.', rows: 0 }];
  for (const change of [{ branchId: 77 }, { branchId: 78, accountId: 2 }]) {
    const [diff] = await plan({ ...change, removed: [id] });
    expect(diff).toMatchObject({ blockers: blocked, warnings: [{ rows: 0 }], columns: [] });
    expect((await failureOf(apply('five-b', { ...change, removed: [id] }))).kind).toBe('validation_failed');
  }
  expect(await isServed(id)).toBe(true);
  await net.metadata.DropTable(caller, { table_definition_id: id });
  const { diffs } = (await apply('five', { removed: [id] })) as { diffs: object[] };
  expect(diffs).toMatchObject([
    { change: 'deleted', warnings: [{ message: 'The table is not in service any more.' }], blockers: [] },
  ]);
  expect(await restore(id)).toEqual({ restored: true });
});
