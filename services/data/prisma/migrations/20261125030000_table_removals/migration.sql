-- When tables were last taken out of service: what is deployed under such an id later begins anew, and
-- no mark of an export or instant from before tells anything of it. Kept when their rows are gone.
create table table_removal (
  table_definition_id integer primary key,
  account_id integer not null,
  removed_at timestamptz(3) not null
);
create index table_removal_account on table_removal (account_id);
insert into table_removal (table_definition_id, account_id, removed_at)
select table_definition_id, min(account_id), max(retired_at) from retired_table group by table_definition_id;
