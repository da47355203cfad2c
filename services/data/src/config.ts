// Every setting of data, read once.
import {
  type CommonConfig,
  ConfigReader,
  type Environment,
  readCommonConfig,
  readDatabaseUrl,
  readRpcAddress,
  readRpcPort,
} from '@almanac/service-kit/config';

export type DataConfig = {
  common: CommonConfig;
  rpcPort: number;
  identityRpc: string;
  /** Most connections for requests; for deployments and merges; for exports and files on their way in. Three more announce. */
  connections: { rows: number; work: number; quiet: number };
  secrets: { databaseUrl: string };
};

/** Reads the environment; every problem is reported together. */
export function readConfig(env: Environment): DataConfig {
  const read = new ConfigReader(env);
  const connections = (name: string, what: string, fallback: number) =>
    read.integer(name, `the most database connections for ${what}`, { default: fallback, min: 2, max: 1_000 });
  return read.finish({
    common: readCommonConfig(read, 'data'),
    rpcPort: readRpcPort(read, 'data'),
    identityRpc: readRpcAddress(read, 'identity'),
    connections: {
      rows: connections('DATA_ROW_CONNECTIONS', 'requests', 10),
      work: connections('DATA_WORK_CONNECTIONS', 'deployments and merges', 5),
      quiet: connections('DATA_QUIET_CONNECTIONS', 'exports and uploads', 12),
    },
    secrets: { databaseUrl: readDatabaseUrl(read, 'data') },
  });
}
