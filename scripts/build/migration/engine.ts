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

// The engine asks for a datamodel even when all it does is run SQL files; the data service has no other.
const emptySchema: [string, string] = ['schema.prisma', 'datasource db {\n  provider = "postgresql"\n}\n'];

/** Runs `work` with a schema engine on the database and closes its connections afterwards. */
export async function withEngine<T>(databaseUrl: string, work: (engine: SchemaEngine) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  pool.on('error', () => {}); // a connection that breaks fails the statement on it, which reports it
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

/** A folder of migrations as the engine wants it; one that is missing has none. */
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

// TypeScript knows WebAssembly only together with all of the DOM.
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
  // Where the engine leaves the reason before it gives up; without it all one sees is "unreachable".
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

// The engine leaves its timer for getting the lock (10 s) behind, which would keep a process alive.
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

// The adapter's own executeScript cuts the text at every semicolon, also inside functions and strings, and commits each
// piece. Sent whole, PostgreSQL parses it and runs it as one transaction: a migration is there or it isn't.
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

// An empty database in which the engine replays migrations to learn the schema they make. Only used to write new ones.
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

// The engine describes a schema from catalogue columns of the type "char", one of which it insists on getting as a character;
// the adapter has no such case. They reach it as text, and their type is put right afterwards.
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
