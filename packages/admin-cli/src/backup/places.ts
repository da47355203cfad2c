// The places of a backup's data: the databases and the bucket, named by the services' variables.
import { pathToFileURL } from 'node:url';
import { type Home, readJson } from '@almanac/embedded/home';
import type { Secrets } from '@almanac/embedded/secrets';
import { ConfigReader, type Environment, readDatabaseUrl } from '@almanac/service-kit/config/config';
import { readDatabaseUrls } from '../../../../services/data/src/config.ts';
import { createObjectStore } from '../../../../services/jobs/src/files/object-store/create-object-store.ts';
import type { ObjectStore } from '../../../../services/jobs/src/files/object-store/object-store.ts';
import type { Database } from './dump/connect.ts';

export type Places = {
  databases: Database[];
  store: ObjectStore;
};

const services = ['billing', 'data', 'identity', 'jobs', 'metadata'] as const;

/** Reads the places from the environment. Throws a ConfigError with every problem. */
export function readPlaces(env: Environment): Places {
  const read = new ConfigReader(env);
  const url = read.url('JOBS_OBJECT_STORE_URL', 'where files are kept', ['file:', 's3:', 'https:']);
  const databases = services.flatMap((name) =>
    name === 'data' ? readClusters(read, env) : [{ name, url: readDatabaseUrl(read, name) }],
  );
  read.finish({});
  return {
    databases,
    store: createObjectStore({ url, publicUrl: '', signingKey: neverSigns }),
  };
}

const readClusters = (read: ConfigReader, env: Environment): Database[] =>
  readDatabaseUrls(read, env).map(({ name, url }, i) => ({ name: i === 0 ? 'data' : `data.${name}`, url }));

// A folder store needs a key for links; a backup makes no links.
const neverSigns = new Uint8Array(32);

/** True when the environment names databases: then the embedded system isn't meant. */
export const namesDatabases = (env: Environment) => Boolean(env.IDENTITY_DATABASE_URL);

/**
 * The variables of an embedded system with PostgreSQL at this port; the shell's take precedence.
 */
export function embeddedEnvironment(env: Environment, home: Home, port: number): Environment {
  const passwords = readJson<Secrets>(home.secrets)?.database_passwords ?? {};
  const urls = services.map((name) => [
    `${name.toUpperCase()}_DATABASE_URL`,
    `postgres://almanac_${name}:${passwords[name]}@127.0.0.1:${port}/almanac_${name}`,
  ]);
  return { JOBS_OBJECT_STORE_URL: pathToFileURL(home.objects).href, ...env, ...Object.fromEntries(urls) };
}
