// The configuration of metadata, read from the environment.
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
  /** The gRPC addresses of other services. */
  neighbours: { identity: string; data: string };
  timing: {
    /** How long a process holds an attempt to apply a change without renewing its lease. */
    leaseMs: number;
    /** How often the reconciler looks for interrupted work. */
    reconcileEveryMs: number;
    /** How long a request waits for a change that another request applies. */
    waitMs: number;
  };
  secrets: { databaseUrl: string };
};

/** Reads and checks the environment; all problems are reported in one error. */
export function readConfig(env: Environment): MetadataConfig {
  const read = new ConfigReader(env);
  return read.finish({
    common: readCommonConfig(read, 'metadata'),
    rpcPort: readRpcPort(read, 'metadata'),
    neighbours: { identity: readRpcAddress(read, 'identity'), data: readRpcAddress(read, 'data') },
    timing: {
      leaseMs: 1000 * read.integer('METADATA_LEASE_SECONDS', 'the lease on a deployment', { default: 15, min: 1 }),
      reconcileEveryMs:
        1000 *
        read.integer('METADATA_RECONCILE_SECONDS', 'how often to look for interrupted work', { default: 15, min: 1 }),
      waitMs:
        1000 * read.integer('METADATA_WAIT_SECONDS', 'how long to wait for a deployment', { default: 20, min: 1 }),
    },
    secrets: { databaseUrl: readDatabaseUrl(read, 'metadata') },
  });
}
