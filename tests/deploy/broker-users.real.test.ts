// The rights of each service's user of RabbitMQ: all that the service does, and nothing with the
// queues of others.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from '@almanac/testkit/eventually';
import { anyPayload, startBus } from '@almanac/testkit/messaging/bus';
import amqp from 'amqplib';
import { type OwnBroker, startOwnBroker } from '../support/own-broker.ts';

const services = ['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing', 'console'];
const made = Object.fromEntries(
  execFileSync(process.execPath, [resolve(import.meta.dirname, '../../deploy/compose-env.js')], { encoding: 'utf8' })
    .trimEnd()
    .split('\n')
    .map((line) => /^([A-Z0-9_]+)='([^']*)'$/.exec(line)?.slice(1) as [string, string]),
);
let broker: OwnBroker;

beforeAll(async () => {
  broker = await startOwnBroker();
  const file = join(tmpdir(), `almanac-broker-users-${process.pid}.json`);
  writeFileSync(file, made.RABBITMQ_DEFINITIONS as string, { mode: 0o644 });
  await broker.control('import_definitions', file);
  rmSync(file);
}, 300_000);

afterAll(() => broker.stop());

function urlOf(service: string): string {
  const url = new URL(broker.url);
  url.username = service;
  url.password = made[`${service.toUpperCase()}_BUS_PASSWORD`] as string;
  return url.href;
}

it.each(services)('%s declares, publishes, takes from its own queues and retries', async (service) => {
  const bus = await startBus(urlOf(service), service);
  let deliveries = 0;
  await bus.consume(`${service}.tried`, { [`${service}.thing.made`]: anyPayload }, () => {
    deliveries += 1;
    if (deliveries === 1) throw new Error('once more');
  });
  const id = '01900000-0000-7000-8000-000000000000';
  await bus.subscribe({}, () => {});
  await bus.publish([{ v: 1, id, type: `${service}.thing.made`, occurred_at: new Date().toISOString(), payload: {} }]);
  await eventually(() => expect(deliveries).toBe(2));
  await bus.stop();
});

it.each([
  ['reads', (channel: amqp.Channel) => channel.get('jobs.tried')],
  ['empties', (channel: amqp.Channel) => channel.purgeQueue('jobs.tried')],
  ['deletes', (channel: amqp.Channel) => channel.deleteQueue('jobs.tried')],
  ['binds', (channel: amqp.Channel) => channel.bindQueue('jobs.tried', 'almanac', '#')],
])('no user %s the queues of another', async (_what, attempt) => {
  const connection = await amqp.connect(urlOf('billing'));
  const channel = await connection.createChannel();
  channel.on('error', () => {});
  await expect((async () => attempt(channel))()).rejects.toThrow('ACCESS_REFUSED');
  await connection.close();
});
