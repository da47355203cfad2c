// Other sites can make a browser send its cookies, and must get nothing by it. Pages of the console
// show themselves by a header, which no other site's page can send.
import { publicUrl } from '../fakes.ts';
import { useNeighbours } from '../neighbours.ts';
import { asConsole, givenBrowser } from './given.ts';

const { services, identity, useGateway } = useNeighbours();
const other = 'https://evil.example';
const gateway = useGateway({ corsOrigins: [other] });

const paths = ['/api/v1/domains', '/session', '/session/confirm'];

async function expectNothing(answer: Response): Promise<void> {
  expect(answer.status).toBe(403);
  expect(((await answer.json()) as { problems: object[] }).problems).toMatchObject([{ code: 'cross_site' }]);
  expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
  expect(services.reached).toEqual([]);
}

describe.each(paths)('another site gets nothing from /console%s', (path) => {
  const send = (init: RequestInit) => {
    const { cookie } = givenBrowser(identity, gateway);
    return fetch(`${gateway.url}/console${path}`, { ...init, headers: { cookie, ...(init.headers as object) } });
  };

  it('with the post of a form', async () => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      origin: other,
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
    };
    await expectNothing(await send({ method: 'POST', headers, body: 'name=x' }));
  });

  it('with an image', async () => {
    await expectNothing(await send({ headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' } }));
  });

  it('with fetch and credentials: the preflight allows nothing, and the call itself is refused', async () => {
    const asked = {
      origin: other,
      'sec-fetch-site': 'cross-site',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'x-almanac-console',
    };
    await expectNothing(await send({ method: 'OPTIONS', headers: asked }));
    await expectNothing(await send({ headers: { ...asConsole, origin: other, 'sec-fetch-site': 'cross-site' } }));
  });

  it('from a sister host, and from a browser that says nothing of itself', async () => {
    await expectNothing(await send({ headers: { ...asConsole, 'sec-fetch-site': 'same-site' } }));
    await expectNothing(await send({ headers: { 'x-almanac-console': '1' } }));
    await expectNothing(await send({ headers: { 'x-almanac-console': '1', origin: other } }));
  });
});

it('takes the equal origin from a browser that doesn’t say where the request came from', async () => {
  const { cookie } = givenBrowser(identity, gateway);
  const headers = { cookie, 'x-almanac-console': '1', origin: publicUrl };
  expect((await fetch(`${gateway.url}/console/api/v1/domains`, { headers })).status).toBe(200);
});

it('answers no other origin, even one that may call the API', async () => {
  const browser = givenBrowser(identity, gateway);
  const options = { 'access-control-request-method': 'GET', origin: other };
  for (const answer of [
    await browser.call('/api/v1/domains', { headers: { origin: other } }),
    await browser.call('/api/v1/domains', { method: 'OPTIONS', headers: options }),
    await fetch(`${gateway.url}/console/`, { headers: { origin: other } }),
  ])
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
});
