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
  keyColumn,
  type Metadata,
  startMetadata,
} from './given.ts';

export type User = Api & { id: number };

type Pair = { main: Answer['body']; feature: Answer['body'] };

export const nameColumn = { name: 'name', data_type: 'string', length: 50 };

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
  /** A table on `main` with its clone on the feature branch. */
  both(name?: string, columns?: Record<string, unknown>[]): Promise<Pair>;
  cloneWithRows(id: number, user?: User, to?: number): Promise<Answer>;
  deploy(branchId: number, ...ids: number[]): Promise<void>;
  /** A table in service on `main`, and its clone with rows in service on the feature branch. */
  deployedPair(): Promise<Pair>;
  /** All definitions of the account, as the API shows them. */
  definitions(): Promise<Answer['body'][]>;
  /** The columns of a definition, by name. */
  columns(id: number): Promise<Record<string, Answer['body']>>;
  columnId(tableId: number, name: string): Promise<number>;
  addColumn(tableId: number, column: Record<string, unknown>): Promise<Answer['body']>;
  changeColumn(id: number, change: Record<string, unknown>): Promise<void>;
  /** Proposes promotion from the feature branch to `main`. */
  propose(user: User, ...ids: number[]): Promise<Answer['body']>;
  act(user: Api, id: number, action: string, body?: unknown): Promise<Answer>;
};

export let metadata: Metadata;
export let work: Work;

/** For all tests of the file metadata, and for each a work of its own. */
export function useWork(): void {
  beforeAll(async () => {
    metadata = await startMetadata();
  });
  afterAll(() => metadata.stop());
  beforeEach(renewWork);
}

/** Goes on with another account. */
export async function renewWork(): Promise<void> {
  work = await givenWork(metadata);
}

export async function givenWork(metadata: Metadata): Promise<Work> {
  const account = await givenAccount(metadata);
  const { api, mainId } = account;
  const admin = givenAdmin(metadata, account.id);
  const featureId = (await admin.post('/branches', { name: 'feature' })).id;
  const work: Work = {
    account,
    featureId,
    admin,
    creator: givenUser(metadata, account.id, [['develop', 'account', account.id]]),
    approver: givenUser(metadata, account.id, [['approve', 'branch', mainId]]),
    outsider: givenUser(metadata, account.id, [['view', 'account', account.id]]),
    table: (name, columns) => givenTable(account, name, columns),
    onFeature: (name, columns) => givenTable({ ...account, mainId: featureId }, name, columns),
    clone: (id, to = featureId) => admin.post(`/table_definitions/${id}/clone`, { target_branch_id: to }),
    both: async (name = 'Countries', columns = [keyColumn, nameColumn]) => {
      const main = await work.table(name, columns);
      return { main, feature: await work.clone(main.id) };
    },
    cloneWithRows: (id, user = admin, to = featureId) =>
      user.send('POST', `/table_definitions/${id}/clone`, { target_branch_id: to, include_data: true }),
    deploy: async (branch_id, ...table_definition_ids) => {
      const { id } = await admin.post('/deployments', { branch_id, table_definition_ids });
      await admin.post(`/deployments/${id}/deploy`);
    },
    deployedPair: async () => {
      const main = await work.table('Countries', [keyColumn, nameColumn]);
      await work.deploy(mainId, main.id);
      const feature = (await work.cloneWithRows(main.id)).body;
      await work.deploy(featureId, feature.id);
      return { main, feature };
    },
    definitions: async () => {
      const { data } = await admin.get('/table_definitions?per_page=1000');
      return Promise.all(data.map(({ id }: { id: number }) => admin.get(`/table_definitions/${id}`)));
    },
    columns: async (id) => {
      const { column_definitions } = await api.get(`/table_definitions/${id}`);
      return Object.fromEntries(column_definitions.map((column: { name: string }) => [column.name, column]));
    },
    columnId: async (tableId, name) => (await work.columns(tableId))[name].id,
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
  return work;
}

/** The conflict of `givenConflict`. */
export const lengthOfName = { table: 'countries', column: 'name', attribute: 'length' };

/** A promotion of a column whose length was changed on both sides: from 50 to 80, and to 100. */
export async function givenConflict(work: Work) {
  const both = await work.both();
  await work.changeColumn(await work.columnId(both.feature.id, 'name'), { length: 80 });
  await work.changeColumn(await work.columnId(both.main.id, 'name'), { length: 100 });
  const promotion = await work.propose(work.admin, both.feature.id);
  return { ...both, promotion };
}
