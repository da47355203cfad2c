// The statements of a search for rows in many tables: which tables there are, and the rows of one.
// Pure.
import type { Filter, TextOperator } from '../pages/filter.ts';
import { filterSql, literally } from '../pages/filter-sql.ts';
import { type Field, fieldsOf } from '../rows/fields.ts';
import { objectSql, valueJsonSql } from '../rows/json-members-sql.ts';
import { displayColumn } from '../rows/lookups-sql.ts';
import { columnName, gridIndexName, gridIndexPattern, tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import { currentSql } from '../tables/catalogue.ts';
import { type Column, type DeployedTable, keyColumns } from '../tables/table.ts';
import type { TablePlace } from '../tables/table-rights.ts';
import type { Bind } from '../values/check.ts';
import { readOperand, typeOf } from '../values/value-types.ts';

/** A table that may be searched; `indexes`: those that the grid's pages have requested. */
export type Searchable = TablePlace & { revision: number; bytes: number; indexes: string[] };

/** A row that was found; `key`: a JSON object. `rank`: the lower, the better. */
export type FoundRow = { id: number; key: string; label: string; column: string; text: string; rank: number };

/** By the key itself, by its beginning, by the beginning of a text, within a text. */
const ranks = { key: 0, keyStart: 1, textStart: 2, text: 3 } as const;

// Texts of larger tables are searched where an index serves, and nowhere else.
const maxScannedBytes = 8 * 1_048_576;
const minIndexedLength = 3;
const maxLabelLength = 255;
const maxExcerptLength = 200;
const excerptStart = 40;

/**
 * The deployed tables of a branch, those with the latest changes first. Sizes are those of the
 * statistics: the present one takes a lock that a deployment keeps others waiting for.
 */
export function searchableSql(accountId: number, branchId: number): Statement {
  return {
    text: `select d.table_definition_id, d.branch_id, d.domain_id, d.revision, coalesce(c.relpages::bigint * current_setting('block_size')::int, 0) as bytes,
        array(select i.relname::text from pg_index x join pg_class i on i.oid = x.indexrelid
          where x.indrelid = c.oid and x.indisvalid and i.relname ~ $3) as indexes
      from deployed_table d left join announced_rows a using (table_definition_id)
        left join pg_class c on c.oid = to_regclass(format('b_%s.t_%s', d.branch_id, d.lineage_id))
      where d.account_id = $1::int and d.branch_id = $2::int
      order by a.until desc nulls last, d.table_definition_id`,
    values: [accountId, branchId, gridIndexPattern],
  };
}

/** The text columns that a search reads: all of a small table, of a large one the indexed. */
export function searchedFields(
  table: DeployedTable,
  { bytes, indexes }: Pick<Searchable, 'bytes' | 'indexes'>,
  text: string,
): { fields: Field[]; isIndexed: boolean } {
  const fields = [...fieldsOf(table).values()].filter(({ column, type }) => column && type.family === 'text');
  if (bytes <= maxScannedBytes) return { fields, isIndexed: false };
  if ([...text].length < minIndexedLength) return { fields: [], isIndexed: true };
  const nameOf = ({ column }: Field) =>
    gridIndexName(table.lineage_id, { kind: 'words', columnId: (column as Column).lineage_id });
  return { fields: fields.filter((field) => indexes.includes(nameOf(field))), isIndexed: true };
}

/**
 * The best rows of a table, at most `max`; undefined when nothing of it can be searched. Keys are
 * found by their index, as they are spelled, in lower and in upper case.
 */
export function searchSql(
  table: DeployedTable,
  { fields, isIndexed }: { fields: readonly Field[]; isIndexed: boolean },
  text: string,
  max: number,
): Statement | undefined {
  const values = new Values();
  const { bind } = values;
  const limit = bind(max, 'int');
  const found = [...keyMatches(table, text, limit, bind), ...textMatches(table, fields, isIndexed, text, limit, bind)];
  if (found.length === 0) return undefined;
  const [first] = keyColumns(table.structure);
  const matches = (field: Field) => filterSql(test(field, 'contains', text), bind);
  const byText = (shown: (field: Field) => string) =>
    fields.length === 0
      ? 'null'
      : `case ${fields.map((field) => `when ${matches(field)} then ${shown(field)}`).join(' ')} end`;
  const matched = (ofKey: (key: Column) => string, ofText: (field: Field) => string) =>
    first ? `case when b.rank <= ${ranks.keyStart} then ${ofKey(first)} else ${byText(ofText)} end` : byText(ofText);
  const display = displayColumn(table.structure);
  const textOf = (column: Column) => typeOf(column).textSql(`t.${columnName(column)}`);
  const key = keyColumns(table.structure).map((column) => ({
    name: column.name,
    json: valueJsonSql(table, column, `t.${columnName(column)}`),
  }));
  return {
    text:
      `with found as materialized (${found.join(' union all ')}),` +
      ` best as (select svc_sk, min(rank) as rank from found group by svc_sk order by 2, 1 limit ${limit})` +
      ` select t.svc_sk as id, ${objectSql(key, bind)} as key, coalesce(left(${display ? textOf(display) : 'null'}, ${maxLabelLength}), '') as label,` +
      ` ${matched(
        ({ name }) => bind(name, 'text'),
        ({ name }) => bind(name, 'text'),
      )} as column,` +
      ` ${matched(
        (column) => `left(${textOf(column)}, ${maxExcerptLength})`,
        (field) => excerptSql(field, bind(text, 'text')),
      )} as text, b.rank` +
      ` from best b join ${tableName(table)} t on t.svc_sk = b.svc_sk where ${currentSql(table, bind)} order by b.rank, t.svc_sk`,
    values: values.list,
    customPlan: true,
  };
}

const test = (field: Field, operator: TextOperator, value: string): Filter => ({
  field,
  test: { kind: 'text', operator, value },
});

// The unique index of live rows begins with the first column of the key.
function keyMatches(table: DeployedTable, text: string, limit: string, bind: Bind): string[] {
  const [key] = keyColumns(table.structure);
  if (!key) return [];
  const x = columnName(key);
  const type = typeOf(key);
  const from = `from ${tableName(table)} where svc_live and`;
  if (type.family !== 'text') {
    const operand = readOperand(type, text);
    if (operand === undefined) return [];
    return [`(select svc_sk, ${ranks.key} as rank ${from} ${x} = ${bind(operand, type.base)} limit ${limit})`];
  }
  const spellings = [...new Set([text, text.toLowerCase(), text.toUpperCase()])];
  return [
    `(select svc_sk, ${ranks.key} as rank ${from} ${x} = any(${bind(spellings, 'text[]')}) limit ${limit})`,
    ...spellings.map((spelling) => {
      const pattern = bind(`${literally(spelling)}%`, 'text');
      return `(select svc_sk, ${ranks.keyStart} as rank ${from} ${x} like ${pattern} order by ${x} limit ${limit})`;
    }),
  ];
}

// A table that is read anyway answers its best rows. An index answers rows as they come: many may
// have a frequent word.
function textMatches(
  table: DeployedTable,
  fields: readonly Field[],
  isIndexed: boolean,
  text: string,
  limit: string,
  bind: Bind,
): string[] {
  if (fields.length === 0) return [];
  const any = (operator: TextOperator) => filterSql({ any: fields.map((field) => test(field, operator, text)) }, bind);
  const rank = `case when ${any('startsWith')} then ${ranks.textStart} else ${ranks.text} end as rank`;
  const order = isIndexed ? '' : ' order by 2, 1';
  return [
    `(select svc_sk, ${rank} from ${tableName(table)} where not svc_is_deleted and ${any('contains')}${order} limit ${limit})`,
  ];
}

// The surroundings of the first match in a text.
function excerptSql({ sql }: Field, text: string): string {
  const place = `strpos(lower(${sql} collate "default"), lower(${text}))`;
  return `substr(${sql}, greatest(1, ${place} - ${excerptStart}), ${maxExcerptLength})`;
}
