// The label of a reference as a field: `country.$label` is the display value of the record that
// `country` refers to, as lookups show it. Pure.

import { columnName } from '../sql/identifiers.ts';
import type { Column, DeployedTable } from '../tables/table.ts';
import { typeOf, valueTypes } from '../values/value-types.ts';
import { rowsSql } from './as-of-sql.ts';
import type { Field } from './fields.ts';
import { findLookup, type Lookup } from './lookups-sql.ts';

const suffix = '.$label';

/** Whether a name asks for a label; no column has such a name. */
export const isLabelName = (name: string): boolean => name.endsWith(suffix);

/** The referenced tables that the caller may view, by id. */
type Targets = ReadonlyMap<number, DeployedTable>;

/** The label of that name; undefined when the column in front of it refers to nothing. */
export function findLabel(table: Pick<DeployedTable, 'structure'>, name: string, targets: Targets): Field | undefined {
  if (!isLabelName(name)) return undefined;
  const column = table.structure.columns.find((each) => `${each.name}${suffix}` === name);
  return column && labelOf(table, column, targets);
}

/** The label of a column; undefined when it is part of no foreign key. */
export function labelOf(table: Pick<DeployedTable, 'structure'>, column: Column, targets: Targets): Field | undefined {
  const lookup = findLookup(table, column, targets);
  return lookup && fieldOf(`${column.name}${suffix}`, lookup.target);
}

/** The same for a column that alone refers to a record, so that its value has one label. */
export function labelOfValues(
  table: Pick<DeployedTable, 'structure'>,
  column: Column | undefined,
  targets: Targets,
): Field | undefined {
  const { foreign_keys } = table.structure;
  const refersAlone = foreign_keys.some(
    ({ columns: [first, ...rest] }) => rest.length === 0 && first === column?.lineage_id,
  );
  return column && refersAlone ? labelOf(table, column, targets) : undefined;
}

/** Each label of a table once: the columns of one foreign key share theirs. */
export function labelsOf(table: Pick<DeployedTable, 'structure'>, targets: Targets): Field[] {
  const labels = table.structure.columns.flatMap((column) => labelOf(table, column, targets) ?? []);
  return [...new Map(labels.map((label) => [label.label?.columns.join(), label])).values()];
}

/** A field as of an instant, which only its label depends on. */
export function fieldAt(field: Field, at: string | undefined): Field {
  const { label, ...plain } = field;
  return label && at !== undefined ? { ...plain, sql: label.sqlAt(at) } : field;
}

/**
 * Relation and fields for statements that read the labels of many rows. PostgreSQL joins the
 * referenced tables once, where a label alone would cost an index scan for each row. As of an
 * instant a key may not be unique, so labels are read one by one.
 */
export function withLabels(
  from: string,
  fields: readonly Field[],
  at: string | undefined,
): { from: string; fields: Field[] } {
  const labels = at === undefined ? fields.flatMap(({ label }) => (label?.target ? label : [])) : [];
  if (labels.length === 0) return { from, fields: fields.map((field) => fieldAt(field, at)) };
  const shown = labels.map((_, i) => `label_${i}.shown as label_${i}`).join(', ');
  const joins = labels.map((label, i) => label.joinSql('t', `label_${i}`)).join('');
  return {
    from: `(select t.*, ${shown} from (select * from ${from}) t${joins}) labelled`,
    fields: fields.map((field) => {
      const { label, ...plain } = field;
      return label?.target ? { ...plain, sql: `label_${labels.indexOf(label)}` } : field;
    }),
  };
}

function fieldOf(name: string, target: Lookup['target']): Field {
  if (!target) {
    const sql = 'null::text';
    const hidden: Field = { name, sql, type: valueTypes.text, nullable: true };
    return {
      ...hidden,
      label: { columns: [], sqlAt: () => sql, joinSql: () => '', existsSql: (condition) => condition(hidden) },
    };
  }
  const { table, pairs, shown } = target;
  const type = typeOf(shown);
  // The columns get other names, because a table that refers to itself has its own on both sides,
  // and the row in scope has no name of its own.
  const renamed = [...pairs.map(({ key }, i) => `${columnName(key)} as key_${i}`), `${columnName(shown)} as shown`];
  const from = (at?: string) =>
    `(select svc_live, svc_updated_at, ${renamed.join(', ')} from ${rowsSql(table, at)}) l` +
    ` where l.svc_live and ${pairs.map(({ own }, i) => `l.key_${i} = ${columnName(own)}`).join(' and ')}`;
  // As of an instant two rows may have the key (`lookups-sql.ts`).
  const sqlAt = (at?: string) =>
    `(select l.shown from ${from(at)}${at === undefined ? '' : ' order by l.svc_updated_at desc limit 1'})`;
  const label = {
    columns: pairs.map(({ own }) => columnName(own)),
    target: table,
    shown,
    sqlAt,
    joinSql: (row: string, alias: string) =>
      ` left join (select ${renamed.join(', ')} from ${rowsSql(table, undefined)} where svc_live) ${alias}` +
      ` on ${pairs.map(({ own }, i) => `${alias}.key_${i} = ${row}.${columnName(own)}`).join(' and ')}`,
    existsSql: (condition: (field: Field) => string) =>
      `exists (select from ${from()} and ${condition({ name, sql: 'l.shown', type, nullable: true })})`,
  };
  return { name, sql: sqlAt(), type, nullable: true, label };
}
