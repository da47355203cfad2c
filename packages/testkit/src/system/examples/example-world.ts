// What the examples of the document are about: made once, or for each call.
import { type Api, poll, upload } from '@almanac/api-client/api';
import { deployTable, givenAccount, mainBranchId } from '../builders.ts';
import type { Body, DocumentedOperation, Parameter, RecordedExample } from './documented-operation.ts';
import { countries, countryColumns, csv, names, rejectedCsv } from './example-data.ts';

type Made = { id: number };

const isDecision = (path: string) => /^\/change_requests\/\{id\}\/(approve|apply)$/.test(path);

/** What the calls need, made once, and the resources that each call works on, made for each. */
export class World {
  private readonly api: Api;
  /** The application of the account, which proposes what a person decides. */
  private readonly machine: Api;
  /** Of the operation that was proposed last. */
  private operation = 0;
  /** Of the change request that was made last. */
  private revision = '';
  /** By the name of the member of a body that holds it. */
  private ids!: Body;
  private readonly used = new Map<string, number>();

  constructor(api: Api, machine = api) {
    this.api = api;
    this.machine = machine;
  }

  async make(): Promise<void> {
    const branch_id = await mainBranchId(this.api);
    const table = await this.countries(branch_id);
    const feature = await this.subject('/branches');
    const { id: user_id } = await this.api.post<Made>('/users', { user: { email: this.name('person') } });
    const user_group_id = await this.subject('/user_groups');
    const { data: applications } = await this.api.get<{ data: Made[] }>('/oauth_applications');
    this.ids = {
      branch_id,
      to_branch_id: branch_id,
      from_branch_id: feature,
      target_branch_id: feature,
      domain_id: table.domain_id,
      resource_id: table.domain_id,
      table_definition_id: table.id,
      table_definition_ids: [table.id],
      table_definition_key: table.key,
      user_id,
      user_group_id,
      oauth_application_id: applications[0]?.id,
    };
  }

  async call(method: string, path: string, operation: DocumentedOperation): Promise<RecordedExample> {
    const api = await this.callerOf(method, path);
    for (let attempt = 1; ; attempt += 1) {
      const parameters = await this.parametersOf(method, path, operation, api);
      const request = await this.requestOf(path, operation);
      const answer = await api.send(method, fillPath(path, operation, parameters), request, contentOf(operation));
      const [success] = Object.keys(operation.responses);
      // An export may have ended before it was cancelled.
      if (String(answer.status) !== success && path.endsWith('/cancel') && attempt < 5) continue;
      if (String(answer.status) !== success)
        throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      // Each recording has other revisions: the declared one is shown.
      const template = isDecision(path) ? operation.requestBody?.content['application/json']?.example : undefined;
      const sent = typeof request === 'string' ? undefined : (template ?? request);
      return {
        parameters,
        ...(sent === undefined ? {} : { request: sent }),
        ...(answer.body === undefined ? {} : { answer: answer.body }),
      };
    }
  }

  /** The administrator, unless the call is for another plan or would end the access of its user. */
  private async callerOf(method: string, path: string): Promise<Api> {
    if (path.endsWith('/deploy') && path.startsWith('/table')) return this.withoutBranching();
    if (method === 'GET' || !/^\/me(\/|$)/.test(path)) return this.api;
    const account = await givenAccount();
    this.ids.current_password = account.admin.password;
    return account.person();
  }

  private async parametersOf(
    method: string,
    path: string,
    { parameters }: DocumentedOperation,
    api: Api,
  ): Promise<Body> {
    const given: Body = path === '/events' ? await this.loggedEvent() : {};
    for (const { name, in: where, required } of parameters) {
      if (where === 'path' && name === 'id') given.id = await this.subjectOf(method, path, api);
      else if (where === 'path') given[name] = await this.partOf(path, Number(given.id), name);
      else if (name === 'per_page') given.per_page = 2;
      else if (name === 'q' && required) given.q = path === '/search' ? 'countries' : 'liechtenstein';
      else if (name === 'key') given.key = { alpha2: method === 'GET' ? 'PL' : await this.keyOf(await this.row()) };
      else if (required || (path.startsWith('/table_data') && name === 'table_definition_id'))
        given[name] = this.ids[name];
    }
    return given;
  }

  private async requestOf(path: string, { requestBody }: DocumentedOperation): Promise<unknown> {
    if (requestBody?.content['application/octet-stream']) return csv;
    const template = requestBody?.content['application/json']?.example;
    if (!template) return undefined;
    const filled = await this.fill(template, path);
    if (isDecision(path)) return { ...filled, revision: this.revision };
    if (path === '/change_requests/{id}/operations/remove') return { ids: [this.operation] };
    if (path === '/change_requests/{id}/decisions' || path === '/change_requests/{id}/resolutions')
      return this.ofOperation(template);
    if (path === '/table_data/undo') return { ...filled, request_id: await this.requestOfRow(await this.row()) };
    if (path !== '/promotions') return filled;
    // What is promoted has to be on the branch that it comes from.
    return { ...filled, table_definition_ids: [await this.clone(this.ids.from_branch_id as number)] };
  }

  /** What the operation works on; for a read, what is there already. */
  private subjectOf(method: string, path: string, api: Api): Promise<number> | number {
    const [, resource = '', , part] = path.split('/');
    if (method === 'GET' && !part && resource === 'domains') return this.ids.domain_id as number;
    if (method === 'GET' && !part && resource === 'branches') return this.ids.branch_id as number;
    if (method === 'GET' && /table_definitions$/.test(resource)) return this.ids.table_definition_id as number;
    if (part === 'divergence') return this.changedBranch().then(({ from_branch_id }) => from_branch_id);
    if (resource === 'me') return this.sessionOf(api);
    if (method === 'POST' && part === 'restore' && resource === 'table_definitions') return this.removedTable();
    if (part === 'deploy' && resource === 'table_definitions') return new World(api).draft();
    return this.subject(path);
  }

  /** Makes the resource that `{id}` of a path identifies. */
  async subject(path: string): Promise<number> {
    const [, resource = '', , part] = path.split('/');
    const { branch_id, table_definition_id } = this.ids ?? {};
    const makers: Record<string, () => Promise<number>> = {
      audit_events: async () => (await this.api.get('/audit_events?per_page=1')).data[0].id,
      branches: () => this.made('/branches', { branch: { name: this.name('branch') } }),
      column_definitions: async () =>
        this.made('/column_definitions', {
          table_definition_id: await this.subject('/table_definitions'),
          column_definition: { name: 'note', data_type: 'string', length: 20 },
        }),
      deployments: () => this.deployment(),
      domains: () => this.made('/domains', { domain: { name: this.name('domain') } }),
      exports: () =>
        this.made('/exports', { branch_id, table_definition_key: this.ids.table_definition_key, pattern: 'full' }),
      import_mappings: () =>
        this.made('/import_mappings', { table_definition_id, import_mapping: { name: this.name('mapping') } }),
      imports: () => this.import(part),
      oauth_applications: () =>
        this.made('/oauth_applications', { oauth_application: { name: this.name('application') } }),
      change_requests: () => this.changeRequest(part),
      promotions: () => (part === 'rows' || part === 'decisions' ? this.promotionOfRows(part) : this.promotion()),
      table_data: () => this.row(part === 'restore_records'),
      table_definitions: () => this.draft(),
      user_group_assignments: () => this.assignment(),
      user_groups: () => this.made('/user_groups', { user_group: { name: this.name('group') } }),
      webhook_endpoints: () => this.webhook(part),
      views: () =>
        this.made('/views', { table_definition_id, view: { name: 'By name', sharing: 'shared', state: {} } }),
      users: () =>
        part === 'refresh_tokens'
          ? this.made('/users', { user: { user_type: 'service', first_name: this.name('service') } })
          : this.made('/users', { user: { email: this.name('person') } }),
    };
    return (makers[resource] as () => Promise<number>)();
  }

  /** A part of the subject, by the name of its parameter. */
  private async partOf(path: string, id: number, name: string): Promise<number> {
    if (name === 'secret_id') return this.made(`/oauth_applications/${id}/secrets`, {});
    if (name === 'delivery_id') return this.made(`/webhook_endpoints/${id}/test`, {});
    const { table_definition_id, oauth_application_id } = this.ids;
    if (name === 'token_id') return this.made(`/users/${id}/refresh_tokens`, { oauth_application_id });
    const tables = path.replace(/\/\{table_id\}.*/, '').replace('{id}', String(id));
    if (path.endsWith('/changes') || path.endsWith('/apply')) return this.dryRun(tables, csv);
    if (path.endsWith('/rejected_rows') || path.endsWith('/correct')) return this.dryRun(tables, rejectedCsv);
    return this.made(tables, { table_definition_id, pattern: 'incremental' });
  }

  /** With a delivery where those are read. */
  private async webhook(part: string | undefined): Promise<number> {
    const url = 'https://hooks.example.com/almanac';
    const id = await this.made('/webhook_endpoints', { url, event_types: ['deployment.*'] });
    if (part === 'deliveries') await this.made(`/webhook_endpoints/${id}/test`, {});
    return id;
  }

  /** An import table whose dry run has ended. */
  private async dryRun(tables: string, content: string): Promise<number> {
    const { table_definition_id } = this.ids;
    const options = { pattern: 'incremental', dry_run: true, on_error: 'reject_rows' };
    const table = await this.api.post(tables, { table_definition_id, ...options });
    await upload(table.upload_url, content);
    const of = tables.replace('/tables', '');
    await this.api.post(`${of}/upload_complete`);
    await poll(
      () => this.api.get<{ status: string }>(of),
      ({ status }) => status.startsWith('completed'),
    );
    return table.id;
  }

  /** The body with ids of this world; each gets a new row, a deleted one where one is restored. */
  private async fill(body: Body, path: string): Promise<Body> {
    const filled: Body = {};
    for (const [name, value] of Object.entries(body)) {
      if (name in this.ids) filled[name] = this.ids[name];
      else if (name === 'id') filled[name] = await this.row();
      else if (name === 'ids') filled[name] = [await this.row(path.includes('restore'))];
      else if (name === 'record' || typeof value !== 'object' || value === null) filled[name] = value;
      else if (Array.isArray(value)) filled[name] = await this.fillAll(value, path);
      else filled[name] = await this.fill(value as Body, path);
    }
    return filled;
  }

  private async fillAll(values: unknown[], path: string): Promise<unknown[]> {
    const filled: unknown[] = [];
    for (const value of values)
      filled.push(typeof value === 'object' && value !== null ? await this.fill(value as Body, path) : value);
    return filled;
  }

  private async made(path: string, body: Body): Promise<number> {
    return (await this.api.post<Made>(path, body)).id;
  }

  /** A name that the account doesn't have yet. */
  private name(kind: keyof typeof names): string {
    const count = this.used.get(kind) ?? 0;
    this.used.set(kind, count + 1);
    const list = names[kind];
    const name = list[count % list.length] as string;
    if (count < list.length) return name;
    return name.includes('@') ? name.replace('@', `${count}@`) : `${name} ${count}`;
  }

  /** The table of the demo data, or one like it. */
  private async countries(branch_id: number): Promise<{ id: number; key: string; domain_id: number }> {
    const { data } = await this.api.get(`/deployed_table_definitions?branch_id=${branch_id}&q=key:eq:countries`);
    if (data.length > 0) return data[0];
    const domain_id = await this.made('/domains', { domain: { name: 'ISO standards', abbreviation: 'ISO' } });
    const table = await this.api.post('/table_definitions', {
      branch_id,
      table_definition: { name: 'Countries', description: 'ISO 3166-1', domain_id },
    });
    for (const column_definition of countryColumns)
      await this.api.post('/column_definitions', { table_definition_id: table.id, column_definition });
    await deployTable(this.api, { id: table.id, branchId: branch_id });
    const operations = countries.map((record) => ({ operation: 'create', record }));
    await this.api.post('/table_data/batch', { table_definition_id: table.id, operations });
    return table;
  }

  /** A draft with a key column, which deployments need. */
  private async draft(): Promise<number> {
    const branch_id = this.ids?.branch_id ?? (await mainBranchId(this.api));
    const domain_id = this.ids?.domain_id ?? (await this.made('/domains', { domain: { name: this.name('domain') } }));
    const id = await this.made('/table_definitions', {
      branch_id,
      table_definition: { name: this.name('table'), domain_id },
    });
    const column_definition = {
      name: 'code',
      data_type: 'string',
      length: 10,
      is_primary_key: true,
      is_required: true,
    };
    await this.made('/column_definitions', { table_definition_id: id, column_definition });
    return id;
  }

  /** The query of an event, which is in the log a moment after its act. */
  private async loggedEvent(): Promise<Body> {
    await this.subject('/domains');
    const query = { type: 'domain.created', limit: 1 };
    await poll(
      () => this.api.get<{ data: unknown[] }>(`/events?type=${query.type}&limit=${query.limit}`),
      ({ data }) => data.length > 0,
    );
    return query;
  }

  private async sessionOf(api: Api): Promise<number> {
    const { data } = await api.get<{ data: Made[] }>('/me/sessions');
    return (data[0] as Made).id;
  }

  private async removedTable(): Promise<number> {
    const id = await this.draft();
    await deployTable(this.api, { id, branchId: this.ids.branch_id as number });
    await this.api.post(`/table_definitions/${id}/remove`);
    return id;
  }

  /** A row with a change that can be reverted. */
  private async row(isDeleted = false): Promise<number> {
    const { table_definition_id } = this.ids;
    const count = this.used.get('row') ?? 0;
    this.used.set('row', count + 1);
    // User-assigned codes of ISO 3166-1: XA to XZ.
    const letter = String.fromCharCode(65 + (count % 26));
    const record = { alpha2: `X${letter}`, alpha3: `XX${letter}`, numeric_code: String(900 + count), name: 'Atlantis' };
    const made = await this.api.post<{ record: { svc_sk: number } }>('/table_data', { table_definition_id, record });
    const id = made.record.svc_sk;
    await this.api.patch(`/table_data/${id}`, { table_definition_id, record: { name: 'Lost Atlantis' } });
    if (isDeleted) await this.api.post('/table_data/delete_records', { table_definition_id, ids: [id] });
    return id;
  }

  private async keyOf(id: number): Promise<string> {
    const { table_definition_id } = this.ids;
    return (await this.api.get(`/table_data/${id}?table_definition_id=${table_definition_id}`)).alpha2;
  }

  /** The request that wrote the present version of a row. */
  private async requestOfRow(id: number): Promise<string> {
    const { table_definition_id } = this.ids;
    const { data } = await this.api.get(`/table_data/${id}/history?table_definition_id=${table_definition_id}`);
    return data[0].request_id;
  }

  private async deployment(): Promise<number> {
    const { branch_id } = this.ids;
    return this.made('/deployments', { branch_id, table_definition_ids: [await this.draft()] });
  }

  private async clone(target_branch_id: number): Promise<number> {
    return this.made(`/table_definitions/${await this.draft()}/clone`, { target_branch_id });
  }

  /** Of a table that changed on a branch of its own. */
  private async promotion(): Promise<number> {
    const from_branch_id = await this.subject('/branches');
    const table_definition_ids = [await this.clone(from_branch_id)];
    return this.made('/promotions', { from_branch_id, to_branch_id: this.ids.branch_id, table_definition_ids });
  }

  /** A branch of its own with a copy of the table, of which a row was changed. */
  private async changedBranch() {
    const from_branch_id = await this.subject('/branches');
    const clone = { target_branch_id: from_branch_id, include_data: true };
    const copy = await this.made(`/table_definitions/${this.ids.table_definition_id}/clone`, clone);
    await deployTable(this.api, { id: copy, branchId: from_branch_id });
    const { data } = await this.api.get(`/table_data?table_definition_id=${copy}&per_page=1`);
    const operations = [{ operation: 'update', id: data[0].svc_sk, record: { name: 'Lost continent' } }];
    await this.api.post('/table_data/batch', { table_definition_id: copy, operations });
    return { from_branch_id, table_definition_ids: [copy] };
  }

  private async promotionOfRows(part: 'rows' | 'decisions'): Promise<number> {
    const changed = await this.changedBranch();
    const id = await this.made('/promotions', { ...changed, to_branch_id: this.ids.branch_id, include_data: true });
    const decisions = [{ filter: {}, decision: 'reject', comment: 'Not published yet.' }];
    if (part === 'decisions') await this.api.post(`/promotions/${id}/decisions`, { decisions });
    return id;
  }

  /** The body of a call on operations, with the one that was made last. */
  private ofOperation(template: Body): Body {
    const filled = Object.entries(template).map(([name, items]) => {
      const named = (items as Body[]).map((item) =>
        'operation_ids' in item
          ? { ...item, operation_ids: [this.operation] }
          : { ...item, operation_id: this.operation },
      );
      return [name, named];
    });
    return Object.fromEntries(filled);
  }

  /** With an operation, in the state that the step takes; applications propose what is decided. */
  private async changeRequest(step = ''): Promise<number> {
    const { branch_id, table_definition_id } = this.ids;
    const isDecided = ['request_changes', 'approve', 'reject', 'apply', 'decisions'].includes(step);
    const proposer = isDecided ? this.machine : this.api;
    const { id } = await proposer.post<Made>('/change_requests', { branch_id, title: 'Monthly correction' });
    const count = this.used.get('request') ?? 0;
    this.used.set('request', count + 1);
    // User-assigned codes of ISO 3166-1, as those of rows.
    const letter = String.fromCharCode(65 + count);
    const record = { alpha2: `Q${letter}`, alpha3: `QQ${letter}`, numeric_code: String(870 + count), name: 'Utopia' };
    const changed = async () => ({ operation: 'update', id: await this.row(), record: { name: 'Utopia' }, version: 1 });
    const operations = [step === 'resolutions' ? await changed() : { operation: 'create', record }];
    const path = `/change_requests/${id}/operations`;
    const added = await proposer.post<{ operations: Made[] }>(path, { table_definition_id, operations });
    this.operation = (added.operations[0] as Made).id;
    if (isDecided || step === 'withdraw') await proposer.post(`/change_requests/${id}/send_request`, {});
    this.revision = (await this.api.get<{ revision: string }>(`/change_requests/${id}`)).revision;
    return id;
  }

  /** With a table; its file is there when the uploads are to be completed. */
  private async import(part: string | undefined): Promise<number> {
    const { branch_id, table_definition_id } = this.ids;
    const id = await this.made('/imports', { branch_id });
    if (part === 'tables') return id;
    const table = await this.api.post(`/imports/${id}/tables`, { table_definition_id, pattern: 'incremental' });
    if (part === 'upload_complete') await upload(table.upload_url, csv);
    return id;
  }

  private async assignment(): Promise<number> {
    const user_id = await this.subject('/users');
    return this.made('/user_group_assignments', { user_id, user_group_id: this.ids.user_group_id });
  }

  private async withoutBranching(): Promise<Api> {
    return (await givenAccount({ plan: 'plus' })).person();
  }
}

function fillPath(path: string, { parameters }: DocumentedOperation, given: Body): string {
  const isQuery = ({ in: where, name }: Parameter) => where === 'query' && given[name] !== undefined;
  const query = parameters.filter(isQuery).flatMap(({ name }): [string, string][] => {
    const value = given[name];
    if (typeof value !== 'object' || value === null) return [[name, String(value)]];
    return Object.entries(value).map(([member, text]) => [`${name}[${member}]`, String(text)]);
  });
  const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) => String(given[name]));
  return query.length > 0 ? `${filled}?${new URLSearchParams(query)}` : filled;
}

const contentOf = ({ requestBody }: DocumentedOperation) =>
  requestBody?.content['application/octet-stream'] ? { headers: { 'Content-Type': 'application/octet-stream' } } : {};
