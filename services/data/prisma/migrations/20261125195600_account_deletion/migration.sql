-- An account whose tables and rows this database deletes, or has deleted: what was removed so far, by
-- kind. The row stays for some weeks, in which whatever arrives late is deleted too.
create table account_erasure (
  account_id integer primary key,
  requested_at timestamptz(3) not null default now(),
  facts jsonb,
  counts jsonb not null default '{}',
  finished_at timestamptz(3)
);
