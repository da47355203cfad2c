// POST /branches with `copy`: a branch and the copies of tables on it, all or nothing.
import { limits } from '@almanac/service-kit/limits';
import {
  type Account,
  givenAccount,
  givenTable,
  givenUser,
  keyColumn,
  type Metadata,
  startMetadata,
} from '../given.ts';

let metadata: Metadata;
let account: Account;
let regions: { id: number };
let countries: { id: number };

beforeAll(async () => {
  metadata = await startMetadata();
});
beforeEach(async () => {
  account = await givenAccount(metadata);
  regions = await givenTable(account, 'Regions');
  const region = { name: 'region', data_type: 'string', length: 10, foreign_key_table_id: regions.id };
  countries = await givenTable(account, 'Countries', [keyColumn, region]);
});
afterAll(() => metadata.stop());

const developer = () => givenUser(metadata, account.id, [['develop', 'account', account.id]]);
const open = (by: ReturnType<typeof developer>, copy: unknown, branch: object = {}) =>
  by.send('POST', '/branches', { branch: { name: 'Work', ...branch }, copy });
const branchNames = async () => (await account.api.get('/branches')).data.map(({ name }: { name: string }) => name);

describe('a branch with copies', () => {
  it('has the tables and those that they refer to, which refer to each other', async () => {
    const by = developer();
    const { status, body } = await open(by, { table_definition_ids: [countries.id], with_referenced: true });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'Work',
      owner_id: by.id,
      copied: {
        table_definitions: [
          { key: 'regions', cloned_from_id: regions.id },
          { key: 'countries', cloned_from_id: countries.id },
        ],
        deployment: null,
      },
    });
    const [ofRegions, ofCountries] = body.copied.table_definitions;
    const copy = await by.get(`/table_definitions/${ofCountries.id}`);
    expect(copy).toMatchObject({ branch_id: body.id, cloned_from_version: expect.any(Number), deployed_version: null });
    expect(copy.column_definitions).toMatchObject([{ name: 'code' }, { foreign_key_table_id: ofRegions.id }]);
  });

  it('shows the same column as the original where others refer to it', async () => {
    const by = developer();
    const original = await by.get(`/table_definitions/${regions.id}`);
    const lookup_display_column_id = original.column_definitions[0].id;
    await by.send('PATCH', `/table_definitions/${regions.id}`, { lookup_display_column_id });
    const { body } = await open(by, { table_definition_ids: [regions.id] });
    const copy = await by.get(`/table_definitions/${body.copied.table_definitions[0].id}`);
    expect(copy.lookup_display_column_id).toBe(copy.column_definitions[0].id);
    expect(copy.lookup_display_column_id).not.toBe(lookup_display_column_id);
  });

  it('is answered as before without copies', async () => {
    const answer = await developer().post('/branches', { branch: { name: 'Bare' } });
    expect(answer).not.toHaveProperty('copied');
  });

  it('is deployed at once if asked for', async () => {
    const by = developer();
    const { status, body } = await open(by, {
      table_definition_ids: [countries.id, regions.id],
      with_referenced: true,
      deploy: true,
    });
    expect(status).toBe(201);
    expect(body.copied.deployment).toEqual({ id: expect.any(Number), status: 'deployed', error: null });
    const { data } = await by.get(`/deployed_table_definitions?branch_id=${body.id}`);
    expect(data.map(({ key }: { key: string }) => key)).toEqual(['regions', 'countries']);
  });

  it('keeps the drafts when what would be deployed is blocked, and says why', async () => {
    const by = developer();
    const nextId =
      (await metadata.pool.query('select last_value::int as id from table_definition_id_seq')).rows[0].id + 1;
    metadata.neighbours.data.blockers.set(nextId, [{ message: 'It is blocked', rows: 1 }]);
    const { status, body } = await open(by, { table_definition_ids: [regions.id], deploy: true });
    expect(status).toBe(201);
    expect(body.copied.table_definitions).toHaveLength(1);
    expect(body.copied.deployment).toMatchObject({ status: 'failed', error: expect.stringContaining('It is blocked') });
  });

  it('is made once for one Idempotency-Key', async () => {
    const by = developer();
    const request = { branch: { name: 'Once' }, copy: { table_definition_ids: [regions.id], deploy: true } };
    const headers = { 'idempotency-key': 'one-branch' };
    const first = await by.send('POST', '/branches', request, headers);
    expect(first.status).toBe(201);
    expect(await by.send('POST', '/branches', request, headers)).toEqual(first);
    expect(
      metadata.neighbours.data.applications.filter((id) => id.includes(`-${first.body.copied.deployment.id}-`)),
    ).toHaveLength(1);
  });
});

describe('nothing is made', () => {
  const refused = async (by: ReturnType<typeof developer>, copy: unknown, branch: object = {}) => {
    const before = await branchNames();
    const answer = await open(by, copy, branch);
    expect(await branchNames()).toEqual(before);
    return answer;
  };

  it('when a table that is referred to is left out', async () => {
    expect(await refused(developer(), { table_definition_ids: [countries.id] })).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'invalid_reference', column: 'region', params: { table: 'regions' } }] },
    });
  });

  it('when rows are wanted of tables without any', async () => {
    const copy = { table_definition_ids: [countries.id], with_referenced: true, include_data: true };
    expect(await refused(developer(), copy)).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'wrong_state', params: { tables: ['regions', 'countries'] } }] },
    });
  });

  it('when the name is taken, or a table is unknown, hidden or of another account', async () => {
    const by = developer();
    expect((await refused(by, { table_definition_ids: [regions.id] }, { name: 'main' })).status).toBe(422);
    expect((await refused(by, { table_definition_ids: [regions.id, 2_000_000_000] })).status).toBe(404);
    const other = await givenAccount(metadata);
    const theirs = await givenTable(other, 'Theirs');
    expect((await refused(by, { table_definition_ids: [regions.id, theirs.id] })).status).toBe(404);
    const elsewhere = givenUser(metadata, account.id, [['develop', 'table_definition', regions.id]]);
    expect((await refused(elsewhere, { table_definition_ids: [regions.id] })).status).toBe(403);
    const narrow = givenUser(metadata, account.id, [
      ['develop', 'branch', 2_000_000_000],
      ['view', 'table_definition', countries.id],
    ]);
    expect((await refused(narrow, { table_definition_ids: [countries.id], with_referenced: true })).status).toBe(403);
  });

  it('without the right to view the rows that are wanted', async () => {
    const approver = givenUser(metadata, account.id, [
      ['approve', 'branch', account.mainId],
      ['develop', 'branch', 2_000_000_000],
    ]);
    expect((await refused(approver, { table_definition_ids: [regions.id], include_data: true })).status).toBe(403);
  });

  it('when a protected branch is to be deployed to', async () => {
    const copy = { table_definition_ids: [regions.id], deploy: true };
    expect(await refused(developer(), copy, { is_protected: true })).toMatchObject({
      status: 422,
      body: { problems: [{ code: 'incompatible', field: 'copy.deploy' }] },
    });
  });

  it('by a body that is wrong', async () => {
    for (const copy of [[], 7, {}, { table_definition_ids: [] }, { table_definition_ids: ['1'] }, { tables: [1] }])
      expect((await refused(developer(), copy)).status).toBe(400);
  });
});

it('takes two hundred tables and no more', async () => {
  const by = developer();
  const maximum = limits.tablesPerCopy;
  await metadata.pool.query(
    `insert into table_definition (account_id, key, name, name_key, domain_id, branch_id, lineage_id)
     select $1, 'many_' || n, 'Many ' || n, 'many ' || n, $2, $3, 1000000 + $1 * 1000 + n from generate_series(1, $4) n`,
    [account.id, account.domainId, account.mainId, maximum],
  );
  const { rows } = await metadata.pool.query<{ id: number }>(
    "select id from table_definition where key like 'many%' and account_id = $1",
    [account.id],
  );
  const ids = rows.map(({ id }) => id);
  expect((await open(by, { table_definition_ids: [...ids, regions.id] })).status).toBe(400);
  const { status, body } = await open(by, { table_definition_ids: ids });
  expect([status, body.copied.table_definitions.length]).toEqual([201, maximum]);
  const referring = await open(
    by,
    { table_definition_ids: [...ids.slice(1), countries.id], with_referenced: true },
    { name: 'More' },
  );
  expect(referring).toMatchObject({ status: 422, body: { problems: [{ code: 'too_many', params: { maximum } }] } });
});
