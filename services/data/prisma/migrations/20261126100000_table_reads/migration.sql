-- How often a table was used on a day (UTC), by whom and for what. 0: without a user, or without an
-- application. Instances add what they have counted every few seconds; what a crash loses is missing.
create table table_reads (
  account_id integer not null,
  table_definition_id integer not null,
  day date not null,
  kind text not null,
  user_id integer not null,
  application_id integer not null,
  calls bigint not null,
  primary key (account_id, table_definition_id, day, kind, user_id, application_id)
);
create index table_reads_day on table_reads (day);
