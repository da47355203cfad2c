// POST /permissions/explain: metadata finds the place, identity answers who may do what there.
import {
  type Account,
  givenAccount,
  givenAdmin,
  givenTable,
  givenUser,
  type Metadata,
  startMetadata,
} from '../given.ts';

let metadata: Metadata;
let account: Account;

beforeAll(async () => {
  metadata = await startMetadata();
});
beforeEach(async () => {
  account = await givenAccount(metadata);
  metadata.neighbours.identity.sources = { allowed: true, ignored_for: [''] };
});
afterAll(() => metadata.stop());

const explain = (by: Account['api'], body: object) => by.send('POST', '/permissions/explain', body);
const lastQuestion = () => metadata.neighbours.identity.explained.at(-1);

describe('an explanation', () => {
  it('names the place of a table, the groups behind it and the people', async () => {
    const table = await givenTable(account, 'Countries');
    const admin = givenAdmin(metadata, account.id);
    const question = { action: 'edit', resource_type: 'table_definition', resource_id: table.id };
    const { status, body } = await explain(admin, question);
    expect(status).toBe(200);
    expect(lastQuestion()).toEqual({
      userId: admin.id,
      user_id: admin.id,
      action: 'edit',
      domain_id: account.domainId,
      branch_id: account.mainId,
      table_definition_id: table.id,
    });
    expect(body).toEqual({
      user_id: admin.id,
      ...question,
      allowed: true,
      reason: 'granted',
      through: [
        {
          user_group: { id: 5, name: 'Geographers' },
          action: 'edit',
          resource_type: 'domain',
          resource_id: account.domainId,
        },
      ],
      ignored: [],
      holders: { people: [{ id: admin.id, name: `User ${admin.id}` }], total_count: 1 },
      administrators: { people: [], total_count: 0 },
    });
  });

  it('is of another user, and of a domain, a branch or the account', async () => {
    const [asker, other] = [givenUser(metadata, account.id), givenUser(metadata, account.id)];
    const nowhere = { domain_id: 0, branch_id: 0, table_definition_id: 0 };
    const base = { user_id: other.id, action: 'develop' };
    for (const [resource, place, resource_id] of [
      [{ resource_type: 'domain', resource_id: account.domainId }, { domain_id: account.domainId }, account.domainId],
      [{ resource_type: 'branch', resource_id: account.mainId }, { branch_id: account.mainId }, account.mainId],
      [{ resource_type: 'account' }, {}, account.id],
    ] as const) {
      const { status, body } = await explain(asker, { ...base, ...resource });
      expect([status, body.user_id, body.resource_id]).toEqual([200, other.id, resource_id]);
      expect(lastQuestion()).toEqual({ userId: asker.id, ...base, ...nowhere, ...place });
    }
  });

  it.each([
    [['license'], 'license'],
    [['private_branch'], 'private_branch'],
    [[], 'no_permission'],
  ])('gives the reason of a refusal: %j is %s', async (ignored_for, reason) => {
    metadata.neighbours.identity.sources = { allowed: false, ignored_for };
    const user = givenUser(metadata, account.id);
    const question = { action: 'develop', resource_type: 'domain', resource_id: account.domainId };
    expect((await explain(user, question)).body).toMatchObject({ allowed: false, reason, through: [] });
    expect((await explain(user, question)).body.ignored).toHaveLength(ignored_for.length);
  });

  it('takes seeing the table', async () => {
    const table = await givenTable(account, 'Countries');
    const question = { action: 'view', resource_type: 'table_definition', resource_id: table.id };
    expect((await explain(givenUser(metadata, account.id), question)).status).toBe(403);
    const approver = givenUser(metadata, account.id, [['approve', 'branch', account.mainId]]);
    expect((await explain(approver, question)).status).toBe(200);
  });

  it('finds nothing of another account, and no user of it', async () => {
    const other = await givenAccount(metadata);
    const table = await givenTable(other, 'Countries');
    const user = givenUser(metadata, account.id, [['admin', 'account', account.id]]);
    for (const [resource_type, resource_id] of [
      ['account', other.id],
      ['domain', other.domainId],
      ['branch', other.mainId],
      ['table_definition', table.id],
    ])
      expect((await explain(user, { action: 'view', resource_type, resource_id })).status).toBe(404);
    expect((await explain(user, { user_id: 2_000_000_000, action: 'view', resource_type: 'account' })).status).toBe(
      404,
    );
  });

  it('says every problem of a question', async () => {
    const user = givenUser(metadata, account.id);
    expect(await explain(user, { action: 'rule', resource_type: 'galaxy', more: 1 })).toMatchObject({
      status: 400,
      body: {
        problems: [
          { code: 'not_in_list', field: 'action' },
          { code: 'not_in_list', field: 'resource_type' },
          { code: 'unknown_property', field: 'more' },
        ],
      },
    });
    expect(await explain(user, { action: 'view', resource_type: 'domain' })).toMatchObject({
      status: 400,
      body: { problems: [{ code: 'blank', field: 'resource_id' }] },
    });
    expect(await explain(account.api, { action: 'view', resource_type: 'account' })).toMatchObject({
      status: 400,
      body: { problems: [{ code: 'blank', field: 'user_id' }] },
    });
  });
});
