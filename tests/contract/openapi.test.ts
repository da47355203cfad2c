// The document and the system agree: the whole contract is documented, every documented operation
// is routed, answers are as described, and docs/ has the served copy.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { poll, upload } from '@almanac/api-client/api';
import { baseUrl, givenAccount, givenDeployedTable, unique } from '@almanac/testkit/system/builders';
import { type ApiDocument, apiPaths, holdingTo, listOperations, methods, readDocument } from './document.ts';

const copy = resolve(import.meta.dirname, '../../docs/openapi.json');

// Every endpoint of the contract.
const contract = [
  ...`
  POST /table_data/grid          GET /table_data/{id}        POST /table_data      PATCH /table_data/{id}
  POST /table_data/delete_records
  GET /table_definitions         GET /table_definitions/{id} POST /table_definitions
  PATCH /table_definitions/{id}  DELETE /table_definitions/{id}
  POST /table_definitions/{id}/clone                         POST /table_definitions/{id}/remove
  GET /column_definitions        POST /column_definitions    PATCH /column_definitions/{id}
  DELETE /column_definitions/{id}                            GET /deployed_table_definitions
  GET /domains                   GET /domains/{id}           POST /domains         PATCH /domains/{id}    DELETE /domains/{id}
  GET /branches                  GET /branches/{id}          POST /branches        PATCH /branches/{id}   DELETE /branches/{id}
  POST /branches/set_current_branch
  GET /deployments               GET /deployments/{id}       POST /deployments     POST /deployments/{id}/deploy
  POST /deployments/{id}/send_request                        POST /deployments/{id}/reject
  POST /deployments/{id}/cancel  POST /deployments/{id}/abandon
  GET /promotions                GET /promotions/{id}        POST /promotions
  POST /promotions/{id}/promote  POST /promotions/{id}/send_request
  POST /promotions/{id}/reject   POST /promotions/{id}/cancel                      POST /promotions/{id}/abandon
  GET /imports                   GET /imports/{id}           POST /imports
  POST /imports/{id}/upload_complete                         POST /imports/{id}/complete
  GET /exports                   GET /exports/{id}           POST /exports
  GET /import_mappings           POST /import_mappings       PATCH /import_mappings/{id}  DELETE /import_mappings/{id}
  GET /users                     POST /users                 GET /users/{id}       PATCH /users/{id}      DELETE /users/{id}
  GET /user_groups               GET /user_groups/{id}       GET /user_group_assignments
  POST /user_group_assignments   DELETE /user_group_assignments/{id}
  GET /account                   PATCH /account              GET /permissions`.matchAll(/[A-Z]+ \/\S+/g),
].map(([line]) => line);

describe('the OpenAPI document', () => {
  let document: ApiDocument;

  beforeAll(async () => {
    document = await readDocument();
  });

  it('has every endpoint of the contract', () => {
    const documented = listOperations(document);
    expect(contract.filter((line) => !documented.includes(line))).toEqual([]);
  });

  it('marks as extensions exactly what the contract lacks', () => {
    const wrong = Object.entries(apiPaths(document)).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) => {
        const line = `${method.toUpperCase()} ${path.replace('/api/v1', '').replace(/\{\w+\}/g, '{id}')}`;
        return contract.includes(line) === Boolean(operation['x-extension']) ? [line] : [];
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('gives each operation a name of its own, words, a scope and answers', () => {
    const operations = Object.values(apiPaths(document)).flatMap((path) => Object.values(path));
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    for (const { summary, security, responses } of operations) {
      expect(summary).toMatch(/^[A-Z].{5,}/);
      expect(security.at(-1)?.authorization_code[0]).toMatch(/^api:(read|write|delete|admin)$/);
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '403', '404', '429']));
    }
  });

  it('documents only what is routed, and refuses the rest', async () => {
    const answers: Record<string, number> = {};
    for (const [path, operations] of Object.entries(apiPaths(document)))
      for (const method of methods.map((name) => name.toUpperCase())) {
        const documented = method.toLowerCase() in operations;
        const answer = await fetch(`${baseUrl()}${path.replace(/\{\w+\}/g, '1')}`, { method });
        if (answer.status !== (documented ? 401 : answer.status === 405 ? 405 : 404))
          answers[`${method} ${path}`] = answer.status;
      }
    // An address may match two operations, such as GET /branches/{id} and
    // /branches/set_current_branch; another method is then routed to the other one.
    delete answers['GET /api/v1/branches/set_current_branch'];
    delete answers['PATCH /api/v1/branches/set_current_branch'];
    delete answers['DELETE /api/v1/branches/set_current_branch'];
    expect(
      Object.entries(answers).filter(
        ([line]) =>
          !/\/table_data\/(grid|values|position|groups|delete_records|restore_records|batch|update_where|delete_where|undo|resolve|diff|changes|timeline)$/.test(
            line,
          ),
      ),
    ).toEqual([]);
  });

  it('is the one in docs/openapi.json', () => {
    const text = `${JSON.stringify(document, null, 2)}\n`.replaceAll(baseUrl(), 'http://127.0.0.1:8080');
    expect(readFileSync(copy, 'utf8')).toBe(text); // else: npm run openapi
  });

  it('describes the answers of a whole round through the API', async () => {
    const account = await givenAccount();
    const api = holdingTo(document, await account.person());
    const table = await givenDeployedTable(api);
    const table_definition_id = table.id;
    const { record } = await api.post('/table_data', { table_definition_id, record: { code: 'A', name: 'one' } });
    await api.get(`/table_data/${record.svc_sk}?table_definition_id=${table.id}`);
    await api.get(`/table_data?table_definition_id=${table.id}`);
    await api.patch(`/table_data/${record.svc_sk}`, { table_definition_id, record: { name: 'two' } });
    await api.post('/table_data/grid', { table_definition_id, startRow: 0, endRow: 10 });
    await api.post('/table_data/delete_records', { table_definition_id, ids: [record.svc_sk] });
    await api.post('/table_data/restore_records', { table_definition_id, ids: [record.svc_sk] });
    const operations = [
      { operation: 'create', record: { code: 'B' } },
      { operation: 'update', id: record.svc_sk, record: { name: 'three' } },
    ];
    await api.post('/table_data/batch', { table_definition_id, operations });
    const filterModel = { code: { filterType: 'text', type: 'equals', filter: 'B' } };
    const selected = { table_definition_id, filterModel, expected_count: 1 };
    await api.post('/table_data/update_where', { ...selected, set: { name: 'four' }, dry_run: true });
    await api.post('/table_data/update_where', { ...selected, set: { name: 'four' } });
    await api.post('/table_data/delete_where', { ...selected, dry_run: true });
    await api.post('/table_data/delete_where', selected);
    const { data: versions } = await api.get(`/table_data/${record.svc_sk}/history?table_definition_id=${table.id}`);
    const undone = { table_definition_id, request_id: versions[0].request_id };
    await api.post('/table_data/undo', { ...undone, dry_run: true });
    await api.get(`/table_data/usage?table_definition_id=${table.id}`);
    await api.post('/table_data/resolve', { table_definition_id, labels: ['one', 'none'] });
    await api.get(`/table_data/${record.svc_sk}/references?table_definition_id=${table.id}`);
    await api.post(`/table_data/${record.svc_sk}/revert`, { table_definition_id, version: 1 });
    await api.get(`/table_data/${record.svc_sk}/history?table_definition_id=${table.id}`);
    await api.get(`/table_data?table_definition_id=${table.id}&as_of=${record.svc_updated_at}`);
    const sides = { left: { as_of: record.svc_updated_at }, right: {} };
    await api.post('/table_data/diff', { table_definition_id, ...sides, startRow: 0, endRow: 10 });
    await api.get(`/table_data/activity?table_definition_id=${table.id}`);
    await api.get(`/table_data/changes?table_definition_id=${table.id}`);
    await api.get(`/table_data/timeline?table_definition_id=${table.id}`);

    for (const path of [
      '/table_definitions',
      '/column_definitions',
      '/deployed_table_definitions',
      '/domains',
      '/branches',
    ])
      await api.get(path === '/column_definitions' ? `${path}?table_definition_id=${table.id}` : path);
    for (const path of [
      '/deployments',
      '/imports',
      '/exports',
      '/users',
      '/user_groups',
      '/permissions',
      '/account',
      '/usage',
    ])
      await api.get(path);
    await api.get(`/import_mappings?table_definition_id=${table.id}`);
    await api.get('/user_group_assignments');
    await api.get('/oauth_applications');

    await api.get(`/table_definitions/${table.id}`);
    await api.get(`/table_definitions/${table.key}?branch_id=${table.branchId}`);
    await api.patch(`/table_definitions/${table.id}`, { table_definition: { description: 'changed' } });
    await api.get(`/domains/${table.domainId}`);
    await api.patch(`/domains/${table.domainId}`, { domain: { description: 'changed' } });
    await api.patch('/account', { name: `Renamed ${unique()}` });
    const branch = await api.post('/branches', { branch: { name: `feature-${unique()}` } });
    await api.get(`/branches/${branch.id}`);
    await api.patch(`/branches/${branch.id}`, { branch: { description: 'changed' } });
    await api.post('/branches/set_current_branch', { branch_id: branch.id });
    await api.post(`/table_definitions/${table.id}/clone`, { target_branch_id: branch.id });
    const deployment = await api.post('/deployments', { branch_id: table.branchId, table_definition_ids: [table.id] });
    await api.get(`/deployments/${deployment.id}`);
    await api.post(`/deployments/${deployment.id}/cancel`);

    const user = await api.post('/users', {
      user: { first_name: 'Ada', last_name: 'L', email: `ada-${unique()}@example.com`, license_type: 'developer' },
    });
    await api.patch(`/users/${user.id}`, { user: { last_name: 'Lovelace' } });
    const groups = await api.get('/user_groups');
    await api.get(`/user_groups/${groups.data[0].id}`);
    const assignment = await api.post('/user_group_assignments', {
      user_id: user.id,
      user_group_id: groups.data[0].id,
    });
    await api.delete(`/user_group_assignments/${assignment.id}`);
    await api.post(`/users/${user.id}/send_invitation`);
    await api.delete(`/users/${user.id}`);
    const pipeline = await api.post('/users', { user_type: 'service', first_name: 'Pipeline' });
    const applications = await api.get('/oauth_applications');
    const tokens = `/users/${pipeline.id}/refresh_tokens`;
    const issued = await api.post(tokens, { oauth_application_id: applications.data[0].id });
    await api.get(tokens);
    await api.delete(`${tokens}/${issued.id}`);
    const acts = await api.get('/audit_events');
    await api.get(`/audit_events/${acts.data[0].id}`);

    const imported = await api.post('/imports', { branch_id: table.branchId });
    const part = await api.post(`/imports/${imported.id}/tables`, { table_definition_id, pattern: 'incremental' });
    await upload(part.upload_url, 'code,name\r\nB,three\r\nTOO LONG A KEY,four\r\n');
    await api.post(`/imports/${imported.id}/upload_complete`);
    await poll(
      () => api.get(`/imports/${imported.id}`),
      ({ status }) => !/^(created|uploading|processing)$/.test(status),
    );
    const exported = await api.post('/exports', {
      branch_id: table.branchId,
      table_definition_key: table.key,
      pattern: 'full',
    });
    await poll(
      () => api.get(`/exports/${exported.id}`),
      ({ status }) => /^(completed|failed)$/.test(status),
    );

    // Errors are described as well.
    for (const [method, path, body, status] of [
      ['GET', '/domains/2000000000', undefined, 404],
      ['POST', '/domains', { domain: { name: '' } }, 422],
      ['POST', '/domains', '{', 400],
      ['POST', '/table_data', { table_definition_id, record: { colour: 'red' } }, 422],
    ] as const)
      expect((await api.send(method, path, body)).status).toBe(status);

    await api.post(`/table_definitions/${table.id}/remove`);
    await api.delete(`/branches/${branch.id}`);
    await api.delete(`/domains/${table.domainId}`);
    expect(api.seen.size).toBeGreaterThan(50);
  });
});
