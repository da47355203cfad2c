-- Counts of operations by kind and decision are read from the index alone.
alter table change_request_operation
  add column has_problem boolean not null generated always as (problems <> '[]'::jsonb) stored;
create index change_request_operation_counts
  on change_request_operation (account_id, change_request_id, table_definition_id, kind, decision, has_problem, id);
