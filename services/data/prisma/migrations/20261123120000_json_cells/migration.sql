-- A value of any column type as JSON. PostgreSQL works out for each value anew how to_json writes its type; json_scalar, since
-- PostgreSQL 17, does so once for a statement. Statements are planned as if they held the function's text.
do $$
begin
  execute format(
    'create function json_cell(anyelement) returns json language sql stable parallel safe as %L',
    case when current_setting('server_version_num')::int >= 170000 then 'select json_scalar($1)' else 'select to_json($1)' end
  );
end
$$;
