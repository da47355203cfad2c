// Which answers are compressed, for whom, and that a compressed answer keeps the promises of any
// other: flow control, no half answer that looks complete, nothing left open.
import { randomBytes } from 'node:crypto';
import { type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { eventually } from '@almanac/testkit/eventually';
import type { TestGateway } from './given.ts';
import { useNeighbours } from './neighbours.ts';

const { services, identity, useGateway, startGateway } = useNeighbours();
const gateway = useGateway();
let token: string;
beforeAll(async () => {
  token = await identity.token();
});

const path = '/api/v1/table_data/1?table_definition_id=1';
const rows = JSON.stringify({
  rows: Array.from({ length: 300 }, (_, row) => ({ svc_sk: row, name: `Country ${row}` })),
});
const smallRows = JSON.stringify({ rows: [{ svc_sk: 1, name: 'x'.repeat(4_000) }] });

const json =
  (body: string, headers: Record<string, string> = {}) =>
  (_req: IncomingMessage, res: ServerResponse) => {
    for (const [name, value] of Object.entries({ 'Content-Type': 'application/json; charset=utf-8', ...headers }))
      res.setHeader(name, value);
    res.setHeader('Content-Length', Buffer.byteLength(body)).end(body);
  };

type Answer = { status: number; headers: IncomingHttpHeaders; bytes: Buffer };
type Asked = { method?: string; path?: string; to?: TestGateway; headers?: Record<string, string> };

function send(accepted: string | undefined, { method = 'GET', path: asked = path, to = gateway, headers }: Asked) {
  const encoding = accepted === undefined ? {} : { 'accept-encoding': accepted };
  const all = { authorization: `Bearer ${token}`, ...encoding, ...headers };
  const sent = request({ port: to.port, host: '127.0.0.1', method, path: asked, headers: all, agent: false });
  return sent.end();
}

/** The answer as it was sent: fetch would decode it. */
function ask(accepted: string | undefined, asked: Asked = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = send(accepted, asked);
    sent.on('error', reject).on('response', async (answer: IncomingMessage) => {
      try {
        const bytes = Buffer.concat(await answer.toArray());
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes });
      } catch (error) {
        reject(error);
      }
    });
  });
}

const decoders: Record<string, (bytes: Buffer) => Buffer> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  deflate: inflateSync,
  none: (bytes) => bytes,
};
const encodingOf = ({ headers }: Answer) => headers['content-encoding'] ?? 'none';
const textOf = (answer: Answer) => (decoders[encodingOf(answer)] as (bytes: Buffer) => Buffer)(answer.bytes).toString();

const negotiated = [
  [undefined, 'none'],
  ['', 'none'],
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['GZIP', 'gzip'],
  ['*', 'br'],
  ['identity', 'none'],
  ['br;q=0, gzip;q=0', 'none'],
  ['br;q=0, *', 'gzip'],
  ['identity;q=0, *;q=0', 'none'],
  ['zstd', 'none'],
  ['x-gzip', 'none'],
] as const;

const garbage = [
  'br;q=banana',
  ';;;,,,=',
  'gzip;q=',
  ',gzip',
  'br;q=-1',
  'br;q=1e9',
  '\u00ff\u00fe',
  'a,'.repeat(3_000),
  'gzip;'.repeat(3_000),
];

describe('an answer of the API', () => {
  beforeEach(() => services.answer(json(rows, { Vary: 'Exact-Numbers' })));

  it.each(negotiated)('to "%s" is encoded as %s', async (accepted, encoding) => {
    const answer = await ask(accepted);
    expect({ status: answer.status, encoding: encodingOf(answer), text: textOf(answer) }).toEqual({
      status: 200,
      encoding,
      text: rows,
    });
    expect(answer.headers.vary).toBe('Exact-Numbers, Accept-Encoding');
    expect(answer.headers['content-length']).toBe(encoding === 'none' ? String(rows.length) : undefined);
    expect(answer.bytes.length < rows.length / 2).toBe(encoding !== 'none');
  });

  it.each(garbage)('to garbage is complete: %j', async (accepted) => {
    const answer = await ask(accepted);
    expect([answer.status, textOf(answer)]).toEqual([200, rows]);
  });

  it('to HEAD has the length of the answer as it is', async () => {
    const { headers, bytes } = await ask('br', { method: 'HEAD' });
    expect([headers['content-encoding'], headers['content-length'], bytes.length]).toEqual([
      undefined,
      String(rows.length),
      0,
    ]);
    expect(headers.vary).toContain('Accept-Encoding');
  });

  it.each([
    ['that is small', json(smallRows), smallRows],
    ['with an ETag, which If-Match names', json(rows, { ETag: '"7"' }), rows],
    ['with no-transform', json(rows, { 'Cache-Control': 'no-store, no-transform' }), rows],
    ['of another type', json(rows, { 'Content-Type': 'text/csv' }), rows],
  ])('%s is left as it is', async (_case, handler, text) => {
    services.answer(handler);
    const answer = await ask('br, gzip');
    expect([encodingOf(answer), textOf(answer)]).toEqual(['none', text]);
    expect(answer.headers['content-length']).toBe(String(text.length));
  });

  it('keeps the ETag of a record, and If-Match reaches the service unchanged', async () => {
    services.answer(json(rows, { ETag: '"7"' }));
    const { etag } = (await ask('br')).headers;
    expect(etag).toBe('"7"');
    await ask('br', { method: 'PATCH', headers: { 'if-match': String(etag), 'content-type': 'application/json' } });
    expect(services.reached.at(-1)?.headers['if-match']).toBe('"7"');
  });

  it('that the service has encoded is not encoded again', async () => {
    services.answer(json(rows, { 'Content-Encoding': 'zstd' }));
    const { headers, bytes } = await ask('br, gzip');
    expect([headers['content-encoding'], bytes.toString()]).toEqual(['zstd', rows]);
  });

  it('of unknown length arrives part by part', async () => {
    const parts = ['[1', ',2', ',3]'];
    let response: ServerResponse | undefined;
    services.answer((_req, res) => {
      response = res;
      res.setHeader('content-type', 'application/json').write(parts[0]);
    });
    const answer = await new Promise<IncomingMessage>((resolve) => send('br', {}).once('response', resolve));
    const received: string[] = [];
    for await (const chunk of answer) {
      received.push(String(chunk));
      const next = parts[received.length];
      if (next === undefined) response?.end();
      else response?.write(next);
    }
    expect([answer.headers['content-encoding'], received]).toEqual([undefined, parts]);
  });

  it('is read at the pace of its client', async () => {
    const length = 64 * 1024 * 1024;
    let taken = 0;
    services.answer((_req, res) => {
      res.setHeader('content-type', 'application/json').setHeader('content-length', length);
      const write = () => {
        while (taken < length) {
          const bytes = randomBytes(65_536); // as large when it is compressed
          taken += bytes.length;
          if (!res.write(bytes)) return void res.once('drain', write);
        }
        res.end();
      };
      write();
    });
    const answer = await new Promise<IncomingMessage>((resolve) => send('gzip', {}).once('response', resolve));
    answer.pause();
    let before = -1;
    await eventually(() => {
      const isStill = taken === before;
      before = taken;
      expect(isStill).toBe(true);
    });
    expect(taken).toBeLessThan(length / 2);
    let read = 0;
    for await (const chunk of answer) read += (chunk as Buffer).length;
    expect(taken).toBe(length);
    expect(read).toBeGreaterThan(length);
  });

  it('that ends early is never passed off as complete', async () => {
    services.answer((_req, res) => {
      res.setHeader('content-type', 'application/json').setHeader('content-length', rows.length * 2);
      res.write(rows, () => res.destroy());
    });
    for (const encoding of ['br', 'gzip']) await expect(ask(encoding)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });

  it('whose client disconnects leaves nothing open', async () => {
    services.answer((_req, res) => {
      res.setHeader('content-type', 'application/json').setHeader('content-length', 10_000_000);
      res.write(randomBytes(1_000_000)); // the rest never comes
    });
    for (const encoding of ['br', 'gzip']) {
      const sent = send(encoding, {});
      sent.on('error', () => {});
      const answer = await new Promise<IncomingMessage>((resolve) => sent.once('response', resolve));
      answer.on('error', () => {}).once('data', () => sent.destroy());
    }
    await eventually(async () => expect(await gateway.metrics()).toMatch(/^almanac_gateway_requests_in_flight\S* 0$/m));
  });

  it('is left as it is with GATEWAY_COMPRESSION=false', async () => {
    const plain = await startGateway({ compression: false });
    for (const asked of [{}, { path: (await documents())[1] as string }]) {
      const answer = await ask('br, gzip', { ...asked, to: plain });
      expect([answer.status, encodingOf(answer)]).toEqual([200, 'none']);
      expect(answer.headers.vary ?? '').not.toContain('Accept-Encoding');
    }
  });
});

it.each(['/oauth/authorize', '/oauth/token', '/.well-known/jwks.json', '/files/a', '/dev/mail'])(
  'an answer of %s is never compressed',
  async (asked) => {
    services.answer(json(rows));
    const method = asked === '/oauth/token' ? 'POST' : 'GET';
    const answer = await ask('br, gzip', { path: asked, method, headers: { host: '127.0.0.1' } });
    expect([answer.status, encodingOf(answer)]).toEqual([200, 'none']);
    expect(answer.headers.vary).toBeUndefined();
  },
);

const immutable = 'public, max-age=31536000, immutable';

/** The document of the API, and the styles and scripts of the documentation, by digest. */
async function documents(): Promise<string[]> {
  const page = textOf(await ask(undefined, { path: '/docs' }));
  return ['/openapi.json', ...[...page.matchAll(/"(\/docs\/swagger[^"]+)"/g)].map(([, path]) => path as string)];
}

describe('a document', () => {
  beforeEach(() => {
    const summary = 'A long text. '.repeat(200);
    services.answer(json(JSON.stringify({ paths: { '/api/v1/domains': { get: { summary } } } })));
  });

  it.each(negotiated)('to "%s" is encoded as %s', async (accepted, encoding) => {
    for (const document of await documents()) {
      const answer = await ask(accepted, { path: document });
      expect([answer.status, encodingOf(answer)]).toEqual([200, encoding]);
      expect(textOf(answer)).toBe(textOf(await ask(undefined, { path: document })));
      expect([answer.headers['content-length'], answer.headers.vary]).toEqual([
        String(answer.bytes.length),
        'Accept-Encoding',
      ]);
    }
  });

  it.each(garbage)('to garbage is complete: %j', async (accepted) => {
    const [, path] = await documents();
    const [answer, plain] = [
      await ask(accepted, { path: path as string }),
      await ask(undefined, { path: path as string }),
    ];
    expect([answer.status, textOf(answer) === textOf(plain)]).toEqual([200, true]);
  });

  it('is kept by clients, and revalidated by a digest of its own in each encoding', async () => {
    for (const document of await documents()) {
      const tags = new Set<string>();
      for (const accepted of ['br', 'gzip', undefined]) {
        const { headers } = await ask(accepted, { path: document });
        const etag = String(headers.etag);
        tags.add(etag);
        expect(headers['cache-control']).toBe(document === '/openapi.json' ? 'no-cache' : immutable);
        const again = await ask(accepted, { path: document, headers: { 'if-none-match': etag } });
        expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, etag]);
        expect(again.headers['content-encoding']).toBeUndefined();
        const other = await ask(accepted, { path: document, headers: { 'if-none-match': '"other"' } });
        expect(other.status).toBe(200);
      }
      expect(tags.size).toBe(3);
    }
  });

  it('that is small is left as it is', async () => {
    const [icon] = /\/docs\/favicon-16x16[^"]+/.exec(textOf(await ask(undefined, { path: '/docs' }))) ?? [];
    const answer = await ask('br', { path: String(icon) });
    expect([answer.status, encodingOf(answer), answer.headers.vary]).toEqual([200, 'none', undefined]);
    expect(answer.headers['content-type']).toBe('image/png');
  });
});
