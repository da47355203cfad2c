-- Which policy of its branch a table is under: an older one that arrives late changes nothing.
alter table deployed_table add column row_policy_revision bigint not null default 0;
