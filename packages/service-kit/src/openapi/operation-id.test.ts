import { describePathParameter, operationIdOf } from './operation-id.ts';

it.each([
  ['GET', '/domains', true, 'listDomains'],
  ['POST', '/domains', false, 'createDomain'],
  ['GET', '/branches/{id}', false, 'getBranch'],
  ['PATCH', '/column_definitions/{id}', false, 'updateColumnDefinition'],
  ['DELETE', '/oauth_applications/{id}/secrets/{secret_id}', false, 'deleteOauthApplicationSecret'],
  ['GET', '/oauth_applications/{id}/secrets', true, 'listOauthApplicationSecrets'],
  ['POST', '/imports/{id}/tables', false, 'createImportTable'],
  ['POST', '/table_definitions/{id}/clone', false, 'cloneTableDefinition'],
  ['POST', '/deployments/{id}/send_request', false, 'sendDeploymentRequest'],
  ['POST', '/import_mappings/suggest', false, 'suggestImportMapping'],
  ['GET', '/account', false, 'getAccount'],
  ['GET', '/usage/statement', false, 'getUsageStatement'],
] as const)('%s %s is called by its resource and what it does', (method, path, isList, name) => {
  expect(operationIdOf({ method, path, isList })).toBe(name);
});

it.each([
  ['/domains/{id}', 'id', 'The id of the domain.'],
  ['/imports/{id}/tables/{table_id}/file', 'table_id', 'The id of the import table.'],
])('%s says what {%s} identifies', (path, name, words) => {
  expect(describePathParameter(path, name)).toBe(words);
});
