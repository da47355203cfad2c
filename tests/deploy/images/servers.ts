// The servers that Almanac needs, in containers: two PostgreSQL, RabbitMQ, and an S3.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { accepts, makeDatabases, superuserPassword } from '@almanac/embedded/postgres';
import { eventually } from '@almanac/testkit/eventually';
import { findFreePort } from '@almanac/testkit/network/ports';
import { type StartedTestContainer, Wait } from 'testcontainers';
import { Container } from './container.ts';

const prefix = process.env.ALMANAC_SERVER_IMAGES ?? 'almanac-servers/';
const startWithinMs = 180_000; // on a machine with other work

export type PostgresServer = {
  container: StartedTestContainer;
  port: number;
  /** Of a superuser. */
  url(database: string): string;
  /** Of a service's own role, to its own database. */
  ownUrl(database: string): string;
  accepts(): Promise<boolean>;
};

export type Server = { container: StartedTestContainer; url: string };

/** Starts a PostgreSQL that has all databases and roles. */
export async function startPostgres(passwords: Record<string, string>): Promise<PostgresServer> {
  const port = await findFreePort();
  const url = (database: string) => `postgres://almanac:${passwords[superuserPassword]}@127.0.0.1:${port}/${database}`;
  const settings = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    max_connections: '200',
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    fsync: 'off', // processes are killed here, never the machine
  };
  const container = new Container(`${prefix}postgres`)
    .withEnvironment({ POSTGRES_USER: 'almanac', POSTGRES_PASSWORD: passwords[superuserPassword] as string })
    .withCommand(['postgres', ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]);
  const started = await container.start();
  await until('PostgreSQL', container, () => accepts(url('postgres')));
  await makeDatabases(url('postgres'), passwords);
  return {
    container: started,
    port,
    url,
    ownUrl: (database) => `postgres://almanac_${database}:${passwords[database]}@127.0.0.1:${port}/almanac_${database}`,
    accepts: () => accepts(url('postgres')),
  };
}

/** Starts a RabbitMQ. */
export async function startRabbitmq(): Promise<Server> {
  const [port, distribution, mapper] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const password = randomBytes(24).toString('base64url');
  const container = new Container(`${prefix}rabbitmq`).withEnvironment({
    RABBITMQ_DEFAULT_USER: 'almanac',
    RABBITMQ_DEFAULT_PASS: password,
    RABBITMQ_NODENAME: 'almanac@localhost',
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distribution),
    ERL_EPMD_PORT: String(mapper),
    ERL_EPMD_ADDRESS: '127.0.0.1',
  });
  const started = await container.start();
  await until('RabbitMQ', container, () => listens(port));
  return { container: started, url: `amqp://almanac:${password}@127.0.0.1:${port}` };
}

/** Starts an S3, with a bucket. */
export async function startObjectStore(): Promise<Server> {
  const [monitor, port] = [await findFreePort(), await findFreePort()];
  const container = new Container(`${prefix}objects`)
    .withEnvironment({ CEPH_GATEWAY_ADDRESS: '127.0.0.1', MONITOR_PORT: String(monitor), PORT: String(port) })
    .withWaitStrategy(Wait.forLogMessage('ALMANAC_TEST_S3_URL='));
  const started = await container.start();
  const url = await eventually(() => {
    const [, url] = /ALMANAC_TEST_S3_URL='([^']+)'/.exec(container.output) ?? [];
    if (!url) throw new Error(`The S3 did not print its address:\n${container.output}`);
    return url;
  });
  return { container: started, url };
}

async function until(name: string, container: Container, holds: () => Promise<boolean>): Promise<void> {
  await eventually(
    async () => {
      if (!(await holds())) throw new Error(`${name} was not up in time:\n${container.output.slice(-2_000)}`);
    },
    { withinMs: startWithinMs, everyMs: 250 },
  );
}

function listens(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1');
    const end = (isUp: boolean) => {
      socket.destroy();
      done(isUp);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}
