// How people have decided conflicts of rows: one by one, or all of a column or a table at once.
import { ServiceError } from '@almanac/service-kit/errors';
import { type Column, type DeployedTable, keyColumns } from '../../tables/table.ts';

export type Side = 'source' | 'target';

/**
 * As the RPC has it. `table`: its key; `column` empty: every column; `row_key`: the primary key as
 * texts by name; empty: all rows.
 */
export type GivenResolution = {
  table: string;
  column: string;
  row_key: Record<string, string>;
  is_row: boolean;
  resolution: string;
};

/** The decisions about one table. Lineage 0 stands for the row itself: whether it exists. */
export type Decisions = {
  /** By column, for its cells in every row. */
  general: ReadonlyMap<number, Side>;
  /** By row: lineages to sides. `place`: the place of the resolution in the request. */
  rows: { key: string[]; sides: Record<string, Side>; places: { lineage: number; place: number }[] }[];
  /** Places of resolutions that can't match any conflict. */
  unmatched: number[];
};

export const rowItself = 0;

const readSide = ({ resolution }: GivenResolution): Side => {
  if (resolution !== 'source' && resolution !== 'target')
    throw new ServiceError('bad_request', {
      code: 'not_in_list',
      message: 'resolution must be source or target.',
      field: 'resolution',
      params: { allowed: ['source', 'target'] },
    });
  return resolution;
};

/** The decisions about the table; the first of two that decide the same counts. */
export function readDecisions(target: DeployedTable, given: GivenResolution[]): Decisions {
  const key = keyColumns(target.structure);
  const byName = new Map(target.structure.columns.map((column) => [column.name, column]));
  const general = new Map<number, Side>();
  const rows = new Map<string, Decisions['rows'][number]>();
  const unmatched: number[] = [];
  for (const [place, resolution] of given.entries()) {
    if (resolution.table !== target.key) continue;
    const lineages = lineagesOf(target, byName, resolution);
    const names = Object.keys(resolution.row_key);
    const texts = key.map(({ name }) => resolution.row_key[name]);
    const isKey = names.length === key.length && texts.every((text) => text !== undefined);
    if (lineages === undefined || (names.length > 0 && !isKey)) {
      unmatched.push(place);
      continue;
    }
    if (names.length === 0) {
      for (const lineage of lineages) if (!general.has(lineage)) general.set(lineage, readSide(resolution));
      continue;
    }
    const name = JSON.stringify(texts);
    const row = rows.get(name) ?? { key: texts as string[], sides: {}, places: [] };
    rows.set(name, row);
    for (const lineage of lineages) row.sides[lineage] ??= readSide(resolution);
    if (resolution.column !== '' || resolution.is_row) row.places.push({ lineage: lineages[0] as number, place });
  }
  return { general, rows: [...rows.values()], unmatched };
}

// One column, the row itself, or all columns.
function lineagesOf(
  target: DeployedTable,
  byName: Map<string, Column>,
  { column, is_row }: GivenResolution,
): number[] | undefined {
  if (is_row) return column === '' ? [rowItself] : undefined;
  if (column === '') return target.structure.columns.map(({ lineage_id }) => lineage_id);
  const found = byName.get(column);
  return found && [found.lineage_id];
}
