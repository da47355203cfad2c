-- What dry runs of loads would have changed, many rows in one value, which PostgreSQL compresses. Kept for a day.
create table changed_block (
  account_id integer not null,
  load_id text not null,
  number integer not null,
  -- How many of the rows are of each kind, so that a window of one kind is found without reading the rows.
  created integer not null,
  updated integer not null,
  deleted integer not null,
  -- [{kind, key, id, cells}], in the order of the key
  rows jsonb not null,
  primary key (account_id, load_id, number),
  foreign key (account_id, load_id) references finished_load on delete cascade
);
