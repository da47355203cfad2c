// The console through the whole system: each session sees its own account alone, and nothing once
// it has ended. Its calls are the API's, so the services' own checks are those of the other tests.
import { createApi, type Page } from '@almanac/api-client/api';
import { Browser } from '@almanac/api-client/browser';
import type { Person } from '@almanac/api-client/sign-in';
import { eventually } from '@almanac/testkit/eventually';
import { type Account, baseUrl, givenAccount, unique } from '@almanac/testkit/system/builders';

type Answer = { status: number; body: { data?: { name: string; calls: number }[]; problems?: { code: string }[] } };
type Console = { call(method: string, path: string, body?: object): Promise<Answer>; cookie: string };

async function logIn(person: Person, to = '/console/tables?sort=name'): Promise<Console> {
  const browser = new Browser();
  const page = await browser.open(`${baseUrl()}/oauth/login?${new URLSearchParams({ return_to: to })}`);
  const form = page.forms.find(({ passwordField }) => passwordField);
  if (!form) throw new Error(`There is no log-in form: ${page.status}`);
  const answer = await browser.submit(page, form, person);
  expect([answer.status, answer.location]).toEqual([303, `${baseUrl()}${to}`]);
  const [cookie = ''] = [...browser.cookies]
    .filter(([name]) => name.endsWith('almanac_session'))
    .map((pair) => pair.join('='));
  return {
    cookie,
    call: async (method, path, body) => {
      const response = await fetch(`${baseUrl()}/console${path}`, {
        method,
        headers: {
          cookie,
          'x-almanac-console': '1',
          'sec-fetch-site': 'same-origin',
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
    },
  };
}

let own: Account;
let other: Account;
beforeAll(async () => {
  [own, other] = await Promise.all([givenAccount(), givenAccount()]);
});

it('shows each session its own account, and takes nothing of the allowance', async () => {
  const [here, there] = await Promise.all(
    [own, other].map(({ admin }) => logIn(admin)) as [Promise<Console>, Promise<Console>],
  );
  const name = `Domain ${unique()}`;
  const made = await here.call('POST', '/api/v1/domains', { domain: { name } });
  expect(made.status).toBe(201);
  const { id } = made.body as { id?: number };
  expect((await here.call('GET', `/api/v1/domains/${id}`)).status).toBe(200);
  expect((await there.call('GET', `/api/v1/domains/${id}`)).status).toBe(404);
  expect((await there.call('DELETE', `/api/v1/domains/${id}`)).status).toBe(404);
  const machine = await own.machine();
  expect((await machine.get<Page<{ name: string }>>('/domains')).data.map((domain) => domain.name)).toContain(name);
  await eventually(async () => {
    const { body } = await here.call('GET', '/api/v1/usage?channel=console&q=resource:eq:domains');
    expect(body.data?.reduce((sum, { calls }) => sum + calls, 0)).toBe(2);
  });
  const counted = await machine.get<Page<{ channel: string; calls: number }>>('/usage');
  expect(new Set(counted.data.map(({ channel }) => channel))).toEqual(new Set(['api']));
});

it('ends with the log-out and with the list of sessions, and its cookie is nothing to the API', async () => {
  const [first, second] = [await logIn(own.admin), await logIn(own.admin)];
  const api = createApi(baseUrl(), 'no.real.token');
  expect((await api.send('GET', '/domains')).status).toBe(401);
  const bare = await fetch(`${baseUrl()}/api/v1/domains`, { headers: { cookie: first.cookie } });
  expect(bare.status).toBe(401);
  for (const each of [first, second]) expect((await each.call('GET', '/api/v1/domains')).status).toBe(200);
  expect((await first.call('DELETE', '/session')).status).toBe(204);
  const isOver = async ({ call }: Console) => expect((await call('GET', '/api/v1/domains')).status).toBe(401);
  await eventually(() => isOver(first));
  expect((await second.call('GET', '/api/v1/domains')).status).toBe(200);
  await (await own.person()).send('DELETE', '/me/sessions');
  await eventually(() => isOver(second));
});

it('asks for the password before an act of consequence, once it was given long ago', async () => {
  const session = await logIn(own.admin);
  expect((await session.call('POST', '/session/confirm', { password: 'not the password' })).status).toBe(422);
  expect((await session.call('POST', '/session/confirm', { password: own.admin.password })).status).toBe(200);
  const application = { name: `App ${unique()}`, redirect_uri: 'https://app.example.com/back', scopes: 'api' };
  expect((await session.call('POST', '/api/v1/oauth_applications', { oauth_application: application })).status).toBe(
    201,
  );
});
