-- Which rows of a promotion are decided, by their primary key: `key` as JSON shows it, `key_digest` the MD5 of its texts, by which a
-- merge finds it. Kept after the promotion has ended, as long as the table.
create table promotion_row_decision (
  account_id integer not null,
  promotion_id integer not null,
  -- The table on the source branch.
  table_definition_id integer not null,
  key_digest text not null,
  key jsonb not null,
  decision text not null check (decision in ('accepted', 'rejected')),
  comment text,
  decided_by integer,
  decided_at timestamptz(3) not null,
  primary key (account_id, promotion_id, table_definition_id, key_digest)
);
create index promotion_row_decision_table on promotion_row_decision (table_definition_id);
