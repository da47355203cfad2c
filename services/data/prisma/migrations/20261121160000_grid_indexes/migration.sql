-- What people sort and filter large tables by: the indexes that the service makes and drops by itself (src/indexing).
create table grid_index (
  table_definition_id integer not null,
  -- the lineage of the column; of system columns their place, negative
  column_id integer not null,
  kind text not null check (kind in ('ascending', 'descending', 'words')),
  asked bigint not null,
  last_asked_at timestamptz(3) not null default now(),
  -- when it could not be made, and the SQLSTATE of why
  failed_at timestamptz(3),
  failure text,
  primary key (table_definition_id, column_id, kind)
);
