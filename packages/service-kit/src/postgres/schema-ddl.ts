// The statements that make schemas again, from PostgreSQL's own catalogue: for a copy of schemas in
// another database, of PostgreSQL 16 or newer. Names come qualified and quoted from PostgreSQL, if
// `search_path` of the session is empty or has none of the schemas.
import type { Sql } from './database.ts';

export type SequenceDdl = { name: string; ddl: string | null };

export type TableDdl = {
  name: string;
  ddl: string;
  /** What a row holds; generated columns are computed again. */
  columns: string;
};

/** Everything in the order in which it can be made; rows come after `owned`. */
export type SchemaDdl = {
  schemas: string[];
  extensions: string[];
  functions: string[];
  /** Those of identity columns have no statement of their own. */
  sequences: SequenceDdl[];
  tables: TableDdl[];
  owned: string[];
  constraints: string[];
  indexes: { name: string; ddl: string }[];
  statistics: string[];
  foreignKeys: string[];
  views: string[];
  triggers: string[];
};

/**
 * Reads what makes the schemas. Owners, privileges, and unlogged tables, which lose their rows in a
 * crash, are not part of it.
 */
export async function readSchemaDdl(sql: Sql, schemas: string[]): Promise<SchemaDdl> {
  const read = async (text: string) => (await sql(text, [schemas])).rows;
  const ddl = async (text: string) => (await read(text)).map((row) => row.ddl as string);
  return {
    schemas: await ddl(schemasSql),
    extensions: await ddl(extensionsSql),
    functions: await ddl(functionsSql),
    sequences: (await read(sequencesSql)) as SequenceDdl[],
    tables: (await read(tablesSql)) as TableDdl[],
    owned: await ddl(ownedSql),
    constraints: await ddl(
      constraintSql(`k.contype in ('p', 'u', 'c', 'x') or k.contype = 'n' and not k.convalidated`),
    ),
    indexes: (await read(indexesSql)) as SchemaDdl['indexes'],
    statistics: await ddl(statisticsSql),
    foreignKeys: await ddl(constraintSql(`k.contype = 'f'`)),
    views: await ddl(viewsSql),
    triggers: await ddl(triggersSql),
  };
}

/**
 * What the schemas have beyond that, as `kind name`. `isHarmless`: a copy without it has the same
 * rows.
 */
export async function findUncopied(sql: Sql, schemas: string[]): Promise<{ name: string; isHarmless: boolean }[]> {
  const { rows } = await sql(uncopiedSql, [schemas]);
  return rows as { name: string; isHarmless: boolean }[];
}

const notOfExtension = (catalogue: string, oid: string) =>
  `not exists (select from pg_depend e where e.classid = '${catalogue}'::regclass and e.objid = ${oid} and e.deptype = 'e')`;

const schemasSql = `
  select format('create schema if not exists %I', n.nspname) as ddl from pg_namespace n
  where n.nspname = any($1) and n.nspname <> 'public' order by n.nspname`;

const extensionsSql = `
  select format('create extension if not exists %I with schema %I', x.extname, n.nspname) as ddl
  from pg_extension x join pg_namespace n on n.oid = x.extnamespace
  where n.nspname = any($1) order by x.extname`;

const functionsSql = `
  select pg_get_functiondef(p.oid) as ddl from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = any($1) and p.prokind = 'f' and ${notOfExtension('pg_proc', 'p.oid')} order by p.oid`;

const bounds = `format('start with %s increment by %s minvalue %s maxvalue %s cache %s%s',
  s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, case when s.seqcycle then ' cycle' else '' end)`;

const sequenceOwner = (kinds: string) =>
  `pg_depend o on o.classid = 'pg_class'::regclass and o.objid = c.oid and o.refclassid = 'pg_class'::regclass
     and o.refobjsubid > 0 and o.deptype in (${kinds})`;

const sequencesSql = `
  select format('%I.%I', n.nspname, c.relname) as name,
    case when o.objid is null then format('create sequence %I.%I as %s ', n.nspname, c.relname, format_type(s.seqtypid, null))
      || ${bounds} end as ddl
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_sequence s on s.seqrelid = c.oid
    left join ${sequenceOwner(`'i'`)}
  where n.nspname = any($1) and c.relkind = 'S' and c.relpersistence = 'p' order by c.oid`;

const ownedSql = `
  select format('alter sequence %I.%I owned by %s.%I', n.nspname, c.relname, t.oid::regclass, a.attname) as ddl
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join ${sequenceOwner(`'a'`)}
    join pg_class t on t.oid = o.refobjid
    join pg_attribute a on a.attrelid = o.refobjid and a.attnum = o.refobjsubid
  where n.nspname = any($1) and c.relkind = 'S' and c.relpersistence = 'p' order by c.oid`;

const collation = `case when a.attcollation <> t.typcollation then ' collate ' || a.attcollation::regcollation::text else '' end`;

const identity = `' generated ' || case a.attidentity when 'a' then 'always' else 'by default' end || ' as identity ('
  || (select format('sequence name %I.%I ', n.nspname, c.relname) || ${bounds}
      from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_sequence s on s.seqrelid = c.oid
        join ${sequenceOwner(`'i'`)}
      where o.refobjid = a.attrelid and o.refobjsubid = a.attnum) || ')'`;

// Since PostgreSQL 18 these constraints have names; one that is not validated is added after rows.
const notNull = `case when not a.attnotnull then '' else coalesce(
  (select case when k.convalidated
            then format(' constraint %I not null', k.conname) || case when k.connoinherit then ' no inherit' else '' end
            else '' end
   from pg_constraint k where k.conrelid = a.attrelid and k.contype = 'n' and k.conkey[1] = a.attnum), ' not null') end`;

const tablesSql = `
  select format('%I.%I', n.nspname, c.relname) as name,
    format('create table %I.%I (%s)%s', n.nspname, c.relname,
      string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod))
        || ${collation}
        || case when a.attidentity <> '' then ${identity}
                when a.attgenerated = 's' then ' generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
                when a.attgenerated <> '' then ' generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ')'
                when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end
        || ${notNull}, ', ' order by a.attnum),
      case when c.reloptions is null then '' else ' with (' || array_to_string(c.reloptions, ', ') || ')' end) as ddl,
    coalesce(string_agg(quote_ident(a.attname), ', ' order by a.attnum) filter (where a.attgenerated = ''), '') as columns
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where n.nspname = any($1) and c.relkind = 'r' and c.relpersistence = 'p' and ${notOfExtension('pg_class', 'c.oid')}
  group by n.nspname, c.oid, c.relname, c.reloptions order by c.oid`;

const ofTable = (table: string) =>
  `join pg_class c on c.oid = ${table} and c.relkind in ('r', 'v') and c.relpersistence = 'p'
   join pg_namespace n on n.oid = c.relnamespace and n.nspname = any($1)`;

const constraintSql = (kinds: string) => `
  select format('alter table %I.%I add constraint %I %s', n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid)) as ddl
  from pg_constraint k ${ofTable('k.conrelid')} where ${kinds} order by k.oid`;

const indexesSql = `
  select x.relname as name, pg_get_indexdef(i.indexrelid) as ddl
  from pg_index i ${ofTable('i.indrelid')} join pg_class x on x.oid = i.indexrelid
  where i.indisvalid and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
  order by i.indexrelid`;

const statisticsSql = `
  select pg_get_statisticsobjdef(s.oid) as ddl from pg_statistic_ext s ${ofTable('s.stxrelid')} order by s.oid`;

const viewsSql = `
  select format('create view %I.%I as %s', n.nspname, c.relname, pg_get_viewdef(c.oid)) as ddl
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1) and c.relkind = 'v' and ${notOfExtension('pg_class', 'c.oid')} order by c.oid`;

const triggersSql = `
  select s.ddl from pg_trigger t ${ofTable('t.tgrelid')}
    cross join lateral (values (1, pg_get_triggerdef(t.oid)), (2, case when t.tgenabled <> 'O' then
      format('alter table %I.%I %s trigger %I', n.nspname, c.relname,
        case t.tgenabled when 'D' then 'disable' when 'A' then 'enable always' else 'enable replica' end, t.tgname) end)) s (step, ddl)
  where not t.tgisinternal and s.ddl is not null order by t.oid, s.step`;

const uncopiedSql = `
  with named as (
    select case c.relkind when 'p' then 'partitioned table' when 'f' then 'foreign table' when 'm' then 'materialized view'
             when 'c' then 'type' else 'inheriting table' end || format(' %I.%I', n.nspname, c.relname) as name,
      c.relkind in ('m', 'c') as "isHarmless"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any($1) and ${notOfExtension('pg_class', 'c.oid')}
      and (c.relkind in ('p', 'f', 'm', 'c') or c.relkind = 'r' and exists (select from pg_inherits h where h.inhrelid = c.oid))
    union all
    select format('column %I.%I.%I of the type %s', n.nspname, c.relname, a.attname, format_type(t.oid, null)), false
    from pg_attribute a ${ofTable('a.attrelid')} join pg_type t on t.oid = a.atttypid
    where a.attnum > 0 and not a.attisdropped and c.relkind = 'r' and t.typnamespace <> 'pg_catalog'::regnamespace
      and ${notOfExtension('pg_type', 'coalesce(nullif(t.typelem, 0), t.oid)')}
    union all
    select case t.typtype when 'd' then 'domain' else 'type' end || format(' %I.%I', n.nspname, t.typname), true
    from pg_type t join pg_namespace n on n.oid = t.typnamespace
    where n.nspname = any($1) and t.typtype in ('d', 'e', 'r') and ${notOfExtension('pg_type', 't.oid')}
    union all
    select case p.prokind when 'a' then 'aggregate' when 'p' then 'procedure' else 'window function' end
      || format(' %I.%I', n.nspname, p.proname), true
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = any($1) and p.prokind <> 'f' and ${notOfExtension('pg_proc', 'p.oid')}
    union all
    select format('rule %I of %I.%I', r.rulename, n.nspname, c.relname), true
    from pg_rewrite r ${ofTable('r.ev_class')} where r.rulename <> '_RETURN'
    union all
    select format('policy %I of %I.%I', p.polname, n.nspname, c.relname), true
    from pg_policy p ${ofTable('p.polrelid')})
  select name, "isHarmless" from named order by name`;
