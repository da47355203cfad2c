// Every endpoint of the API with its scope and its service. Any other path is a 404: nothing is
// forwarded by prefix. tests/contract keeps this list equal to the services' own declarations.
import type { ApiServiceName } from './config.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
export type Scope = 'api:read' | 'api:write' | 'api:delete' | 'api:admin';

export type ApiRoute = {
  method: Method;
  /** Below /api/v1, with `{id}` for one segment. */
  path: string;
  scope: Scope;
  service: ApiServiceName;
  /** The first segment of the path; usage is counted by it. */
  resource: string;
  /**
   * The answer shows the number of calls, so the calls counted so far are reported to billing
   * first.
   */
  settle: boolean;
  /** The body is a file, not JSON. */
  upload: boolean;
  /** The answer has no end: it is ended with the token, and when this gateway stops. */
  stream: boolean;
  /** An act of consequence: the console asks for the password when it was given long ago. */
  confirmed: boolean;
  /** Also while payment blocks writes, over the console: the way out stays open. */
  unpaid: boolean;
};

type RouteOptions = {
  scope?: 'api:admin';
  settle?: true;
  upload?: true;
  stream?: true;
  confirmed?: true;
  unpaid?: true;
};
type Endpoint = `${Method} /${string}`;

const admin: RouteOptions = { scope: 'api:admin' };
const settle: RouteOptions = { settle: true };
const confirmed: RouteOptions = { confirmed: true };

const table: Record<ApiServiceName, { [endpoint: Endpoint]: RouteOptions }> = {
  data: {
    'POST /table_data/grid': {},
    'POST /table_data/values': {},
    'POST /table_data/position': {},
    'POST /table_data/groups': {},
    'POST /table_data/delete_records': {},
    'POST /table_data/restore_records': {},
    'POST /table_data/batch': {},
    'POST /table_data/diff': {},
    'GET /table_data/activity': {},
    'GET /table_data/changes': {},
    'GET /table_data/timeline': {},
    'POST /table_data/update_where': {},
    'POST /table_data/delete_where': {},
    'POST /table_data/undo': {},
    'GET /table_data/search': {},
    'GET /table_data/usage': {},
    'POST /table_data/resolve': {},
    'GET /table_data/{id}/references': {},
    'GET /table_data/{id}/history': {},
    'POST /table_data/{id}/revert': {},
    'GET /table_data': {},
    'POST /table_data': {},
    'GET /table_data/by_key': {},
    'PUT /table_data/by_key': {},
    'DELETE /table_data/by_key': {},
    'GET /table_data/{id}': {},
    'PATCH /table_data/{id}': {},
    'GET /change_requests/{id}/operations': {},
    'POST /change_requests/{id}/operations': {},
    'POST /change_requests/{id}/operations/where': {},
    'POST /change_requests/{id}/operations/remove': {},
    'POST /change_requests/{id}/decisions': {},
    'POST /change_requests/{id}/resolutions': {},
    'POST /change_requests/{id}/rehearse': {},
  },
  metadata: {
    'GET /table_definitions': {},
    'POST /table_definitions': {},
    'GET /table_definitions/{id}': {},
    'PATCH /table_definitions/{id}': {},
    'DELETE /table_definitions/{id}': {},
    'POST /table_definitions/{id}/clone': {},
    'POST /table_definitions/{id}/remove': {},
    'POST /table_definitions/{id}/restore': {},
    'POST /table_definitions/{id}/deploy': confirmed,
    'GET /column_definitions': {},
    'POST /column_definitions': {},
    'GET /column_definitions/{id}': {},
    'PATCH /column_definitions/{id}': {},
    'DELETE /column_definitions/{id}': {},
    'GET /deployed_table_definitions': {},
    'GET /deployed_table_definitions/{id}': {},
    'GET /domains': {},
    'POST /domains': admin,
    'GET /domains/{id}': {},
    'PATCH /domains/{id}': admin,
    'DELETE /domains/{id}': admin,
    'GET /branches': {},
    'POST /branches': {},
    'POST /branches/set_current_branch': {},
    'GET /branches/{id}': {},
    'GET /branches/{id}/divergence': {},
    'PATCH /branches/{id}': {},
    'DELETE /branches/{id}': {},
    'GET /deployments': {},
    'POST /deployments': {},
    'GET /deployments/{id}': {},
    'POST /deployments/{id}/rehearse': {},
    'POST /deployments/{id}/deploy': confirmed,
    'POST /deployments/{id}/send_request': {},
    'POST /deployments/{id}/reject': {},
    'POST /deployments/{id}/cancel': {},
    'POST /deployments/{id}/abandon': {},
    'POST /permissions/explain': {},
    'GET /views': {},
    'POST /views': {},
    'GET /views/{id}': {},
    'PATCH /views/{id}': {},
    'DELETE /views/{id}': {},
    'GET /promotions': {},
    'POST /promotions': {},
    'GET /promotions/{id}': {},
    'GET /promotions/{id}/rows': {},
    'GET /promotions/{id}/decisions': {},
    'POST /promotions/{id}/decisions': {},
    'POST /promotions/{id}/rehearse': {},
    'POST /promotions/{id}/promote': confirmed,
    'POST /promotions/{id}/send_request': {},
    'POST /promotions/{id}/reject': {},
    'POST /promotions/{id}/cancel': {},
    'POST /promotions/{id}/abandon': {},
    'GET /change_requests': {},
    'POST /change_requests': {},
    'GET /change_requests/{id}': {},
    'PATCH /change_requests/{id}': {},
    'POST /change_requests/{id}/send_request': {},
    'POST /change_requests/{id}/withdraw': {},
    'POST /change_requests/{id}/request_changes': {},
    'POST /change_requests/{id}/approve': {},
    'POST /change_requests/{id}/reject': {},
    'POST /change_requests/{id}/cancel': {},
    'POST /change_requests/{id}/apply': {},
    'GET /change_requests/{id}/comments': {},
    'POST /change_requests/{id}/comments': {},
    'GET /inbox': {},
    'GET /inbox/counts': {},
    'GET /search': {},
  },
  jobs: {
    'GET /imports': {},
    'POST /imports': {},
    'GET /imports/{id}': {},
    'POST /imports/{id}/tables': {},
    'PUT /imports/{id}/tables/{tid}/file': { upload: true },
    'GET /imports/{id}/tables/{tid}/changes': {},
    'GET /imports/{id}/tables/{tid}/rejected_rows': {},
    'POST /imports/{id}/tables/{tid}/apply': {},
    'POST /imports/{id}/tables/{tid}/correct': {},
    'POST /imports/{id}/upload_complete': {},
    'POST /imports/{id}/complete': {},
    'POST /imports/{id}/cancel': {},
    'GET /exports': {},
    'POST /exports': {},
    'GET /exports/{id}': {},
    'POST /exports/{id}/cancel': {},
    'GET /events': {},
    'GET /events/stream': { stream: true },
    'POST /table_definitions/{id}/infer_columns': {},
    'GET /import_mappings': {},
    'POST /import_mappings': {},
    'POST /import_mappings/suggest': {},
    'GET /import_mappings/{id}': {},
    'PATCH /import_mappings/{id}': {},
    'DELETE /import_mappings/{id}': {},
    'GET /webhook_endpoints': admin,
    'POST /webhook_endpoints': { ...admin, ...confirmed },
    'GET /webhook_endpoints/{id}': admin,
    'PATCH /webhook_endpoints/{id}': { ...admin, ...confirmed },
    'DELETE /webhook_endpoints/{id}': admin,
    'POST /webhook_endpoints/{id}/rotate_secret': { ...admin, ...confirmed },
    'POST /webhook_endpoints/{id}/test': admin,
    'POST /webhook_endpoints/{id}/replay': admin,
    'GET /webhook_endpoints/{id}/deliveries': admin,
    'POST /webhook_endpoints/{id}/deliveries/{delivery_id}/resend': admin,
  },
  identity: {
    'GET /users': admin,
    'POST /users': { ...admin, ...confirmed },
    'GET /users/{id}': admin,
    'PATCH /users/{id}': { ...admin, ...confirmed },
    'DELETE /users/{id}': admin,
    'POST /users/{id}/send_invitation': admin,
    'GET /users/{id}/refresh_tokens': admin,
    'POST /users/{id}/refresh_tokens': { ...admin, ...confirmed },
    'DELETE /users/{id}/refresh_tokens/{token_id}': admin,
    'GET /audit_events': admin,
    'GET /audit_events/{id}': admin,
    'GET /user_groups': {},
    'POST /user_groups': { ...admin, ...confirmed },
    'GET /user_groups/{id}': {},
    'PATCH /user_groups/{id}': { ...admin, ...confirmed },
    'DELETE /user_groups/{id}': admin,
    'GET /user_group_assignments': {},
    'POST /user_group_assignments': confirmed,
    'DELETE /user_group_assignments/{id}': {},
    'GET /account': settle,
    'PATCH /account': { ...settle, unpaid: true },
    'GET /me': {},
    'PATCH /me': {},
    'PUT /me/password': {},
    'GET /me/sessions': {},
    'DELETE /me/sessions': {},
    'DELETE /me/sessions/{id}': {},
    'GET /me/preferences': {},
    'PUT /me/preferences': {},
    'GET /people': {},
    'GET /permissions': {},
    'GET /oauth_applications': admin,
    'POST /oauth_applications': { ...admin, ...confirmed },
    'GET /oauth_applications/{id}': admin,
    'PATCH /oauth_applications/{id}': { ...admin, ...confirmed },
    'DELETE /oauth_applications/{id}': admin,
    'POST /oauth_applications/{id}/regenerate_secret': { ...admin, ...confirmed },
    'GET /oauth_applications/{id}/secrets': admin,
    'POST /oauth_applications/{id}/secrets': { ...admin, ...confirmed },
    'DELETE /oauth_applications/{id}/secrets/{secret_id}': admin,
  },
  billing: {
    'GET /usage': settle,
    'GET /usage/statement': settle,
  },
};

const scopeOfMethod = {
  GET: 'api:read',
  POST: 'api:write',
  PATCH: 'api:write',
  PUT: 'api:write',
  DELETE: 'api:delete',
} as const satisfies Record<Method, Scope>;

/** All routes, as a flat list. */
export const apiRoutes: ApiRoute[] = Object.entries(table).flatMap(([service, lines]) =>
  Object.entries(lines).map(([line, special]) => {
    const [method, path] = line.split(' ') as [Method, string];
    return {
      method,
      path,
      scope: special.scope ?? scopeOfMethod[method],
      service: service as ApiServiceName,
      resource: path.split('/')[1] as string,
      settle: special.settle ?? false,
      upload: special.upload ?? false,
      stream: special.stream ?? false,
      confirmed: special.confirmed ?? false,
      unpaid: special.unpaid ?? false,
    };
  }),
);
