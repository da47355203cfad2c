// The users of RabbitMQ, as definitions that it loads when it starts: one for each service, which
// may read its own queues only. All share the exchange of events and the delay queues of retries
// (packages/service-kit/src/messaging/amqp/topology.ts).
import { createHash, randomBytes } from 'node:crypto';

// No backslashes: these stand in files of variables, too.
const shared = 'almanac|almanac[.]retry[.][0-9]+';

// RabbitMQ's own form: a salt of four bytes, then SHA-256 of salt and password.
function hashOf(password) {
  const salt = randomBytes(4);
  return Buffer.concat([salt, createHash('sha256').update(salt).update(password).digest()]).toString('base64');
}

/** Definitions with a user for each service, by its password. */
export function brokerDefinitions(passwords) {
  const users = Object.entries(passwords).map(([name, password]) => ({
    ...{ name, password_hash: hashOf(password), tags: '' },
    hashing_algorithm: 'rabbit_password_hashing_sha256',
  }));
  const permissions = Object.keys(passwords).map((user) => {
    const own = `${shared}|${user}[.].+|amq[.]gen-.*`;
    return { user, vhost: '/', configure: `^(${own})$`, write: `^(${own}|amq[.]default)$`, read: `^(${own})$` };
  });
  return { vhosts: [{ name: '/' }], users, permissions };
}
