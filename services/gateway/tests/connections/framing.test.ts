import { limits } from '@almanac/service-kit/limits';
import { eventually } from '@almanac/testkit/eventually';
import { callWith } from '../given.ts';
import { useNeighbours } from '../neighbours.ts';
import { isErrorBody, lines, open, send } from '../raw.ts';

const { services, identity, useGateway } = useNeighbours();
const gateway = useGateway();
let token: string;
let auth: string;
beforeAll(async () => {
  token = await identity.token();
  auth = `Authorization: Bearer ${token}`;
});

describe('framing', () => {
  const smuggled = 'GET /api/v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
  const post = (...headers: string[]) => ['POST /api/v1/domains HTTP/1.1', 'Host: a', ...headers];
  it.each([
    ['both lengths', `${lines(...post('Content-Length: 5', 'Transfer-Encoding: chunked'))}0\r\n\r\n${smuggled}`],
    ['two lengths', lines(...post('Content-Length: 5', 'Content-Length: 6')) + smuggled],
    ['the same length twice', lines(...post('Content-Length: 5', 'Content-Length: 5')) + smuggled],
    ['a signed length', `${lines(...post('Content-Length: +2'))}{}${smuggled}`],
    ['a list of lengths', `${lines(...post('Content-Length: 2, 2'))}{}${smuggled}`],
    ['an unknown encoding', `${lines(...post('Transfer-Encoding: xchunked'))}0\r\n\r\n${smuggled}`],
    ['an encoding before chunked', `${lines(...post('Transfer-Encoding: gzip, chunked'))}0\r\n\r\n${smuggled}`],
    ['chunked twice', `${lines(...post('Transfer-Encoding: chunked, chunked'))}0\r\n\r\n${smuggled}`],
    [
      'two encodings',
      `${lines(...post('Transfer-Encoding: chunked', 'Transfer-Encoding: identity'))}0\r\n\r\n${smuggled}`,
    ],
    ['an obfuscated encoding', `${lines(...post('Transfer-Encoding:\x0bchunked'))}0\r\n\r\n${smuggled}`],
    ['identity', lines(...post('Transfer-Encoding: identity')) + smuggled],
    ['a space before the colon', `${lines(...post('Content-Length : 2'))}{}${smuggled}`],
    ['bare line feeds', `${post('Content-Length: 2').join('\n')}\n\n{}${smuggled}`],
    ['a folded header', lines(...post('X-A: b', ' c')) + smuggled],
    ['a NUL in a header', lines(...post('X-A: b\0c')) + smuggled],
    ['no colon', lines(...post('Nonsense')) + smuggled],
    ['a malformed chunk size', `${lines(...post('Transfer-Encoding: chunked'))}zz\r\n${smuggled}`],
    ['a chunk size that overflows', `${lines(...post('Transfer-Encoding: chunked'))}fffffffffffffffff\r\n${smuggled}`],
    [
      'a line feed in a chunk extension',
      `${lines(...post('Transfer-Encoding: chunked'))}1;a\nb\r\nx\r\n0\r\n\r\n${smuggled}`,
    ],
    [
      'a chunked body in HTTP/1.0',
      lines('POST /api/v1/domains HTTP/1.0', 'Host: a', 'Transfer-Encoding: chunked') + smuggled,
    ],
    ['no host', lines('GET /api/v1/domains HTTP/1.1') + smuggled],
    ['two hosts', lines('GET /api/v1/domains HTTP/1.1', 'Host: a', 'Host: b') + smuggled],
    [
      'two Authorization headers',
      lines('GET /api/v1/domains HTTP/1.1', 'Host: a', 'Authorization: Bearer a', 'Authorization: Bearer b') + smuggled,
    ],
    ['an absolute target', lines('GET http://evil.test/admin HTTP/1.1', 'Host: a') + smuggled],
    ['the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['TLS', Buffer.from('16030100a5010000a1030300', 'hex')],
    ['bytes that are not HTTP', 'hello\r\n\r\n'],
    ['HTTP/0.9', lines('GET /api/v1/domains', 'Host: a') + smuggled],
    ['HTTP/2.0 in the request line', lines('GET /api/v1/domains HTTP/2.0', 'Host: a') + smuggled],
    ['an unknown version', lines('GET /api/v1/domains HTTP/9.9', 'Host: a')],
  ])('refuses %s and closes the connection', async (_case, bytes) => {
    const answer = await send(gateway, bytes);
    expect([answer.status, answer.closed]).toEqual([400, true]);
    expect(isErrorBody(answer.text)).toBe(true);
    expect(answer.text).toMatch(/\r\nX-Request-Id: [\w-]{36}\r\n/);
    expect(answer.text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(services.reached).toEqual([]);
  });

  it.each([
    ['two hosts', 'Host: b'],
    ['an encoding before chunked', 'Transfer-Encoding: gzip, chunked'],
  ])('does not serve a request that follows %s on the same connection', async (_case, line) => {
    const next = lines('GET /api/v1/domains HTTP/1.1', 'Host: a', auth);
    const answer = await send(gateway, `${lines(...post(line))}0\r\n\r\n${next}${next}`);
    expect([answer.status, answer.closed]).toEqual([400, true]);
    // By the time this call is answered, the request would have been forwarded.
    expect((await callWith(gateway, token, 'GET', '/api/v1/branches')).status).toBe(200);
    expect(services.reached.map(({ url }) => url)).toEqual(['/api/v1/branches']);
  });

  it('refuses CONNECT', async () => {
    const answer = await send(gateway, lines('CONNECT evil.test:443 HTTP/1.1', 'Host: evil.test:443'));
    expect([answer.status, answer.closed]).toEqual([405, true]);
  });

  it.each([
    ['h2c', ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA']],
    ['websocket', ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x', 'Sec-WebSocket-Version: 13']],
  ])('ignores an upgrade to %s', async (_protocol, headers) => {
    const request = lines('GET /api/v1/domains HTTP/1.1', 'Host: a', auth, ...headers);
    const answer = await send(gateway, request, (text) => text.includes('{}'));
    expect(answer.status).toBe(200);
    expect(services.reached[0]?.headers.upgrade).toBeUndefined();
    expect(services.reached[0]?.headers['http2-settings']).toBeUndefined();
  });

  it('answers pipelined requests, each once', async () => {
    const one = lines('GET /api/v1/domains HTTP/1.1', 'Host: a', auth);
    const answer = await send(gateway, one.repeat(5), (text) => (text.match(/HTTP\/1\.1 200/g) ?? []).length === 5);
    expect(answer.status).toBe(200);
    expect(services.reached).toHaveLength(5);
  });

  it('accepts headers named like properties of objects', async () => {
    const odd = ['__proto__: 1', 'constructor: 2', 'toString: 3', 'hasOwnProperty: 4'];
    const request = lines('GET /api/v1/domains HTTP/1.1', 'Host: a', auth, ...odd, 'Connection: close');
    expect((await send(gateway, request)).status).toBe(200);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect((await callWith(gateway, token, 'GET', '/api/v1/domains')).status).toBe(200);
  });

  it('removes headers that a client names in Connection, except those of the framing', async () => {
    const body = '{"a":1}';
    const request = lines(
      'POST /api/v1/domains HTTP/1.1',
      'Host: a',
      auth,
      'Connection: close, X-Secret, Content-Length',
      'X-Secret: 1',
      `Content-Length: ${body.length}`,
    );
    expect((await send(gateway, request + body)).status).toBe(200);
    expect(services.reached[0]).toMatchObject({ body });
    expect(services.reached[0]?.headers['x-secret']).toBeUndefined();
  });

  it.each([
    ['sent with its head', '{"a":1}', 'Content-Length: 7', '{"a":1}'],
    ['of several packets', 'x'.repeat(300_000), 'Content-Length: 300000', 'x'.repeat(300_000)],
    ['of no chunk', '', 'Transfer-Encoding: chunked', '0\r\n\r\n'],
  ])('forwards a body %s', async (_, body, framing, bytes) => {
    const head = lines('POST /api/v1/domains HTTP/1.1', 'Host: a', auth, framing, 'Connection: close');
    expect((await send(gateway, head + bytes)).status).toBe(200);
    expect(services.reached.map((each) => each.body)).toEqual([body]);
  });

  it('forwards a chunked body', async () => {
    const head = lines(
      'POST /api/v1/domains HTTP/1.1',
      'Host: a',
      auth,
      'Transfer-Encoding: chunked',
      'Connection: close',
    );
    expect((await send(gateway, `${head}3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n`)).status).toBe(200);
    expect(services.reached[0]?.body).toBe('{"a":1}');
  });
});

describe('sizes', () => {
  const headersOf = (bytes: number) => {
    const fixed = ['Host: a', auth, 'Connection: close'];
    const used = fixed.reduce((sum, line) => sum + line.length + 2, 0);
    return [...fixed, `X-Filler: ${'x'.repeat(bytes - used - 'X-Filler: '.length - 2)}`];
  };
  const target = (bytes: number) => `/api/v1/domains?q=${'x'.repeat(bytes - '/api/v1/domains?q='.length)}`;

  it('accepts headers of 16 kB and not a byte more', async () => {
    const at = await send(gateway, lines('GET /api/v1/domains HTTP/1.1', ...headersOf(limits.headerBytes)));
    expect(at.status).toBe(200);
    const over = await send(gateway, lines('GET /api/v1/domains HTTP/1.1', ...headersOf(limits.headerBytes + 1)));
    expect([over.status, isErrorBody(over.text)]).toEqual([431, true]);
    const wayOver = await send(gateway, lines('GET /api/v1/domains HTTP/1.1', ...headersOf(limits.headerBytes * 10)));
    expect([wayOver.status, isErrorBody(wayOver.text)]).toEqual([431, true]);
  });

  it('accepts an address of 8 kB and not a byte more', async () => {
    const get = (bytes: number) =>
      send(gateway, lines(`GET ${target(bytes)} HTTP/1.1`, 'Host: a', auth, 'Connection: close'));
    expect((await get(limits.urlBytes)).status).toBe(200);
    const over = await get(limits.urlBytes + 1);
    expect([over.status, isErrorBody(over.text)]).toEqual([414, true]);
    const wayOver = await get(limits.urlBytes * 20);
    expect([wayOver.status, isErrorBody(wayOver.text)]).toEqual([414, true]);
  });

  it('refuses a JSON body whose length exceeds 1 MB before it reads the body or checks a token', async () => {
    const head = (bytes: number, ...more: string[]) =>
      lines('POST /api/v1/domains HTTP/1.1', 'Host: a', `Content-Length: ${bytes}`, 'Connection: close', ...more);
    const over = await send(gateway, head(limits.jsonBodyBytes + 1), (text) => text.includes('}'));
    expect([over.status, isErrorBody(over.text)]).toEqual([413, true]);
    const at = await send(gateway, head(limits.jsonBodyBytes, auth) + 'x'.repeat(limits.jsonBodyBytes));
    expect(at.status).toBe(200);
  });

  it('refuses an upload whose length exceeds 5 GB before it checks a token', async () => {
    const put = async (bytes: number) => {
      const request = lines('PUT /api/v1/imports/1/tables/1/file HTTP/1.1', 'Host: a', `Content-Length: ${bytes}`);
      return (await send(gateway, request, (text) => text.includes('}'))).status;
    };
    expect([await put(limits.uploadBytes), await put(limits.uploadBytes + 1)]).toEqual([401, 413]);
  });

  it.each(['gzip', 'br', 'deflate', 'gzip, gzip', 'zstd', 'GZIP'])('refuses a body encoded as %s', async (encoding) => {
    const answer = await callWith(gateway, token, 'POST', '/api/v1/domains', {
      body: 'x',
      headers: { 'content-encoding': encoding },
    });
    expect(answer.status).toBe(415);
    expect(services.reached).toEqual([]);
  });
});

describe('Expect', () => {
  const head = (...more: string[]) =>
    lines('POST /api/v1/domains HTTP/1.1', 'Host: a', 'Content-Length: 2', 'Expect: 100-continue', ...more);

  it('sends 100 Continue when the request is forwarded', async () => {
    const socket = open(gateway);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      if (text.endsWith('100 Continue\r\n\r\n')) socket.write('{}');
    });
    socket.write(head(auth));
    await eventually(() => expect(text).toContain('HTTP/1.1 200'));
    socket.destroy();
    expect(services.reached[0]).toMatchObject({ body: '{}' });
    expect(services.reached[0]?.headers.expect).toBeUndefined();
  });

  it('sends no 100 Continue for a request that is refused', async () => {
    const answer = await send(gateway, head());
    expect([answer.status, answer.text.includes('100 Continue')]).toEqual([401, false]);
  });
});
