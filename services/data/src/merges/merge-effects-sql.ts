// Writes a collected merge to the target: new rows, changed rows, deleted rows, each one statement
// over sets. All rows get one time, by which their request is found (`bulk_write`). Pure.

import { channelSql, type Origin } from '../rows/origin.ts';
import { columnName, mergedColumn, mergeName, tableName } from '../sql/identifiers.ts';
import { type Statement, Values } from '../sql/statement.ts';
import type { MergePlan } from './merge-plan.ts';

export type Stamp = { at: string; actor: Origin['actor'] };

const systemSets = (values: Values, { at, actor }: Stamp) => [
  `svc_updated_at = ${values.bind(at, 'timestamptz')}`,
  'svc_version = t.svc_version + 1',
  `svc_updated_by = ${values.bind(actor, 'text')}`,
  `svc_channel = ${channelSql('promotion')}`,
  'svc_request_id = null',
];

/** Inserts rows that only the source has, in the order of their key. */
export function createRowsSql({ target, key, shared }: MergePlan, { at, actor }: Stamp): Statement {
  const values = new Values();
  const time = values.bind(at, 'timestamptz');
  const own = [...key, ...shared.map(({ to }) => to)];
  const cells = [
    ...key.map((column) => mergedColumn('key', column)),
    ...shared.map(({ to }) => mergedColumn('outcome', to)),
  ];
  return {
    text:
      `insert into ${tableName(target)} (svc_created_at, svc_updated_at, svc_updated_by, svc_channel, ${own.map(columnName).join(', ')})` +
      ` select ${time}, ${time}, ${values.bind(actor, 'text')}, ${channelSql('promotion')}, ${cells.join(', ')} from ${mergeName(target)}` +
      ` where op = 'c' order by ${key.map((column) => mergedColumn('key', column)).join(', ')}`,
    values: values.list,
  };
}

/** Gives rows the merged cells. */
export function updateRowsSql({ target, shared }: MergePlan, stamp: Stamp): Statement {
  const values = new Values();
  const cells = shared.map(({ to }) => `${columnName(to)} = m.${mergedColumn('outcome', to)}`);
  return {
    text:
      `update ${tableName(target)} t set ${[...systemSets(values, stamp), ...cells].join(', ')} from ${mergeName(target)} m` +
      ` where m.op = 'u' and t.svc_sk = m.sk`,
    values: values.list,
  };
}

/** Soft-deletes rows that the source has deleted. */
export function deleteRowsSql({ target }: MergePlan, stamp: Stamp): Statement {
  const values = new Values();
  return {
    text:
      `update ${tableName(target)} t set ${['svc_is_deleted = true', ...systemSets(values, stamp)].join(', ')} from ${mergeName(target)} m` +
      ` where m.op = 'd' and t.svc_sk = m.sk`,
    values: values.list,
  };
}
