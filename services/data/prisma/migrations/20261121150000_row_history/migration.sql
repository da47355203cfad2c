-- From when on the rows of a table can be read as they were. Null while a table deployed by an earlier release has no history
-- table yet: the service makes those one by one, since a single transaction could not lock all tables of a large installation.
alter table deployed_table add column history_since timestamptz(3);

-- Which request many rows written at once come from: those rows carry only the time.
create table bulk_write (
  table_definition_id integer not null,
  account_id integer not null,
  at timestamptz(3) not null,
  request_id text not null,
  primary key (table_definition_id, at)
);
