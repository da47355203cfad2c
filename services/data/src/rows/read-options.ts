// How rows are read, besides which of them: as of an instant, and with what they refer to.
import type { DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { answerableSql } from './as-of-sql.ts';

export type Reading = {
  /** ISO 8601; today's rows without it. */
  asOf?: string;
  /** With lookups: the referenced tables that the caller may see, by id. */
  targets?: ReadonlyMap<number, DeployedTable>;
};

/** True in SQL while every table that is read is deployed as its entry says, and goes back so far. */
export function readableSql(table: DeployedTable, { targets }: Reading, at: string | undefined, bind: Bind): string {
  const tables = new Set([table, ...(targets?.values() ?? [])]);
  return [...tables].map((each) => answerableSql(each, at, bind)).join(' and ');
}
