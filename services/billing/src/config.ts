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
  /**
   * How long a lease lives without a report of its gateway; then its unused calls are reclaimed.
   */
  leaseSeconds: number;
  secrets: {
    databaseUrl: string;
    /**
     * The secrets of the payment provider's messages, `whsec_…`; without one there is no endpoint.
     */
    webhooks: string[];
  };
};

/** Reads the environment; throws one error with all problems. */
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

// Two at most: the one in use and its replacement.
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
