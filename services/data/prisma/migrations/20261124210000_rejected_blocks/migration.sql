-- The rows that loads refused, many in one value, which PostgreSQL compresses: a tenth of what rejected_row takes, where nothing is
-- written any more. It is still read and swept until the release after 0.2.0.
create table rejected_block (
  account_id integer not null,
  load_id text not null,
  number integer not null,
  -- [[number in the file, [cell], [{column, value, message}]]], in the order of the file
  rows jsonb not null,
  primary key (account_id, load_id, number),
  foreign key (account_id, load_id) references finished_load on delete cascade
);
