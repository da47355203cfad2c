import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '@almanac/testkit/eventually';
import { callWith, type TestGateway } from '../given.ts';
import { useNeighbours } from '../neighbours.ts';

const { services, identity, useGateway, onEnd } = useNeighbours();
const limits = { addressConnections: 20, connections: 30 };
const gateway = useGateway({ limits });
const proxied = useGateway({ limits, trustedHops: 1 });
let token: string;
beforeAll(async () => {
  token = await identity.token();
});

/** Idle connections, opened one after the other. */
async function givenIdle(to: TestGateway, count: number, localAddress = '127.0.0.1'): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let n = 0; n < count; n += 1) {
    const socket = connect({ port: to.port, host: '127.0.0.1', localAddress });
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.resume();
    sockets.push(socket);
  }
  onEnd(() => {
    for (const socket of sockets) socket.destroy();
  });
  return sockets;
}

const openOf = (sockets: Socket[]) => sockets.map((socket) => !socket.closed && !socket.readableEnded);

it('limits the connections of one address and closes those that have been idle longest', async () => {
  const sockets = await givenIdle(gateway, 50);
  await eventually(() => expect(openOf(sockets)).toEqual([...Array(30).fill(false), ...Array(20).fill(true)]));
  expect((await callWith(gateway, token, 'GET', '/api/v1/domains')).status).toBe(200);
});

it('never closes a connection with a request in flight', async () => {
  services.hold();
  const call = callWith(gateway, token, 'GET', '/api/v1/domains');
  await eventually(() => expect(services.held).toHaveLength(1));
  const sockets = await givenIdle(gateway, 50);
  await eventually(() => expect(openOf(sockets).filter(Boolean)).toHaveLength(19));
  services.release();
  expect((await call).status).toBe(200);
});

it('limits the total, and only the total when the address is that of a proxy', async () => {
  const sockets = [...(await givenIdle(gateway, 20)), ...(await givenIdle(gateway, 20, '127.0.0.2'))];
  await eventually(() => expect(openOf(sockets).filter(Boolean)).toHaveLength(30));
  const behind = await givenIdle(proxied, 40);
  await eventually(() => expect(openOf(behind).filter(Boolean)).toHaveLength(30));
});
