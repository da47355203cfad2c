// The schema engine of the Prisma command line in WebAssembly, over pg: nothing is downloaded. It
// writes migrations; services apply them without it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { readMigrations } from '@almanac/service-kit/postgres/migrate';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import type { MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';

export const noFilters = { externalTables: [], externalEnums: [] };

// The engine needs a datamodel even to run SQL files; the data service has no other one.
const emptySchema: [string, string] = ['schema.prisma', 'datasource db {\n  provider = "postgresql"\n}\n'];

/** Runs `work` with a schema engine on the database and closes its connections afterwards. */
export async function withEngine<T>(databaseUrl: string, work: (engine: SchemaEngine) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  pool.on('error', () => {}); // a broken connection fails its statement
  pool.on('connect', (client) => client.on('error', () => {}));
  const engineClass = await loadEngine();
  const factory = bindMigrationAwareSqlAdapterFactory(createFactory(pool, databaseUrl));
  const engine = await engineClass.new({ datamodels: [emptySchema] }, () => {}, factory);
  try {
    return await work(engine);
  } finally {
    engine.free();
    await pool.end();
  }
}

/** A folder of migrations in the engine's form; a missing folder has none. */
export function migrationList(directory: string): MigrationList {
  return {
    baseDir: directory,
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    shadowDbInitScript: '',
    migrationDirectories: readMigrations(directory).map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value: sql } },
    })),
  };
}

type Bindings = { SchemaEngine: typeof SchemaEngine; __wbg_set_wasm(exports: unknown): void };

// TypeScript has the types of WebAssembly only in the library of the DOM.
type Instance = { exports: { __wbindgen_start(): void } };
type WithWebAssembly = {
  WebAssembly: { instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: Instance }> };
};

let loaded: Promise<typeof SchemaEngine> | undefined;

function loadEngine(): Promise<typeof SchemaEngine> {
  loaded ??= instantiateEngine();
  return loaded;
}

async function instantiateEngine(): Promise<typeof SchemaEngine> {
  // The engine writes the reason of a panic here; without it the error is only "unreachable".
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: { set_message: (text: string) => process.emitWarning(text) },
  });
  const require = createRequire(import.meta.url);
  const bindingsPath = require.resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const bindings = (await import('@prisma/schema-engine-wasm/schema_engine_bg')) as unknown as Bindings;
  const { WebAssembly } = globalThis as unknown as WithWebAssembly;
  const bytes = readFileSync(bindingsPath.replace(/\.js$/, '.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': withLooseTimers(bindings) });
  bindings.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  return bindings.SchemaEngine;
}

// The engine doesn't clear its lock timer (10 s), which would keep the process alive.
function withLooseTimers(bindings: object): object {
  const loose = (callback: () => void, ms: number) => setTimeout(callback, ms).unref();
  const entries = Object.entries(bindings);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, name.startsWith('__wbg_setTimeout') ? loose : value]),
  );
}

function createFactory(pool: pg.Pool, databaseUrl: string): SqlMigrationAwareDriverAdapterFactory {
  const inner = new PrismaPg(pool);
  return {
    provider: inner.provider,
    adapterName: inner.adapterName,
    connect: async () => runScriptsWhole(await inner.connect()),
    connectToShadowDb: () => connectToShadow(pool, databaseUrl),
  };
}

type Adapter = SqlDriverAdapter & { underlyingDriver(): pg.Pool; onError(error: unknown): never };

// The adapter's executeScript splits the text at every semicolon, also inside functions and
// strings, and commits each part. Sent whole, PostgreSQL runs it as one transaction.
function runScriptsWhole(adapter: unknown): SqlDriverAdapter {
  const whole = adapter as Adapter;
  whole.executeScript = async (script) => {
    try {
      await whole.underlyingDriver().query(script);
    } catch (error) {
      whole.onError(error);
    }
  };
  return whole;
}

// An empty database in which the engine replays the migrations, to write a new one.
async function connectToShadow(pool: pg.Pool, databaseUrl: string): Promise<SqlDriverAdapter> {
  const name = `almanac_shadow_${crypto.randomUUID().replaceAll('-', '')}`;
  await pool.query(`create database "${name}" template template0`);
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  const shadow = new pg.Pool({ connectionString: url.href, max: 2 });
  shadow.on('error', () => {});
  const adapter = runScriptsWhole(await new PrismaPg(shadow).connect());
  describeCharacters(shadow, adapter);
  adapter.dispose = async () => {
    await shadow.end();
    await pool.query(`drop database if exists "${name}" with (force)`);
  };
  return adapter;
}

// The engine reads catalogue columns of the type "char", and needs one of them as a character,
// which the adapter doesn't support. They are read as text, and their type is corrected afterwards.
function describeCharacters(pool: pg.Pool, adapter: SqlDriverAdapter): void {
  const positions = new Map<string, number[]>(); // by the text of the query
  const query = pool.query.bind(pool) as (config: pg.QueryConfig, values?: unknown[]) => Promise<pg.QueryResult>;
  pool.query = (async (config: pg.QueryConfig, values?: unknown[]) => {
    const result = await query(config, values);
    const { CHAR, TEXT } = pg.types.builtins;
    const found = (result.fields ?? []).flatMap(({ dataTypeID }, index) => (dataTypeID === CHAR ? [index] : []));
    for (const index of found) Object.assign(result.fields[index] as object, { dataTypeID: TEXT });
    if (found.length > 0) positions.set(config.text, found);
    return result;
  }) as typeof pool.query;
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.queryRaw = async (asked) => {
    const result = await queryRaw(asked);
    for (const index of positions.get(asked.sql) ?? []) result.columnTypes[index] = ColumnTypeEnum.Character;
    return result;
  };
}
