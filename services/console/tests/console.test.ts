// The console's server over HTTP, with a build of a few files, and with none.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { createTestKeys } from '@almanac/testkit/calls/keys';
import { createTestDatabase, type TestDatabase } from '@almanac/testkit/postgres/postgres';
import { watchLog } from '@almanac/testkit/secrets/watched-logs';
import { readConfig } from '../src/config.ts';
import { createConsole } from '../src/service.ts';

const script = `console.log('${'a'.repeat(2_000)}');`;
const page = '<!doctype html><meta property="csp-nonce" nonce="__CSP_NONCE__"><style nonce="__CSP_NONCE__"></style>';

let bus: TestDatabase;
let built: Server;
let unbuilt: Server;
const folder = mkdtempSync(join(tmpdir(), 'almanac-console-'));

type Server = { url: string; stop(): Promise<void> };

async function start(from: string): Promise<Server> {
  const keys = await createTestKeys();
  const log = watchLog();
  const env = { ...keys.env, ALMANAC_BUS_URL: bus.url, ALMANAC_LOG_LEVEL: 'info', CONSOLE_HTTP_PORT: '0' };
  const service = await createConsole({ ...readConfig(env), folder: from }, { log: log.destination });
  const { httpPort } = await service.start();
  return {
    url: `http://127.0.0.1:${httpPort}`,
    stop: async () => {
      await service.stop();
      log.expectNoSecret();
    },
  };
}

beforeAll(async () => {
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), page);
  writeFileSync(join(folder, '.digest'), 'hidden');
  writeFileSync(join(folder, 'icon.svg'), '<svg/>');
  writeFileSync(join(folder, 'assets/app-1a2b.js'), script);
  writeFileSync(join(folder, 'assets/app-1a2b.js.br'), brotliCompressSync(script));
  writeFileSync(join(folder, 'assets/app-1a2b.js.gz'), gzipSync(script));
  bus = await createTestDatabase('console');
  [built, unbuilt] = await Promise.all([start(folder), start(join(folder, 'nothing'))]);
});
afterAll(async () => {
  await Promise.all([built, unbuilt].map((server) => server?.stop()));
  await bus?.drop();
  rmSync(folder, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}, server = built) =>
  fetch(`${server.url}${path}`, { headers: { 'accept-encoding': 'identity', ...headers } });

describe('the page', () => {
  it('is the same at every address of the console, and is never stored', async () => {
    for (const path of [
      '/console/',
      '/console/index.html',
      '/console/tables/7?filter=a',
      '/console/.digest',
      '/console/config',
    ]) {
      const answer = await get(path);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(await answer.text()).toMatch(/^<!doctype html>/);
    }
  });

  it('allows scripts and styles of this server only, with a nonce of its own for styles', async () => {
    const nonces = new Set<string>();
    for (let i = 0; i < 2; i += 1) {
      const answer = await get('/console/');
      const text = await answer.text();
      const [, nonce = ''] = /nonce="([\w-]{22})"/.exec(text) ?? [];
      nonces.add(nonce);
      expect(text).toBe(page.replaceAll('__CSP_NONCE__', nonce));
      expect(answer.headers.get('content-security-policy')).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'`,
      );
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
      expect(answer.headers.get('cross-origin-opener-policy')).toBe('same-origin');
    }
    expect(nonces.size).toBe(2);
  });

  it('is 503 with a sentence when nothing is built', async () => {
    const answer = await get('/console/tables', {}, unbuilt);
    expect([answer.status, answer.headers.get('cache-control'), await answer.text()]).toEqual([
      503,
      'no-store',
      'The console has not been built on this server.\n',
    ]);
    expect((await get('/readyz', {}, unbuilt)).status).toBe(200);
  });
});

describe('files', () => {
  it('with a hash in their name are kept for a year, as the build compressed them', async () => {
    const plain = await get('/console/assets/app-1a2b.js');
    expect(await plain.text()).toBe(script);
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    for (const encoding of ['br', 'gzip']) {
      const answer = await get('/console/assets/app-1a2b.js', { 'accept-encoding': encoding });
      expect([answer.headers.get('content-encoding'), answer.headers.get('vary')]).toEqual([
        encoding,
        'Accept-Encoding',
      ]);
      expect(await answer.text()).toBe(script); // fetch decompresses
    }
  });

  it('without one are revalidated', async () => {
    const first = await get('/console/icon.svg');
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    const again = await get('/console/icon.svg', {
      'if-none-match': String(first.headers.get('etag')),
      'cache-control': 'max-age=0', // otherwise fetch asks for a fresh copy
    });
    expect(again.status).toBe(304);
  });

  it('are 404 when they are unknown, and only read', async () => {
    for (const path of ['/console/assets/app-0000.js', '/console/assets/', '/console/assets/app-1a2b.js.br', '/other'])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    expect((await fetch(`${built.url}/console/`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${built.url}/console/`, { method: 'HEAD' })).status).toBe(200);
  });
});

it('the configuration names the version', async () => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
    version: string;
  };
  const answer = await get('/console/config.json');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(await answer.json()).toEqual({ version: manifest.version });
});
