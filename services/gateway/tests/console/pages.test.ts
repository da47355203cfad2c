// The pages of the console, its session, and the switch that takes all of it away.
import { useNeighbours } from '../neighbours.ts';
import { asConsole, givenBrowser } from './given.ts';

const { services, identity, useGateway } = useNeighbours();
const gateway = useGateway();
const without = useGateway({ console: false });

const get = (path: string, headers: Record<string, string> = {}, at = gateway) =>
  fetch(`${at.url}${path}`, { headers, redirect: 'manual' });
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

it('are forwarded without credentials', async () => {
  const { cookie } = givenBrowser(identity, gateway);
  for (const path of ['/console/', '/console/tables/7', '/console/assets/app-1.js'])
    expect((await get(path, { cookie, authorization: 'Bearer x' })).status).toBe(200);
  expect(services.reached.map(({ url }) => url)).toEqual([
    '/console/',
    '/console/tables/7',
    '/console/assets/app-1.js',
  ]);
  for (const { headers } of services.reached)
    expect([headers.cookie, headers.authorization]).toEqual([undefined, undefined]);
});

it('have one spelling, and are only read', async () => {
  for (const path of ['/console//', '/console/a/', '/console/%61', '/consoles/'])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  expect((await fetch(`${gateway.url}/console/`, { method: 'POST' })).status).toBe(405);
  expect(services.reached).toEqual([]);
});

it('the session is identity’s, with the cookie', async () => {
  const { call, cookie } = givenBrowser(identity, gateway);
  for (const [path, method] of [
    ['/session', 'GET'],
    ['/session', 'DELETE'],
    ['/session/confirm', 'POST'],
  ] as const)
    expect((await call(path, { method })).status).toBe(200);
  expect(services.reached.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /console/session',
    'DELETE /console/session',
    'POST /console/session/confirm',
  ]);
  for (const { headers } of services.reached) expect(headers.cookie).toBe(cookie);
  expect((await call('/session', { method: 'POST' })).status).toBe(405);
});

it('the root leads browsers to the console, and programs to the documentation', async () => {
  const location = async (headers: Record<string, string>, at = gateway) =>
    (await get('/', headers, at)).headers.get('location');
  expect(await location({ accept })).toBe('/console/');
  expect(await location({ accept: '*/*' })).toBe('/docs');
  expect(await location({ accept: 'application/json' })).toBe('/docs');
  expect(await location({ accept }, without)).toBe('/docs');
  expect((await get('/console')).headers.get('location')).toBe('/console/');
});

it('GATEWAY_CONSOLE=off takes all of it away', async () => {
  const { cookie } = givenBrowser(identity, without);
  for (const path of ['/console', '/console/', '/console/session', '/console/api/v1/domains', '/console/config.json'])
    expect([path, (await get(path, { ...asConsole, cookie }, without)).status]).toEqual([path, 404]);
  expect(services.reached).toEqual([]);
});
