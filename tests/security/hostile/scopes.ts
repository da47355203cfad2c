// Group 4, scopes and plans: each operation of the document with each scope alone, and texts that
// look like scopes.
import { signInMachine } from '@almanac/api-client/sign-in';
import { givenAccount, mainBranchId } from '@almanac/testkit/system/builders';
import { type Operation, readOperations } from '../isolation/operations.ts';
import { type Case, each, type Row } from './rows.ts';
import { rawRequest, request } from './wire.ts';

const scopes = ['api', 'api:read', 'api:write', 'api:delete', 'api:admin'];
const operations = readOperations();

const nobodys = 2_147_483_647;
// A stream of events goes on until its reader leaves, unless it is asked for what is not there.
const pathOf = ({ path }: Operation) =>
  path === '/events/stream' ? `${path}?after=${nobodys}` : path.replace(/\{\w+\}/g, String(nobodys));
const needs = (scope: string) => `Insufficient scope. Required: ${scope}`;

export const scopeRows: Row[] = [
  {
    id: 'BRR-13',
    what: 'each operation with each scope alone',
    cases: async ({ attacker }) => {
      const tokens = new Map<string, string>();
      for (const scope of scopes)
        tokens.set(scope, (await signInMachine(attacker.baseUrl, attacker.application, scope)).access_token);
      return operations.flatMap((operation) =>
        scopes.map((scope): Case => {
          const may = scope === 'api' || scope === operation.scope;
          const bytes = request(operation.method, pathOf(operation), { token: tokens.get(scope) as string });
          const name = `${operation.name} with ${scope}`;
          if (!may)
            return { name, bytes, status: 403, says: JSON.stringify({ error: needs(operation.scope) }).slice(1, -1) };
          // The request names nothing that exists and sends nothing, so nothing is done.
          const status = [200, 400, 401, 403, 404, 410, 415, 422];
          const wrong: Case['wrong'] = ({ status, body }) =>
            status === 403 && body.includes('Insufficient scope') ? 'has the scope' : undefined;
          return { name, bytes, status, wrong };
        }),
      );
    },
  },
  {
    id: 'BRR-14',
    what: 'methods that are no way around scopes',
    cases: async ({ attacker, api: { token }, table }) => {
      const write = (await signInMachine(attacker.baseUrl, attacker.application, 'api:write')).access_token;
      const domain = `/domains/${table.domainId}`;
      const overriding = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'];
      return [
        { name: 'HEAD with api:write', bytes: request('HEAD', '/domains', { token: write }), status: 403 },
        { name: 'GET with api:write', bytes: request('GET', '/domains', { token: write }), status: 403 },
        { name: 'OPTIONS without a token', bytes: request('OPTIONS', '/domains'), status: 204 },
        { name: 'OPTIONS *', bytes: rawRequest('OPTIONS', '*'), status: [204, 400, 404] },
        ...each(['TRACE', 'TRACK', 'PROPFIND', 'get', 'LINK', 'PURGE'], (method) => ({
          bytes: request(method, '/domains', { token }),
          status: [400, 405],
        })),
        ...each(overriding, (name) => ({
          bytes: request('GET', domain, { token, lines: [`${name}: DELETE`] }),
          status: 200,
        })),
        ...each(
          overriding,
          (name) => ({
            bytes: request('POST', domain, { token, body: '{}', lines: [`${name}: DELETE`] }),
            status: 405,
          }),
          (name) => `POST with ${name}`,
        ),
        { name: '_method in the query', bytes: request('GET', `${domain}?_method=DELETE`, { token }), status: 400 },
        {
          name: '_method in a body',
          bytes: request('PATCH', domain, { token, body: '{"_method":"DELETE"}' }),
          status: 400,
        },
      ];
    },
  },
  {
    id: 'BRR-16',
    what: 'what only looks like a scope',
    cases: ({ forge }) =>
      each(
        [
          ...[
            'api:readx',
            'API',
            'API:READ',
            'api:',
            'apix',
            'ap',
            '',
            ' ',
            'api:read\napi:admin',
            'api:read,api:admin',
          ],
          ...['api\u0000', '\u200bapi', 'api\u00a0', 'api*', '*', 'api:*', 'api:read\tapi', '["api"]', '__proto__'],
        ],
        (scope) => ({
          bytes: request('GET', '/users', { token: forge.token({ scope }) }),
          status: 403,
          says: needs('api:admin'),
        }),
        (scope) => JSON.stringify(scope),
      ),
  },
  {
    id: 'BRR-19',
    what: 'a plan without branching',
    cases: async () => {
      const api = await (await givenAccount({ plan: 'plus' })).person();
      const { token } = api;
      const branch_id = await mainBranchId(api);
      const wishes: [string, string, object?][] = [
        ['POST', '/branches', { branch: { name: 'work' } }],
        ['GET', '/deployments'],
        ['GET', `/deployments/${nobodys}`],
        ['POST', '/deployments', { branch_id, table_definition_ids: [1] }],
        ...['rehearse', 'deploy', 'send_request', 'reject', 'cancel', 'abandon'].map(
          (act): [string, string, object] => ['POST', `/deployments/${nobodys}/${act}`, {}],
        ),
        ['GET', '/promotions'],
        ['POST', '/promotions', { from_branch_id: branch_id, to_branch_id: branch_id, table_definition_ids: [1] }],
        ['POST', `/promotions/${nobodys}/promote`, {}],
      ];
      return [
        { name: 'GET /branches', bytes: request('GET', '/branches', { token }), status: 200 },
        ...wishes.map(([method, path, body]) => ({
          name: `${method} ${path}`,
          bytes: request(method, path, { token, ...(body ? { body: JSON.stringify(body) } : {}) }),
          status: 403,
          says: 'Branching is not enabled on the current plan',
        })),
      ];
    },
  },
];
