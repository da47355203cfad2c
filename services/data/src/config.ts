// Every setting of data, read once.
import {
  type CommonConfig,
  ConfigReader,
  type Environment,
  readCommonConfig,
  readDatabaseUrl,
  readRpcAddress,
  readRpcPort,
} from '@almanac/service-kit/config/config';

export type DataConfig = {
  common: CommonConfig;
  rpcPort: number;
  identityRpc: string;
  /**
   * The most connections for requests; for deployments and merges; for exports and uploads.
   * Announcements have three more.
   */
  connections: { rows: number; work: number; quiet: number };
  /** How many days superseded versions of rows are kept; 0: for ever. */
  historyDays: number;
  /** The cluster that new accounts are placed on. */
  newAccountsOn: string;
  /** Tables of at least so many rows get indexes for their filters and sorts. */
  indexFromRows: number;
  /**
   * The role that may read views of the deployed tables with an SQL client; undefined: no views.
   */
  sqlReader: string | undefined;
  /**
   * PostgreSQL clusters by name. The first, `main`, is the home cluster, which has the placements
   * of accounts.
   */
  secrets: { databaseUrls: { name: string; url: string }[] };
};

/** Reads the environment; one error reports every problem. */
export function readConfig(env: Environment): DataConfig {
  const read = new ConfigReader(env);
  const databaseUrls = readDatabaseUrls(read, env);
  const newAccountsOn = env.DATA_NEW_ACCOUNTS_ON || homeName;
  if (!databaseUrls.some(({ name }) => name === newAccountsOn))
    read.problems.push(`DATA_NEW_ACCOUNTS_ON should be one of ${databaseUrls.map(({ name }) => name).join(', ')}.`);
  const connections = (name: string, what: string, fallback: number) =>
    read.integer(name, `the most database connections for ${what}`, { default: fallback, min: 2, max: 1_000 });
  const indexFromRows = read.integer('DATA_INDEX_FROM_ROWS', 'a number of rows, or 0 for never', {
    default: 100_000,
    min: 0,
    max: 1_000_000_000,
  });
  return read.finish({
    common: readCommonConfig(read, 'data'),
    rpcPort: readRpcPort(read, 'data'),
    identityRpc: readRpcAddress(read, 'identity'),
    connections: {
      rows: connections('DATA_ROW_CONNECTIONS', 'requests', 10),
      work: connections('DATA_WORK_CONNECTIONS', 'deployments and merges', 5),
      quiet: connections('DATA_QUIET_CONNECTIONS', 'exports and uploads', 12),
    },
    historyDays: read.integer('DATA_HISTORY_DAYS', 'the days that superseded versions of rows are kept', {
      default: 0,
      max: 36_500,
    }),
    newAccountsOn,
    sqlReader: readSqlReader(read, env),
    indexFromRows: indexFromRows === 0 ? Number.POSITIVE_INFINITY : indexFromRows,
    secrets: { databaseUrls },
  });
}

function readSqlReader(read: ConfigReader, { DATA_SQL_READER: role }: Environment): string | undefined {
  if (role && !/^[a-z_][a-z0-9_]{0,62}$/.test(role))
    read.problems.push('DATA_SQL_READER should be the name of a role: small letters, digits and _, 63 at most.');
  return role || undefined;
}

const homeName = 'main';

/** All PostgreSQL clusters by name, home first. */
export function readDatabaseUrls(read: ConfigReader, env: Environment): { name: string; url: string }[] {
  return [{ name: homeName, url: readDatabaseUrl(read, 'data') }, ...readFurther(read, env.DATA_DATABASE_URLS ?? '')];
}

// `north=postgres://… south=postgres://…`: a URL may change, and placements keep the name.
function readFurther(read: ConfigReader, text: string): { name: string; url: string }[] {
  const further = text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => {
      const at = word.indexOf('=');
      return { name: word.slice(0, at), url: word.slice(at + 1) };
    });
  const isName = (name: string) => /^[a-z][a-z0-9_-]{0,62}$/.test(name);
  const names = new Set([homeName]);
  for (const { name, url } of further) {
    if (!isName(name) || !/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url))
      read.problems.push(
        'DATA_DATABASE_URLS should be name=postgres://… for each further cluster, with blanks between.',
      );
    if (isName(name) && names.has(name)) read.problems.push(`DATA_DATABASE_URLS names the cluster ${name} twice.`);
    names.add(name);
  }
  return further.filter(({ name }) => isName(name)); // an error would show a URL without a name, with its password
}
