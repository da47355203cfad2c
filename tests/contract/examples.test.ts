// Every example of the document works: it is sent unchanged except for ids, and gets the successful
// answer that its operation describes.
import type { Api } from '@almanac/api-client/api';
import { givenAccount, givenDeployedTable, mainBranchId, unique } from '@almanac/testkit/system/builders';
import { Validator } from '@seriousme/openapi-schema-validator';
import { type ApiDocument, holdingTo, type Operation, readDocument } from './document.ts';

type Body = Record<string, unknown>;
type Example = { name: string; method: string; path: string; operation: Operation; body: Body };
type Made = { id: number };

const jsonOf = ({ requestBody }: Operation) =>
  (requestBody as { content: { 'application/json'?: { example?: Body } } } | undefined)?.content['application/json'];

/** What the examples need, made once, and the resources that each works on, made for each. */
class World {
  readonly api: Api;
  /** By the name of the member of a body that holds it. */
  ids!: Record<string, unknown>;

  constructor(api: Api) {
    this.api = api;
  }

  async make(): Promise<void> {
    const { api } = this;
    const table = await givenDeployedTable(api);
    const branch_id = await mainBranchId(api);
    const user = await this.made('/users', { user: { email: `${unique()}@example.com` } });
    const group = await this.made('/user_groups', { user_group: { name: unique() } });
    const applications = await api.get<{ data: Made[] }>('/oauth_applications');
    const feature = await this.made('/branches', { branch: { name: unique() } });
    this.ids = {
      branch_id,
      to_branch_id: branch_id,
      from_branch_id: feature,
      target_branch_id: feature,
      domain_id: table.domainId,
      resource_id: table.domainId,
      table_definition_id: table.id,
      table_definition_ids: [table.id],
      table_definition_key: table.key,
      oauth_application_id: applications.data[0]?.id,
      user_id: user,
      user_group_id: group,
    };
  }

  /** Makes the resource that the last `{id}` of a path identifies. */
  async subject(path: string): Promise<number> {
    const [, resource = ''] = path.split('/');
    const { branch_id, table_definition_id, domain_id } = this.ids;
    const makers: Record<string, () => Promise<number>> = {
      branches: () => this.made('/branches', { branch: { name: unique() } }),
      column_definitions: async () =>
        this.made('/column_definitions', {
          table_definition_id: await this.subject('/table_definitions'),
          column_definition: { name: 'note', data_type: 'string', length: 20 },
        }),
      deployments: () => this.deployment(),
      domains: () => this.made('/domains', { domain: { name: unique() } }),
      import_mappings: () => this.made('/import_mappings', { table_definition_id, import_mapping: { name: unique() } }),
      imports: () => this.made('/imports', { branch_id }),
      oauth_applications: () => this.made('/oauth_applications', { oauth_application: { name: unique() } }),
      promotions: () => this.promotion(),
      table_data: () => this.row(),
      table_definitions: () =>
        this.made('/table_definitions', { branch_id, table_definition: { name: `T ${unique()}`, domain_id } }),
      user_groups: () => this.made('/user_groups', { user_group: { name: unique() } }),
      users: () =>
        path.endsWith('/refresh_tokens')
          ? this.made('/users', { user: { user_type: 'service', first_name: unique() } })
          : this.made('/users', { user: { email: `${unique()}@example.com` } }),
    };
    return (makers[resource] as () => Promise<number>)();
  }

  /** The body with ids of this world; each gets a new row, a deleted one where one is restored. */
  async fill(body: Body, path: string): Promise<Body> {
    const filled: [string, unknown][] = [];
    for (const [name, value] of Object.entries(body)) {
      if (name in this.ids) filled.push([name, this.ids[name]]);
      else if (name === 'id') filled.push([name, await this.row()]);
      else if (name === 'ids') filled.push([name, [await this.row(path.includes('restore'))]]);
      else if (name === 'record' || typeof value !== 'object' || value === null) filled.push([name, value]);
      else if (Array.isArray(value)) filled.push([name, await this.fillAll(value, path)]);
      else filled.push([name, await this.fill(value as Body, path)]);
    }
    return Object.fromEntries(filled);
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

  /** A row with a change that can be reverted. */
  private async row(isDeleted = false): Promise<number> {
    const { table_definition_id } = this.ids;
    const record = { code: unique(), name: 'Somewhere' };
    const made = await this.api.post<{ record: { svc_sk: number } }>('/table_data', { table_definition_id, record });
    const id = made.record.svc_sk;
    await this.api.patch(`/table_data/${id}`, { table_definition_id, record: { name: 'Elsewhere' } });
    if (isDeleted) await this.api.post('/table_data/delete_records', { table_definition_id, ids: [id] });
    return id;
  }

  /** Of a table with a column, which a deployment needs. */
  private async deployment(): Promise<number> {
    const { branch_id } = this.ids;
    const table_definition_id = await this.subject('/table_definitions');
    const column_definition = { name: 'code', data_type: 'string' };
    await this.made('/column_definitions', { table_definition_id, column_definition });
    return this.made('/deployments', { branch_id, table_definition_ids: [table_definition_id] });
  }

  /** Of a table that changed on a branch of its own. */
  private async promotion(): Promise<number> {
    const { branch_id: to_branch_id } = this.ids;
    const from_branch_id = await this.subject('/branches');
    const table = await this.subject('/table_definitions');
    const clone = await this.api.post<Made>(`/table_definitions/${table}/clone`, { target_branch_id: from_branch_id });
    const table_definition_ids = [clone.id];
    return this.made('/promotions', { from_branch_id, to_branch_id, table_definition_ids });
  }
}

describe('the examples of the document', () => {
  let document: ApiDocument;
  let operations: Omit<Example, 'body'>[];
  let world: World;

  beforeAll(async () => {
    document = await readDocument();
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path: path.replace('/api/v1', ''),
        operation,
      })),
    );
    world = new World(holdingTo(document, await (await givenAccount()).person()));
    await world.make();
  });

  it('are there for every operation that takes a body', () => {
    const without = operations.filter(({ operation }) => jsonOf(operation) && !jsonOf(operation)?.example);
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  it('succeed when they are sent', async () => {
    const examples = operations.flatMap((each): Example[] => {
      const body = jsonOf(each.operation)?.example;
      return body ? [{ ...each, body }] : [];
    });
    expect(examples.length).toBeGreaterThan(40);
    const failures: string[] = [];
    for (const { name, method, path, operation, body } of examples) {
      const success = Number(Object.keys(operation.responses)[0]);
      try {
        const own = await contextOf(world, name);
        const target = path.replace('{id}', String(path.includes('{id}') ? await world.subject(path) : ''));
        const answer = await world.api.send(method, target, { ...(await world.fill(body, path)), ...own });
        if (answer.status !== success)
          failures.push(`${name} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      } catch (error) {
        failures.push(`${name}: ${(error as Error).message.slice(0, 1_000)}`);
      }
    }
    expect(failures).toEqual([]);
  });
});

/** What an example expects in its account: a table on the branch it comes from. */
async function contextOf(world: World, name: string): Promise<Body> {
  if (name !== 'POST /api/v1/promotions') return {};
  const { from_branch_id: target_branch_id, table_definition_id } = world.ids;
  const clone = await world.api.post<Made>(`/table_definitions/${table_definition_id}/clone`, { target_branch_id });
  return { table_definition_ids: [clone.id] };
}

describe('the document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(await readDocument());
    expect({ valid, errors, version: validator.version }).toEqual({ valid: true, errors: undefined, version: '3.1' });
  });

  it('describes every operation in words, with its refusals', async () => {
    const { paths } = await readDocument();
    const wrong = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => {
        const expected = ['400', '401', '403', '404', '429', '500', '503', ...(method === 'get' ? [] : ['402', '422'])];
        const missing = expected.filter((status) => !operation.responses[status]?.description);
        return missing.length > 0 || !/\S{2,}/.test(operation.summary) ? [`${method} ${path}: ${missing}`] : [];
      }),
    );
    expect(wrong).toEqual([]);
  });
});
