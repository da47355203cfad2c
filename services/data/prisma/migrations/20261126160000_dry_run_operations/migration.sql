-- The import table that a load was for: the rows of a dry run are read by it.
alter table finished_load
  add column import_table_id integer,
  add column dry_run boolean not null default false;
create index finished_load_import_table on finished_load (account_id, import_table_id, finished_at) where import_table_id is not null;

-- [{kind, svc_sk, version, cells}]: `rows` as operations of a change request; `cells` are texts by the lineage of a column.
-- Null: kept by an earlier release.
alter table changed_block add column operations jsonb;
