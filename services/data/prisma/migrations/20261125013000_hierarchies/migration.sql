-- The rows that lie on a cycle. child[i] refers to parent[i], and no row refers to two. Each round
-- doubles the steps that every row has taken upwards: rows that come to an end drop out, and after
-- more steps than there are rows whoever still goes on goes round. So a chain of a million rows
-- takes twenty rounds, and an ordinary tree as many as its depth has binary digits.
create function rows_on_cycles(child bigint[], parent bigint[]) returns bigint[] language plpgsql stable
  set enable_nestloop = off set enable_mergejoin = off set jit = off set work_mem = '64MB' as
$$
declare
  edges bigint := coalesce(cardinality(child), 0);
  steps bigint := 1;
begin
  while steps <= edges and cardinality(child) > 0 loop
    select array_agg(near.low), array_agg(far.high) into child, parent
    from unnest(child, parent) near(low, high) join unnest(child, parent) far(low, high) on far.low = near.high;
    steps := steps * 2;
  end loop;
  return array(select distinct each from unnest(parent) each order by each);
end
$$;

-- Writers that set an edge of the same hierarchy take turns by its row here until they commit. A
-- row and no advisory lock: a load reads as of its beginning and would not see what others have set
-- since, so PostgreSQL refuses its turn and it begins again. A row stays when its table is dropped;
-- it says nothing then.
create table hierarchy_turn (
  branch_id integer not null,
  lineage_id integer not null,
  turns bigint not null default 1,
  primary key (branch_id, lineage_id)
);
