// Checks whether a mapping fits a table: the draft when the mapping is made or changed, the
// deployed table when an import uses it. Data checks values and formats of columns.
import type { WantedColumn } from '@almanac/protos/generated/almanac/data/v1/WantedColumn.ts';
import type { CallContext } from '@almanac/service-kit/caller/call-context';
import { type Problem, type ProblemCode, withoutRepeated } from '@almanac/service-kit/problems';
import type { JobsContext } from '../context.ts';
import { foldName } from '../formats/table-file/column-names.ts';
import { systemColumns, toColumnSource, transactionCode } from './column-plan.ts';
import type { ColumnMapping, Mapping } from './mapping.ts';

export type MappedColumn = {
  id?: number;
  name: string;
  data_type: string;
  length?: number | undefined;
  scale?: number | undefined;
  is_primary_key: boolean;
  foreign_key_table_id?: number | undefined;
  valid_values: string[];
};

/** A table that columns are mapped to. */
export type MappedTable = {
  columns: MappedColumn[];
  /** The table that a foreign key refers to; undefined when it does not exist. */
  findTarget: (id: number) => Promise<ReferencedTable | undefined>;
};

export type ReferencedTable = {
  name: string;
  columns: MappedColumn[];
  /** The column that represents a row, if one was chosen. */
  lookup_display_column_id?: number | undefined;
};

type Checked = Pick<Mapping, 'date_style' | 'decimal_separator' | 'has_header' | 'column_mappings'>;

// A problem of an entry, by its column of the file or of the table.
const ofEntry = (code: ProblemCode, message: string, at: { source?: string; target?: string }): Problem => ({
  code,
  message,
  field: 'column_mappings',
  ...(at.target === undefined ? {} : { column: at.target }),
  ...(at.source === undefined ? {} : { params: { source_column: at.source } }),
});

/** All problems. */
export async function mappingProblems(
  ctx: Pick<JobsContext, 'data'>,
  call: CallContext,
  { columns, findTarget }: MappedTable,
  mapping: Checked,
): Promise<Problem[]> {
  const byName = new Map(columns.map((column) => [column.name, column]));
  const entries = mapping.column_mappings;
  const problems = [...entryProblems(entries, byName), ...(mapping.has_header ? [] : positionProblems(entries))];
  const targets = await findTargets(entries, byName, findTarget);
  for (const entry of entries) problems.push(...lookupProblems(entry, byName, targets));
  // If only the names of columns are known, data would reject them all.
  const typed = columns.every(({ data_type }) => data_type !== '');
  return withoutRepeated([...problems, ...(typed ? await sourceProblems(ctx, call, columns, mapping) : [])]);
}

async function sourceProblems(
  ctx: Pick<JobsContext, 'data'>,
  call: CallContext,
  columns: MappedColumn[],
  { column_mappings, date_style, decimal_separator }: Checked,
): Promise<Problem[]> {
  // A file may have many columns that are not imported.
  const names = new Set(columns.map(({ name }) => name));
  const filling = column_mappings.flatMap((entry): [string, ColumnMapping][] =>
    entry.target_column !== null && names.has(entry.target_column) ? [[entry.target_column, entry]] : [],
  );
  const { problems } = await ctx.data.CheckColumnSources(call, {
    columns: columns as WantedColumn[],
    sources: [...new Map(filling)].map(([target, entry]) => toColumnSource(entry, 0, target)),
    date_style,
    decimal_separator: decimal_separator ?? '',
  });
  return problems.map((message) => ofEntry('invalid', message, {}));
}

function entryProblems(entries: ColumnMapping[], columns: Map<string, MappedColumn>): Problem[] {
  const problems: Problem[] = [];
  const add = (...problem: Parameters<typeof ofEntry>) => problems.push(ofEntry(...problem));
  const sources = new Set<string>();
  const targets = new Set<string>();
  for (const { source_column, target_column: target, ...how } of entries) {
    const source = foldName(source_column);
    const at = { source: source_column };
    if (source === '') add('blank', "Source column can't be blank", {});
    else if (sources.has(source)) add('given_twice', `Source column ${source_column} is mapped twice`, at);
    sources.add(source);
    if (target === null || target === transactionCode) {
      if (how.format !== null || how.default !== null || how.lookup !== false)
        add(
          'incompatible',
          `Source column ${source_column} goes to no column of the table: it takes no format, default or lookup`,
          at,
        );
      if (how.value_map !== null || how.round !== null)
        add(
          'incompatible',
          `Source column ${source_column} goes to no column of the table: it takes no value_map and is not rounded`,
          at,
        );
      if (target === null) continue;
    } else if (systemColumns.has(target.toLowerCase()))
      add('read_only', `Target column ${target} is a system column`, { ...at, target });
    else if (!columns.has(target))
      add('unknown_property', `Target column ${target} is not a column of the table`, { ...at, target });
    if (how.otherwise !== 'keep' && how.value_map === null)
      add('incompatible', `Source column ${source_column} has no value_map, so there is nothing otherwise`, at);
    if (targets.has(target))
      add('given_twice', `Target column ${target} is mapped from two columns`, { ...at, target });
    targets.add(target);
  }
  return problems;
}

const positionProblems = (entries: ColumnMapping[]) =>
  entries
    .filter(({ source_column }) => !/^[1-9][0-9]{0,3}$/.test(source_column))
    .map(({ source_column }) =>
      ofEntry(
        'wrong_format',
        `Source column ${source_column} must be the place of a column, from 1: the mapping is for files without a header`,
        { source: source_column },
      ),
    );

// Each table is requested once, however many entries look something up in it.
async function findTargets(
  entries: ColumnMapping[],
  byName: Map<string, MappedColumn>,
  findTarget: MappedTable['findTarget'],
): Promise<Map<number, ReferencedTable | undefined>> {
  const ids = new Set<number>();
  for (const { target_column, lookup } of entries) {
    const id = target_column === null || lookup === false ? undefined : byName.get(target_column)?.foreign_key_table_id;
    if (id) ids.add(id);
  }
  return new Map(await Promise.all([...ids].map(async (id) => [id, await findTarget(id)] as const)));
}

function lookupProblems(
  { target_column, lookup, format }: ColumnMapping,
  byName: Map<string, MappedColumn>,
  targets: Map<number, ReferencedTable | undefined>,
): Problem[] {
  const column = target_column === null ? undefined : byName.get(target_column);
  if (!column || lookup === false) return [];
  const { name, foreign_key_table_id: id } = column;
  const only = (code: ProblemCode, message: string) => [ofEntry(code, message, { target: name })];
  if (!id) return only('incompatible', `${name} is no foreign key; nothing can be looked up for it`);
  const target = targets.get(id);
  if (!target) return only('invalid_reference', `The table that ${name} refers to is not there`);
  if (target.columns.filter(({ is_primary_key }) => is_primary_key).length > 1)
    return only('incompatible', `${name} is part of a foreign key of several columns; it can't be looked up`);
  const shown =
    lookup === true ? undefined : target.columns.find((each) => each.name.toLowerCase() === lookup.toLowerCase());
  if (lookup !== true && !shown)
    return only(
      'invalid_reference',
      `${name} can't be looked up by ${lookup}, which is not a column of ${target.name}`,
    );
  const dated = !shown || ['date', 'time', 'datetime', 'timestamptz'].includes(shown.data_type);
  return format !== null && !dated
    ? only('incompatible', `${name} is looked up by text, which takes no date format`)
    : [];
}
