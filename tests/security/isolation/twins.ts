// Two accounts that own one resource of every kind, made in turns so that their ids interleave.
// Both use the same names, keys, e-mails, correlation codes and rows wherever two accounts may;
// beside these each has some of its own.
import { type Api, type Page, poll, upload } from '@almanac/api-client/api';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, type Column, givenAccount, mainBranchId, unique } from '@almanac/testkit/system/builders';
import type { Stores } from '@almanac/testkit/system/stored-state';
import type { Kind } from './places.ts';

/**
 * An identifier of each kind. Keys, codes and rows are ones that the other account lacks, except
 * for `key of both`.
 */
export type Owned = Record<Kind, number | string>;

/** An account and its callers: its administrator, and its application without a user. */
export type Side = { account: Account; user: Api; machine: Api; owned: Owned };

export type Twin = Side & {
  /**
   * The table that both have by the same name and key; row `S` is in both, the first account has
   * more after it.
   */
  shared: { id: number; key: string; name: string; rows: number[] };
  /** In the table that `shared` refers to: a row `T` in both, and `ONLY1` in the first. */
  correlationCode: string;
  downloadUrl: string;
  uploadUrl: string;
  /** A text in all that only this account may see. */
  mark: string;
};

const neverId = 2_000_000_000;

/** Identifiers of the same form that never existed. */
export const never: Owned = {
  domain: neverId,
  branch: neverId,
  'main branch': neverId,
  'table definition': neverId,
  'table definition uuid': '0f8fad5b-d9cb-469f-a165-70867728950e',
  'table definition key': 'never_was_here',
  'key of both': 'never_was_here',
  'removed table definition': neverId,
  'column definition': neverId,
  row: neverId,
  'change request': neverId,
  'change operation': neverId,
  'sent change request': neverId,
  'sent change operation': neverId,
  deployment: neverId,
  promotion: neverId,
  'change request comment': neverId,
  import: neverId,
  'import table': neverId,
  'dry run': neverId,
  'import mapping': neverId,
  export: neverId,
  'webhook endpoint': neverId,
  'webhook delivery': neverId,
  view: neverId,
  'correlation code': 'never-was-here',
  user: neverId,
  'service user': neverId,
  'refresh token': neverId,
  session: neverId,
  'acting user': neverId,
  'user group': neverId,
  'user group assignment': neverId,
  permission: neverId,
  application: neverId,
  'acting application': neverId,
  'client id': 'never-was-here',
  secret: neverId,
  'audit event': neverId,
  'request id': 'never-was-here',
  'request of a row': 'never-was-here',
};

/** Makes both accounts. */
export async function givenTwins(): Promise<[Twin, Twin]> {
  const word = unique();
  const names = { name: `Twin ${word}`, email: `twin-${word}@example.com` };
  const makers = await inTurns(['first', 'second'], async (which) => {
    const account = await givenAccount(names);
    const [user, machine] = [await account.person(), await account.machine()];
    return new Maker({ account, user, machine, word, isFirst: which === 'first' });
  });
  for (const step of steps) await inTurns(makers, (maker) => maker[step]());
  return makers.map((maker) => maker.twin()) as [Twin, Twin];
}

/**
 * An account on a plan without branching, with a draft of the same name as the twins' shared table.
 */
export async function givenSmallAccount(tableName: string): Promise<Side> {
  const account = await givenAccount({ plan: 'plus' });
  const [user, machine] = [await account.person(), await account.machine()];
  const branch_id = await mainBranchId(user);
  const { id: domain_id } = await user.post<Made>('/domains', { domain: { name: 'Domain' } });
  const table_definition = { name: tableName, domain_id };
  const { id, uuid, key } = await user.post<Definition>('/table_definitions', { branch_id, table_definition });
  const table = { 'table definition': id, 'table definition uuid': uuid };
  const keys = { 'table definition key': key, 'key of both': key };
  return { account, user, machine, owned: { ...never, 'main branch': branch_id, ...table, ...keys } };
}

const headCalls = new Map<number, number>();

/** Waits until no work is pending, and every call of these accounts is booked. */
export async function settle(stores: Stores, sides: Side[]): Promise<void> {
  for (const { machine, account } of sides) {
    // No other code calls HEAD: once this call is booked, so are all before it.
    const calls = (headCalls.get(account.id) ?? 0) + 1;
    headCalls.set(account.id, calls);
    await machine.send('HEAD', '/permissions');
    const booked = `select sum(calls)::int as calls from daily_usage where account_id = $1 and method = 'HEAD'`;
    await eventually(async () => {
      expect(await stores.query('billing', booked, [account.id])).toEqual([{ calls }]);
      const unfinished = `select kind from job where account_id = $1 and state in ('queued', 'running')`;
      expect(await stores.query('jobs', unfinished, [account.id])).toEqual([]);
      expect(await stores.stateOf(account.id)).toEqual(await stores.stateOf(account.id));
      expect(await stores.pendingEvents(account.id)).toEqual([]);
    });
  }
}

type Made = { id: number };
type Export = { status: string; download_url: string };
type Definition = Made & { uuid: string; key: string };

async function inTurns<T, R>(list: T[], make: (item: T) => Promise<R>): Promise<R[]> {
  const made: R[] = [];
  for (const item of list) made.push(await make(item));
  return made;
}

const plain: Column[] = [
  { name: 'code', data_type: 'string', length: 10, is_primary_key: true, is_required: true },
  { name: 'name', data_type: 'string', length: 100 },
];

/** In this order, each for one account and then the other. */
const steps = [
  'grounds',
  'targetTable',
  'sharedTable',
  'loneTable',
  'rows',
  'clones',
  'pendingDeployment',
  'pendingPromotion',
  'changeRequest',
  'removedTable',
  'importWithTable',
  'exports',
  'webhook',
  'savedView',
  'people',
  'application',
  'ids',
] as const;

class Maker {
  private readonly given: { account: Account; user: Api; machine: Api; word: string; isFirst: boolean };
  private readonly mark = `mark${unique()}`;
  private readonly owned = { ...never };
  private target!: Definition;
  private shared!: Definition & { column: number };
  private lone!: Definition;
  private sharedRows: number[] = [];
  private uploadUrl = '';
  private downloadUrl = '';

  constructor(given: Maker['given']) {
    this.given = given;
  }

  twin(): Twin {
    const { account, user, machine, word } = this.given;
    return {
      account,
      user,
      machine,
      owned: this.owned,
      shared: { id: this.shared.id, key: this.shared.key, name: `Shared ${word}`, rows: this.sharedRows },
      correlationCode: `code ${word}`,
      downloadUrl: this.downloadUrl,
      uploadUrl: this.uploadUrl,
      mark: this.mark,
    };
  }

  async grounds(): Promise<void> {
    const { user, word } = this.given;
    const description = this.mark;
    const domain = await user.post<Made>('/domains', { domain: { name: `Domain ${word}`, description } });
    const branch = await user.post<Made>('/branches', { branch: { name: `Branch ${word}`, description } });
    Object.assign(this.owned, { 'main branch': await mainBranchId(user), domain: domain.id, branch: branch.id });
  }

  async targetTable(): Promise<void> {
    this.target = await this.deployed(`Target ${this.given.word}`, plain);
  }

  async sharedTable(): Promise<void> {
    const target: Column = { name: 'target', data_type: 'string', length: 10, foreign_key_table_id: this.target.id };
    this.shared = await this.deployed(`Shared ${this.given.word}`, [...plain, target]);
    const { id, uuid, key, column } = this.shared;
    Object.assign(this.owned, { 'table definition': id, 'table definition uuid': uuid, 'key of both': key });
    this.owned['column definition'] = column;
  }

  async loneTable(): Promise<void> {
    const shared: Column = { name: 'shared', data_type: 'string', length: 10, foreign_key_table_id: this.shared.id };
    this.lone = await this.deployed(`Only ${this.mark}`, [...plain, shared]);
    this.owned['table definition key'] = this.lone.key;
  }

  async rows(): Promise<void> {
    const { isFirst } = this.given;
    for (const code of isFirst ? ['T', 'ONLY1'] : ['T']) await this.row(this.target, { code });
    for (const code of isFirst ? ['S', 'A', 'B', 'C'] : ['S'])
      this.sharedRows.push(await this.row(this.shared, { code, target: 'T' }));
    this.owned.row = this.sharedRows.at(-1) as number;
    const history = `/table_data/${this.owned.row}/history?table_definition_id=${this.shared.id}`;
    const versions: Page<{ request_id: string }> = await this.given.user.get(history);
    this.owned['request of a row'] = versions.data[0]?.request_id as string;
    await this.row(this.lone, { code: 'S' });
  }

  async clones(): Promise<void> {
    const { user } = this.given;
    for (const { id } of [this.target, this.shared])
      await user.post(`/table_definitions/${id}/clone`, {
        target_branch_id: this.owned.branch,
        include_data: true,
      });
  }

  /** A deployment that is pending. */
  async pendingDeployment(): Promise<void> {
    const { user } = this.given;
    await user.patch(`/table_definitions/${this.lone.id}`, { table_definition: { description: this.mark } });
    const branch_id = this.owned['main branch'];
    const made = await user.post<Made>('/deployments', { branch_id, table_definition_ids: [this.lone.id] });
    this.owned.deployment = made.id;
  }

  /** A promotion of the shared table that is pending. */
  async pendingPromotion(): Promise<void> {
    const { user } = this.given;
    const branches = { from_branch_id: this.owned['main branch'], to_branch_id: this.owned.branch };
    const made = await user.post<Made>('/promotions', { ...branches, table_definition_ids: [this.shared.id] });
    await user.post(`/promotions/${made.id}/send_request`, { comment: this.mark });
    this.owned.promotion = made.id;
  }

  /** A draft with a comment and an operation, and a request under review. */
  async changeRequest(): Promise<void> {
    const { user } = this.given;
    const draft = await this.proposal('P1');
    const comment = await user.post<Made>(`/change_requests/${draft.id}/comments`, { body: this.mark });
    const sent = await this.proposal('P2');
    await user.post(`/change_requests/${sent.id}/send_request`, { comment: this.mark });
    Object.assign(this.owned, {
      'change request': draft.id,
      'change operation': draft.operation,
      'change request comment': comment.id,
      'sent change request': sent.id,
      'sent change operation': sent.operation,
    });
  }

  private async proposal(code: string): Promise<Made & { operation: number }> {
    const { user } = this.given;
    const change_request = { title: this.mark };
    const { id } = await user.post<Made>('/change_requests', { branch_id: this.owned['main branch'], change_request });
    const added = await user.post<{ operations: Made[] }>(`/change_requests/${id}/operations`, {
      table_definition_id: this.shared.id,
      operations: [{ operation: 'create', record: { code } }],
    });
    await user.get(`/change_requests/${id}`); // lists find it by its table from now on
    return { id, operation: (added.operations[0] as Made).id };
  }

  async removedTable(): Promise<void> {
    const removed = await this.deployed(`Removed ${this.given.word}`, plain);
    await this.given.user.post(`/table_definitions/${removed.id}/remove`);
    this.owned['removed table definition'] = removed.id;
  }

  async importWithTable(): Promise<void> {
    const { user, word } = this.given;
    const table_definition_id = this.shared.id;
    const column_mappings = [{ source_column: this.mark, target_column: 'name' }];
    const import_mapping = { name: `Mapping ${word}`, column_mappings };
    const mapping = await user.post<Made>('/import_mappings', { table_definition_id, import_mapping });
    const onlyMapping = { table_definition_id: this.lone.id, import_mapping: { name: `Only ${this.mark}` } };
    await user.post('/import_mappings', onlyMapping);
    const branch_id = this.owned['main branch'];
    await user.post('/imports', { branch_id, correlation_code: this.mark });
    const { id } = await user.post<Made>('/imports', { branch_id, correlation_code: `code ${word}` });
    const table = await user.post(`/imports/${id}/tables`, { table_definition_id, pattern: 'incremental' });
    await upload(table.upload_url, 'code,name\nS,imported\n');
    this.uploadUrl = table.upload_url;
    const dryRun = await this.dryRun(table_definition_id);
    const ids = { 'import mapping': mapping.id, import: id, 'import table': table.id, 'dry run': dryRun };
    Object.assign(this.owned, ids);
  }

  private async dryRun(table_definition_id: number): Promise<number> {
    const { user } = this.given;
    const { id } = await user.post<Made>('/imports', { branch_id: this.owned['main branch'] });
    const how = { table_definition_id, pattern: 'incremental', dry_run: true };
    const table = await user.post(`/imports/${id}/tables`, how);
    await upload(table.upload_url, 'code,name\nS,imported\n');
    await user.post(`/imports/${id}/upload_complete`);
    const isOver = ({ status }: { status: string }) => /^(completed|failed)/.test(status);
    await poll(() => user.get<{ status: string }>(`/imports/${id}`), isOver);
    return table.id;
  }

  async exports(): Promise<void> {
    const { user, word } = this.given;
    const branch_id = this.owned['main branch'];
    for (const [table_definition_key, correlation_code] of [
      [this.lone.key, this.mark],
      [this.shared.key, `code ${word}`],
    ]) {
      const how = { branch_id, table_definition_key, correlation_code, pattern: 'full' };
      const { id } = await user.post<Made>('/exports', how);
      const isOver = ({ status }: Export) => status === 'completed' || status === 'failed';
      this.downloadUrl = (await poll(() => user.get<Export>(`/exports/${id}`), isOver)).download_url;
      this.owned.export = id;
    }
    this.owned['correlation code'] = this.mark;
  }

  // The endpoint gets a test and no event, so that nothing is sent while states are compared.
  async webhook(): Promise<void> {
    const { user, word } = this.given;
    const url = `https://${word}.example/hook`;
    const endpoint = { url, description: this.mark, event_types: ['webhook.test'] };
    const { id } = await user.post<Made>('/webhook_endpoints', { webhook_endpoint: endpoint });
    const delivery = await user.post<Made>(`/webhook_endpoints/${id}/test`);
    const isOver = ({ data }: Page<{ status: string }>) => data[0]?.status !== 'pending';
    await poll(() => user.get<Page<{ status: string }>>(`/webhook_endpoints/${id}/deliveries`), isOver);
    Object.assign(this.owned, { 'webhook endpoint': id, 'webhook delivery': delivery.id });
  }

  async savedView(): Promise<void> {
    const view = { name: `View ${this.given.word}`, sharing: 'shared', state: { note: this.mark }, is_default: true };
    const made = await this.given.user.post<Made>('/views', { table_definition_id: this.shared.id, view });
    this.owned.view = made.id;
  }

  async people(): Promise<void> {
    const { user, word } = this.given;
    const email = `user-${word}@example.com`;
    const person = { email, first_name: this.mark, password: `pass-${unique()}${unique()}` };
    const { id: user_id } = await user.post<Made>('/users', { user: person });
    const permissions = [{ action: 'view', resource_type: 'domain', resource_id: this.owned.domain }];
    const user_group = { name: `Group ${word}`, description: this.mark, permissions };
    const group = await user.post('/user_groups', { user_group });
    const assignment = await user.post<Made>('/user_group_assignments', { user_id, user_group_id: group.id });
    Object.assign(this.owned, { user: user_id, 'user group': group.id, 'user group assignment': assignment.id });
    this.owned.permission = group.permissions[0].id;
  }

  async application(): Promise<void> {
    const { user, word } = this.given;
    const oauth_application = { name: `Application ${word}`, redirect_uri: 'https://client.example/callback' };
    const { id } = await user.post<Made>('/oauth_applications', { oauth_application });
    const secrets: Page<Made> = await user.get(`/oauth_applications/${id}/secrets`);
    Object.assign(this.owned, { application: id, secret: secrets.data[0]?.id });
  }

  /** The ids of resources that came with the account. */
  async ids(): Promise<void> {
    const { user, account } = this.given;
    const { client_id } = account.application;
    const people: Page<Made & { email: string }> = await user.get('/users');
    const applications: Page<Made & { client_id: string }> = await user.get('/oauth_applications');
    const id = (found: Made | undefined) => (found as Made).id;
    this.owned['acting user'] = id(people.data.find(({ email }) => email === account.admin.email));
    this.owned['acting application'] = id(applications.data.find((each) => each.client_id === client_id));
    this.owned['client id'] = client_id;
    const pipeline = await user.post<Made>('/users', { user_type: 'service', first_name: this.mark });
    const oauth_application_id = this.owned['acting application'];
    const token = await user.post<Made>(`/users/${pipeline.id}/refresh_tokens`, { oauth_application_id });
    const sessions = await user.get<Page<Made>>('/me/sessions');
    const session = sessions.data[0]?.id;
    Object.assign(this.owned, { 'service user': pipeline.id, 'refresh token': token.id, session });
    const log: Page<Made & { request_id: string }> = await user.get('/audit_events?q=action:eq:user.created');
    const [event] = log.data;
    Object.assign(this.owned, { 'audit event': event?.id, 'request id': event?.request_id });
  }

  private async deployed(name: string, columns: Column[]): Promise<Definition & { column: number }> {
    const { user } = this.given;
    const branch_id = this.owned['main branch'];
    const table_definition = { name, domain_id: this.owned.domain };
    const made = await user.post<Definition>('/table_definitions', { branch_id, table_definition });
    const [, second] = await inTurns(columns, (column_definition) =>
      user.post<Made>('/column_definitions', { table_definition_id: made.id, column_definition }),
    );
    await user.patch(`/table_definitions/${made.id}`, { lookup_display_column_id: (second as Made).id });
    const deployment = await user.post<Made>('/deployments', { branch_id, table_definition_ids: [made.id] });
    await user.post(`/deployments/${deployment.id}/deploy`);
    return { ...made, column: (second as Made).id };
  }

  private async row({ id }: Made, record: Record<string, string>): Promise<number> {
    const values = { table_definition_id: id, record: { ...record, name: this.mark } };
    return (await this.given.user.post('/table_data', values)).record.svc_sk;
  }
}
