// Each service has a database of its own and a role with no rights outside it: a breach of one
// service opens no other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { givenLocalSystem, type LocalSystem } from '@almanac/testkit/system/system';
import pg from 'pg';

const databases = ['identity', 'metadata', 'data', 'jobs', 'billing', 'bus'];

let system: LocalSystem;
let urlOf: (role: string, database: string) => string;

beforeAll(async () => {
  system = await givenLocalSystem();
  const json = (name: string) => JSON.parse(readFileSync(join(system.home, name), 'utf8'));
  const passwords: Record<string, string> = json('secrets.json').database_passwords;
  const port: number = json('runtime.json').postgres_port;
  urlOf = (role, database) =>
    `postgres://almanac_${role}:${encodeURIComponent(passwords[role] as string)}@127.0.0.1:${port}/${database}`;
});

afterAll(() => system?.stop());

/** The answer of a statement, or the SQLSTATE that refuses it. */
async function ask(role: string, database: string, text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: urlOf(role, database) });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } catch (error) {
    return (error as { code?: string }).code;
  } finally {
    await client.end().catch(() => {});
  }
}

describe.each(databases)('the role of %s', (role) => {
  const own = `almanac_${role}`;

  it('owns its database and has no power over the server', async () => {
    const text =
      'select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls, (select count(*)::int from pg_auth_members where member = r.oid) as memberships' +
      ' from pg_roles r where rolname = current_user';
    const none = {
      rolsuper: false,
      rolcreatedb: false,
      rolcreaterole: false,
      rolreplication: false,
      rolbypassrls: false,
    };
    expect(await ask(role, own, text)).toEqual([{ ...none, memberships: 0 }]);
    expect(await ask(role, own, 'select count(*)::int > 0 as reads from pg_class')).toEqual([{ reads: true }]);
  });

  it.each([...databases.map((name) => `almanac_${name}`).filter((name) => name !== own)])(
    'does not get into %s',
    async (other) => {
      expect(await ask(role, other, 'select 1')).toBe('42501');
    },
  );

  it.each([
    "select pg_read_file('PG_VERSION')",
    "copy (select 1) to program 'true'",
    "copy (select 1) to '/tmp/almanac-role'",
    'create role another',
    'create database another',
    'alter system set fsync = off',
    'set role almanac',
    'select pg_reload_conf()',
    'select * from pg_authid',
    'create extension dblink',
    'create extension file_fdw',
  ])('may not: %s', async (text) => {
    expect(await ask(role, own, text)).toBe('42501');
  });

  it('does not see what other roles are doing', async () => {
    const text = `select count(*)::int as seen from pg_stat_activity where usename <> current_user and query not in ('', '<insufficient privilege>')`;
    expect(await ask(role, own, text)).toEqual([{ seen: 0 }]);
  });
});
