// The erasure of an account in metadata: no row of it is left, and its neighbour stays as it was.
import { randomUUID } from 'node:crypto';
import { eventually } from '@almanac/testkit/eventually';
import { collectMessages, startBus } from '@almanac/testkit/messaging/bus';
import { givenAccount, givenAdmin, givenTable, keyColumn, type Metadata, outboxEmpty, startMetadata } from './given.ts';

let metadata: Metadata;

beforeAll(async () => {
  metadata = await startMetadata();
});
afterAll(() => metadata.stop());

/** Every table that has the account's id, from the catalogue. */
async function stateOf(account: number): Promise<Record<string, string>> {
  const { rows: tables } = await metadata.pool.query(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'account_id' and table_name <> 'account_erasure'`,
  );
  const state: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await metadata.pool.query(
      `select count(*)::int as n, md5(string_agg(t::text, '|' order by t::text)) as hash from "${name}" t where account_id = $1`,
      [account],
    );
    if (rows[0].n > 0) state[name] = `${rows[0].n} ${rows[0].hash}`;
  }
  return state;
}

it('the erasure of an account leaves no row of it, and its neighbour as it was', async () => {
  const bus = await startBus(metadata.config.common.secrets.busUrl, 'listener');
  const reports = await collectMessages(bus, 'listener.erased', ['metadata.account.erased']);
  const [account, neighbour] = [await givenAccount(metadata), await givenAccount(metadata)];
  for (const each of [account, neighbour]) {
    const { post } = givenAdmin(metadata, each.id);
    const parent = await givenTable(each, 'Regions');
    const region = { name: 'region', data_type: 'string', length: 10, foreign_key_table_id: parent.id };
    const table = await givenTable(each, 'Codes', [keyColumn, region]);
    const child = await post('/branches', { name: 'work' });
    await post('/branches', { name: 'deeper', parent_branch_id: child.id });
    for (const { id } of [parent, table]) await post(`/table_definitions/${id}/clone`, { target_branch_id: child.id });
    const request = await post('/change_requests', { branch_id: each.mainId, title: 'Rows' });
    await post(`/change_requests/${request.id}/comments`, { body: 'Why?' });
    const view = { name: 'By code', sharing: 'shared', state: {}, is_default: true, is_own_default: true };
    await post('/views', { table_definition_id: table.id, view });
    await post('/deployments', { branch_id: each.mainId, table_definition_ids: [parent.id, table.id] });
  }
  const ids = (await metadata.pool.query('select id from table_definition where account_id = $1', [account.id])).rows;
  // As an earlier release stored it.
  await metadata.pool.query(
    `insert into clone_base (account_id, table_definition_id, source_id, source_version, structure) values (0, $1, 999999, 1, '{}')`,
    [ids[0].id],
  );
  await outboxEmpty(metadata);
  const [before, own] = [await stateOf(neighbour.id), await stateOf(account.id)];
  expect(Object.keys(own)).toEqual(
    expect.arrayContaining([
      'domain',
      'branch',
      'table_definition',
      'column_definition',
      'deployment',
      'change_request',
      'saved_view',
      'saved_view_default',
    ]),
  );
  await eventually(() =>
    bus.publish([
      {
        v: 1,
        id: randomUUID(),
        type: 'identity.account_erasure.requested',
        occurred_at: new Date().toISOString(),
        payload: { account_id: account.id },
      },
    ]),
  );
  await eventually(() => expect(reports).toHaveLength(1));
  const counts = Object.fromEntries(Object.entries(own).map(([name, state]) => [name, Number(state.split(' ')[0])]));
  const { clone_base = 0 } = counts;
  expect(reports[0]?.payload).toMatchObject({
    account_id: account.id,
    counts: { ...counts, clone_base: clone_base + 1, branch: 3 },
  });
  expect(await stateOf(account.id)).toEqual({});
  expect((await metadata.pool.query('select 1 from clone_base where source_id = 999999')).rows).toEqual([]);
  expect(await stateOf(neighbour.id)).toEqual(before);
  await bus.stop();
});
