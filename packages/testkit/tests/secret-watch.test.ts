import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { watchFetch, watchValue } from '../src/secrets/secret-watch.ts';

describe('a watched fetch', () => {
  let server: Server;
  let url: string;
  const secrets = new Map<string, string>();
  const refusals: unknown[] = [];
  const plain: string[] = [];
  const watcher = {
    secret: ({ kind, value }: { kind: string; value: string }) => void secrets.set(value, kind),
    plain: (value: string) => void plain.push(value),
    refusal: (answer: unknown) => void refusals.push(answer),
  };
  const watched = watchFetch(fetch, watcher);

  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/html')
        return response
          .setHeader('Content-Type', 'text/html')
          .end('<input type="hidden" name="csrf" value="of a page">');
      if (request.url?.startsWith('/refused'))
        return response
          .writeHead(422, { 'Content-Type': 'text/html' })
          .end('<p>no</p><input type="hidden" name="csrf" value="of a refusal">');
      response.setHeader('Set-Cookie', ['almanac_session=of a session; HttpOnly', 'almanac_request=of a request']);
      response.setHeader('Location', 'http://127.0.0.1/callback?code=of+a+callback&state=1');
      response.setHeader('Content-Type', 'application/json');
      response.end(
        JSON.stringify({
          access_token: 'of an answer',
          list: [{ client_secret: 'of a list', code: 'of a row', url: 'https://s3/x?X-Amz-Signature=of%20a%20link' }],
        }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(() => new Promise<void>((resolve) => void server.close(() => resolve())));

  beforeEach(() => {
    secrets.clear();
    refusals.length = 0;
  });

  it('sees what is sent, in headers, addresses, forms and JSON', async () => {
    const basic = Buffer.from('id:of an application').toString('base64');
    await watched(`${url}/?token=of+a+link&page=1`, {
      headers: { Authorization: `Basic ${basic}`, Cookie: 'a=one; b=two' },
    });
    await watched(url, { method: 'POST', body: new URLSearchParams({ password: 'of a form', email: 'a@b' }) });
    await watched(url, { method: 'POST', body: 'code_verifier=of+a+text&scope=api' });
    await watched(new URL(url), {
      method: 'POST',
      body: '{"user":{"password":"of a body"}}',
      headers: { authorization: 'Bearer of-a-bearer' },
    });
    expect([...secrets.keys()]).toEqual(
      expect.arrayContaining([
        ...['of a link', basic, 'one', 'two', 'of a form', 'of a text', 'of a body', 'of-a-bearer'],
      ]),
    );
    expect([...secrets.keys()]).not.toContain('a@b');
    expect(new Set(plain)).toEqual(new Set(['1', 'a@b', 'api']));
  });

  it('sees what is answered, in cookies, redirects, JSON and pages, and leaves the answer readable', async () => {
    const answer = await watched(url);
    expect(await answer.json()).toMatchObject({ access_token: 'of an answer' });
    await watched(`${url}/html`);
    expect([...secrets.keys()].toSorted()).toEqual(
      ['of a callback', 'of a link', 'of a list', 'of a page', 'of a session', 'of an answer'].toSorted(),
    );
  });

  it('reports refusals, without the hidden fields of a form that is shown again', async () => {
    await watched(`${url}/refused?token=of+a+link`);
    expect(refusals).toEqual([{ method: 'GET', path: '/refused', status: 422, body: '<p>no</p>' }]);
  });

  it('finds the secrets of a value that came another way', () => {
    watchValue({ admin: { password: 'of an operator' } }, watcher);
    expect([...secrets]).toEqual([['of an operator', 'a password']]);
  });
});
