// The tables of an attempt: made from drafts, sent to data, and stored as deployed at the end.
import type { WantedTable__Output } from '@almanac/protos/generated/almanac/data/v1/WantedTable.ts';
import { validationFailed } from '@almanac/service-kit/errors';
import { effectiveRowPolicy } from '../../branches/row-policies.ts';
import { columnMessage } from '../../columns/column-message.ts';
import type { DataType } from '../../columns/column-values.ts';
import type { DeployedColumn } from '../../deployed-table-definitions/deployed-table-definitions.ts';
import type { FullDefinition } from '../../table-definitions/table-structure.ts';

/** A table as data is asked to make or remove it; stored as JSON while the attempt runs. */
export type WantedTable = WantedTable__Output;

/**
 * One attempt to apply a deployment. `missing`: why it can't succeed, if a definition was deleted
 * when it began, or a table to be removed was out of service or referred to.
 */
export type Attempt = {
  id: number;
  branchId: number;
  number: number;
  /** How often another process had claimed it when this one began to work on it. */
  tries: number;
  tables: WantedTable[];
  missing: string[];
};

type WithRemovals = { tables: WantedTable[]; missing: string[] };

/**
 * A running attempt as it is stored. With removals it is no list: an earlier release, which knows
 * no removals, would store the removed tables as deployed, so it must fail to resume the attempt.
 */
export type StoredAttempt = WantedTable[] | WithRemovals;

export function storedAttempt({ tables, missing }: WithRemovals): StoredAttempt {
  return tables.some(({ is_removed }) => is_removed) ? { tables, missing } : tables;
}

/** The tables that an attempt makes or changes, and those that it removes. */
export function splitRemovals({ tables }: Pick<Attempt, 'tables'>): { kept: WantedTable[]; removed: WantedTable[] } {
  return { kept: tables.filter((table) => !table.is_removed), removed: tables.filter((table) => table.is_removed) };
}

type Named = { table_definition_id: number; name: string; is_removal: boolean };

/** A sentence for each table of a deployment that was not found. */
export function describeMissingTables(named: Named[], found: Pick<WantedTable, 'table_definition_id'>[]): string[] {
  const present = new Set(found.map(({ table_definition_id }) => table_definition_id));
  return named
    .filter(({ table_definition_id: id }) => !present.has(id))
    .map(({ table_definition_id: id, name, is_removal }) =>
      is_removal
        ? `Table definition ${id} (${name}) is not in service any more`
        : `Table definition ${id} (${name}) has been deleted`,
    );
}

/** A draft as data is asked to make it. */
export function toWantedTable(definition: FullDefinition): WantedTable {
  const { row_changes, machine_imports } = effectiveRowPolicy(definition, definition.branch);
  return {
    table_definition_id: definition.id,
    lineage_id: definition.lineage_id,
    uuid: definition.uuid,
    key: definition.key,
    name: definition.name,
    description: definition.description ?? '',
    branch_id: definition.branch_id,
    domain_id: definition.domain_id,
    load_type: definition.load_type,
    version: definition.version,
    lookup_display_column_id: definition.lookup_display_column_id ?? undefined,
    rows_from_table_id: definition.rows_from_id ?? undefined,
    rows_asked_by: definition.rows_asked_by ?? undefined,
    row_changes,
    machine_imports,
    row_policy_revision: definition.branch.row_policy_revision,
    columns: definition.columns.map((column) => ({
      column_definition_id: column.id,
      lineage_id: column.lineage_id,
      ...columnMessage(column),
      is_hierarchy: column.is_hierarchy,
      description: column.description ?? '',
    })),
  };
}

// gRPC messages to data have at most 4 MiB.
const maxRequestBytes = 4_000_000;

/** Throws 422 when the tables are too many for one message. */
export function requireSendable(tables: WantedTable[]): void {
  const bytes = (...texts: string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 4, 0);
  let size = 0;
  for (const { uuid, key, name, description, load_type, columns } of tables) {
    size += 60 + bytes(uuid, key, name, description, load_type);
    for (const column of columns)
      size += 50 + bytes(column.name, column.data_type, column.description, ...column.valid_values);
  }
  if (size > maxRequestBytes)
    throw validationFailed({
      code: 'too_large',
      message: 'Deployment is too large to be applied at once; deploy fewer tables together',
    });
}

/** A deployed table as it is stored. */
export function deployedSnapshot(wanted: WantedTable) {
  const columns: (DeployedColumn & { lineage_id: number })[] = wanted.columns.map((column, index) => ({
    id: column.column_definition_id,
    lineage_id: column.lineage_id,
    name: column.name,
    data_type: column.data_type as DataType,
    length: column.length ?? null,
    scale: column.scale ?? null,
    is_primary_key: column.is_primary_key,
    is_required: column.is_required,
    foreign_key_table_id: column.foreign_key_table_id ?? null,
    is_hierarchy: column.is_hierarchy,
    valid_values: column.valid_values.length > 0 ? column.valid_values.join('|') : null,
    description: column.description || null,
    position: index + 1,
  }));
  return {
    uuid: wanted.uuid,
    key: wanted.key,
    name: wanted.name,
    description: wanted.description || null,
    domain_id: wanted.domain_id,
    branch_id: wanted.branch_id,
    lineage_id: wanted.lineage_id,
    load_type: wanted.load_type,
    lookup_display_column_id: wanted.lookup_display_column_id ?? null,
    version: wanted.version,
    columns,
  };
}
