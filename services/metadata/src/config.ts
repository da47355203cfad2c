// What the environment tells metadata.
import {
  type CommonConfig,
  ConfigReader,
  type Environment,
  readCommonConfig,
  readDatabaseUrl,
  readRpcAddress,
  readRpcPort,
} from '@almanac/service-kit/config/config';

export type MetadataConfig = {
  common: CommonConfig;
  rpcPort: number;
  /** Where the neighbours answer gRPC. */
  neighbours: { identity: string; data: string };
  timing: {
    /** How long a deployment belongs to the process that works on it without a sign of life. */
    leaseMs: number;
    /** How often work is looked for that a crash left behind. */
    reconcileEveryMs: number;
    /** How long a request waits for a deployment that somebody else applies. */
    waitMs: number;
  };
  secrets: { databaseUrl: string };
};

/** Reads and checks the environment; every problem is reported at once. */
export function readConfig(env: Environment): MetadataConfig {
  const read = new ConfigReader(env);
  return read.finish({
    common: readCommonConfig(read, 'metadata'),
    rpcPort: readRpcPort(read, 'metadata'),
    neighbours: { identity: readRpcAddress(read, 'identity'), data: readRpcAddress(read, 'data') },
    timing: {
      leaseMs: 1000 * read.integer('METADATA_LEASE_SECONDS', 'the lease on a deployment', { default: 15, min: 1 }),
      reconcileEveryMs:
        1000 * read.integer('METADATA_RECONCILE_SECONDS', 'how often to look for lost work', { default: 5, min: 1 }),
      waitMs:
        1000 * read.integer('METADATA_WAIT_SECONDS', 'how long to wait for a deployment', { default: 20, min: 1 }),
    },
    secrets: { databaseUrl: readDatabaseUrl(read, 'metadata') },
  });
}
