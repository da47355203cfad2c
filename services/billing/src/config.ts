// Every setting of billing, read once. Secrets live in their own part.
import {
  type CommonConfig,
  ConfigReader,
  type Environment,
  readCommonConfig,
  readDatabaseUrl,
  readRpcPort,
} from '@almanac/service-kit/config/config';

export type BillingConfig = {
  common: CommonConfig;
  rpcPort: number;
  /** How long a lease lives without a word from its gateway; then its unserved calls are taken back. */
  leaseSeconds: number;
  secrets: {
    databaseUrl: string;
    /** Of the payment provider's messages, `whsec_…`; none: it has no way in. */
    webhooks: string[];
  };
};

/** Reads the environment; every problem is reported together. */
export function readConfig(env: Environment): BillingConfig {
  const read = new ConfigReader(env);
  return read.finish({
    common: readCommonConfig(read, 'billing'),
    rpcPort: readRpcPort(read, 'billing'),
    leaseSeconds: read.integer('BILLING_LEASE_SECONDS', 'how long a silent gateway keeps the calls it reserved', {
      default: 30,
      min: 2,
      max: 3_600,
    }),
    secrets: { databaseUrl: readDatabaseUrl(read, 'billing'), webhooks: readWebhookSecrets(read) },
  });
}

// Two at most: the one in use, and the one it is being replaced by.
function readWebhookSecrets(read: ConfigReader): string[] {
  const text = read.text('BILLING_WEBHOOK_SECRETS', 'one secret or two, separated by a comma', { default: '' });
  const secrets = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]));
  if (secrets.length > 2) read.problems.push('BILLING_WEBHOOK_SECRETS should be one secret or two.');
  if (!secrets.every(isWebhookSecret))
    read.problems.push(
      'BILLING_WEBHOOK_SECRETS should be whsec_ and 24 to 64 bytes in base64, as the provider shows it.',
    );
  return secrets;
}

function isWebhookSecret(secret: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
}
