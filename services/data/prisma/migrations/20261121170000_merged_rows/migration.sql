-- What the rows of two tables had in common last: those of `table_definition_id` as they were `at` that time, as far as `columns`
-- (lineages) go.
create table row_base (
  account_id integer not null,
  table_definition_id integer not null,
  other_id integer not null,
  at timestamptz(3) not null,
  columns integer[] not null,
  primary key (table_definition_id, other_id)
);
create index row_base_account on row_base (account_id);

-- Merges of rows by id: one that is here is never done again.
create table finished_merge (
  account_id integer not null,
  merge_id text not null,
  result jsonb not null,
  finished_at timestamptz(3) not null default now(),
  primary key (account_id, merge_id)
);
