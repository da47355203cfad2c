// What tests of change requests start from: `main` with two deployed tables in two domains, users
// with their rights, and shortcuts for the steps.
import {
  type Account,
  type Answer,
  type Api,
  givenAccount,
  givenAdmin,
  givenTable,
  givenUser,
  type Metadata,
} from '../../given.ts';

export type User = Api & { id: number };

export type World = {
  account: Account;
  admin: User;
  /** Edits rows of the account. */
  steward: User;
  /** Approve on `main`, and see no rows. */
  approver: User;
  second: User;
  codesId: number;
  lawsId: number;
  lawDomainId: number;
  /** Creates a request and proposes these operations on a table. */
  propose(user?: Api, kinds?: Kinds, tableId?: number): Promise<number>;
  /** The same, sent for approval. */
  sent(kinds?: Kinds): Promise<number>;
  act(user: Api, id: number, step: string, body?: unknown): Promise<Answer>;
  show(id: number, user?: Api): Promise<Answer['body']>;
  /** Approves or applies under the present revision. */
  decide(user: Api, id: number, step: 'approve' | 'apply', more?: object): Promise<Answer>;
};

type Kinds = ('create' | 'update' | 'delete' | 'restore')[];

export async function givenWorld(metadata: Metadata): Promise<World> {
  const account = await givenAccount(metadata);
  const { mainId } = account;
  const admin = givenAdmin(metadata, account.id);
  const law = await admin.post('/domains', { domain: { name: 'Law', abbreviation: 'LAW' } });
  const codes = await givenTable(account, 'Codes');
  const laws = await givenTable({ ...account, domainId: law.id }, 'Laws');
  const body = { branch_id: mainId, table_definition_ids: [codes.id, laws.id] };
  await admin.post(`/deployments/${(await admin.post('/deployments', body)).id}/deploy`);
  const steward = givenUser(metadata, account.id, [['edit', 'account', account.id]], { license: 'end_user' });
  const approving = () =>
    givenUser(metadata, account.id, [['approve', 'branch', mainId]], { license: 'end_user', branching: false });
  const { changeRequests } = metadata.neighbours.data;
  const act: World['act'] = (user, id, step, given) => user.send('POST', `/change_requests/${id}/${step}`, given);
  const show: World['show'] = (id, user = admin) => user.get(`/change_requests/${id}`);
  const propose: World['propose'] = async (user = steward, kinds = ['create', 'update'], tableId = codes.id) => {
    const { id } = await user.post('/change_requests', { branch_id: mainId, title: 'Corrections' });
    changeRequests.propose(id, tableId, kinds);
    return id;
  };
  return {
    account,
    admin,
    steward,
    approver: approving(),
    second: approving(),
    codesId: codes.id,
    lawsId: laws.id,
    lawDomainId: law.id,
    propose,
    sent: async (kinds) => {
      const id = await propose(steward, kinds);
      await steward.post(`/change_requests/${id}/send_request`, { comment: 'please' });
      return id;
    },
    act,
    show,
    decide: async (user, id, step, more) => act(user, id, step, { revision: (await show(id, user)).revision, ...more }),
  };
}

/** Gives a branch a policy, as far as the columns are there. */
export async function setPolicy(
  metadata: Metadata,
  branchId: number,
  policy: Partial<{ required_approvals: number; self_approval: boolean; comment_required: boolean }>,
): Promise<void> {
  const { pool } = metadata;
  await pool.query(
    `alter table branch add column if not exists required_approvals integer,
       add column if not exists self_approval boolean, add column if not exists comment_required boolean`,
  );
  for (const [name, value] of Object.entries(policy))
    await pool.query(`update branch set ${name} = $1 where id = $2`, [value, branchId]);
}
