// The one statement that writes what a change request does, to all its tables: deletions, then
// changes and restorations, then new rows, whatever the order of the operations. PostgreSQL checks
// references when all of it is done, so no order of tables is needed, and a new row may take the
// key of a deleted one. All rows of a table get one time, by which their request is found
// (`bulk_write`). Pure.
import { cellAfter, cellState } from '../../records/batch/batch-problems-sql.ts';
import { channelSql } from '../../rows/origin.ts';
import { applicationName, columnName, tableName } from '../../sql/identifiers.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import type { TablePart } from './gathered-operations-sql.ts';

/** How many rows a part creates, changes, deletes and restores. */
export type Effects = { created: number; updated: number; deleted: number; restored: number };

/** A part that is written. `at`: the time of its rows. */
export type WrittenPart = { part: TablePart; effects: Effects; at: string };

/** Writes the parts; there is something to write. */
export function applySql(parts: WrittenPart[], actor: string): Statement {
  const values = new Values();
  const by = values.bind(actor, 'text');
  const relations: { name: string; sql: string }[] = [];
  for (const [stage, { isNeeded, sql }] of stages.entries())
    for (const [i, { part, effects, at }] of parts.entries()) {
      if (!isNeeded(effects)) continue;
      const last = relations.at(-1);
      const before = last ? `, (select count(*) from ${last.name}) done` : '';
      relations.push({
        name: `w_${stage}_${i}`,
        sql: sql(part, { at: values.bind(at, 'timestamptz'), by, before }),
      });
    }
  const all = relations.map(({ name, sql }) => `${name} as (${sql} returning 1)`);
  return {
    text: `with ${all.join(', ')} select count(*) from ${relations.at(-1)?.name}`,
    values: values.list,
    customPlan: true,
  };
}

/** `before`: what must be done first, read by the statement. */
type Stage = { at: string; by: string; before: string };

const newVersion = ({ at, by }: Stage) => [
  `svc_updated_at = ${at}`,
  'svc_version = t.svc_version + 1',
  `svc_updated_by = ${by}`,
  `svc_channel = ${channelSql('change_request')}`,
  'svc_request_id = null',
];

function deletionSql({ table }: TablePart, stage: Stage): string {
  return (
    `update ${tableName(table)} t set ${['svc_is_deleted = true', ...newVersion(stage)].join(', ')} from ${applicationName(table)} m${stage.before}` +
    ' where m.is_deleted and not m.was_deleted and t.svc_sk = m.id'
  );
}

function changeSql({ table, given }: TablePart, stage: Stage): string {
  const cells = given.map((column) => {
    const name = columnName(column);
    const { lineage_id } = column;
    return `${name} = case when m.${cellState(lineage_id)} = 1 then m.${cellAfter(lineage_id)} else t.${name} end`;
  });
  return (
    `update ${tableName(table)} t set ${['svc_is_deleted = false', ...newVersion(stage), ...cells].join(', ')}` +
    ` from ${applicationName(table)} m${stage.before} where (m.is_restored or (m.kind = 'update' and m.differs)) and t.svc_sk = m.id`
  );
}

function additionSql({ table, given }: TablePart, { at, by, before }: Stage): string {
  const system = ['svc_created_at', 'svc_updated_at', 'svc_updated_by', 'svc_channel'];
  return (
    `insert into ${tableName(table)} (${[...system, ...given.map(columnName)].join(', ')})` +
    ` select ${[at, at, by, channelSql('change_request'), ...given.map(({ lineage_id }) => `m.${cellAfter(lineage_id)}`)].join(', ')}` +
    ` from ${applicationName(table)} m${before} where m.kind = 'create' order by m.place`
  );
}

/** One row `Effects`. */
export const effectsSql = ({ table }: TablePart): Statement => ({
  text:
    `select count(*) filter (where kind = 'create') as created, count(*) filter (where kind = 'update' and differs) as updated,` +
    ` count(*) filter (where is_deleted and not was_deleted) as deleted, count(*) filter (where is_restored) as restored from ${applicationName(table)}`,
  values: [],
});

type StageSql = { isNeeded: (effects: Effects) => boolean; sql: (part: TablePart, stage: Stage) => string };

const stages: StageSql[] = [
  { isNeeded: ({ deleted }) => deleted > 0, sql: deletionSql },
  { isNeeded: ({ updated, restored }) => updated + restored > 0, sql: changeSql },
  { isNeeded: ({ created }) => created > 0, sql: additionSql },
];
