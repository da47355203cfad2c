// The kind of identifier at each place. A place without a declaration here fails its test, so that
// no endpoint is omitted.
import type { Operation, Place } from './operations.ts';

/**
 * The resources of both accounts (twins.ts); equal wherever two accounts may use the same name, key
 * or code.
 */
export type Kind =
  | 'domain'
  | 'branch'
  | 'main branch'
  | 'table definition'
  | 'table definition uuid'
  | 'table definition key'
  | 'key of both'
  | 'removed table definition'
  | 'column definition'
  | 'row'
  | 'change request'
  | 'change operation'
  | 'deployment'
  | 'promotion'
  | 'change request comment'
  | 'sent change request'
  | 'sent change operation'
  | 'import'
  | 'import table'
  | 'dry run'
  | 'import mapping'
  | 'export'
  | 'webhook endpoint'
  | 'webhook delivery'
  | 'view'
  | 'correlation code'
  | 'user'
  | 'service user'
  | 'refresh token'
  | 'session'
  | 'acting user'
  | 'user group'
  | 'user group assignment'
  | 'permission'
  | 'application'
  | 'acting application'
  | 'client id'
  | 'secret'
  | 'audit event'
  | 'request id'
  | 'request of a row';

/** By the path segment before it. */
const inPaths: Record<string, Kind[]> = {
  audit_events: ['audit event'],
  branches: ['branch', 'main branch'],
  change_requests: ['change request'],
  column_definitions: ['column definition'],
  deliveries: ['webhook delivery'],
  deployed_table_definitions: ['table definition'],
  deployments: ['deployment'],
  domains: ['domain'],
  exports: ['export'],
  import_mappings: ['import mapping'],
  imports: ['import'],
  oauth_applications: ['application'],
  promotions: ['promotion'],
  refresh_tokens: ['refresh token'],
  secrets: ['secret'],
  sessions: ['session'],
  table_data: ['row'],
  table_definitions: ['table definition', 'table definition uuid', 'table definition key'],
  tables: ['import table'],
  user_group_assignments: ['user group assignment'],
  user_groups: ['user group'],
  users: ['user'],
  views: ['view'],
  webhook_endpoints: ['webhook endpoint'],
};

/** The ids of lists whose items have no address of their own. */
const onlyInLists: Record<string, Kind> = {
  comments: 'change request comment',
  people: 'user',
  permissions: 'permission',
};

/** In queries, bodies, and the fields that `q` may name. */
const byName: Record<string, Kind> = {
  application_id: 'acting application',
  branch_id: 'main branch',
  change_request_id: 'change request',
  client_id: 'client id',
  cloned_from_id: 'table definition',
  continues_id: 'change request',
  correlation_code: 'correlation code',
  domain_id: 'domain',
  event_id: 'webhook delivery', // no field of `q`, as webhook_id
  foreign_key_table_id: 'table definition',
  id: 'row', // in a batch
  from_branch_id: 'main branch',
  ids: 'row',
  import_mapping_id: 'import mapping',
  import_table_id: 'dry run',
  key: 'table definition key',
  lookup_display_column_id: 'column definition',
  opening_view_id: 'view', // no field of `q`
  operation_id: 'change operation',
  operation_ids: 'change operation',
  oauth_application_id: 'acting application',
  owner_id: 'acting user',
  parent_branch_id: 'main branch',
  remove_table_definition_ids: 'table definition',
  request_id: 'request id',
  resource_id: 'domain', // beside `resource_type: domain`
  rows_from_id: 'table definition',
  table_definition_id: 'table definition',
  table_definition_ids: 'table definition',
  table_definition_key: 'table definition key',
  target_branch_id: 'branch',
  to_branch_id: 'branch',
  user_group_id: 'user group',
  user_id: 'user',
  uuid: 'table definition uuid',
  webhook_id: 'webhook delivery',
};

/**
 * Never looked up in more than the named table: a caller's own texts, which two accounts may choose
 * alike.
 */
const labels = new Set([
  'header Idempotency-Key',
  'header Last-Event-ID', // a place in the log of the caller's account
  'body correlation_code',
  'query key',
  ...['body', 'query', 'filter'].map((where) => `${where} operation_id`),
]);

const segmentBefore = ({ operation, name }: Place) =>
  operation.path.split('/').at(operation.path.split('/').indexOf(`{${name}}`) - 1) as string;

/**
 * The kinds of identifiers that the place takes: none for a label, undefined without a declaration.
 */
export function kindsAt(place: Place): Kind[] | undefined {
  const { where, name, operation } = place;
  if (labels.has(`${where} ${name}`)) return [];
  if (where === 'path' && operation.path === '/table_definitions/{id}/restore') return ['removed table definition'];
  if (where === 'path' && name === 'id' && operation.path.startsWith('/users/{id}/refresh_tokens'))
    return ['service user'];
  // Decisions take a request under review.
  if (operation.path === '/change_requests/{id}/decisions') {
    if (where === 'path') return ['sent change request'];
    if (name === 'operation_ids') return ['sent change operation'];
  }
  // The primary key of a row.
  if (operation.path === '/promotions/{id}/decisions' && name === 'key') return [];
  // An operation on an unknown row is kept with that problem; every-place.test.ts compares them.
  if (operation.path === '/change_requests/{id}/operations' && where === 'body' && name === 'id') return [];
  if (where === 'path') return inPaths[segmentBefore(place)];
  if (name === 'ids' && operation.path.startsWith('/change_requests/')) return ['change operation'];
  const list = operation.path.split('/').at(-1) as string;
  if (list === 'people' && name === 'ids') return ['user'];
  const isActor = name === 'user_id' && (list === 'audit_events' || list === 'changes');
  const named = isActor ? 'acting user' : byName[name];
  if (list === 'undo' && name === 'request_id') return ['request of a row'];
  const kind = where === 'filter' && name === 'id' ? (inPaths[list]?.[0] ?? onlyInLists[list]) : named;
  return kind && [kind];
}

/** Declarations above whose place no longer exists. */
export function unusedDeclarations(places: Place[]): string[] {
  const segments = new Set(places.filter(({ where }) => where === 'path').map(segmentBefore));
  const names = new Set(places.map(({ name }) => name));
  return [
    ...Object.keys(inPaths).filter((segment) => !segments.has(segment)),
    ...Object.keys(byName).filter((name) => !names.has(name)),
  ];
}

/**
 * The other identifiers that a place needs: a key belongs to a branch, and a branch beside a key
 * names a table.
 */
export function companionsOf({ operation: { path }, where, name, steps }: Place, kind: Kind): Record<string, Kind> {
  if (where === 'path' && kind === 'table definition key') return { branch_id: 'main branch' };
  if (name === 'branch_id' && path.startsWith('/table_definitions/{id}')) return { id: 'key of both' };
  if (name === 'branch_id' && steps.length < 2 && takesTableKey(path)) return { table_definition_key: 'key of both' };
  if (name === 'table_definition_key' && takesTableKey(path)) return { branch_id: 'main branch' };
  return {};
}

/** Whether a request must name a table: lists of other resources may leave it out. */
export const needsTable = ({ item, path }: Operation) => !item || path.startsWith('/table_data');

const takesTableKey = (path: string) =>
  /^\/(table_data|column_definitions|import_mappings|imports\/\{id\}\/tables|change_requests\/\{id\}\/operations)/.test(
    path,
  );

/**
 * Refused on plans with branching before any look-up; the account on a plan without it tries them.
 */
export const withoutBranching = new Set(['POST /table_definitions/{id}/deploy']);
