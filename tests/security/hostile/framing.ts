// Group 5, HTTP itself: what two readers could read differently is refused by the first, and
// stalled connections are ended.
import { gzipSync } from 'node:zlib';
import { type Case, each, type Row } from './rows.ts';
import { bearer, exchange, head, last, rawRequest, request } from './wire.ts';
import type { World } from './world.ts';

const host = 'Host: almanac.test';
const join = (...parts: (string | Buffer)[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));

// Would make a domain if any reader took it for a request; after the row the attacker's account
// must be unchanged.
const smuggled = ({ api: { token } }: World) =>
  request('POST', '/domains', { token, body: '{"domain":{"name":"smuggled"}}' });

const post = ({ api: { token } }: World, ...lines: string[]) =>
  head('POST /api/v1/domains HTTP/1.1', host, ...bearer(token), 'Content-Type: application/json', ...lines);

const closed = { status: 400, headers: { connection: /^close$/i } };

export const framingRows: Row[] = [
  {
    id: 'HTT-01',
    what: 'a body whose end two readers could see in different places',
    free: true,
    cases: (world) => {
      const lengths = [
        ['Content-Length: 5', 'Transfer-Encoding: chunked'],
        ['Transfer-Encoding: chunked', 'Content-Length: 5'],
        ['Content-Length: 5', 'Content-Length: 6'],
        ['Content-Length: 0', 'Content-Length: 0'],
        ...['+2', '-2', '0x2', '2, 2', '2 2', '1e1', '2.0', "'2'", '99999999999999999999', ''].map((length) => [
          `Content-Length: ${length}`,
        ]),
        ['Content-Length : 2'],
        [' Content-Length: 2'],
        ['Content-Length\t: 2'],
        ['Content-Length: 2', ' 3'],
        ['X-A: b', '\tc'],
        ['Content-Length: 2\rX: y'],
        ['Content-Length: 2\0'],
        ['X-A: b\nContent-Length: 2'],
        ['X-\0A: b'],
        ['X A: b'],
        ['no colon'],
        [': no name'],
      ];
      const encodings = [
        ...[
          'xchunked',
          'gzip, chunked',
          'chunked, chunked',
          'identity',
          'chunked, identity',
          '"chunked"',
          'chunked;a=b',
        ],
        ...['\x0bchunked', 'chunked\x0b', 'chunk\u00e9d', 'cow', 'chunked\0', ','],
      ].map((encoding) => [`Transfer-Encoding: ${encoding}`]);
      const twice = ['chunked', 'identity', 'x'].map((encoding) => [
        'Transfer-Encoding: chunked',
        `Transfer-Encoding: ${encoding}`,
      ]);
      const chunked = (text: string) => join(post(world, 'Transfer-Encoding: chunked'), text, smuggled(world));
      return [
        ...each(
          [...lengths, ...encodings, ...twice],
          (lines) => ({ bytes: join(post(world, ...lines), '0\r\n\r\n', smuggled(world)), ...closed }),
          (lines) => JSON.stringify(lines.join(' | ')),
        ),
        ...each(
          [
            ...['zz\r\n', '-1\r\n', '0x2\r\n{}\r\n', ' 2\r\n{}\r\n', 'fffffffffffffffff\r\n', '\r\n', '2\n{}\r\n'],
            ...[
              '2\r\n{}x\r\n0\r\n\r\n',
              '2\r\n{}0\r\n\r\n',
              '2;a\nb\r\n{}\r\n0\r\n\r\n',
              '2;a=b\rc\r\n{}\r\n0\r\n\r\n',
            ],
            ...['2\r\n{}\r\n0\r\nX: y\nZ: a\r\n\r\n', '2\r\n{}\r\n0\r\n\0: y\r\n\r\n'],
          ],
          (text) => ({ bytes: chunked(text), ...closed }),
          (text) => `the chunk ${JSON.stringify(text)}`,
        ),
        {
          name: 'chunk extensions without end',
          bytes: join(post(world, 'Transfer-Encoding: chunked'), `2;${'x'.repeat(100_000)}\r\n{}`, smuggled(world)),
          status: [400, 413],
        },
        {
          name: 'chunks in HTTP/1.0',
          bytes: join(
            head('POST /api/v1/domains HTTP/1.0', host, ...bearer(world.api.token), 'Transfer-Encoding: chunked'),
            smuggled(world),
          ),
          ...closed,
        },
        {
          name: 'line feeds alone',
          bytes: join(`POST /api/v1/domains HTTP/1.1\n${host}\nContent-Length: 2\n\n{}`, smuggled(world)),
          ...closed,
        },
        { name: 'a GET with a body that is another request', ...getWithBody(world) },
        ...each(
          [
            'hello',
            '',
            'GET',
            'GET /api/v1/domains HTTP/9.9',
            'GET /api/v1/domains HTTP/2.0',
            'GET /api/v1/domains HTTP/0.9',
            'GET /api/v1/domains http/1.1',
            'GET /api/v1/domains HTTP/1.1 ',
            'GET\t/api/v1/domains HTTP/1.1',
          ],
          (line) => ({ bytes: head(line, host), ...closed }),
          (line) => `the line ${JSON.stringify(line)}`,
        ),
        { name: 'a line without a version', bytes: head('GET /api/v1/domains', host), ...closed },
        // Spaces are no part of an address, however many; the address that is checked is the one
        // served.
        { name: 'two blanks', bytes: head('GET  /api/v1/domains  HTTP/1.1', host, last), status: [400, 401] },
      ];
    },
  },
  {
    id: 'HTT-03',
    what: 'hosts: two, none, another one’s',
    cases: ({ api: { token } }) => {
      const get = (target: string, ...lines: string[]) =>
        head(`GET ${target} HTTP/1.1`, ...lines, ...bearer(token), last);
      const evil = 'Host: evil.test';
      const isOurs: Case['wrong'] = ({ body, headers }) =>
        /evil[.]test/.test(body + JSON.stringify(headers)) ? 'repeats the host' : undefined;
      return [
        { name: 'none', bytes: get('/api/v1/domains'), ...closed },
        { name: 'two', bytes: get('/api/v1/domains', host, evil), ...closed },
        { name: 'the same twice', bytes: get('/api/v1/domains', host, host), ...closed },
        ...each(
          [
            'http://evil.test/admin',
            'http://almanac.test/api/v1/domains',
            'https://evil.test/api/v1/domains',
            'evil.test:80',
          ],
          (target) => ({ bytes: get(target, host), ...closed }),
        ),
        ...each(['/.well-known/oauth-authorization-server', '/openapi.json', '/', '/api/v1/account'], (path) => ({
          bytes: get(path, evil, 'X-Forwarded-Host: evil.test', 'X-Forwarded-Proto: evil'),
          status: [200, 302],
          wrong: isOurs,
        })),
      ];
    },
  },
  {
    id: 'HTT-06',
    what: 'headers named like parts of objects',
    cases: ({ api: { token } }) =>
      each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'], (name) => ({
        bytes: request('GET', '/account', { token, lines: [`${name}: polluted`, `${name}: polluted`] }),
        status: [200, 400],
        wrong: ({ body }) => (body.includes('polluted') ? 'repeats it' : undefined),
      })),
  },
  {
    id: 'HTT-09',
    what: 'a body that is announced and does not come',
    free: true,
    cases: ({ api: { token } }) => [
      {
        name: 'Expect without a token',
        bytes: request('POST', '/domains', { lines: ['Content-Length: 100', 'Expect: 100-continue'] }),
        status: 401,
      },
      {
        name: 'another expectation',
        bytes: request('GET', '/nothing', { token, lines: ['Expect: miracles'] }),
        status: [404, 417],
      },
      {
        name: 'one that is too large',
        bytes: request('POST', '/domains', { token, lines: ['Content-Length: 1048577', 'Expect: 100-continue'] }),
        status: 413,
      },
    ],
  },
  {
    id: 'HTT-10',
    what: 'other protocols',
    cases: ({ api: { token } }) => {
      const upgrade = (...lines: string[]) =>
        request('GET', '/account', { token, lines: ['Connection: Upgrade', ...lines] });
      return [
        ...each(
          [
            ['Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA'],
            ['Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13'],
            ['Upgrade: TLS/1.2'],
          ],
          (lines) => ({ bytes: upgrade(...lines), status: [200, 400] }),
          ([first = '']) => first,
        ),
        { name: 'the preface of HTTP/2', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', status: 400 },
        { name: 'TLS', bytes: Buffer.from('16030100a5010000a1030300', 'hex'), status: 400 },
        { name: 'a tunnel', bytes: head('CONNECT evil.test:443 HTTP/1.1', 'Host: evil.test:443'), status: 405 },
        { name: 'a tunnel home', bytes: head('CONNECT 127.0.0.1:5432 HTTP/1.1', host), status: 405 },
      ];
    },
  },
  {
    id: 'HTT-12',
    what: 'compressed bodies, bombs among them',
    cases: ({ api: { token } }) => {
      const bomb = gzipSync(Buffer.alloc(200 * 1_048_576), { level: 9 }); // 200 kB that would be 200 MB
      return [
        ...each(['gzip', 'br', 'deflate', 'zstd', 'GZIP', 'gzip, gzip', 'x-gzip', 'identity, gzip'], (encoding) => ({
          bytes: request('POST', '/domains', { token, body: gzipSync('{}'), lines: [`Content-Encoding: ${encoding}`] }),
          status: 415,
        })),
        ...each(
          ['/domains', '/table_data/grid', '/import_mappings'],
          (path) => ({
            bytes: request('POST', path, { token, body: bomb, lines: ['Content-Encoding: gzip'] }),
            status: 415,
          }),
          (path) => `a bomb to ${path}`,
        ),
        {
          name: 'a bomb that does not say so',
          bytes: request('POST', '/import_mappings', { token, body: bomb }),
          status: [400, 413],
        },
      ];
    },
  },
  {
    id: 'HTT-15',
    what: 'caches',
    cases: ({ api: { token }, table }) => {
      const path = `/domains/${table.domainId}`;
      return [
        ...each(
          [
            'Range: bytes=0-1',
            'If-None-Match: *',
            'If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT',
            'Cache-Control: only-if-cached',
          ],
          (line) => ({
            bytes: request('GET', path, { token, lines: [line] }),
            status: 200,
            says: `"id":${table.domainId}`,
          }),
        ),
        ...each(['.css', '.js', '/x.css', '%2fx.css', ';x.css', '.png?x'], (end) => ({
          bytes: request('GET', `/account${end}`, { token }),
          status: 404,
        })),
      ];
    },
    after: async () => {
      const answer = await exchange(rawRequest('GET', '/docs/../api/v1/account.css'));
      expect([400, 404]).toContain(answer.status);
    },
  },
];

function getWithBody(world: World): Omit<Case, 'name'> {
  const inner = smuggled(world);
  const lines = [`Content-Length: ${inner.length}`, last];
  const bytes = join(head('GET /api/v1/nothing HTTP/1.1', host, ...bearer(world.api.token), ...lines), inner);
  return { bytes, status: 404 };
}
