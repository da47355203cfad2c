// Makes the keys and passwords of a system for deploy/compose.yaml and deploy/k8s/secrets.js:
// `node deploy/compose-env.js > almanac.env`, once, before the first start. Needs nothing but Node.
// Keep the file as you keep the data: without IDENTITY_KEY_ENCRYPTION_KEY the signing keys are
// unreadable.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { brokerDefinitions } from './broker-users.js';

const storing = ['identity', 'metadata', 'data', 'jobs', 'billing'];
const services = ['gateway', ...storing, 'console'];
const keys = [...services, 'operator'].map((kid) => ({
  ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }),
  kid,
  alg: 'EdDSA',
}));
const open = keys.map(({ d: _secret, ...key }) => key);
const password = (bytes = 24) => randomBytes(bytes).toString('base64url');
const busPasswords = Object.fromEntries(services.map((name) => [name, password()]));

const lines = {
  ALMANAC_PUBLIC_URL: 'http://localhost:8080',
  ALMANAC_CONTEXT_KEYS: JSON.stringify({ keys: open }),
  ...Object.fromEntries(
    keys.map((key) => [
      key.kid === 'operator' ? 'ALMANAC_OPERATOR_KEY' : `${key.kid.toUpperCase()}_CONTEXT_KEY`,
      JSON.stringify(key),
    ]),
  ),
  IDENTITY_KEY_ENCRYPTION_KEY: password(32),
  JOBS_KEY_ENCRYPTION_KEY: password(32),
  POSTGRES_PASSWORD: password(),
  ...Object.fromEntries(storing.map((name) => [`${name.toUpperCase()}_DATABASE_PASSWORD`, password()])),
  ...Object.fromEntries(services.map((name) => [`${name.toUpperCase()}_BUS_PASSWORD`, busPasswords[name]])),
  RABBITMQ_DEFINITIONS: JSON.stringify(brokerDefinitions(busPasswords)), // the hashes of those
  RABBITMQ_COOKIE: password(),
  S3_ACCESS_KEY: password(12).replace(/[-_]/g, 'x'),
  S3_SECRET_KEY: password().replace(/[-_]/g, 'x'),
};
// In single quotes nothing is taken for a variable.
for (const [name, value] of Object.entries(lines)) console.log(`${name}='${value}'`);
