// Calls without the required scope: refused, and reported to the audit log.
import type { AuditEntry } from '@almanac/service-kit/messaging/audit';
import { eventually } from '@almanac/testkit/eventually';
import { collectMessages } from '@almanac/testkit/messaging/bus';
import { callWith } from '../given.ts';
import { useNeighbours } from '../neighbours.ts';

const { services, identity, useGateway, connectBus } = useNeighbours();
const gateway = useGateway();
let entries: AuditEntry[];
beforeAll(async () => {
  const log = await connectBus('log');
  entries = await collectMessages(log, 'log.acts', ['gateway.audit.requested'], ({ payload }) => payload as AuditEntry);
});

it('a call without its scope reaches no service and is reported to the audit log, once in ten minutes', async () => {
  const token = await identity.token({ account_id: 4, user_id: 9, scope: 'api:read' });
  const headers = { 'x-request-id': 'request-0001', 'x-forwarded-for': '6.6.6.6' };
  expect((await callWith(gateway, token, 'DELETE', '/api/v1/domains/7?x=1', { headers })).status).toBe(403);
  await eventually(() => expect(entries).toHaveLength(1));
  expect((await callWith(gateway, token, 'GET', '/api/v1/users')).status).toBe(403);
  await eventually(() => expect(entries).toHaveLength(2));
  expect((await callWith(gateway, token, 'DELETE', '/api/v1/domains/8')).status).toBe(403);
  expect((await callWith(gateway, token, 'GET', '/api/v1/domains')).status).toBe(200);
  const other = await identity.token({ account_id: 5, scope: 'api:read' });
  await callWith(gateway, other, 'DELETE', '/api/v1/domains/7');
  await eventually(() => expect(entries.at(-1)?.account_id).toBe(5));
  const caller = { account_id: 4, user_id: 9, application_id: 11, address: '127.0.0.1' };
  const refused = { ...caller, action: 'access.refused', result: 'refused' };
  const errors = (scope: string) => [`Insufficient scope. Required: ${scope}`];
  expect(entries.filter(({ account_id }) => account_id === 4)).toEqual([
    {
      ...refused,
      request_id: 'request-0001',
      after: { method: 'DELETE', path: '/domains/7', errors: errors('api:admin') },
    },
    {
      ...refused,
      request_id: expect.any(String),
      after: { method: 'GET', path: '/users', errors: errors('api:admin') },
    },
  ]);
  expect(services.reached.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /api/v1/domains']);
});

it('a call without a valid token is not reported: it has no account', async () => {
  const before = entries.length;
  expect((await callWith(gateway, 'x.y.z', 'DELETE', '/api/v1/domains/9')).status).toBe(401);
  const token = await identity.token({ account_id: 6, scope: 'api:read' });
  await callWith(gateway, token, 'DELETE', '/api/v1/domains/9');
  await eventually(() => expect(entries.at(-1)).toMatchObject({ account_id: 6 }));
  expect(entries).toHaveLength(before + 1);
});
