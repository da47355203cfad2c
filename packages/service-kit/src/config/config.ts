// Reads the environment once, applies defaults, and reports all problems at once, a sentence each.
import { readCaFile } from './ca-file.ts';

export type Environment = Record<string, string | undefined>;

/** The environment doesn't describe a service that can run. */
export class ConfigError extends Error {
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`The configuration has ${problems.length} problem(s):\n${problems.map((p) => `  - ${p}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

type Fallback<T> = { default?: T };

/** Reads variables and collects problems; `finish` throws one ConfigError with all of them. */
export class ConfigReader {
  private readonly env: Environment;
  readonly problems: string[] = [];

  constructor(env: Environment) {
    this.env = env;
  }

  private take<T>(name: string, what: string, options: Fallback<T>, parse: (text: string) => T | undefined): T {
    const text = this.env[name];
    if (text === undefined || text === '') {
      if (options.default !== undefined) return options.default;
      this.problems.push(`${name} is missing; it should be ${what}.`);
      return undefined as T;
    }
    const value = parse(text);
    if (value === undefined) this.problems.push(`${name} should be ${what}.`);
    return value as T;
  }

  text(name: string, what: string, options: Fallback<string> = {}): string {
    return this.take(name, what, options, (text) => text);
  }

  /** The 32 bytes of a key that encrypts. */
  key(name: string): Buffer {
    return this.take(name, '32 random bytes in base64url', {}, (text) =>
      /^[A-Za-z0-9_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64url') : undefined,
    );
  }

  /** Such a key, where it may be unset. */
  optionalKey(name: string): Buffer | undefined {
    return this.env[name] ? this.key(name) : undefined;
  }

  integer(name: string, what: string, options: Fallback<number> & { min?: number; max?: number } = {}): number {
    const { min = 0, max = Number.MAX_SAFE_INTEGER } = options;
    return this.take(name, `${what} (a whole number from ${min} to ${max})`, options, (text) => {
      const value = Number(text);
      return /^\d+$/.test(text) && value >= min && value <= max ? value : undefined;
    });
  }

  port(name: string, what: string, options: Fallback<number> = {}): number {
    return this.integer(name, what, { ...options, min: 0, max: 65_535 });
  }

  oneOf<T extends string>(name: string, values: readonly T[], options: Fallback<T> = {}): T {
    return this.take(name, `one of ${values.join(', ')}`, options, (text) => values.find((value) => value === text));
  }

  flag(name: string, options: Fallback<boolean> = {}): boolean {
    return this.take(name, 'true or false', options, (text) =>
      text === 'true' ? true : text === 'false' ? false : undefined,
    );
  }

  /** A URL of one of the given protocols (`['postgres:', 'amqp:']`), as text. */
  url(name: string, what: string, protocols: string[], options: Fallback<string> = {}): string {
    return this.take(name, `${what} (${protocols.map((p) => `${p}//…`).join(' or ')})`, options, (text) =>
      URL.canParse(text) && protocols.includes(new URL(text).protocol) ? text : undefined,
    );
  }

  json<T>(name: string, what: string, check: (value: unknown) => value is T, options: Fallback<T> = {}): T {
    return this.take(name, what, options, (text) => {
      try {
        const value: unknown = JSON.parse(text);
        return check(value) ? value : undefined;
      } catch {
        return undefined;
      }
    });
  }

  finish<T>(config: T): T {
    if (this.problems.length > 0) throw new ConfigError(this.problems);
    return config;
  }
}

export const serviceNames = ['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing', 'console'] as const;
export type ServiceName = (typeof serviceNames)[number];

/**
 * The settings of every service. Keys are JSON Web Keys: the public ones of all issuers, and the
 * private one of this service.
 */
export type CommonConfig = {
  name: ServiceName;
  host: string;
  httpPort: number;
  publicUrl: string;
  logLevel: string;
  drainSeconds: number;
  /** The mean delay of the event loop, in ms, beyond which the process is too busy to be ready. */
  loopDelayMs: number;
  secrets: { contextKey: Record<string, unknown>; busUrl: string };
  contextKeys: { keys: Record<string, unknown>[] };
  /** Without it nothing between services is encrypted. */
  rpcTls?: RpcTlsFiles;
  /** Whether a service behind the gateway answers HTTP by TLS, with the files of `rpcTls`. */
  httpTls: boolean;
};

/** Paths of PEM files: this service's certificate, its key, and the authorities it trusts. */
export type RpcTlsFiles = { cert: string; key: string; ca: string };

export const rpcTlsVariables = {
  cert: 'ALMANAC_RPC_TLS_CERT_FILE',
  key: 'ALMANAC_RPC_TLS_KEY_FILE',
  ca: 'ALMANAC_RPC_TLS_CA_FILE',
} as const satisfies RpcTlsFiles;

/** The variables as error texts list them. */
export const rpcTlsVariableNames = Object.values(rpcTlsVariables).join(', ');

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isKeySet = (value: unknown): value is { keys: Record<string, unknown>[] } =>
  isObject(value) && Array.isArray(value.keys);

/** The settings all services share; `docs/how-to/configure.md` lists them. */
export function readCommonConfig(read: ConfigReader, name: ServiceName): CommonConfig {
  const own = name.toUpperCase();
  const number = serviceNames.indexOf(name);
  return {
    name,
    host: read.text(`${own}_HOST`, 'the address to listen on', { default: '127.0.0.1' }),
    httpPort: read.port(`${own}_HTTP_PORT`, 'the HTTP port', { default: 8080 + number }),
    publicUrl: read
      .url('ALMANAC_PUBLIC_URL', 'the address clients use', ['http:', 'https:'], {
        default: 'http://127.0.0.1:8080',
      })
      ?.replace(/\/+$/, ''), // undefined when refused: `finish` throws
    logLevel: read.oneOf('ALMANAC_LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
      default: 'info',
    }),
    drainSeconds: read.integer('ALMANAC_DRAIN_SECONDS', 'how long readiness is off before connections close', {
      default: 0,
      max: 60,
    }),
    loopDelayMs: read.integer('ALMANAC_LOOP_DELAY_MS', 'the delay of the event loop beyond which it is too busy', {
      default: 1_000,
      min: 50,
      max: 60_000,
    }),
    secrets: {
      contextKey: read.json(`${own}_CONTEXT_KEY`, 'the private Ed25519 JWK this service signs with', isObject),
      busUrl: readBusUrl(read),
    },
    contextKeys: read.json('ALMANAC_CONTEXT_KEYS', 'the JWKS of all issuers of call contexts', isKeySet),
    ...readServiceTls(read),
  };
}

function readServiceTls(read: ConfigReader): Pick<CommonConfig, 'rpcTls' | 'httpTls'> {
  const httpTls = read.flag('ALMANAC_HTTP_TLS', { default: false });
  const files = readRpcTls(read);
  if (httpTls && !files.rpcTls) read.problems.push(`ALMANAC_HTTP_TLS is true, which needs ${rpcTlsVariableNames}.`);
  return { ...files, httpTls };
}

function readBusUrl(read: ConfigReader): string {
  const text = read.url('ALMANAC_BUS_URL', 'the message bus', ['amqp:', 'amqps:', 'postgres:', 'postgresql:']);
  if (!text?.includes('ca_file')) return text;
  const url = new URL(text);
  try {
    if (readCaFile(url) && url.protocol !== 'amqps:') throw new Error('ca_file goes with amqps:// only');
  } catch (error) {
    read.problems.push(`ALMANAC_BUS_URL: ${(error as Error).message}.`);
  }
  return text;
}

/** The files for TLS between services; all three or none. */
export function readRpcTls(read: ConfigReader): { rpcTls?: RpcTlsFiles } {
  const path = (part: keyof RpcTlsFiles) => read.text(rpcTlsVariables[part], 'the path of a file', { default: '' });
  const rpcTls = { cert: path('cert'), key: path('key'), ca: path('ca') };
  const given = Object.values(rpcTls).filter((each) => each !== '').length;
  if (given === 0) return {};
  if (given < 3) read.problems.push(`${rpcTlsVariableNames} belong together: set all or none.`);
  return { rpcTls };
}

/** host:port of another service's gRPC. */
export function readRpcAddress(read: ConfigReader, name: ServiceName): string {
  const fallback = `127.0.0.1:${9080 + serviceNames.indexOf(name)}`;
  return read.text(`${name.toUpperCase()}_RPC`, `host:port of ${name}'s gRPC`, { default: fallback });
}

/** The port on which this service answers gRPC. */
export function readRpcPort(read: ConfigReader, name: ServiceName): number {
  return read.port(`${name.toUpperCase()}_RPC_PORT`, 'the gRPC port', { default: 9080 + serviceNames.indexOf(name) });
}

/** The service's own PostgreSQL database. */
export function readDatabaseUrl(read: ConfigReader, name: ServiceName): string {
  return read.url(`${name.toUpperCase()}_DATABASE_URL`, `${name}'s database`, ['postgres:', 'postgresql:']);
}
