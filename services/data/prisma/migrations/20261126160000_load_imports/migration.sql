-- The import that loaded a table; null for dry runs, for cancelled loads, and for what earlier
-- releases have loaded.
alter table finished_load add column import_id integer;
create index finished_load_import on finished_load (table_definition_id, finished_at desc) where import_id is not null;
