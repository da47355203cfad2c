// All that the system under test keeps of one account, as a hash for each table and file: what must not change changes none.
// Reads the embedded system's databases as their superuser, beside the services and whatever they allow.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** The name of a table (`identity.user`) or file to a hash of what it holds. */
export type StoredState = Record<string, string>;

export type Stores = {
  /** What is kept of the account now, bookkeeping left out. */
  stateOf(accountId: number): Promise<StoredState>;
  /** One statement in a service's database, for what no API shows or does. */
  query(database: Database, text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
};

const databases = ['identity', 'metadata', 'data', 'jobs', 'billing'] as const;
type Database = (typeof databases)[number];

/** Names the second PostgreSQL on which accounts' rows are, when there is one. */
export const secondClusterName = 'ALMANAC_TEST_SECOND_CLUSTER_URL';

/** Tables that belong to the whole system; every other one has to lead to its account, by a column or by foreign keys. */
const ofNobody = [
  'outbox',
  'inbox',
  '_prisma_migrations',
  'identity.signing_key',
  'identity.rate_limit',
  'billing.overage_rate',
  'data.hierarchy_turn',
];

/** Tables that name what they belong to without a foreign key, because they outlive it. */
const belonging: Record<string, string> = {
  'metadata.clone_base': `table_definition_id in (select id from table_definition where account_id = $1
    union select id from deleted_table_definition where account_id = $1)`,
};

/** What changes by itself, or by reading: how far work has got, never what somebody owns. */
const bookkeeping: Record<string, true | string[]> = {
  'data.announced_rows': true,
  'data.grid_index': true,
  'metadata.deployment_showing': true,
  'metadata.promotion_showing': true,
  'billing.call_lease': true,
  'billing.monthly_usage': ['reserved', 'last_grant'],
};

/** One database: a service's own, or a further one that holds rows (`data.2`). */
type Store = { name: string; database: Database; pool: pg.Pool };
type Table = { name: string; ownRows: string };

/** Connects to the databases of the embedded system in `home`. */
export async function openStores(home: string): Promise<Stores> {
  const json = (name: string) => JSON.parse(readFileSync(join(home, name), 'utf8'));
  const password: string = json('secrets.json').database_passwords.superuser;
  const port: number = json('runtime.json').postgres_port;
  const stores = databases.map((database) =>
    openStore(database, database, `postgres://almanac:${password}@127.0.0.1:${port}/almanac_${database}`),
  );
  const second = process.env[secondClusterName];
  if (second) stores.push(openStore('data.2', 'data', second));
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
      const { pool } = stores.findLast((store) => store.database === database) as Store; // rows are on the second one

      return (await pool.query(text, values)).rows;
    },
    stateOf: async (accountId) => {
      const { rows } = await metadata.pool.query('select id from branch where account_id = $1', [accountId]);
      const branches = rows.map(({ id }) => id as number);
      const states = await Promise.all(stores.map((store) => stateIn(store, accountId, branches)));
      return Object.assign({}, ...states, storedFiles(join(home, 'objects/objects/accounts', String(accountId))));
    },
    close: async () => {
      await Promise.all(stores.map(({ pool }) => pool.end()));
    },
  };
}

function openStore(name: string, database: Database, connectionString: string): Store {
  const pool = new pg.Pool({ connectionString, max: 2, application_name: 'tests' });
  pool.on('error', () => {}); // a server that a test stops takes its idle connections with it
  return { name, database, pool };
}

const hashOf = (name: string, rows: string) =>
  `select '${name}' as name, count(*) || ' rows ' || coalesce(md5(string_agg(t.line, e'\\n' order by t.line)), '') as hash
   from (${rows}) t`;

const asState = (rows: { name: string; hash: string }[]): StoredState =>
  Object.fromEntries(rows.map(({ name, hash }) => [name, hash]));

// A table without the column belongs to whom the row it refers to belongs to, over as many tables as it takes.
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
    if (ofNobody.includes(name) || ofNobody.includes(`${database}.${name}`)) return [];
    const leftOut = bookkeeping[`${database}.${name}`] ?? [];
    if (leftOut === true) return [];
    const owned = belonging[`${database}.${name}`] ?? ownership(name);
    if (!owned) throw new Error(`Whose rows are in ${database}.${name}? Say so in ${import.meta.filename}.`);
    const kept = columns.filter((column) => !leftOut.includes(column)).map((column) => `"${column}"`);
    return [{ name, ownRows: `select row(${kept})::text as line from "${name}" where ${owned}` }];
  });
}

const unquoted = (name: string) => name.replace(/"/g, '');

// The tables of branches hold no account; their schemas are called by the branch's id. Their structure counts as well, but not how
// PostgreSQL 18 calls "not null", which is another name after a restore.
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
  if (!existsSync(folder)) return {}; // nothing stored yet, or stored in S3
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    files.flatMap((path) => {
      const content = contentOf(path);
      return content === undefined ? [] : [[`file ${path.slice(folder.length + 1)}`, content]];
    }),
  );
}

// The service may take a file away while we look.
function contentOf(path: string): string | undefined {
  try {
    return `${statSync(path).mtimeMs} ${createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16)}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
