-- Change requests: metadata owns a request, data its operations on rows and the decisions on them.
create table change_request (
  account_id integer not null,
  id integer not null,
  branch_id integer not null,
  created_by integer,
  -- draft: operations change; review: they are decided; closed: neither.
  phase text not null default 'draft' check (phase in ('draft', 'review', 'closed')),
  operation_count integer not null default 0,
  -- Rises with every change of operations and decisions.
  changes bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  primary key (account_id, id)
);

-- `cells` and `base`: texts by the lineage of a column; the values proposed, and those of the same
-- columns and of the primary key in the version that the operation was based on.
create table change_request_operation (
  account_id integer not null,
  change_request_id integer not null,
  id bigint not null generated always as identity,
  table_definition_id integer not null,
  kind text not null check (kind in ('create', 'update', 'delete', 'restore')),
  svc_sk bigint,
  base_version integer,
  cells jsonb not null default '{}',
  base jsonb not null default '{}',
  problems jsonb not null default '[]',
  decision text not null default 'undecided' check (decision in ('undecided', 'accepted', 'rejected', 'returned')),
  decided_by integer,
  decided_at timestamptz(3),
  comment text,
  updated_by text,
  updated_at timestamptz(3) not null default now(),
  primary key (account_id, change_request_id, id),
  foreign key (account_id, change_request_id) references change_request (account_id, id) on delete cascade
);
create index change_request_operation_table on change_request_operation (account_id, change_request_id, table_definition_id, id);
create unique index change_request_operation_row on change_request_operation (account_id, change_request_id, table_definition_id, svc_sk)
  where svc_sk is not null;

-- Results of applications, by the id of the attempt: an application that has one is not repeated.
create table applied_change_request (
  account_id integer not null,
  apply_id text not null,
  change_request_id integer not null,
  requested_by integer,
  approved_by integer,
  result jsonb not null,
  finished_at timestamptz(3) not null default now(),
  primary key (account_id, apply_id)
);
create index applied_change_request_finished on applied_change_request (finished_at);

-- How rows of a table change: directly, or by change requests alone; then imports by applications
-- may go on.
alter table deployed_table
  add column row_changes text not null default 'direct' check (row_changes in ('direct', 'request')),
  add column machine_imports boolean not null default true;

-- The change request of a write, for the history.
alter table bulk_write add column change_request_id integer, add column approved_by integer;
