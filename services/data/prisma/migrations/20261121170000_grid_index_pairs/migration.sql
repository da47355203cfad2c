-- Indexes by which rows of an equal value are found in the order of another column: what pages with a filter and a sort ask for.
-- `equal_id` is the lineage of the column whose value is asked for; 0: none, an index of one column as before. A process of the release
-- before can't write down what it is asked for any more, says so in its log, and goes on with the indexes there are.
alter table grid_index add column equal_id integer not null default 0;
alter table grid_index drop constraint grid_index_pkey;
alter table grid_index add primary key (table_definition_id, column_id, kind, equal_id);
