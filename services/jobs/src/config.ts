// Every setting of jobs, read once. Secrets live in their own part.
import {
  type CommonConfig,
  ConfigReader,
  type Environment,
  readCommonConfig,
  readDatabaseUrl,
  readRpcAddress,
  readRpcPort,
} from '@almanac/service-kit/config/config';
import { readS3Url } from './files/object-store/s3-url.ts';
import { type MailAddress, readMailAddress } from './mail/transports/addresses.ts';
import { readSmtpUrl } from './mail/transports/smtp-url.ts';
import { type Networks, readNetworks } from './webhooks/sending/address-rules.ts';

export type JobsConfig = {
  common: CommonConfig;
  rpcPort: number;
  neighbours: { identity: string; metadata: string; data: string };
  work: {
    /** Jobs this instance runs at once. */
    concurrency: number;
    /** Jobs of one account that run at once, in all instances together. */
    concurrencyPerAccount: number;
    /** How long a job belongs to an instance that does not renew its lease. */
    leaseMs: number;
    /** The longest pause between two polls of the queue, when no message wakes the worker. */
    pollMs: number;
    /** The pause before the first retry; it doubles up to a minute. */
    retryMs: number;
    /** Attempts before a job is given up, counting interruptions and internal errors. */
    attempts: number;
    /** How long a job waits for an unavailable service before it is given up. */
    giveUpAfterSeconds: number;
    sweepMs: number;
  };
  eventStreams: {
    /** The most streams of events that are open at this instance. */
    total: number;
    /** … of one account. */
    perAccount: number;
    /** Between two heartbeats of a stream. */
    heartbeatMs: number;
  };
  webhooks: {
    /** Networks that webhooks may reach besides public addresses, also by plain HTTP. */
    networks: Networks;
    /** How long one message may take, from the look-up of the host to the end of the answer. */
    sendMs: number;
  };
  mail: {
    from: MailAddress;
    /** The address of the console, to whose pages links of mails lead. */
    consoleUrl: string;
  };
  secrets: {
    databaseUrl: string;
    objectStoreUrl: string;
    signingKey?: Uint8Array;
    /** 32 bytes that encrypt the secrets of webhooks at rest. Unset: there are no webhooks. */
    keyEncryptionKey?: Buffer;
    /** The previous key, during a rotation: decrypts, never encrypts. */
    previousKeyEncryptionKey?: Buffer;
    /** Unset: mails stay queued. */
    smtpUrl?: string;
  };
};

/** Reads the environment; every problem is reported together. */
export function readConfig(env: Environment): JobsConfig {
  const read = new ConfigReader(env);
  const objectStoreUrl = read.url(
    'JOBS_OBJECT_STORE_URL',
    'where files are kept: file:///folder or s3://KEY:SECRET@host:port/bucket',
    ['file:', 's3:', 'https:'],
  );
  const signingKey = readSigningKey(read, env, objectStoreUrl);
  checkS3Url(read, objectStoreUrl);
  const smtpUrl = readMailUrl(read);
  const keyEncryptionKey = read.optionalKey('JOBS_KEY_ENCRYPTION_KEY');
  const previousKeyEncryptionKey = read.optionalKey('JOBS_PREVIOUS_KEY_ENCRYPTION_KEY');
  const common = readCommonConfig(read, 'jobs');
  return read.finish({
    common,
    rpcPort: readRpcPort(read, 'jobs'),
    neighbours: {
      identity: readRpcAddress(read, 'identity'),
      metadata: readRpcAddress(read, 'metadata'),
      data: readRpcAddress(read, 'data'),
    },
    work: {
      concurrency: read.integer('JOBS_CONCURRENCY', 'jobs run at once', { default: 4, min: 1, max: 100 }),
      concurrencyPerAccount: read.integer('JOBS_CONCURRENCY_PER_ACCOUNT', 'jobs of one account run at once', {
        default: 2,
        min: 1,
        max: 100,
      }),
      leaseMs:
        1000 *
        read.integer('JOBS_LEASE_SECONDS', 'seconds until another instance takes a job whose lease is not renewed', {
          default: 15,
          min: 3,
          max: 3600,
        }),
      pollMs:
        1000 *
        read.integer('JOBS_POLL_SECONDS', 'seconds between polls of the queue', { default: 10, min: 1, max: 60 }),
      retryMs: 1000,
      attempts: 5,
      giveUpAfterSeconds: 24 * 3600,
      sweepMs: 10 * 60_000,
    },
    eventStreams: {
      total: read.integer('JOBS_EVENT_STREAMS', 'streams of events open at once', {
        default: 2_000,
        min: 1,
        max: 1_000_000,
      }),
      perAccount: read.integer('JOBS_EVENT_STREAMS_PER_ACCOUNT', 'streams of events of one account open at once', {
        default: 200,
        min: 1,
        max: 1_000_000,
      }),
      heartbeatMs: 20_000,
    },
    webhooks: { networks: readWebhookNetworks(read), sendMs: 15_000 },
    mail: { from: readSender(read, smtpUrl), consoleUrl: readConsoleUrl(read, common.publicUrl) },
    secrets: {
      databaseUrl: readDatabaseUrl(read, 'jobs'),
      objectStoreUrl,
      ...(signingKey ? { signingKey } : {}),
      ...(keyEncryptionKey ? { keyEncryptionKey } : {}),
      ...(previousKeyEncryptionKey ? { previousKeyEncryptionKey } : {}),
      ...(smtpUrl ? { smtpUrl } : {}),
    },
  });
}

// Only the folder store signs its links itself.
function readSigningKey(read: ConfigReader, env: Environment, storeUrl: string | undefined): Uint8Array | undefined {
  if (!storeUrl?.startsWith('file:') && !env.JOBS_SIGNING_KEY) return undefined;
  const text = read.text('JOBS_SIGNING_KEY', 'the key that signs links to files: 32 or more bytes as base64url');
  if (text === undefined) return undefined;
  const key = Buffer.from(text, 'base64url');
  if (!/^[A-Za-z0-9_-]+$/.test(text) || key.length < 32)
    read.problems.push('JOBS_SIGNING_KEY should be 32 or more bytes as base64url.');
  return key;
}

function readWebhookNetworks(read: ConfigReader): Networks {
  const what = 'networks that webhooks may reach: 10.20.0.0/16, fd00::/8';
  const networks = readNetworks(read.text('JOBS_WEBHOOK_NETWORKS', what, { default: '' }));
  if (!networks) read.problems.push(`JOBS_WEBHOOK_NETWORKS should be ${what}.`);
  return networks as Networks;
}

function checkS3Url(read: ConfigReader, url: string | undefined): void {
  if (!url || url.startsWith('file:')) return;
  try {
    readS3Url(url);
  } catch (error) {
    read.problems.push(`JOBS_OBJECT_STORE_URL: ${(error as Error).message}.`);
  }
}

function readMailUrl(read: ConfigReader): string | undefined {
  const url = read.url('JOBS_SMTP_URL', 'where mails go', ['smtp:', 'smtps:', 'file:'], { default: '' });
  if (!url || url.startsWith('file:')) return url;
  try {
    readSmtpUrl(url);
  } catch (error) {
    read.problems.push(`JOBS_SMTP_URL: ${(error as Error).message}.`);
  }
  return url;
}

function readConsoleUrl(read: ConfigReader, publicUrl: string): string {
  const what = 'the address of the console, for links in mails';
  const url = read.url('JOBS_CONSOLE_URL', what, ['http:', 'https:'], { default: `${publicUrl}/console` });
  return url?.replace(/\/+$/, ''); // undefined when it was refused, which `finish` reports
}

// A mail server accepts only senders that it knows, so there is no default sender once mails leave
// this machine.
function readSender(read: ConfigReader, smtpUrl: string | undefined): MailAddress {
  const what = 'the sender of mails: address or Name <address>';
  const isSent = /^smtps?:/.test(smtpUrl ?? '');
  const text = read.text('JOBS_MAIL_FROM', what, isSent ? {} : { default: 'Almanac <almanac@localhost>' });
  const from = text === undefined ? undefined : readMailAddress(text);
  if (text !== undefined && !from) read.problems.push(`JOBS_MAIL_FROM should be ${what}.`);
  return from as MailAddress;
}
