// Turns a file of deploy/compose-env.js into the Secrets that the manifests name, each with what
// its service is to know and no more:
//   node deploy/k8s/secrets.js almanac.env | kubectl -n almanac create -f -
// Addresses that the file doesn't have (…_DATABASE_URL, …_BUS_URL or ALMANAC_BUS_URL for all,
// JOBS_OBJECT_STORE_URL, JOBS_SMTP_URL) are those of the overlay `local`. Needs nothing but Node.
import { readFileSync } from 'node:fs';

const file = process.argv[2];
if (!file) {
  console.error('Usage: node deploy/k8s/secrets.js almanac.env');
  process.exit(2);
}
const said = Object.fromEntries(
  [...readFileSync(file, 'utf8').matchAll(/^([A-Z][A-Z0-9_]*)=(?:'([^']*)'|"([^"]*)"|(.*))$/gm)].map(
    ([, name, single, double, bare]) => [name, single ?? double ?? bare],
  ),
);
const missing = new Set();
const need = (name) => {
  if (said[name] === undefined) missing.add(name);
  return said[name] ?? '';
};
const only = (...names) => Object.fromEntries(names.filter((name) => said[name]).map((name) => [name, said[name]]));

const bus = (service) => {
  const name = service.toUpperCase();
  const local = () => `amqp://${service}:${need(`${name}_BUS_PASSWORD`)}@rabbitmq:5672`;
  return said[`${name}_BUS_URL`] ?? said.ALMANAC_BUS_URL ?? local();
};
const own = (service) => {
  const key = `${service.toUpperCase()}_CONTEXT_KEY`;
  return { ALMANAC_BUS_URL: bus(service), [key]: need(key) };
};
const database = (service) => {
  const url = `${service.toUpperCase()}_DATABASE_URL`;
  const login = () => `almanac_${service}:${need(`${service.toUpperCase()}_DATABASE_PASSWORD`)}`;
  return { [url]: said[url] ?? `postgres://${login()}@postgres:5432/almanac_${service}` };
};
const isLocal = !said.JOBS_OBJECT_STORE_URL;
const localStore = () =>
  `s3://${need('S3_ACCESS_KEY')}:${need('S3_SECRET_KEY')}@objects:7070/almanac?tls=false&region=us-east-1` +
  `&public_url=${said.S3_PUBLIC_URL ?? 'http://localhost:7070'}`;

const secrets = {
  'almanac-gateway': own('gateway'),
  'almanac-identity': {
    ...own('identity'),
    ...database('identity'),
    IDENTITY_KEY_ENCRYPTION_KEY: need('IDENTITY_KEY_ENCRYPTION_KEY'),
    ...only('IDENTITY_PREVIOUS_KEY_ENCRYPTION_KEY'),
  },
  'almanac-metadata': { ...own('metadata'), ...database('metadata') },
  'almanac-data': { ...own('data'), ...database('data'), ...only('DATA_DATABASE_URLS') },
  'almanac-jobs': {
    ...own('jobs'),
    ...database('jobs'),
    JOBS_OBJECT_STORE_URL: said.JOBS_OBJECT_STORE_URL ?? localStore(),
    ...(isLocal ? { JOBS_SMTP_URL: 'smtp://mail:1025?tls=none', JOBS_MAIL_FROM: 'almanac@localhost' } : {}),
    ...only('JOBS_SMTP_URL', 'JOBS_MAIL_FROM', 'JOBS_KEY_ENCRYPTION_KEY', 'JOBS_PREVIOUS_KEY_ENCRYPTION_KEY'),
  },
  'almanac-billing': { ...own('billing'), ...database('billing'), ...only('BILLING_WEBHOOK_SECRETS') },
  'almanac-console': own('console'),
  'almanac-operator': { ALMANAC_OPERATOR_KEY: need('ALMANAC_OPERATOR_KEY') },
  // The servers of the overlay `local`.
  ...(!said.IDENTITY_DATABASE_URL && {
    'almanac-postgres': {
      POSTGRES_PASSWORD: need('POSTGRES_PASSWORD'),
      ...only(...['IDENTITY', 'METADATA', 'DATA', 'JOBS', 'BILLING'].map((name) => `${name}_DATABASE_PASSWORD`)),
    },
  }),
  ...(!Object.keys(said).some((name) => name.endsWith('_BUS_URL')) && {
    'almanac-rabbitmq': {
      'definitions.json': need('RABBITMQ_DEFINITIONS'),
      RABBITMQ_COOKIE: need('RABBITMQ_COOKIE'), // shared by its three nodes alone
    },
  }),
  ...(isLocal && { 'almanac-objects': only('S3_ACCESS_KEY', 'S3_SECRET_KEY') }),
};
// Rows, passwords and mails go to servers outside the cluster.
const encrypted = {
  _DATABASE_URL: (url) => url.searchParams.get('sslmode') === 'verify-full',
  _BUS_URL: (url) => url.protocol === 'amqps:' || url.searchParams.get('sslmode') === 'verify-full',
  JOBS_OBJECT_STORE_URL: (url) => url.searchParams.get('tls') !== 'false',
  JOBS_SMTP_URL: (url) => url.searchParams.get('tls') !== 'none',
};
for (const [name, value] of Object.entries(said))
  for (const [ending, isEncrypted] of Object.entries(encrypted))
    if (name.endsWith(ending) && URL.canParse(value) && !isEncrypted(new URL(value)))
      console.error(
        `${name}: the traffic to that server is readable on the network (docs/how-to/configure.md, TLS to servers).`,
      );

const keys = { ALMANAC_CONTEXT_KEYS: need('ALMANAC_CONTEXT_KEYS') };

if (missing.size > 0) {
  console.error(`${file} lacks ${[...missing].join(', ')}.`);
  process.exit(1);
}
const labels = { 'app.kubernetes.io/part-of': 'almanac' };
const items = [
  ...Object.entries(secrets).map(([name, stringData]) => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, labels } },
    stringData,
  })),
  // Public keys only.
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'almanac-keys', labels }, data: keys },
];
console.log(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2));
