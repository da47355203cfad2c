// Every setting of identity, read once at start. Secrets have their own part of the object.
import {
  type CommonConfig,
  ConfigReader,
  type Environment,
  readCommonConfig,
  readDatabaseUrl,
  readRpcAddress,
  readRpcPort,
} from '@almanac/service-kit/config/config';

export type IdentityConfig = {
  common: CommonConfig;
  rpcPort: number;
  billingRpc: string;
  /** Lifetime of an access token; the contract's default is 7200. */
  accessTokenSeconds: number;
  /** A refresh token expires when it is unused for this long. */
  refreshTokenSeconds: number;
  /** A grant ends this long after the user's consent, however often its refresh tokens are used. */
  grantSeconds: number;
  /** A refresh token that is issued to a service user ends at the latest after this long. */
  serviceTokenSeconds: number;
  /** A browser session ends when it is unused for this long. */
  sessionSeconds: number;
  /** … and at the latest this long after the log-in. */
  sessionMaxSeconds: number;
  /** The memory of one argon2id hash of a password; what an attacker pays for each guess. */
  passwordMemoryKib: number;
  secrets: {
    databaseUrl: string;
    /**
     * 32 bytes. Encrypts private signing keys at rest; keys for pages and stored answers derive
     * from it.
     */
    keyEncryptionKey: Buffer;
    /** The previous key, during a rotation: decrypts, never encrypts. */
    previousKeyEncryptionKey?: Buffer;
  };
};

/** What OWASP asks of argon2id at least, with two passes. */
const minPasswordMemoryKib = 19_456;

/** Reads the environment and reports every problem in one error. */
export function readConfig(env: Environment): IdentityConfig {
  const read = new ConfigReader(env);
  const sessionSeconds = read.integer('IDENTITY_SESSION_SECONDS', 'how long a session may stay unused', {
    default: 12 * 3_600,
    min: 300,
    max: 30 * 86_400,
  });
  return read.finish({
    common: readCommonConfig(read, 'identity'),
    rpcPort: readRpcPort(read, 'identity'),
    billingRpc: readRpcAddress(read, 'billing'),
    accessTokenSeconds: read.integer('IDENTITY_ACCESS_TOKEN_SECONDS', 'how long an access token lives', {
      default: 7_200,
      min: 60,
      max: 86_400,
    }),
    refreshTokenSeconds: read.integer('IDENTITY_REFRESH_TOKEN_SECONDS', 'how long a refresh token may stay unused', {
      default: 30 * 86_400,
      min: 3_600,
      max: 366 * 86_400,
    }),
    grantSeconds: read.integer('IDENTITY_GRANT_SECONDS', 'how long refresh tokens follow one log-in', {
      default: 90 * 86_400,
      min: 3_600,
      max: 3_660 * 86_400,
    }),
    serviceTokenSeconds: read.integer('IDENTITY_SERVICE_TOKEN_SECONDS', "how long a service user's token lives", {
      default: 365 * 86_400,
      min: 3_600,
      max: 3_660 * 86_400,
    }),
    sessionSeconds,
    sessionMaxSeconds: Math.max(
      sessionSeconds,
      read.integer('IDENTITY_SESSION_MAX_SECONDS', 'how long a user stays logged in at most', {
        default: 7 * 86_400,
        min: 300,
        max: 30 * 86_400,
      }),
    ),
    passwordMemoryKib: read.integer('IDENTITY_PASSWORD_MEMORY_KIB', 'the memory of a password hash in KiB', {
      default: minPasswordMemoryKib,
      // Tests hash hundreds of passwords; argon2 itself needs 8 KiB.
      min: env.NODE_ENV === 'test' ? 8 : minPasswordMemoryKib,
      max: 1_048_576,
    }),
    secrets: {
      databaseUrl: readDatabaseUrl(read, 'identity'),
      keyEncryptionKey: read.key('IDENTITY_KEY_ENCRYPTION_KEY'),
      previousKeyEncryptionKey: read.optionalKey('IDENTITY_PREVIOUS_KEY_ENCRYPTION_KEY'),
    },
  });
}
