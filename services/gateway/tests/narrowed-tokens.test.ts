// Tokens may do what they were issued with and their application may do now, on every gateway that heard of it.

import { contextHeader } from '@almanac/service-kit/caller/call-context';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { eventually } from '@almanac/testkit/eventually';
import { decodeJwt } from 'jose';
import { callWith } from './given.ts';
import { announce, useNeighbours } from './neighbours.ts';

const { services, identity, useGateway, startGateway, connectBus } = useNeighbours();
const gateway = useGateway();
let bus: Bus;
beforeAll(async () => {
  bus = await connectBus('identity');
});

let words = 0;

/** What identity says when an application may do something else; the later word is the one with the higher number. */
function word(clientId: string, scope: string, number = ++words): Record<string, string> {
  return {
    kind: 'application_scope',
    subject: clientId,
    scope,
    issued_before: new Date(Date.now() + number * 1_000).toISOString(),
    expires_at: new Date(Date.now() + 7_800_000).toISOString(),
    reason: 'scopes_changed',
  };
}

const say = (payload: Record<string, string>) => announce(bus, 'identity.token.revoked', { ...payload, account_id: 1 });

const calls = {
  'api:read': ['GET', '/api/v1/branches'],
  'api:write': ['POST', '/api/v1/branches'],
  'api:delete': ['DELETE', '/api/v1/branches/7'],
  'api:admin': ['GET', '/api/v1/users'],
} as const;

/** The scopes a token has left, by what is let through. */
async function mayDo(token: string, at = gateway): Promise<string[]> {
  const left: string[] = [];
  for (const [scope, [method, path]] of Object.entries(calls)) {
    const answer = await callWith(at, token, method, path);
    const message = `Insufficient scope. Required: ${scope}`;
    if (answer.status === 200) left.push(scope);
    else expect([answer.status, await answer.json()]).toEqual([403, { error: message, errors: [message] }]);
  }
  return left;
}

it.each([
  ['api', 'api:read api:write', ['api:read', 'api:write']],
  ['api:read api:delete', 'api:delete api:admin', ['api:delete']],
  ['api:read', 'api', ['api:read']],
  ['api:write', 'api:read', []],
])('a token of %j may, when its application has %j, do %j', async (granted, has, left) => {
  const client_id = `client-${granted}-${has}`;
  const token = await identity.token({ client_id, scope: granted });
  const other = await identity.token({ scope: granted });
  const before = await mayDo(token);
  await say(word(client_id, has));
  await eventually(async () => expect(await mayDo(token)).toEqual(left));
  expect(
    await mayDo(await identity.token({ client_id, scope: granted, iat: Math.floor(Date.now() / 1000) + 25 })),
  ).toEqual(left);
  expect(await mayDo(other)).toEqual(before);
  await say(word(client_id, 'api'));
  await eventually(async () => expect(await mayDo(token)).toEqual(before));
});

it('the context of a call never says more than the token may do, though one was signed before', async () => {
  const token = await identity.token({ client_id: 'cached', scope: 'api' });
  const contextScopes = async () => {
    expect((await callWith(gateway, token, 'GET', '/api/v1/branches')).status).toBe(200);
    return decodeJwt(String(services.reached.at(-1)?.headers[contextHeader])).scopes;
  };
  expect(await contextScopes()).toEqual(['api']);
  await say(word('cached', 'api:read api:write'));
  await eventually(async () => expect(await contextScopes()).toEqual(['api:read', 'api:write']));
  await say(word('cached', 'api:read'));
  await eventually(async () => expect(await contextScopes()).toEqual(['api:read']));
  await say(word('cached', 'api'));
  await eventually(async () => expect(await contextScopes()).toEqual(['api']));
});

it('words that come late change nothing, wherever they were heard', async () => {
  const token = await identity.token({ client_id: 'shuffled', scope: 'api' });
  const [first, second, last] = ['api:admin', 'api:delete', 'api:read'].map((scope) => word('shuffled', scope));
  for (const each of [second, last, first, second]) await say(each as Record<string, string>);
  const done = await identity.token({ jti: 'afterwards' });
  await say({ ...word('', ''), kind: 'token', subject: 'afterwards' });
  await eventually(async () => expect((await callWith(gateway, done, 'GET', '/api/v1/branches')).status).toBe(401));
  expect(await mayDo(token)).toEqual(['api:read']);
});

it('a gateway that starts later knows it from the first call on', async () => {
  const token = await identity.token({ client_id: 'narrow', scope: 'api' });
  identity.revocations.push(word('narrow', 'api:write'));
  const late = await startGateway();
  expect(await mayDo(token, late)).toEqual(['api:write']);
  // Like identity, which writes down before it tells: a gateway this young may not listen yet, and then asks once more.
  const wider = word('narrow', 'api:write api:admin');
  identity.revocations.push(wider);
  await say(wider);
  await eventually(async () => expect(await mayDo(token, late)).toEqual(['api:write', 'api:admin']));
});
