// The scopes of a token: those it was issued with that its application still has, at every gateway.
import { contextHeader } from '@almanac/service-kit/caller/call-context';
import type { Bus } from '@almanac/service-kit/messaging/bus/bus';
import { refusal } from '@almanac/testkit/calls/refusal';
import { eventually } from '@almanac/testkit/eventually';
import { decodeJwt } from 'jose';
import { callWith } from '../given.ts';
import { announce, useNeighbours } from '../neighbours.ts';

const { services, identity, useGateway, startGateway, connectBus } = useNeighbours();
const gateway = useGateway();
let bus: Bus;
beforeAll(async () => {
  bus = await connectBus('identity');
});

let changes = 0;

/**
 * The message of identity about changed scopes of an application; a higher number is a later
 * change.
 */
function scopesChanged(clientId: string, scope: string, number = ++changes): Record<string, string> {
  return {
    kind: 'application_scope',
    subject: clientId,
    scope,
    issued_before: new Date(Date.now() + number * 1_000).toISOString(),
    expires_at: new Date(Date.now() + 7_800_000).toISOString(),
    reason: 'scopes_changed',
  };
}

const publish = (payload: Record<string, string>) =>
  announce(bus, 'identity.token.revoked', { ...payload, account_id: 1 });

const calls = {
  'api:read': ['GET', '/api/v1/branches'],
  'api:write': ['POST', '/api/v1/branches'],
  'api:delete': ['DELETE', '/api/v1/branches/7'],
  'api:admin': ['GET', '/api/v1/users'],
} as const;

/** The scopes that a token has, as its calls show. */
async function scopesOf(token: string, at = gateway): Promise<string[]> {
  const scopes: string[] = [];
  for (const [scope, [method, path]] of Object.entries(calls)) {
    const answer = await callWith(at, token, method, path);
    const message = `Insufficient scope. Required: ${scope}`;
    if (answer.status === 200) scopes.push(scope);
    else
      expect([answer.status, await answer.json()]).toEqual([
        403,
        refusal(message, 'insufficient_scope', message, { params: { scope } }),
      ]);
  }
  return scopes;
}

it.each([
  ['api', 'api:read api:write', ['api:read', 'api:write']],
  ['api:read api:delete', 'api:delete api:admin', ['api:delete']],
  ['api:read', 'api', ['api:read']],
  ['api:write', 'api:read', []],
])('a token of %j has, when its application has %j, the scopes %j', async (granted, has, expected) => {
  const client_id = `client-${granted}-${has}`;
  const token = await identity.token({ client_id, scope: granted });
  const other = await identity.token({ scope: granted });
  const before = await scopesOf(token);
  await publish(scopesChanged(client_id, has));
  await eventually(async () => expect(await scopesOf(token)).toEqual(expected));
  expect(
    await scopesOf(await identity.token({ client_id, scope: granted, iat: Math.floor(Date.now() / 1000) + 25 })),
  ).toEqual(expected);
  expect(await scopesOf(other)).toEqual(before);
  await publish(scopesChanged(client_id, 'api'));
  await eventually(async () => expect(await scopesOf(token)).toEqual(before));
});

it('the context of a call has the present scopes of the token, even if one was cached before', async () => {
  const token = await identity.token({ client_id: 'cached', scope: 'api' });
  const contextScopes = async () => {
    expect((await callWith(gateway, token, 'GET', '/api/v1/branches')).status).toBe(200);
    return decodeJwt(String(services.reached.at(-1)?.headers[contextHeader])).scopes;
  };
  expect(await contextScopes()).toEqual(['api']);
  await publish(scopesChanged('cached', 'api:read api:write'));
  await eventually(async () => expect(await contextScopes()).toEqual(['api:read', 'api:write']));
  await publish(scopesChanged('cached', 'api:read'));
  await eventually(async () => expect(await contextScopes()).toEqual(['api:read']));
  await publish(scopesChanged('cached', 'api'));
  await eventually(async () => expect(await contextScopes()).toEqual(['api']));
});

it('changes that arrive out of order leave the scopes of the latest one', async () => {
  const token = await identity.token({ client_id: 'shuffled', scope: 'api' });
  const [first, second, last] = ['api:admin', 'api:delete', 'api:read'].map((scope) =>
    scopesChanged('shuffled', scope),
  );
  for (const each of [second, last, first, second]) await publish(each as Record<string, string>);
  const done = await identity.token({ jti: 'afterwards' });
  await publish({ ...scopesChanged('', ''), kind: 'token', subject: 'afterwards' });
  await eventually(async () => expect((await callWith(gateway, done, 'GET', '/api/v1/branches')).status).toBe(401));
  expect(await scopesOf(token)).toEqual(['api:read']);
});

it('a gateway that starts later applies the limit from the first call on', async () => {
  const token = await identity.token({ client_id: 'narrow', scope: 'api' });
  identity.revocations.push(scopesChanged('narrow', 'api:write'));
  const late = await startGateway();
  expect(await scopesOf(token, late)).toEqual(['api:write']);
  // Identity commits a change before it announces it. A gateway that is not subscribed yet reads
  // the list once more when it is.
  const wider = scopesChanged('narrow', 'api:write api:admin');
  identity.revocations.push(wider);
  await publish(wider);
  await eventually(async () => expect(await scopesOf(token, late)).toEqual(['api:write', 'api:admin']));
});
