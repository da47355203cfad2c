// Reads the options of a load: which file column fills which table column, how lines are split,
// what happens to bad rows. A mistake in the call is an error of the call; everything about the
// rows is in the result.
import type { BulkLoadOptions__Output } from '@almanac/protos/generated/almanac/data/v1/BulkLoadOptions.ts';
import { ServiceError, validationFailed } from '@almanac/service-kit/errors';
import { limits } from '@almanac/service-kit/limits';
import type { Problem } from '@almanac/service-kit/problems';
import { type DeployedTable, isRequired, keyColumns } from '../../tables/table.ts';
import { readCell, readText } from './cell-reading.ts';
import type { LoadPlan, Source } from './load-plan.ts';
import { planLookup } from './lookups.ts';
import { positionOf, readValueMaps, type ValueMap } from './value-maps.ts';

const patterns = ['full', 'incremental', 'incremental_with_delete'] as const;
export type Pattern = (typeof patterns)[number];

/** `position` among the columns of the file; `column` of the table; `value` null: none. */
export type RowCorrection = { row: number; cells: { position: number; column: string; value: string | null }[] };

export type LoadOptions = {
  loadId: string;
  tableDefinitionId: number;
  pattern: Pattern;
  rejectRows: boolean;
  dryRun: boolean;
  /** The import table that the file is of, by which a dry run is found; null: unknown. */
  importTableId: number | null;
  /** The import that loads the rows; null for a dry run, which loads none. */
  importId: number | null;
  /** The largest share of live rows, in percent, that a full load may delete; undefined: any. */
  massDeletePercent: number | undefined;
  delimiter: string;
  quote: string;
  fileColumns: string[];
  /** The table columns that are looked up; each has a staged cell of its own after the file's. */
  lookups: string[];
  /** The value maps; each fills a staged cell of its own after those. */
  valueMaps: ValueMap[];
  /** Rows come with their numbers, and with problems that their text no longer shows. */
  numbered: boolean;
  /** The number of the first row in the file, when rows come without numbers. */
  firstRow: number;
  /** Rows name by svc_sk and svc_version the row they were made of. */
  versioned: boolean;
  /** What rows of the file are instead. */
  corrections: RowCorrection[];
  /** The most bytes of rows that may be staged. */
  maxBytes: number;
  raw: BulkLoadOptions__Output;
};

const maxFileColumns = 1000;
const transactionCode = 'svc_transaction_code';
const versionColumns = ['svc_sk', 'svc_version'];

/** Checks what can be checked without the table; 400. */
export function readLoadOptions(raw: BulkLoadOptions__Output | undefined | null): LoadOptions {
  const bad = (message: string) => new ServiceError('bad_request', { code: 'invalid', message });
  if (!raw) throw bad('The first message must be the options.');
  const pattern = patterns.find((each) => each === raw.pattern);
  if (raw.load_id === '' || raw.load_id.length > 200 || raw.load_id.includes('\u0000'))
    throw bad('load_id must be 1 to 200 characters.');
  if (!pattern) throw bad(`pattern must be one of ${patterns.join(', ')}.`);
  if (raw.on_error !== 'reject_file' && raw.on_error !== 'reject_rows')
    throw bad('on_error must be reject_file or reject_rows.');
  const delimiter = raw.delimiter || ',';
  const quote = raw.quote || '"';
  if (!/^[\t\x20-\x7e]$/.test(delimiter) || !(quote === '\u0001' || /^[\x21-\x7e]$/.test(quote)) || delimiter === quote)
    throw bad('delimiter and quote must be two different ASCII characters.');
  if (raw.file_columns.length === 0 || raw.file_columns.length > maxFileColumns)
    throw bad(`file_columns must name 1 to ${maxFileColumns} columns.`);
  if (raw.versioned && pattern !== 'incremental') throw bad('versioned goes with the pattern incremental only.');
  if (!['', 'MDY', 'DMY', 'ISO'].includes(raw.date_style)) throw bad('date_style must be MDY, DMY or ISO.');
  if (!['', '.', ','].includes(raw.decimal_separator)) throw bad('decimal_separator must be . or ,.');
  const percent = raw.mass_delete_percent > 0 ? raw.mass_delete_percent : 50;
  const corrections = readCorrections(raw);
  if (corrections.length > limits.correctedRowsPerImportTable)
    throw bad(`corrections may have at most ${limits.correctedRowsPerImportTable} rows.`);
  const isOfFile = ({ position }: { position: number }) => position in raw.file_columns;
  if (!corrections.every(({ cells }) => cells.length > 0 && cells.every(isOfFile)))
    throw bad('corrections must be of cells that the file has.');
  return {
    loadId: raw.load_id,
    tableDefinitionId: raw.table_definition_id,
    pattern,
    rejectRows: raw.on_error === 'reject_rows',
    dryRun: raw.dry_run,
    importTableId: raw.import_table_id ?? null,
    importId: raw.dry_run || raw.import_id === 0 ? null : raw.import_id,
    massDeletePercent: raw.allow_mass_delete ? undefined : percent,
    delimiter,
    quote,
    fileColumns: raw.file_columns,
    lookups: raw.columns.filter(({ lookup }) => lookup !== undefined).map(({ target_column }) => target_column),
    valueMaps: readValueMaps(raw.columns, readText),
    numbered: raw.numbered,
    versioned: raw.versioned,
    firstRow: Math.max(raw.first_row, 1),
    corrections,
    maxBytes: raw.most_bytes > 0 ? raw.most_bytes : Number.POSITIVE_INFINITY,
    raw,
  };
}

const readCorrections = ({ corrections }: BulkLoadOptions__Output): RowCorrection[] =>
  corrections.map(({ row, cells }) => ({
    row,
    cells: cells.map(({ position, target_column, value = null }) => ({ position, column: target_column, value })),
  }));

/** The tables that lookups of the load may refer to, as `find` answers them. */
export async function readTargets(
  table: DeployedTable,
  { lookups }: LoadOptions,
  find: (id: number) => Promise<DeployedTable | undefined>,
): Promise<Map<number, DeployedTable>> {
  const looked = table.structure.columns
    .filter(({ name }) => lookups.includes(name))
    .map(({ lineage_id }) => lineage_id);
  const keys = table.structure.foreign_keys.filter(({ columns }) => columns.some((each) => looked.includes(each)));
  const targets = new Map<number, DeployedTable>();
  for (const id of new Set(keys.map(({ target_table_id }) => target_table_id))) {
    const target = await find(id);
    if (target) targets.set(id, target);
  }
  return targets;
}

/**
 * How the file's columns fill the table's; 422 with every problem when they can't. `targets`: the
 * tables that lookups may refer to.
 */
export function planLoad(
  table: DeployedTable,
  { raw, pattern, fileColumns, lookups, valueMaps, numbered, versioned }: LoadOptions,
  targets: ReadonlyMap<number, DeployedTable>,
): LoadPlan {
  const columns = new Map(table.structure.columns.map((column) => [column.name, column]));
  const problems: string[] = [];
  const sources = new Map<string, Source>();
  let codePosition: number | undefined;
  const versions = new Map<string, number>();
  for (const given of raw.columns) {
    const { target_column: target } = given;
    const position = positionOf(given);
    const column = columns.get(target);
    if (position < 0 || position >= fileColumns.length)
      problems.push(`${target} comes from a column that the file doesn't have.`);
    else if (target === transactionCode) codePosition = position;
    else if (versioned && versionColumns.includes(target)) versions.set(target, position);
    else if (!column) problems.push(`${target} is not a column of the table.`);
    else if (sources.has(target)) problems.push(`${target} is filled twice.`);
    else {
      const lookup = given.lookup === undefined ? undefined : planLookup(table, column, given.lookup, targets);
      const source = readCell(typeof lookup === 'object' ? lookup.shown : column, target, given, raw);
      for (const problem of [lookup, source]) if (typeof problem === 'string') problems.push(problem);
      if (typeof source === 'string' || typeof lookup === 'string') continue;
      const place = fileColumns.length + lookups.indexOf(target);
      const map = valueMaps.findIndex((each) => each.target === target);
      sources.set(target, {
        column,
        position,
        cell: map < 0 ? position : fileColumns.length + lookups.length + map,
        reading: source,
        unknown: valueMaps[map]?.unknown,
        ...(lookup && { lookup: { ...lookup, position: place } }),
      });
    }
  }
  const key = keyColumns(table.structure);
  for (const column of table.structure.columns)
    if (isRequired(column) && !raw.columns.some(({ target_column }) => target_column === column.name))
      problems.push(`${column.name} is required and not in the file.`);
  if (versioned && (key.length === 0 || versions.size < versionColumns.length))
    problems.push('A load by versions takes svc_sk, svc_version and a table with a primary key.');
  if (key.length === 0 && pattern !== 'incremental')
    problems.push('The table has no primary key, so rows can only be added (pattern incremental).');
  if (pattern === 'incremental_with_delete' && codePosition === undefined)
    problems.push(`The file has no column ${transactionCode}, which incremental_with_delete needs.`);
  if (problems.length > 0)
    throw validationFailed(problems.map((message): Problem => ({ code: 'invalid_file', message })));
  return {
    sources: table.structure.columns.flatMap((column) => sources.get(column.name) ?? []),
    key: key.map((column) => sources.get(column.name) as Source),
    codePosition: pattern === 'incremental_with_delete' ? codePosition : undefined,
    versions: versioned
      ? { sk: versions.get('svc_sk') as number, version: versions.get('svc_version') as number }
      : undefined,
    numbered,
    replaces: pattern === 'full',
  };
}
