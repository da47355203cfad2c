// All that the system under test stores of one account, as a hash for each table and file: a test
// compares them before and after. Reads the databases of the embedded system as their superuser.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** The hash of the content of each table (`identity.user`) or file, by its name. */
export type StoredState = Record<string, string>;

export type Stores = {
  /** What is stored of the account now, without bookkeeping. */
  stateOf(accountId: number): Promise<StoredState>;
  /** Runs a statement in a service's database, for what no API shows or does. */
  query(database: Database, text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** The types of the account's events that are not announced, or not handled by a consumer. */
  pendingEvents(accountId: number): Promise<string[]>;
  close(): Promise<void>;
};

const databases = ['identity', 'metadata', 'data', 'jobs', 'billing'] as const;
type Database = (typeof databases)[number];

/** The variable with the URL of the second PostgreSQL, if the rows of accounts are there. */
export const secondClusterName = 'ALMANAC_TEST_SECOND_CLUSTER_URL';

/**
 * Tables of the whole system. Every other table leads to its account, by a column or by foreign
 * keys.
 */
const withoutAccount = [
  'outbox',
  'inbox',
  '_prisma_migrations',
  'identity.signing_key',
  'identity.rate_limit',
  'billing.overage_rate',
  'data.hierarchy_turn',
  'jobs.finished_backup',
];

/** Tables without a foreign key to their owner, because their rows outlive it. */
const ownershipSql: Record<string, string> = {
  'metadata.clone_base': `table_definition_id in (select id from table_definition where account_id = $1
    union select id from deleted_table_definition where account_id = $1)`,
};

/** What changes automatically or by reading: the progress of work, never the data of an account. */
const bookkeeping: Record<string, true | string[]> = {
  'data.announced_rows': true,
  'data.grid_index': true,
  'data.table_reads': true,
  // Events and webhooks follow what has happened by message, a moment later.
  'jobs.account_event': true,
  'jobs.webhook_delivery': true,
  'jobs.webhook_endpoint': ['position', 'failing_since'],
  'metadata.deployment_showing': true,
  'metadata.promotion_showing': true,
  'billing.call_lease': true,
  'billing.monthly_usage': ['reserved', 'last_grant'],
};

/** One database: that of a service, or a second one with rows (`data.2`). */
type Store = { name: string; database: Database; pool: pg.Pool };
type Table = { name: string; ownRows: string };

/** Connects to the databases of the embedded system in `home`. */
export async function openStores(home: string): Promise<Stores> {
  const json = (name: string) => JSON.parse(readFileSync(join(home, name), 'utf8'));
  const password: string = json('secrets.json').database_passwords.superuser;
  const port: number = json('runtime.json').postgres_port;
  const urlOf = (database: string) => `postgres://almanac:${password}@127.0.0.1:${port}/almanac_${database}`;
  const stores = databases.map((database) => openStore(database, database, urlOf(database)));
  const second = process.env[secondClusterName];
  if (second) stores.push(openStore('data.2', 'data', second));
  const bus = openPool(urlOf('bus'));
  const tables = new Map<Store, Promise<Table[]>>();
  const [metadata] = stores.filter(({ name }) => name === 'metadata') as [Store];

  const stateIn = async (store: Store, accountId: number, branches: number[]): Promise<StoredState> => {
    if (!tables.has(store)) tables.set(store, findTables(store));
    const own = (await tables.get(store)) as Table[];
    const rows = own.map(({ name, ownRows }) => hashOf(`${store.name}.${name}`, ownRows)).join(' union all ');
    const deployed = store.database === 'data' ? await deployedTables(store, branches) : {};
    return { ...asState((await store.pool.query(rows, [accountId])).rows), ...deployed };
  };
  return {
    query: async (database, text, values = []) => {
      const { pool } = stores.findLast((store) => store.database === database) as Store; // rows are in the second one
      return (await pool.query(text, values)).rows;
    },
    pendingEvents: async (accountId) => {
      const types: string[] = [];
      const outbox = `select type from outbox where payload->>'account_id' = $1::text`;
      const queues = `select data->'message'->>'type' as type from bus.job
        where state < 'completed' and data->'message'->'payload'->>'account_id' = $1::text`;
      // The bus last: an event is in it before it leaves its outbox.
      for (const [pool, text] of [...stores.map((store) => [store.pool, outbox] as const), [bus, queues] as const])
        types.push(...(await pool.query(text, [accountId])).rows.map(({ type }) => type));
      return types;
    },
    stateOf: async (accountId) => {
      const { rows } = await metadata.pool.query('select id from branch where account_id = $1', [accountId]);
      const branches = rows.map(({ id }) => id as number);
      const states = await Promise.all(stores.map((store) => stateIn(store, accountId, branches)));
      return Object.assign({}, ...states, storedFiles(join(home, 'objects/objects/accounts', String(accountId))));
    },
    close: async () => {
      await Promise.all([bus, ...stores.map(({ pool }) => pool)].map((pool) => pool.end()));
    },
  };
}

function openStore(name: string, database: Database, connectionString: string): Store {
  return { name, database, pool: openPool(connectionString) };
}

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 2, application_name: 'tests' });
  pool.on('error', () => {}); // a test may stop the server
  return pool;
}

const hashOf = (name: string, rows: string) =>
  `select '${name}' as name, count(*) || ' rows ' || coalesce(md5(string_agg(t.line, e'\\n' order by t.line)), '') as hash
   from (${rows}) t`;

const asState = (rows: { name: string; hash: string }[]): StoredState =>
  Object.fromEntries(rows.map(({ name, hash }) => [name, hash]));

// A row without an account's id belongs to the account of the row it refers to, through any number
// of tables.
async function findTables({ database, pool }: Store): Promise<Table[]> {
  const { rows: tables } = await pool.query(
    `select table_name as name, array_agg(column_name::text order by ordinal_position) as columns
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE' group by 1`,
  );
  const { rows: references } = await pool.query(
    `select c.conrelid::regclass::text as child, a.attname::text as column, c.confrelid::regclass::text as parent,
       f.attname::text as target
     from pg_constraint c
     join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     join pg_attribute f on f.attrelid = c.confrelid and f.attnum = c.confkey[1]
     where c.contype = 'f' and c.connamespace = 'public'::regnamespace`,
  );
  const columnsOf = new Map<string, string[]>(tables.map(({ name, columns }) => [name, columns]));
  const ownership = (table: string, seen: string[] = []): string | undefined => {
    if (database === 'identity' && table === 'account') return 'id = $1';
    if (columnsOf.get(table)?.includes('account_id')) return 'account_id = $1';
    for (const { child, column, parent, target } of references) {
      if (unquoted(child) !== table || seen.includes(unquoted(parent))) continue;
      const inner = ownership(unquoted(parent), [...seen, table]);
      if (inner) return `"${column}" in (select "${target}" from ${parent} where ${inner})`;
    }
    return undefined;
  };
  return [...columnsOf].flatMap(([name, columns]) => {
    if (withoutAccount.includes(name) || withoutAccount.includes(`${database}.${name}`)) return [];
    const leftOut = bookkeeping[`${database}.${name}`] ?? [];
    if (leftOut === true) return [];
    const owned = ownershipSql[`${database}.${name}`] ?? ownership(name);
    if (!owned)
      throw new Error(
        `No column and no foreign key of ${database}.${name} leads to an account. Declare it in ${import.meta.filename}.`,
      );
    const kept = columns.filter((column) => !leftOut.includes(column)).map((column) => `"${column}"`);
    return [{ name, ownRows: `select row(${kept})::text as line from "${name}" where ${owned}` }];
  });
}

const unquoted = (name: string) => name.replace(/"/g, '');

// The tables of branches have no column for the account; their schemas are named after the branch's
// id. Their structure counts as well, except for the "not null" constraints of PostgreSQL 18, whose
// names change by a restore.
async function deployedTables({ name: store, pool }: Store, branches: number[]): Promise<StoredState> {
  const schemas = branches.map((id) => `b_${id}`);
  const { rows: tables } = await pool.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = any($1) order by 1`,
    [schemas],
  );
  const structure = `select concat_ws(' ', attrelid::regclass, attname, atttypid::regtype, atttypmod, attnotnull) as line
      from pg_attribute join pg_class c on c.oid = attrelid
      where relnamespace::regnamespace::text = any($1) and attnum > 0 and not attisdropped
    union all select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
      where connamespace::regnamespace::text = any($1) and contype <> 'n'`;
  const parts = tables.map(({ name }) => hashOf(`${store}.${name}`, `select r::text as line from ${name} r`));
  const all = [hashOf(`${store} structure`, structure), ...parts].join(' union all ');
  return asState((await pool.query(all, [schemas])).rows);
}

function storedFiles(folder: string): StoredState {
  if (!existsSync(folder)) return {}; // no file yet, or files are in S3
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    files.flatMap((path) => {
      const content = contentOf(path);
      return content === undefined ? [] : [[`file ${path.slice(folder.length + 1)}`, content]];
    }),
  );
}

// The service may delete a file while this runs.
function contentOf(path: string): string | undefined {
  try {
    return `${statSync(path).mtimeMs} ${createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16)}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
