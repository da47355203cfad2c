// The environments of the services in the embedded system, with the same variables as containers
// (docs/how-to/configure.md).
import { hkdfSync } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { compileCache, type Home } from './home.ts';
import { publicKeySet, type Secrets } from './secrets.ts';

/** In the order of a request through them, which is also the order of stopping. */
export const serviceNames = ['gateway', 'console', 'jobs', 'metadata', 'data', 'billing', 'identity'] as const;
/** Those with a database and gRPC. */
export const storingServices = ['jobs', 'metadata', 'data', 'billing', 'identity'] as const;
type StoringService = (typeof storingServices)[number];
export type ServiceName = (typeof serviceNames)[number];

export type Ports = {
  http: Record<ServiceName, number>;
  rpc: Record<StoringService, number>;
  /** The port of the gateway's metrics, which clients must not reach. */
  metrics: number;
};

// Variables of the shell that services get unchanged; this file sets all other ones of Almanac.
const passedOn = [
  'ALMANAC_BUS_URL',
  'ALMANAC_PUBLIC_URL',
  'ALMANAC_LOG_LEVEL',
  'ALMANAC_LOOP_DELAY_MS',
  'ALMANAC_DRAIN_SECONDS',
  'ALMANAC_RPC_TLS_CERT_FILE',
  'ALMANAC_RPC_TLS_KEY_FILE',
  'ALMANAC_RPC_TLS_CA_FILE',
  'ALMANAC_HTTP_TLS',
  'JOBS_OBJECT_STORE_URL',
  'JOBS_SMTP_URL',
  'GATEWAY_HOST',
];

// Otherwise glibc keeps what threads have freed: 50 MB in identity after some passwords.
const allocator = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '1048576' };

type Given = {
  home: Home;
  secrets: Secrets;
  ports: Ports;
  publicUrl: string;
  databaseUrl(database: string): string;
  env: NodeJS.ProcessEnv;
};

/** The environment of one service. */
export function serviceEnvironment(name: ServiceName, given: Given): Record<string, string | undefined> {
  const { home, secrets, ports, env } = given;
  const own = name.toUpperCase();
  const common = {
    ALMANAC_PUBLIC_URL: given.publicUrl,
    ALMANAC_BUS_URL: given.databaseUrl('bus'),
    ALMANAC_CONTEXT_KEYS: JSON.stringify(publicKeySet(secrets)),
    ALMANAC_LOG_LEVEL: 'info',
    NODE_COMPILE_CACHE: compileCache,
    ...allocator,
    [`${own}_HTTP_PORT`]: String(ports.http[name]),
    [`${own}_CONTEXT_KEY`]: JSON.stringify(secrets.context_keys[name]),
  };
  return {
    ...withoutOurs(env),
    ...common,
    ...addresses(ports, env.ALMANAC_HTTP_TLS === 'true' ? 'https' : 'http'),
    ...(name === 'gateway' ? atTheGateway(given) : {}),
    ...(isStoring(name) ? storing(name, given) : {}),
    ...(name === 'identity' ? { IDENTITY_KEY_ENCRYPTION_KEY: secrets.key_encryption_key } : {}),
    ...(name === 'jobs'
      ? {
          JOBS_OBJECT_STORE_URL: pathToFileURL(home.objects).href,
          JOBS_SIGNING_KEY: secrets.object_store_key,
          ...keysOfJobs(secrets, env),
          JOBS_SMTP_URL: pathToFileURL(home.mail).href,
        }
      : {}),
    ...Object.fromEntries(passedOn.flatMap((key) => (env[key] ? [[key, env[key]]] : []))),
    ...ownSettings(own, env),
  };
}

// Jobs encrypts with a key of its own, from which identity's can't be found. It changes together
// with that one.
function keysOfJobs(
  { key_encryption_key }: Secrets,
  { IDENTITY_PREVIOUS_KEY_ENCRYPTION_KEY: previous }: NodeJS.ProcessEnv,
) {
  const derived = (key: string) => Buffer.from(hkdfSync('sha256', key, '', 'almanac jobs', 32)).toString('base64url');
  return {
    JOBS_KEY_ENCRYPTION_KEY: derived(key_encryption_key),
    ...(previous ? { JOBS_PREVIOUS_KEY_ENCRYPTION_KEY: derived(previous) } : {}),
  };
}

function atTheGateway({ ports }: Given) {
  return { GATEWAY_METRICS_PORT: String(ports.metrics) };
}

const isStoring = (name: ServiceName): name is StoringService => (storingServices as readonly string[]).includes(name);

function storing(name: StoringService, { ports, databaseUrl }: Given) {
  const own = name.toUpperCase();
  return { [`${own}_RPC_PORT`]: String(ports.rpc[name]), [`${own}_DATABASE_URL`]: databaseUrl(name) };
}

function addresses(ports: Ports, scheme: 'http' | 'https'): Record<string, string> {
  const { gateway: _gateway, ...http } = ports.http;
  return Object.fromEntries([
    ...Object.entries(ports.rpc).map(([name, port]) => [`${name.toUpperCase()}_RPC`, `127.0.0.1:${port}`]),
    ...Object.entries(http).map(([name, port]) => [`${name.toUpperCase()}_URL`, `${scheme}://127.0.0.1:${port}`]),
  ]);
}

const ours = /^(ALMANAC|GATEWAY|IDENTITY|METADATA|DATA|JOBS|BILLING|CONSOLE)_/;

// No service gets another's secrets, nor settings of a deployed system that are in the shell.
function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([key]) => !ours.test(key)));
}

// The shell may tune a service (GATEWAY_GRACE_CALLS, …), but not set its addresses and keys.
function ownSettings(own: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const decided = new RegExp(
    `^${own}_(HTTP_PORT|RPC_PORT|METRICS_PORT|DATABASE_URL|CONTEXT_KEY|RPC|URL|KEY_ENCRYPTION_KEY)$`,
  );
  return Object.fromEntries(Object.entries(env).filter(([key]) => key.startsWith(`${own}_`) && !decided.test(key)));
}
