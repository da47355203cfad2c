import { createServer } from 'node:http';
import { Browser, readForms } from '../src/browser.ts';

describe('forms of a page', () => {
  it('are read with hidden fields, the password field and the buttons, entities decoded', () => {
    const [form] = readForms(`<form method="POST" action="/go?a=1&amp;b=2">
      <input type="hidden" name="csrf" value="&quot;x&#39;&#x41;"> <input name="email"><input type=password name="secret">
      <input type="checkbox" name="off" value="1"><input type="checkbox" name="on" value="1" checked>
      <button name="decision" value="deny">No</button><button name="decision" value="allow"><b>Allow</b></button></form>`);
    expect(form).toEqual({
      action: '/go?a=1&b=2',
      method: 'post',
      fields: { csrf: `"x'A`, email: '', secret: '', on: '1' },
      passwordField: 'secret',
      buttons: [
        { name: 'decision', value: 'deny', text: 'No' },
        { name: 'decision', value: 'allow', text: 'Allow' },
      ],
    });
  });
});

describe('a browser', () => {
  it('keeps cookies, drops expired ones, and follows no redirect', async () => {
    const server = createServer((request, response) => {
      const seen = request.headers.cookie ?? '';
      response.setHeader('Set-Cookie', request.url === '/out' ? ['a=; Max-Age=0'] : ['a=1; HttpOnly', 'b=2']);
      response.writeHead(302, { Location: '/next' }).end(seen);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const browser = new Browser();
    expect((await browser.open(`${url}/in`)).location).toBe(`${url}/next`);
    expect((await browser.open(`${url}/out`)).html).toBe('a=1; b=2');
    expect((await browser.open(`${url}/in`)).html).toBe('b=2');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});
