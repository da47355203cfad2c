-- Which PostgreSQL cluster an account's tables are on. The list is the home cluster's; elsewhere the table stays empty.
create table placement (
  account_id integer primary key,
  cluster text not null,
  placed_at timestamptz(3) not null default now()
);
insert into placement (account_id, cluster)
select account_id, 'main' from (select account_id from deployed_table union select account_id from retired_table) known;

-- Accounts that lived here and went elsewhere, and what they left behind that isn't dropped yet.
create table departed_account (
  account_id integer primary key,
  cluster text not null,
  schemas text[] not null,
  departed_at timestamptz(3) not null default now()
);

-- Accounts whose rows are here already but that still live where they come from: their tables are not yet in the catalogue.
create table arriving_account (
  account_id integer primary key,
  cluster text not null,
  schemas text[] not null,
  tables jsonb not null,
  arrived_at timestamptz(3) not null default now()
);
