// How rows are read, besides which of them: as of an instant, and with the records that they refer
// to.
import type { ChangeRequestReading } from '../tables/open-table.ts';
import type { DeployedTable } from '../tables/table.ts';
import type { Bind } from '../values/check.ts';
import { answerableSql, rowsSql } from './as-of-sql.ts';
import { throughSql } from './proposed-sql.ts';

export type Reading = {
  /** ISO 8601; today's rows without it. */
  asOf?: string;
  /** With lookups: the referenced tables that the caller may view, by id. */
  targets?: ReadonlyMap<number, DeployedTable>;
  /** The names of the columns that records show, besides those of the system; all without it. */
  columns?: ReadonlySet<string>;
  /** The referenced tables whose labels the statement filters, sorts or groups by. */
  labelled?: ReadonlySet<DeployedTable>;
  /** The change request whose operations count as done; not with an instant. */
  through?: ChangeRequestReading | undefined;
};

/** The rows that are read, deleted ones too, as a relation; `at`: the expression of the instant. */
export const relationOf = (table: DeployedTable, { through }: Reading, at: string | undefined, bind: Bind): string =>
  through ? throughSql(table, through, bind) : rowsSql(table, at);

/** Whether rows of other tables decide what is answered. */
export const readsOthers = ({ targets, labelled }: Reading): boolean => targets !== undefined || labelled !== undefined;

/** The tables that are read. */
export const tablesOf = (table: DeployedTable, { targets, labelled }: Reading): Set<DeployedTable> =>
  new Set([table, ...(targets?.values() ?? []), ...(labelled ?? [])]);

/**
 * True in SQL while every table that is read is deployed as its entry says, and its history goes
 * back that far.
 */
export function readableSql(table: DeployedTable, reading: Reading, at: string | undefined, bind: Bind): string {
  return [...tablesOf(table, reading)].map((each) => answerableSql(each, at, bind)).join(' and ');
}
