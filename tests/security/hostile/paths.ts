// Group 5, paths: there is one spelling of each, so what was checked is what is served.
import { each, type Row } from './rows.ts';
import { bearer, head, last, rawRequest } from './wire.ts';

const others = [
  ...['/api/v1', '/api/v1/', '/api/v1/nothing', '/api/v2/account', '/api/v1/account/', '/api/v1/account/7'],
  ...[
    '/API/v1/account',
    '/api/V1/account',
    '/api/v1/Account',
    '/api/v1//account',
    '//api/v1/account',
    '/api//v1/account',
  ],
  ...['/api/v1/../v1/account', '/api/v1/./account', '/x/../api/v1/account', '/api/v1/account/..', '/api/v1/account/.'],
  ...['/api/v1/%2e%2e/v1/account', '/api/v1/%2e/account', '/api/v1/.%2e/v1/account', '/oauth/../api/v1/account'],
  ...[
    '/oauth/%2e%2e/api/v1/users',
    '/files/../api/v1/users',
    '/.well-known/../api/v1/users',
    '/docs/..%2f..%2fpackage.json',
  ],
  ...[
    '/api/v1/account;a=b',
    '/api/v1;a=b/account',
    '/api/v1/domains/1;a=b',
    '/api/v1/account%3ba=b',
    '/api/v1/account,a',
  ],
  ...[
    '/api/v1/account%00',
    '/api/v1/domains/%00',
    '/api/v1/account%20',
    '/api/v1/account%09',
    '/api/v1/account%0d%0aX:y',
  ],
  ...[
    '/api/v1/domains%2f1',
    '/api%2fv1/account',
    '/api/v1/%61ccount',
    '/api/v1/domains/%31',
    '/api/v1/domains/%5c',
    '\\api\\v1',
  ],
  ...['/api/v1/%c0%afaccount', '/api/v1/domains/%c0%ae%c0%ae', '/api/v1/domains/%e0%80%af', '/api/v1/domains/%ff'],
  ...[
    '/api/v1/domains/%ed%a0%80',
    '/api/v1/domains/%',
    '/api/v1/domains/%2',
    '/api/v1/domains/%zz',
    '/api/v1/domains/%u0031',
  ],
  ...['/api/v1/account.json', '/api/v1/account~', '/api/v1/constructor', '/api/v1/__proto__', '/api/v1/toString'],
  ...[
    '/metrics',
    '/readyz/',
    '/healthz/x',
    '/dev',
    '/debug',
    '/admin',
    '/.env',
    '/.git/config',
    '/docs/swagger-ui.css/..',
  ],
  ...[
    '/webhooks',
    '/webhooks/payments/x',
    '/files',
    '/oauth',
    '/oauth//token',
    '/v1/account',
    '/almanac.identity.v1.Identity/Get',
  ],
  ...['/api/v1/account#x', '/api/v1/table_data/grid/', '/api/v1/table_data/1/2', `/api/v1/${'x/'.repeat(2_000)}`],
];

export const pathRows: Row[] = [
  {
    id: 'HTT-04',
    what: 'paths in other spellings',
    free: true,
    cases: ({ api: { token } }) => [
      ...each(others, (path) => ({ bytes: rawRequest('GET', path, { token }), status: [400, 404, 405] })),
      ...each(
        [
          '/api/v1/acc\u00f6unt',
          '/api/v1/domains/\u0000',
          '/api/v1/domains/\x7f',
          '/api/v1/domains/ 1',
          '/api/v1/domains/\t1',
        ],
        (path) => ({
          bytes: Buffer.concat([
            Buffer.from(`GET ${path} HTTP/1.1\r\n`, 'latin1'),
            head('Host: almanac.test', ...bearer(token), last),
          ]),
          status: [400, 404],
        }),
        (path) => JSON.stringify(path),
      ),
      {
        name: 'an address of 8 kB and more',
        bytes: rawRequest('GET', `/api/v1/domains?q=${'x'.repeat(9_000)}`),
        status: 414,
      },
      {
        name: 'headers of 16 kB and more',
        bytes: rawRequest('GET', '/', { lines: [`X: ${'x'.repeat(17_000)}`] }),
        status: 431,
      },
      {
        name: 'a thousand headers',
        bytes: rawRequest('GET', '/api/v1/account', { lines: Array.from({ length: 3_000 }, (_, n) => `X-${n}: y`) }),
        status: [400, 401, 431],
      },
    ],
  },
];
