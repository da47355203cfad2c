// SIGTERM under load (fault R42): a gateway stops without a failed request. Clients stop using a
// connection whose answer says `Connection: close`.
import { Agent, request } from 'node:http';
import { eventually } from '@almanac/testkit/eventually';
import { findFreePort } from '@almanac/testkit/network/ports';
import { endService, spawnService, untilReady } from '@almanac/testkit/processes/service-process';
import { useNeighbours } from '../neighbours.ts';

const { services, identity, billing, gatewayEnv } = useNeighbours();
let port: number;
beforeAll(async () => {
  port = await findFreePort();
});

/** Makes calls over one connection until an answer closes it; returns the failures. */
async function callUntilClosed(token: string, tally: { served: number }): Promise<string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const failures: string[] = [];
  for (let isOver = false; !isOver && failures.length === 0; ) {
    isOver = await new Promise<boolean>((resolve) => {
      const sent = request({ agent, host: '127.0.0.1', port, path: '/api/v1/domains' });
      sent.setHeader('Authorization', `Bearer ${token}`);
      sent.on('response', (answer) => {
        if (answer.statusCode !== 200) failures.push(String(answer.statusCode));
        tally.served += 1;
        answer.resume().on('end', () => resolve(answer.headers.connection === 'close'));
        answer.on('error', (error) => failures.push(error.message));
      });
      sent.on('error', (error) => {
        failures.push(error.message);
        resolve(true);
      });
      sent.end();
    });
  }
  agent.destroy();
  return failures;
}

it('a gateway that gets SIGTERM finishes its requests, closes its connections and exits without a failed call', async () => {
  services.answer((_req, res) => void setTimeout(() => res.end('{}'), 20));
  const gateway = spawnService('gateway', { ...gatewayEnv(port), ALMANAC_DRAIN_SECONDS: '8' });
  await untilReady('gateway', gateway);
  const tally = { served: 0 };
  const token = await identity.token();
  const clients = Promise.all(Array.from({ length: 16 }, () => callUntilClosed(token, tally)));
  await eventually(() => expect(tally.served).toBeGreaterThan(100));
  const ended = endService(gateway);
  expect((await clients).flat()).toEqual([]);
  await ended;
  expect(gateway.exitCode).toBe(0);
  expect(billing.calls()).toBe(services.reached.length);
  expect(billing.reserved()).toBe(0);
});
