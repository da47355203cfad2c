// What tests of promotions start from: `main` and a feature branch, users with their rights, and
// shortcuts for the steps.
import {
  type Account,
  type Answer,
  type Api,
  givenAccount,
  givenAdmin,
  givenTable,
  givenUser,
  type Metadata,
} from './given.ts';

export type User = Api & { id: number };

export type Work = {
  account: Account;
  featureId: number;
  admin: User;
  /** Develops everywhere. */
  creator: User;
  /** Approves on `main`. */
  approver: User;
  outsider: User;
  table(name: string, columns?: Record<string, unknown>[]): Promise<Answer['body']>;
  onFeature(name: string, columns?: Record<string, unknown>[]): Promise<Answer['body']>;
  clone(id: number, to?: number): Promise<Answer['body']>;
  /** The columns of a definition, by name. */
  columns(id: number): Promise<Record<string, Answer['body']>>;
  addColumn(tableId: number, column: Record<string, unknown>): Promise<Answer['body']>;
  changeColumn(id: number, change: Record<string, unknown>): Promise<void>;
  /** Proposes promotion from the feature branch to `main`. */
  propose(user: User, ...ids: number[]): Promise<Answer['body']>;
  act(user: Api, id: number, action: string, body?: unknown): Promise<Answer>;
};

export async function givenWork(metadata: Metadata): Promise<Work> {
  const account = await givenAccount(metadata);
  const { api, mainId } = account;
  const admin = givenAdmin(metadata, account.id);
  const featureId = (await admin.post('/branches', { name: 'feature' })).id;
  return {
    account,
    featureId,
    admin,
    creator: givenUser(metadata, account.id, [['develop', 'account', account.id]]),
    approver: givenUser(metadata, account.id, [['approve', 'branch', mainId]]),
    outsider: givenUser(metadata, account.id, [['view', 'account', account.id]]),
    table: (name, columns) => givenTable(account, name, columns),
    onFeature: (name, columns) => givenTable({ ...account, mainId: featureId }, name, columns),
    clone: (id, to = featureId) => admin.post(`/table_definitions/${id}/clone`, { target_branch_id: to }),
    columns: async (id) => {
      const { column_definitions } = await api.get(`/table_definitions/${id}`);
      return Object.fromEntries(column_definitions.map((column: { name: string }) => [column.name, column]));
    },
    addColumn: (table_definition_id, column_definition) =>
      api.post('/column_definitions', { table_definition_id, column_definition }),
    changeColumn: async (id, change) => {
      const { status, body } = await api.send('PATCH', `/column_definitions/${id}`, change);
      if (status !== 200) throw new Error(JSON.stringify(body));
    },
    propose: (user, ...ids) =>
      user.post('/promotions', { from_branch_id: featureId, to_branch_id: mainId, table_definition_ids: ids }),
    act: (user, id, action, body) => user.send('POST', `/promotions/${id}/${action}`, body),
  };
}
