// What a load has changed, read in its transaction before a dry run is rolled back, and what is
// kept of it. Pure.

import { type DifferenceKind, differenceKinds } from '../differences/difference-plan.ts';
import { cellsSql, keySql } from '../differences/difference-sql.ts';
import { channelSql } from '../rows/origin.ts';
import { cellKey, columnName, comparedColumn, historyName, tableName } from '../sql/identifiers.ts';
import { concatSql, type Statement, Values } from '../sql/statement.ts';
import { type Column, type DeployedTable, keyColumns } from '../tables/table.ts';
import { typeOf } from '../values/value-types.ts';
import { blockBytes } from './checks/keep-rejected-sql.ts';
import { loadLimits } from './staging/load-limits.ts';
import type { LoadName } from './staging/load-sessions.ts';

/**
 * The first rows, by their key, that the load of this time has written, as blocks: `created`,
 * `updated`, `deleted`, `rows`, and `operations`, which would change a row as the load did.
 * `written`: the table that has its rows.
 */
export function changesOfLoadSql(
  table: DeployedTable,
  written: Parameters<typeof tableName>[0],
  at: string,
): Statement {
  const values = new Values();
  const { bind } = values;
  const { columns } = table.structure;
  const side = { kind: 'rows', table } as const;
  const pairs = columns.map((column) => ({ left: column, right: column }));
  const shown = {
    left: side,
    right: side,
    key: pairs.filter(({ right }) => right.is_primary_key),
    compared: pairs.filter(({ right }) => !right.is_primary_key),
  };
  const order = [...keyColumns(table.structure).map(columnName), 'svc_sk'].join(', ');
  // Other writes may have the same time, but neither its channel nor its lack of a request.
  const load =
    `select *, row_number() over (order by ${order}) as place from ${tableName(written)} where svc_updated_at = ${bind(at, 'timestamptz')}` +
    ` and svc_channel = ${channelSql('import')} and svc_request_id is null order by ${order} limit ${loadLimits.changedRows}`;
  const compared = shown.compared.flatMap(({ right: column }) => [
    `o.${columnName(column)} as ${comparedColumn('left', column)}`,
    `case when not n.svc_is_deleted then n.${columnName(column)} end as ${comparedColumn('right', column)}`,
  ]);
  const cells = [
    ...shown.key.map(({ right: column }) => `n.${columnName(column)} as ${comparedColumn('key', column)}`),
    ...compared,
  ];
  // The id of a new row is another one when the file is loaded.
  const changed =
    `select ${[...cells, 'n.place', 'case when n.svc_version > 1 then n.svc_sk end as id', 'n.svc_version - 1 as version'].join(', ')},` +
    ` case when n.svc_is_deleted then 'deleted' when n.svc_version = 1 then 'created' else 'updated' end as kind` +
    ` from (${load}) n left join ${historyName(table)} o on o.svc_sk = n.svc_sk and o.svc_version = n.svc_version - 1`;
  const json = concatSql([
    `'{"kind":"' || kind || '","key":'`,
    keySql(shown, bind),
    `',"id":' || coalesce(id::text, 'null') || ',"cells":'`,
    cellsSql(shown, bind),
    `'}'`,
  ]);
  const rendered = `select place, kind, ${json} as json, ${operationSql(shown)} as operation from (${changed}) changed offset 0`;
  const sized = `select *, sum(octet_length(json)) over (order by place) as bytes from (${rendered}) rendered`;
  const counts = differenceKinds.map((kind) => `count(*) filter (where kind = '${kind}')::int as ${kind}`);
  return {
    text:
      `select ${counts.join(', ')}, '[' || string_agg(json, ',' order by place) || ']' as rows,` +
      ` '[' || string_agg(operation, ',' order by place) || ']' as operations from (${sized}) sized` +
      ` where bytes <= ${loadLimits.changedBytes} group by (bytes / ${blockBytes})::int order by (bytes / ${blockBytes})::int`,
    values: values.list,
  };
}

// Its cells as those of a change request are stored: texts by the lineage of a column.
function operationSql({ key, compared }: { key: { right: Column }[]; compared: { right: Column }[] }): string {
  const cellSql = (column: Column, x: string) =>
    concatSql([`'"' || ${cellKey(column)} || '":'`, `coalesce(json_cell(${typeOf(column).textSql(x)})::text, 'null')`]);
  const cells = [
    ...key.map(({ right }) => `case when kind = 'created' then ${cellSql(right, comparedColumn('key', right))} end`),
    ...compared.map(({ right }) => {
      const [before, after] = [comparedColumn('left', right), comparedColumn('right', right)];
      return `case when kind <> 'deleted' and ${before} is distinct from ${after} then ${cellSql(right, after)} end`;
    }),
  ];
  return concatSql([
    `'{"kind":"' || case kind when 'created' then 'create' when 'updated' then 'update' else 'delete' end || '"'`,
    `case when kind <> 'created' then ',"svc_sk":' || id || ',"version":' || version end`,
    `',"cells":{'`,
    cells.length === 0 ? `''` : `array_to_string(array[${cells.join(', ')}]::text[], ',')`,
    `'}}'`,
  ]);
}

export type ChangesWindow = LoadName & { kinds: readonly DifferenceKind[]; startRow: number; endRow: number };

/**
 * A window of the kept rows of these kinds: one row `answer`; none unless the load was finished
 * within the day for which they are kept.
 */
export function keptChangesSql({ accountId, loadId, kinds, startRow, endRow }: ChangesWindow): Statement {
  const { list, bind } = new Values();
  const [start, end] = [bind(startRow, 'bigint'), bind(endRow, 'bigint')];
  const ofLoad = (table: string) =>
    `${table}.account_id = ${bind(accountId, 'int')} and ${table}.load_id = ${bind(loadId, 'text')}`;
  // Only the blocks of the window are read.
  const counted = `select number, created + updated + deleted as kept, ${kinds.join(' + ')} as n from changed_block b where ${ofLoad('b')}`;
  const placed = `select *, sum(n) over (order by number) - n as first from (${counted}) counted`;
  const rows =
    `select p.number, x.place, x.row from placed p join changed_block b on b.number = p.number and ${ofLoad('b')}` +
    ` cross join lateral jsonb_array_elements(b.rows) with ordinality x(row, place)` +
    ` where p.n > 0 and p.first < ${end} and p.first + p.n > ${start} and x.row->>'kind' = any(${bind(kinds, 'text[]')})` +
    ` order by p.number, x.place limit ${end} - ${start}` +
    ` offset ${start} - coalesce((select min(first) from placed where n > 0 and first + n > ${start}), ${start})`;
  const counts = `'{"created":' || (result->>'inserted') || ',"updated":' || (result->>'updated') || ',"deleted":' || (result->>'deleted') || '}'`;
  return {
    text:
      `with placed as materialized (${placed}) select ${concatSql([
        `'{"rows":['`,
        `(select string_agg(w.row::text, ',' order by w.number, w.place) from (${rows}) w)`,
        `'],"rowCount":' || k.n || ',"counts":'`,
        counts,
        `',"truncated":' || (k.kept < (result->>'inserted')::bigint + (result->>'updated')::bigint + (result->>'deleted')::bigint)`,
        `'}'`,
      ])} as answer from finished_load f,` +
      ` (select coalesce(sum(n), 0) as n, coalesce(sum(kept), 0) as kept from placed) k` +
      ` where ${ofLoad('f')} and result ? 'inserted' and finished_at > now() - interval '1 day'`,
    values: list,
  };
}

/**
 * The latest load for an import table, or the load of this id: `load_id`, `table_definition_id`,
 * `is_dry_run`, `status`, `changed` rows, how many of them are `kept` as operations, and
 * `is_recent` within the day for which they are.
 */
export function loadSql(accountId: number, load: { importTableId: number } | { loadId: string }): Statement {
  const { list, bind } = new Values();
  const condition =
    'loadId' in load
      ? `f.load_id = ${bind(load.loadId, 'text')}`
      : `f.import_table_id = ${bind(load.importTableId, 'int')}`;
  return {
    text:
      `select f.load_id, f.table_definition_id, f.dry_run as is_dry_run, result->>'status' as status,` +
      ` (result->>'inserted')::bigint + (result->>'updated')::bigint + (result->>'deleted')::bigint as changed,` +
      ` (select coalesce(sum(b.created + b.updated + b.deleted), 0) from changed_block b` +
      ` where b.account_id = f.account_id and b.load_id = f.load_id and b.operations is not null) as kept,` +
      ` f.finished_at > now() - interval '1 day' as is_recent` +
      ` from finished_load f where f.account_id = ${bind(accountId, 'int')} and ${condition} order by f.finished_at desc limit 1`,
    values: list,
  };
}
