// Every setting of the gateway, read once.
import {
  type CommonConfig,
  ConfigReader,
  type Environment,
  readCommonConfig,
  readRpcAddress,
  rpcTlsVariableNames,
  type ServiceName,
  serviceNames,
} from '@almanac/service-kit/config/config';

/** The services of the API. */
export const apiServiceNames = ['identity', 'metadata', 'data', 'jobs', 'billing'] as const;
export type ApiServiceName = (typeof apiServiceNames)[number];

/** The services that requests are forwarded to. */
export const upstreamNames = [...apiServiceNames, 'console'] as const;
export type UpstreamName = (typeof upstreamNames)[number];

export type GatewayTimeouts = {
  /** For all headers of a request. */
  headersMs: number;
  /** For the next request on a keep-alive connection. */
  idleMs: number;
  /**
   * For a whole JSON body. Uploads and readers of answers must make some progress within this time.
   */
  clientMs: number;
  /** For the first byte of a service's answer to a GET. */
  readMs: number;
  /** … to any other method. */
  writeMs: number;
  /** The interval between checks for requests that timed out. */
  sweepMs: number;
};

/** Limits that keep one caller, one service or all clients from exhausting the gateway. */
export type GatewayLimits = {
  /** Connections of clients. */
  connections: number;
  /** … of one address; not applied behind proxies. */
  addressConnections: number;
  /** Requests in flight at this gateway. */
  requests: number;
  /** … at one service. */
  serviceRequests: number;
  /** … of one account or, outside the API, of one network. */
  callerRequests: number;
  /** Calls of one account in ten seconds. */
  accountBurst: number;
  /** Calls of one person by the console in five seconds. */
  personBurst: number;
  /** … in a minute. */
  personMinute: number;
};

export type GatewayConfig = {
  common: CommonConfig;
  upstreams: Record<UpstreamName, string>;
  identityRpc: string;
  billingRpc: string;
  /** Calls that an account may make while billing is unreachable. */
  graceCalls: number;
  /** Time limit for a lease from billing; beyond it billing counts as unreachable. */
  reserveDeadlineMs: number;
  /** Origins of the browser applications that may call the API; none by default. */
  corsOrigins: string[];
  /** Whether the console and its calls are served. */
  console: boolean;
  /** Whether documents and large answers are compressed for clients that accept it. */
  compression: boolean;
  /** The number of our own proxies in front, which append to X-Forwarded-For. */
  trustedHops: number;
  /** The port of the metrics. Unset: no metrics listener. */
  metricsPort?: number;
  timeouts: GatewayTimeouts;
  limits: GatewayLimits;
  /** Time limit for a new connection to a service. */
  connectMs: number;
  /**
   * How long an idle connection to a service is kept: less than a drain takes. So a service that
   * stops has none on which a write could be under way, which can't be repeated.
   */
  keepMs: number;
};

/** Reads the environment; throws one error with all problems. */
export function readConfig(env: Environment): GatewayConfig {
  const read = new ConfigReader(env);
  const seconds = (name: string, meaning: string, fallback: number, max: number) =>
    read.integer(name, `${meaning}, in seconds`, { default: fallback, min: 1, max }) * 1000;
  const atMost = (name: string, counted: string, fallback: number) =>
    read.integer(name, `the maximum number of ${counted}`, { default: fallback, min: 1, max: 10_000_000 });
  const common = readCommonConfig(read, 'gateway');
  return read.finish({
    common,
    upstreams: Object.fromEntries(
      upstreamNames.map((name) => [name, readUrl(read, name, common.rpcTls !== undefined)]),
    ) as GatewayConfig['upstreams'],
    identityRpc: readRpcAddress(read, 'identity'),
    billingRpc: readRpcAddress(read, 'billing'),
    graceCalls: read.integer('GATEWAY_GRACE_CALLS', 'calls that an account may make while billing is unreachable', {
      default: 1_000,
      max: 1_000_000,
    }),
    reserveDeadlineMs: 2_000,
    corsOrigins: readOrigins(read),
    console: read.oneOf('GATEWAY_CONSOLE', ['on', 'off'], { default: 'on' }) === 'on',
    compression: read.flag('GATEWAY_COMPRESSION', { default: true }),
    trustedHops: read.integer('GATEWAY_TRUSTED_HOPS', 'proxies in front that append to X-Forwarded-For', {
      default: 0,
      max: 10,
    }),
    ...readMetricsPort(read, env),
    timeouts: {
      headersMs: seconds('GATEWAY_HEADERS_TIMEOUT', 'time for the head of a request', 20, 60),
      idleMs: seconds('GATEWAY_IDLE_TIMEOUT', 'time for the next request on a kept connection', 65, 3_600),
      clientMs: seconds(
        'GATEWAY_CLIENT_TIMEOUT',
        'time for a JSON body, and for some progress of longer ones',
        20,
        600,
      ),
      readMs: seconds('GATEWAY_READ_TIMEOUT', 'time for the answer to a read', 60, 3_600),
      writeMs: seconds('GATEWAY_WRITE_TIMEOUT', 'time for the answer to a write', 300, 3_600),
      sweepMs: 5_000,
    },
    limits: {
      connections: atMost('GATEWAY_CONNECTIONS', 'connections of clients', 16_384),
      addressConnections: atMost('GATEWAY_ADDRESS_CONNECTIONS', 'connections of one address', 2_048),
      requests: atMost('GATEWAY_REQUESTS', 'requests in flight', 8_192),
      serviceRequests: atMost('GATEWAY_SERVICE_REQUESTS', 'requests in flight at one service', 4_096),
      callerRequests: atMost('GATEWAY_CALLER_REQUESTS', 'requests in flight of one account or network', 2_048),
      accountBurst: atMost('GATEWAY_ACCOUNT_BURST', 'calls of one account in ten seconds', 100_000),
      personBurst: 100,
      personMinute: 120,
    },
    connectMs: 3_000,
    keepMs: 2_000,
  });
}

// Unset: no metrics listener.
function readMetricsPort(read: ConfigReader, env: Environment): { metricsPort?: number } {
  return env.GATEWAY_METRICS_PORT ? { metricsPort: read.port('GATEWAY_METRICS_PORT', 'the port of the metrics') } : {};
}

function readUrl(read: ConfigReader, name: ServiceName, hasCertificate: boolean): string {
  const variable = `${name.toUpperCase()}_URL`;
  const fallback = `http://127.0.0.1:${8080 + serviceNames.indexOf(name)}`;
  const url = read
    .url(variable, `where ${name} answers HTTP`, ['http:', 'https:'], { default: fallback })
    ?.replace(/\/+$/, ''); // undefined when it was refused, which `finish` reports
  // Only host and port are used: a path would change the paths of the contract.
  if (url && !/^https?:\/\/[^/?#@]+$/.test(url))
    read.problems.push(`${variable} should be http://host:port or https://host:port and no more.`);
  if (url?.startsWith('https:') && !hasCertificate)
    read.problems.push(`${variable} is https://, which needs ${rpcTlsVariableNames}.`);
  return url;
}

function readOrigins(read: ConfigReader): string[] {
  const text = read.text('GATEWAY_CORS_ORIGINS', 'origins, separated by commas', { default: '' });
  const origins = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
  for (const origin of origins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      read.problems.push(`GATEWAY_CORS_ORIGINS: ${origin} is no origin; write https://app.example.com.`);
  return origins;
}
