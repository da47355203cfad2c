// Every setting of the console's server.
import { join } from 'node:path';
import {
  type CommonConfig,
  ConfigReader,
  type Environment,
  readCommonConfig,
} from '@almanac/service-kit/config/config';

export type ConsoleConfig = {
  common: CommonConfig;
  /** The folder with the built pages; it may be missing. */
  folder: string;
};

/** Reads the environment and reports every problem in one error. */
export function readConfig(env: Environment): ConsoleConfig {
  const read = new ConfigReader(env);
  return read.finish({
    common: readCommonConfig(read, 'console'),
    folder: join(import.meta.dirname, '../dist'),
  });
}
