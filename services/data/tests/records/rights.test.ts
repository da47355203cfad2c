// Changed rights on rows: an event invalidates cached rights, and long work checks them again when
// it begins.
import { randomUUID } from 'node:crypto';
import { eventually } from '@almanac/testkit/eventually';
import { startBus } from '@almanac/testkit/messaging/bus';
import { caller, create, type DataNet, deploy, failureOf, givenData } from '../given.ts';

let net: DataNet;
const columns = [{ name: 'code', length: 10, is_primary_key: true }];

beforeAll(async () => {
  net = await givenData();
  await deploy(net, [{ id: 1, columns, domain_id: 5 }]);
  await create(net, 1, { code: 'A' });
});
afterAll(() => net.stop());

let lastUser = 100;
type Grant = [action: string, resource_type: string, resource_id: number];
function givenUser(...grants: Grant[]): number {
  lastUser += 1;
  setRights(lastUser, ...grants);
  return lastUser;
}
function setRights(user: number, ...grants: Grant[]) {
  const permissions = grants.map(([action, resource_type, resource_id]) => ({ action, resource_type, resource_id }));
  net.rights.set(user, { license_type: 'developer', permissions });
}

const list = async (userId: number) =>
  (await net.as({ userId })('GET', '/api/v1/table_data?table_definition_id=1')).status;

async function load(userId: number | undefined, code: string) {
  const options = {
    load_id: randomUUID(),
    table_definition_id: 1,
    pattern: 'incremental',
    on_error: 'reject_file',
    delimiter: ',',
    quote: '"',
    file_columns: ['code'],
    columns: [{ target_column: 'code', position: 0 }],
  };
  async function* requests() {
    yield { options };
    yield { chunk: Buffer.from(`${code}\n`) };
  }
  return net.jobs.BulkLoad({ ...caller, userId }, requests());
}

async function read(userId: number | undefined) {
  let rows = 0;
  for await (const { end } of net.jobs.BulkRead({ ...caller, userId }, { table_definition_id: 1, pattern: 'full' }))
    rows = end?.rows ?? rows;
  return rows;
}

describe('a whole load', () => {
  it('requires the right to edit of its user', async () => {
    expect(await load(givenUser(['edit', 'domain', 5]), 'B')).toMatchObject({ status: 'completed', inserted: 1 });
    expect(await load(undefined, 'C')).toMatchObject({ status: 'completed', inserted: 1 });
    expect(await failureOf(load(givenUser(['view', 'domain', 5], ['edit', 'domain', 6]), 'D'))).toEqual({
      kind: 'forbidden',
      errors: ['You need the right "edit" on the table, its domain, its branch or the account.'],
    });
    expect((await net.call('GET', '/api/v1/table_data?table_definition_id=1&q=code:eq:D')).body.meta.total_count).toBe(
      0,
    );
  });

  it('is refused when the right was just revoked, or its user deleted', async () => {
    const steward = givenUser(['edit', 'domain', 5]);
    expect(await list(steward)).toBe(200);
    setRights(steward, ['view', 'domain', 5]);
    expect((await failureOf(load(steward, 'E'))).kind).toBe('forbidden');
    net.rights.set(steward, null);
    expect(await failureOf(load(steward, 'E'))).toEqual({
      kind: 'forbidden',
      errors: ['The user who requested this is no longer a user of the account.'],
    });
  });
});

describe('a whole read', () => {
  it('requires the right to view when it begins', async () => {
    const viewer = givenUser(['view', 'domain', 5]);
    const all = await read(undefined);
    expect(all).toBeGreaterThan(0);
    expect(await read(viewer)).toBe(all);
    setRights(viewer, ['view', 'domain', 6]);
    expect((await failureOf(read(viewer))).kind).toBe('forbidden');
  });

  it('checks the domain in which the table is now', async () => {
    await deploy(net, [{ id: 2, columns, domain_id: 5, key: 'moving' }]);
    const before = givenUser(['view', 'domain', 5]);
    const after = givenUser(['view', 'domain', 6]);
    const readMoving = async (userId: number) => {
      for await (const _part of net.jobs.BulkRead({ ...caller, userId }, { table_definition_id: 2, pattern: 'full' }));
    };
    await readMoving(before);
    await deploy(net, [{ id: 2, columns, domain_id: 6, key: 'moving', version: 2 }]);
    expect((await failureOf(readMoving(before))).kind).toBe('forbidden');
    await readMoving(after);
    const status = async (userId: number) =>
      (await net.as({ userId })('GET', '/api/v1/table_data?table_definition_id=2')).status;
    expect([await status(before), await status(after)]).toEqual([403, 200]);
  });
});

describe('a cached right', () => {
  it('is invalidated by the event of its change', async () => {
    const bus = await startBus(net.database.url, 'identity');
    const viewer = givenUser(['view', 'table_definition', 1]);
    expect(await list(viewer)).toBe(200);
    setRights(viewer);
    expect(await list(viewer)).toBe(200); // data has no event yet
    await bus.publish([
      {
        v: 1,
        id: randomUUID(),
        type: 'identity.permission.changed',
        occurred_at: new Date().toISOString(),
        payload: { account_id: 1, user_id: viewer, revision: 1 },
      },
    ]);
    await eventually(async () => expect(await list(viewer)).toBe(403));
    await bus.stop();
  });

  it('is not used when the user is deleted', async () => {
    const viewer = givenUser();
    net.rights.set(viewer, null);
    const answer = await net.as({ userId: viewer })('GET', '/api/v1/table_data?table_definition_id=1');
    expect([answer.status, answer.body.error]).toEqual([401, 'Invalid resource owner']);
  });
});
