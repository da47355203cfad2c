-- What is deployed, by data's own account of it: written in the transaction of the DDL, read by every request.
create sequence deployed_revision;

create table deployed_table (
  table_definition_id integer primary key,
  account_id integer not null,
  branch_id integer not null,
  domain_id integer not null,
  lineage_id integer not null,
  uuid uuid not null,
  key text not null,
  name text not null,
  load_type text not null,
  version integer not null,
  -- New with every deployment of the table, never used twice: statements and prepared plans name it.
  revision bigint not null default nextval('deployed_revision'),
  structure jsonb not null,
  deployed_at timestamptz(3) not null default now(),
  unique (account_id, branch_id, key),
  unique (branch_id, lineage_id)
);
create index deployed_table_account_branch on deployed_table (account_id, branch_id);

create table applied_deployment (
  account_id integer not null,
  deployment_id text not null,
  plan jsonb not null,
  applied_at timestamptz(3) not null default now(),
  primary key (account_id, deployment_id)
);

-- What was taken out of service but can still be brought back: whole tables, and columns dropped or shortened with values.
create table retired_table (
  id integer generated always as identity primary key,
  account_id integer not null,
  table_definition_id integer not null,
  branch_id integer not null,
  entry jsonb not null,
  retired_at timestamptz(3) not null default now()
);
create index retired_table_retired_at on retired_table (retired_at);
create index retired_table_definition on retired_table (account_id, table_definition_id);

create table retired_column (
  id integer generated always as identity primary key,
  account_id integer not null,
  branch_id integer not null,
  lineage_id integer not null,
  column_lineage_id integer not null,
  revision bigint not null,
  retired_at timestamptz(3) not null default now()
);
create index retired_column_retired_at on retired_column (retired_at);

-- Answers of POSTs that carried an Idempotency-Key, for 24 hours.
create table idempotent_answer (
  account_id integer not null,
  caller text not null,
  key text not null,
  request_hash bytea not null,
  status integer,
  headers jsonb,
  body text,
  created_at timestamptz(3) not null default now(),
  primary key (account_id, caller, key)
);
create index idempotent_answer_created_at on idempotent_answer (created_at);

-- Bulk loads that ended, by the caller's load id; and the rows they refused.
create table finished_load (
  account_id integer not null,
  load_id text not null,
  table_definition_id integer not null,
  result jsonb not null,
  file_columns text[] not null,
  finished_at timestamptz(3) not null default now(),
  primary key (account_id, load_id)
);
create index finished_load_finished_at on finished_load (finished_at);

create table rejected_row (
  account_id integer not null,
  load_id text not null,
  row_number bigint not null,
  cells text[] not null,
  -- [{column, value, message}], in the order of the columns
  reasons jsonb not null,
  primary key (account_id, load_id, row_number),
  foreign key (account_id, load_id) references finished_load on delete cascade
);

-- Up to when the changes of a table have been announced (data.rows.changed).
create table announced_rows (
  table_definition_id integer primary key,
  account_id integer not null,
  until timestamptz not null
);

-- Files on their way into a table; each is dropped when its load ends, or swept when its process has died.
create schema staging;
create sequence staging_number as integer;

create table outbox (
  id bigserial primary key,
  message_id uuid not null unique,
  type text not null,
  payload jsonb not null,
  request_id text,
  occurred_at timestamptz(3) not null default now()
);

create table inbox (
  consumer text not null,
  message_id uuid not null,
  received_at timestamptz(3) not null default now(),
  primary key (consumer, message_id)
);
create index inbox_received_at_idx on inbox (received_at);
