// Calls of the console: the API with the session of a browser instead of a token.
import { contextHeader } from '@almanac/service-kit/caller/call-context';
import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { decodeJwt } from 'jose';
import { apiRoutes } from '../../src/routes.ts';
import { statuses, times } from '../given.ts';
import { announce, useNeighbours } from '../neighbours.ts';
import { asConsole, givenBrowser } from './given.ts';

const { services, identity, billing, useGateway, startGateway, connectBus } = useNeighbours();
const gateway = useGateway();

const ended = refusal('Session ended', 'session_ended', 'You are not logged in, or your session has ended.');
const revocationOf = (kind: string, subject: string) => ({
  account_id: 1,
  kind,
  subject,
  issued_before: new Date().toISOString(),
  expires_at: new Date(Date.now() + 600_000).toISOString(),
  reason: 'session_ended',
});

describe('a call', () => {
  it('reaches the service as one of the API, with a context of the session’s user', async () => {
    const browser = givenBrowser(identity, gateway, { account_id: 3, user_id: 33 });
    const answer = await browser.call('/api/v1/domains?page=2');
    expect(answer.status).toBe(200);
    const { url, headers } = services.reached[0] as (typeof services.reached)[0];
    expect(url).toBe('/api/v1/domains?page=2');
    expect(headers.cookie).toBeUndefined();
    expect(decodeJwt(String(headers[contextHeader]))).toMatchObject({
      account: 3,
      user: 33,
      scopes: ['api'],
      channel: 'console',
      branching: true,
    });
  });

  it('keeps each session to its own account', async () => {
    const [own, other] = [
      givenBrowser(identity, gateway, { account_id: 4 }),
      givenBrowser(identity, gateway, { account_id: 5 }),
    ];
    await Promise.all([own, other, own, other].map((browser) => browser.call('/api/v1/domains')));
    const accounts = services.reached.map(({ headers }) => decodeJwt(String(headers[contextHeader])).account);
    expect(accounts.toSorted()).toEqual([4, 4, 5, 5]);
  });

  it('is 401 without a session, and for one that identity doesn’t know', async () => {
    const browser = givenBrowser(identity, gateway);
    browser.end();
    for (const cookie of ['', 'almanac_session=short', browser.cookie]) {
      const answer = await browser.call('/api/v1/domains', { headers: { cookie } });
      expect([answer.status, await answer.json()]).toEqual([401, ended]);
    }
    expect(services.reached).toEqual([]);
  });

  it('is 404 and 405 as on the API', async () => {
    const browser = givenBrowser(identity, gateway);
    expect((await browser.call('/api/v1/nothing')).status).toBe(404);
    expect((await browser.call('/api/v1/domains', { method: 'PUT' })).status).toBe(405);
  });

  it('resolves a session once for many calls', async () => {
    const browser = givenBrowser(identity, gateway);
    const before = identity.resolved();
    await times(10, () => browser.call('/api/v1/domains'));
    await browser.call('/api/v1/branches');
    expect(identity.resolved() - before).toBe(1);
  });
});

it('leaves cookies of the API alone', async () => {
  const { cookie } = givenBrowser(identity, gateway);
  const answer = await fetch(`${gateway.url}/api/v1/domains`, { headers: { ...asConsole, cookie } });
  expect([answer.status, services.reached]).toEqual([401, []]);
});

it.each(apiRoutes.map(({ method, path }) => [`${method} ${path}`, method, path.replaceAll(/\{\w+\}/g, '7')]))(
  'is refused on every route without its header and without a session: %s',
  async (_name, method, path) => {
    const { call, end } = givenBrowser(identity, gateway);
    end();
    const ask = (headers: Record<string, string>) => call(`/api/v1${path}`, { method, headers });
    expect([(await ask({ 'x-almanac-console': '' })).status, (await ask({})).status]).toEqual([403, 401]);
    expect(services.reached).toEqual([]);
  },
);

describe('the end of a session', () => {
  it('stops its calls with the event, and no others', async () => {
    const bus = await connectBus('identity');
    const [browser, other] = [givenBrowser(identity, gateway), givenBrowser(identity, gateway)];
    expect(await statuses(Promise.all([browser, other].map((each) => each.call('/api/v1/domains'))))).toEqual([
      200, 200,
    ]);
    await announce(bus, 'identity.token.revoked', revocationOf('token', `session:${browser.session.id}`));
    await eventually(async () => expect((await browser.call('/api/v1/domains')).status).toBe(401));
    expect((await other.call('/api/v1/domains')).status).toBe(200);
  });

  it('comes with the deletion of its user and its account, too', async () => {
    const bus = await connectBus('identity');
    const [ofUser, ofAccount] = [{ user_id: 901 }, { account_id: 902 }].map((facts) =>
      givenBrowser(identity, gateway, facts),
    );
    await announce(bus, 'identity.token.revoked', revocationOf('user', '901'));
    await announce(bus, 'identity.token.revoked', revocationOf('account', '902'));
    await eventually(async () => {
      const answers = Promise.all(
        [ofUser, ofAccount].map((each) => each?.call('/api/v1/domains') as Promise<Response>),
      );
      expect(await statuses(answers)).toEqual([401, 401]);
    });
  });
});

describe('an act of consequence', () => {
  const old = () => new Date(Date.now() - 1).toISOString();

  it('needs a password that was given a short while ago, and is found confirmed at once', async () => {
    const browser = givenBrowser(identity, gateway, { confirmed_until: old() });
    const act = () => browser.call('/api/v1/promotions/1/promote', { method: 'POST' });
    expect((await browser.call('/api/v1/promotions/1/send_request', { method: 'POST' })).status).toBe(200);
    const refused = await act();
    expect([refused.status, ((await refused.json()) as { problems: object[] }).problems]).toEqual([
      403,
      [expect.objectContaining({ code: 'password_required' })],
    ]);
    browser.session.confirmed_until = new Date(Date.now() + 60_000).toISOString();
    expect((await act()).status).toBe(200);
  });

  it('is one of these', () => {
    expect(apiRoutes.filter((route) => route.confirmed).map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /table_definitions/{id}/deploy',
      'POST /deployments/{id}/deploy',
      'POST /promotions/{id}/promote',
      'POST /webhook_endpoints',
      'PATCH /webhook_endpoints/{id}',
      'POST /webhook_endpoints/{id}/rotate_secret',
      'POST /users',
      'PATCH /users/{id}',
      'POST /users/{id}/refresh_tokens',
      'POST /user_groups',
      'PATCH /user_groups/{id}',
      'POST /user_group_assignments',
      'POST /oauth_applications',
      'PATCH /oauth_applications/{id}',
      'POST /oauth_applications/{id}/regenerate_secret',
      'POST /oauth_applications/{id}/secrets',
    ]);
  });
});

describe('the allowance', () => {
  it('is not touched: calls are counted by person, also when none is left', async () => {
    const started = await startGateway();
    billing.state.allowance = 0;
    try {
      const browser = givenBrowser(identity, started, { account_id: 6, user_id: 66 });
      const before = billing.calls();
      expect(await statuses(times(3, () => browser.call('/api/v1/domains')))).toEqual([200, 200, 200]);
      expect((await browser.call('/api/v1/nothing')).status).toBe(404);
      await eventually(() => {
        const own = billing.consoleCalls.filter(({ user_id }) => user_id === 66);
        expect(own.reduce((sum, { calls }) => sum + calls, 0)).toBe(3);
        expect(own[0]).toMatchObject({ method: 'GET', resource: 'domains' });
      });
      expect(billing.calls()).toBe(before);
    } finally {
      billing.state.allowance = 45_000;
    }
  });

  it('is not booked: an overdue account may change itself and nothing else', async () => {
    const started = await startGateway();
    billing.state.writesBlocked = true;
    try {
      const browser = givenBrowser(identity, started, { account_id: 8 });
      const write = (method: string, path: string) => browser.call(`/api/v1${path}`, { method });
      expect((await write('POST', '/domains')).status).toBe(402);
      expect((await write('PATCH', '/account')).status).toBe(200);
      expect((await write('GET', '/usage')).status).toBe(200);
    } finally {
      billing.state.writesBlocked = false;
    }
  });
});

describe('fair use', () => {
  const refusalOf = async (answer: Response) => ((await answer.json()) as { errors: string[] }).errors;

  it('limits the calls of a person in five seconds, in all their sessions', async () => {
    const started = await startGateway({ limits: { personBurst: 5 } });
    const person = { account_id: 5, user_id: 55 };
    const browsers = [givenBrowser(identity, started, person), givenBrowser(identity, started, person)] as const;
    const other = givenBrowser(identity, started, { ...person, user_id: 56 });
    expect(await statuses(times(4, () => browsers[0].call('/api/v1/domains')))).toEqual([200, 200, 200, 200]);
    expect((await browsers[1].call('/api/v1/domains')).status).toBe(200);
    const answer = await browsers[1].call('/api/v1/domains');
    const message = 'You have made 5 calls in less than 5 seconds.';
    expect([answer.status, await refusalOf(answer)]).toEqual([429, [message]]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await other.call('/api/v1/domains')).status).toBe(200);
  });

  it('lets a person go on slowly who has used up the calls of a minute', async () => {
    const started = await startGateway({ limits: { personMinute: 5 } });
    const browser = givenBrowser(identity, started, { account_id: 5, user_id: 57 });
    const answers = await times(50, () => browser.call('/api/v1/domains'));
    const refused = answers.filter(({ status }) => status === 429) as [Response, ...Response[]];
    const message = 'You have made 5 calls in less than a minute; 2 a second are answered now.';
    expect([await refusalOf(refused[0]), refused[0].headers.get('retry-after')]).toEqual([[message], '1']);
    await eventually(async () => expect((await browser.call('/api/v1/domains')).status).toBe(200));
  });
});
