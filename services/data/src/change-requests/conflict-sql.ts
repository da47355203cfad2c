// What others have changed in a row since an operation on it was based on a version, and how a
// problem says so. Pure.
//
// A cell conflicts when its present value is neither the one that the operation is based on nor the
// one that it proposes. A row conflicts when it is missing or deleted, or when it is to be deleted
// or restored and has changed at all.

import type { Problem } from '@almanac/service-kit/problems';
import { cellSql, hasCellSql, ownCellSql } from '../rows/proposed-sql.ts';
import type { Column } from '../tables/table.ts';

const changed = (operation: string, row: string) => `${row}.svc_version is distinct from ${operation}.base_version`;

/** True in SQL when the row as a whole conflicts. */
export const rowConflictSql = (operation: string, row: string): string =>
  `(case ${operation}.kind when 'create' then false` +
  ` when 'update' then ${row}.svc_sk is null or ${row}.svc_is_deleted` +
  ` when 'delete' then ${row}.svc_sk is null or (not ${row}.svc_is_deleted and ${changed(operation, row)})` +
  ` else ${row}.svc_sk is null or ${changed(operation, row)} end)`;

/** True in SQL when the cell of an update conflicts. */
export function cellConflictSql(operation: string, row: string, column: Column): string {
  const [present, base, proposed] = [
    ownCellSql(row, column),
    cellSql(`${operation}.base`, column),
    cellSql(`${operation}.cells`, column),
  ];
  return (
    `(${operation}.kind = 'update' and ${hasCellSql(`${operation}.cells`, column)} and not ${row}.svc_is_deleted and ${changed(operation, row)}` +
    ` and ${present} is distinct from (${base}) and ${present} is distinct from (${proposed}))`
  );
}

type Named = { id: string | null };

const changedSince = ({ id }: Named) =>
  `record ${id} has been changed since the version that the operation is based on`;

/** The problem of an operation whose row conflicts as a whole. */
export const rowConflictProblem = (operation: Named): Problem => ({
  code: 'version_conflict',
  message: changedSince(operation),
});

/** The problem of an operation of which this column conflicts. */
export const cellConflictProblem = (operation: Named, { name }: Column): Problem => ({
  code: 'version_conflict',
  message: `${name}: ${changedSince(operation)}`,
  column: name,
});

/** The problem of a restoration of a row that is live. */
export const notDeletedProblem = ({ id }: Named): Problem => ({
  code: 'wrong_state',
  message: `record ${id} is not deleted`,
});
