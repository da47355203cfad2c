// Every setting of billing, read once. Secrets live in their own part.
import {
  type CommonConfig,
  ConfigReader,
  type Environment,
  readCommonConfig,
  readDatabaseUrl,
  readRpcPort,
} from '@almanac/service-kit/config';

export type BillingConfig = {
  common: CommonConfig;
  rpcPort: number;
  /** How long a lease lives without a word from its gateway; then its unserved calls are taken back. */
  leaseSeconds: number;
  secrets: { databaseUrl: string };
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
    secrets: { databaseUrl: readDatabaseUrl(read, 'billing') },
  });
}
