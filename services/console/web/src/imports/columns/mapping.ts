// Which column of a file fills which column of a table, as one changes it before an import.
import type { Schemas } from '../../api/client.ts';
import type { Column } from '../../api/queries.ts';

type Suggested = Schemas['SuggestedImportMapping'];
export type Entry = Suggested['column_mappings'][number];

export type Mapping = Omit<Suggested, 'table_definition_id'> & Pick<Schemas['NewImportMapping'], 'encoding'>;

/** In files whose rows say themselves what is to be done with them. */
export const transactionCode = 'svc_transaction_code';

const plain = { format: null, default: null, trim: false, lookup: false, value_map: null, round: null } as const;

/** The mapping with another target of a column; what was said about the one before is left out. */
export function withTarget(mapping: Mapping, source: string, target: string | null): Mapping {
  return changed(mapping, source, ({ source_column, trim }) => ({
    ...{ ...plain, otherwise: 'keep' as const },
    source_column,
    target_column: target,
    trim,
  }));
}

/** The mapping with what the cells of a column are: keys, or values of the referenced table. */
export function withLookup(mapping: Mapping, source: string, lookup: Entry['lookup']): Mapping {
  return changed(mapping, source, (entry) => ({ ...entry, lookup }));
}

function changed(mapping: Mapping, source: string, change: (entry: Entry) => Entry): Mapping {
  const column_mappings = mapping.column_mappings.map((entry) =>
    entry.source_column === source ? change(entry) : entry,
  );
  return { ...mapping, column_mappings };
}

/** A mapping that was used or saved before, for the columns that were guessed of this file. */
export function fitMapping(guess: Mapping, before: Mapping): Mapping {
  const column_mappings = guess.column_mappings.map((entry) => {
    const own = before.column_mappings.find(({ source_column }) => isSameName(source_column, entry.source_column));
    return own === undefined ? { ...entry, target_column: null } : { ...own, source_column: entry.source_column };
  });
  return { ...before, column_mappings };
}

/** Whether the file has all columns that a mapping takes values from. */
export function fits(guess: Mapping, before: Mapping): boolean {
  const used = before.column_mappings.filter(({ target_column }) => target_column !== null);
  const names = guess.column_mappings.map(({ source_column }) => source_column);
  return (
    used.length > 0 &&
    guess.has_header === before.has_header &&
    used.every(({ source_column }) => names.some((name) => isSameName(name, source_column)))
  );
}

/** The mapping for a pattern: only where rows say what to do, a column is for that. */
export function forPattern(mapping: Mapping, pattern: string): Mapping {
  if (pattern === 'incremental_with_delete') return mapping;
  const isCode = ({ target_column }: Entry) => target_column === transactionCode;
  return {
    ...mapping,
    column_mappings: mapping.column_mappings.map((entry) =>
      isCode(entry) ? { ...entry, target_column: null } : entry,
    ),
  };
}

/** Whether the file says which version of each row it has changed. */
export function isForEditing({ column_mappings }: Mapping): boolean {
  return ['svc_sk', 'svc_version'].every((name) =>
    column_mappings.some(({ source_column, target_column }) => target_column === null && source_column === name),
  );
}

/** The columns that a file must fill: those of the key, and the code where rows say what to do. */
export function missingTargets(mapping: Mapping, columns: Column[], pattern: string): string[] {
  const keys = columns.filter(({ is_primary_key }) => is_primary_key).map(({ name }) => name);
  const needed = pattern === 'incremental_with_delete' ? [...keys, transactionCode] : keys;
  return needed.filter((name) => !mapping.column_mappings.some(({ target_column }) => target_column === name));
}

/** The columns of the table that more than one column of the file would fill. */
export function filledTwice({ column_mappings }: Mapping): string[] {
  const targets = column_mappings.flatMap(({ target_column }) => target_column ?? []);
  return [...new Set(targets.filter((name, place) => targets.indexOf(name) !== place))];
}

/**
 * Whether the system reads the file in the same way without a mapping: by equal names, with the
 * date style of the account. Workbooks made for editing know their versions only so.
 */
export function isNeedless(mapping: Mapping, accountDateStyle: string): boolean {
  const { has_header, decimal_separator, quote, date_style, column_mappings } = mapping;
  return (
    [has_header, decimal_separator === null, quote === null, !mapping.encoding].every(Boolean) &&
    (date_style === 'ISO' || date_style === accountDateStyle) &&
    column_mappings.every(isByName)
  );
}

function isByName(entry: Entry): boolean {
  const { source_column, target_column, ...rest } = entry;
  if (target_column === null) return isOfSystem(source_column);
  const isPlain = Object.entries(plain).every(([name, value]) => rest[name as keyof typeof plain] === value);
  return isPlain && rest.otherwise === 'keep' && isSameName(source_column, target_column);
}

/** The mapping as it is saved: columns of the system that go nowhere are ignored in any case. */
export function bodyOf(mapping: Mapping): Mapping {
  const column_mappings = mapping.column_mappings.filter(
    ({ source_column, target_column }) => target_column !== null || !isOfSystem(source_column),
  );
  return { ...mapping, column_mappings };
}

/** Columns that exports and files of rejected rows have besides those of the table. */
export function isOfSystem(name: string): boolean {
  return name.toLowerCase().startsWith('svc_') && name.toLowerCase() !== transactionCode;
}

function isSameName(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}
